#!/bin/bash
# demo.sh COMMAND - what Lockstep is for, by the lockstep command alone: a log of
# a cluster predicted, a step of 1,024 GPUs, a deadlock explained; then this
# machine, predicted and measured; plots.
set -u
cd "$(dirname "$0")/.." || exit 1

lockstep=$1
out=${DEMO_OUT:-build/demo}
ranks=4
step=(ddp_step --model resnet18 --steps 5)
# Fewer calls of every size than a benchmark would make, the same number in
# both worlds, so that call can stand beside call.
smallest=1024
sweep=(all_reduce -b 1K -e 16M -f 4 -n 10 -w 2 -c 0)

mkdir -p "$out"
unset RANK WORLD_SIZE LOCKSTEP_BACKEND LOCKSTEP_PLATFORM LOCKSTEP_PROFILE \
	LOCKSTEP_ALGORITHM LOCKSTEP_TRACE LOCKSTEP_TIMEOUT LOCKSTEP_PATIENCE \
	LOCKSTEP_LINKS

heading() {
	printf '\n== %s\n' "$*"
}

say() {
	printf '%s\n' "$@"
}

# Lines of at most 100 columns; what is broken goes on indented.
wrap() {
	awk '{
		for (line = $0; length(line) > 100; line = "      " substr(line, n + 1))
			for (n = 100; n > 20; n--)
				if (substr(line, n, 1) == " ") {
					print substr(line, 1, n - 1)
					break
				}
		print line
	}'
}

# show STATUS FILTER COMMAND ... - prints a command as a user would type it, and
# what FILTER leaves of its output, and ends the demo if that is nothing or its
# status is not the one expected.
show() {
	local wanted=$1 filter=$2 status
	shift 2
	echo "$ lockstep $*" | wrap
	"$lockstep" "$@" </dev/null >"$out/output" 2>&1
	status=$?
	if ! sh -c "$filter" <"$out/output" | wrap | grep ''; then
		echo "demo: that printed nothing to show" >&2
		exit 1
	fi
	if [ $status -ne "$wanted" ]; then
		echo "demo: that ended with status $status, not $wanted" >&2
		exit 1
	fi
}

# The steps and the sweep, simulated and for real; the traces are called
# predicted.json and measured.json, and with -sweep.
run_both() {
	local suffix=$1 filter=$2
	shift 2
	show 0 "$filter" run --backend sim --platform "$out/loopback.xml" \
		--profile "$out/loopback.yaml" --nproc-per-node $ranks \
		--trace "$out/predicted$suffix.json" "$@"
	show 0 "$filter" run --backend tcp --profile "$out/loopback.yaml" \
		--nproc-per-node $ranks \
		--trace "$out/measured$suffix.json" "$@"
}

heading "1. A cluster: the all-reduces of 16 H100, from a log of nccl-tests"
show 0 "head -n 2 | cut -c 1-69" validate --machine docs/examples/h100.yaml --transport ib --calibrate \
	--tsv "$out/h100.tsv" docs/examples/h100.log
say "" "In place, every third size:" \
	"       size    NCCL's predicted choice     predicted    measured     error"
awk -F'\t' '
NR > 1 && seen[$5]++ && n++ % 3 == 0 {
	size = $5
	for (unit = 1; size >= 1024; unit++)
		size /= 1024
	printf "  %6d %3s   %-25s %8.0f us %8.0f us   %+5.1f %%\n", size,
		substr("B  KiBMiBGiB", 3 * unit - 2, 3), $6 " " $7, $8, $9, 100 * ($10 - 1)
}' "$out/h100.tsv"
say "" "Two of the 64 rows set two constants of the machine: how long a collective takes to start," \
	"and how much of its links NCCL reaches. The other 62 rows are predicted."

heading "2. A step: BERT-large on 8 to 1,024 A100"
started=${EPOCHREALTIME/./}
show 0 "sed -n '/^ranks/,\$p'" predict --model bert_large --batch 16 --machine dgx-a100 \
	--profile nccl --world-size 8,64,512,1024 --tsv "$out/scaling.tsv"
say "" "exposed_ms is communication that computing does not hide; the critical path says what the" \
	"step waits for. All of that took $(((${EPOCHREALTIME/./} - started) / 1000)) ms on this machine."

heading "3. A hang: rank 1 waits for a message of rank 3 before it joins the others"
awk '/train_wrong\(/ { wrong = 1 }
wrong && /^\t+(if|error =)/ { printf "%4d  %s\n", NR, $0 }
wrong && /^}/ { exit }' scenarios/deadlock.c | expand -t 4
show 11 cat run --backend sim --platform star-8 --nproc-per-node $ranks deadlock
say "" "In simulation it is known at once that nothing can move. Over TCP, in real processes, it is" \
	"proved from the records of all ranks when none has called anything for 5 s:" ""
show 11 "head -n 1" run --backend tcp --nproc-per-node $ranks deadlock
say "" "Both end with status 11. A CI job fails in seconds, and with these lines, not after half an hour."

heading "4. This machine: one program twice, simulated and over TCP between $ranks processes"
say "\$ lockstep calibrate --passes 1 -o $out    # half a minute, longer if it is busy"
if "$lockstep" calibrate --passes 1 -o "$out" >"$out/calibrate.txt" 2>&1; then
	tail -n 2 "$out/calibrate.txt" | fold -s -w 100
	run_both "" "sed -n '\$s/, idle.*//p'" "${step[@]}"
	run_both -sweep "sed -n '\$p'" "${sweep[@]}" >"$out/sweep.txt" || exit 1
	show 0 "grep order" compare "$out/predicted.json" "$out/measured.json"
	say "" "All-reduces between the $ranks processes, by size, with the error as it is on this machine now:" \
		"          bytes   predicted    measured     error"
	"$lockstep" compare --tsv "$out/sweep.tsv" "$out/predicted-sweep.json" \
		"$out/measured-sweep.json" >/dev/null
	# The program's own barriers and counts are no rows of this.
	awk -F'\t' -v op=all_reduce -v smallest=$smallest '
	NR > 1 && $1 == op && $5 >= smallest {
		printf "  %13d %8.1f us %8.1f us   %+5.0f %%\n", $5, $7 / 1e3,
			$8 / 1e3, 100 * ($13 - 1) # the table has ns
	}' "$out/sweep.tsv"
else
	tail -n 1 "$out/calibrate.txt"
	say "This machine is too busy to be measured now; \"make demo\" again later does this part."
	rm -f "$out"/predicted*.json "$out"/measured*.json
fi

heading "5. Files in $out"
tools/plots.sh "$lockstep" "$out" || exit 1
[ ! -e "$out/measured.json" ] ||
	say "  predicted.json, measured.json            traces: drop them on https://ui.perfetto.dev"
say "" "Done in $SECONDS s. README.md goes on from here."
