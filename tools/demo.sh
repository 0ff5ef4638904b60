#!/bin/bash
# demo.sh COMMAND - Lockstep's main job, done once by the lockstep command
# alone: predict, run for real, compare, catch a deadlock, draw.
set -u
cd "$(dirname "$0")/.." || exit 1

lockstep=$1
out=${DEMO_OUT:-build/demo}
ranks=4
step=(ddp_step --model resnet50 --steps 5)
# Fewer calls of every size than a benchmark would make, the same number in
# both worlds, so that call can stand beside call.
sweep=(all_reduce -b 1K -e 16M -f 4 -n 10 -w 2 -c 0)

mkdir -p "$out"
unset RANK WORLD_SIZE LOCKSTEP_BACKEND LOCKSTEP_PLATFORM LOCKSTEP_PROFILE \
	LOCKSTEP_ALGORITHM LOCKSTEP_TRACE LOCKSTEP_TIMEOUT LOCKSTEP_PATIENCE \
	LOCKSTEP_LINKS

heading() {
	printf '\n== %s\n' "$*"
}

# Shows a command as a user would type it, runs it, and ends the demo unless
# its status is the one expected.
show() {
	local wanted=$1 status
	shift
	printf '$ lockstep %s\n' "$*"
	"$lockstep" "$@" </dev/null 2>&1
	status=$?
	if [ $status -ne "$wanted" ]; then
		echo "demo: that ended with status $status, not $wanted" >&2
		exit 1
	fi
}

# run_both SUFFIX PROGRAM ARGS... - in simulation and for real; the traces are
# called predictedSUFFIX.json and measuredSUFFIX.json.
run_both() {
	local suffix=$1
	shift
	show 0 run --backend sim --platform "$out/loopback.xml" \
		--profile "$out/loopback.yaml" --nproc-per-node $ranks \
		--trace "$out/predicted$suffix.json" "$@"
	show 0 run --backend tcp --profile "$out/loopback.yaml" \
		--nproc-per-node $ranks \
		--trace "$out/measured$suffix.json" "$@"
}

heading "1. Fit a platform and a profile to this machine's loopback"
show 0 calibrate -o "$out"
echo "Latency, bandwidth, the cost of a message and of a reduction were"
echo "measured here; every prediction for this machine stands on them."

heading "2. Predict a ResNet-50 data-parallel step on up to 64 simulated hosts"
show 0 predict --model resnet50 --platform star-64 \
	--world-size 1,2,4,8,16,32,64 --tsv "$out/scaling.tsv"
echo "25 Gbit/s Ethernet leaves most of the gradients' way exposed: see"
echo "exposed_ms, the part of a step that waits for communication."

heading "3. One program twice: simulated on the fitted platform, real over TCP"
run_both "" "${step[@]}"
run_both -sweep "${sweep[@]}"

heading "4. Predicted beside measured, call by call"
show 0 compare "$out/predicted.json" "$out/measured.json"
show 0 compare "$out/predicted-sweep.json" "$out/measured-sweep.json"
echo "The error is what it is on this machine today: the platform comes from"
echo "step 1 alone, and nothing was tuned to these runs."

heading "5. A seeded deadlock: the same sentences from both worlds"
show 11 run --backend sim --platform star-8 --nproc-per-node $ranks deadlock
echo "That took no waiting: in simulation it is known that nothing can move."
show 11 run --backend tcp --nproc-per-node $ranks deadlock
echo "Over TCP it was told when no rank had called anything for 5 s. Both end"
echo "with status 11, so that a CI job can tell a deadlock from a failure."

heading "6. Plots"
tools/plots.sh "$lockstep" "$out" || exit 1

heading "Done in $SECONDS s"
cat <<END
To look at, in $out:
  *.svg, *.png                   the plots above, their data beside them
  predicted.json, measured.json  drop them on https://ui.perfetto.dev: a track
                                 a rank, computing and communicating
END
