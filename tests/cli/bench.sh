#!/bin/bash
# The benches time every collective on every back end, with right results.
. tests/cli/support.bash

# What stands in for NCCL and CUDA.
doubles=$(dirname "$LOCKSTEP")/doubles
export LOCKSTEP_NCCL_LIBRARY=$doubles/libnccl.so.2
export LOCKSTEP_CUDART_LIBRARY=$doubles/libcudart.so.13

sim=(--backend sim --platform star-8)

collectives="all_reduce broadcast reduce all_gather reduce_scatter alltoall
	gather scatter sendrecv"
for collective in $collectives; do
	for world in sim tcp nccl; do
		options=(--backend "$world" -n 3 -w 1)
		[ $world = sim ] && options=("${sim[@]}" -c 1)
		expect 0 bench "$collective" "${options[@]}" \
			--nproc-per-node 3 -b 0 -e 64K -f 64
		expect_out '^# Out of bounds values : 0 OK$'
		expect_out '^ +65532 |^ +65536 |^ +16384 |^ +16380 '
		expect_out '^# Avg bus bandwidth'
	done
done

# What was a flow, and why the rest was not.
flows() { # PATTERN WORDS...
	local pattern=$1
	shift
	expect 0 bench "$@" --backend sim -b 64K -e 64K
	expect_out "^# Fidelity +: $pattern\$"
}
none='flow, 0 of 1 collectives were flows; by messages 1'
tree=(--platform fat-tree-64 --nproc-per-node 64 --fidelity flow)
flows message all_reduce --platform star-8
flows formula all_reduce --platform star-8 --fidelity formula
flows 'flow, 1 of 1 collectives were flows' all_gather "${tree[@]}" \
	--algorithm all_gather=ring
flows "$none whose own messages share links" alltoall "${tree[@]}" \
	--algorithm all_to_all=pairwise
flows "$none with ranks through before others come" broadcast "${tree[@]}" \
	--algorithm broadcast=double_tree
flows "$none of few messages or without a timetable" reduce "${tree[@]}"

# Links that carry all that their senders can bring hold nobody up.
for taper in 1 2; do
	expect 0 platform new --nodes 16 --inter ib:200G \
		--topology fat-tree:4x4,taper=$taper -o "$scratch/taper$taper.xml"
	halves=(all_reduce --algorithm halving_doubling --world-size 16
		--platform "$scratch/taper$taper.xml")
	expected="$none whose own messages share links"
	[ $taper = 2 ] || expected='flow, 1 of 1 collectives were flows'
	flows "$expected" "${halves[@]}" --fidelity flow
	awk '$1 == 65536 { print $6 }' "$scratch/out" >"$scratch/flow$taper"
	flows message "${halves[@]}" --fidelity message
	awk '$1 == 65536 { print $6 }' "$scratch/out" |
		cmp - "$scratch/flow$taper" || fail "other times behind taper $taper"
done
! cmp -s "$scratch/flow1" "$scratch/flow2" || fail "a taper without effect"
sed 's/CM02/LV08/; s/TCP-gamma" value="0"/TCP-gamma" value="4194304"/' \
	scenarios/platforms/star-8.xml >"$scratch/window.xml"
flows "$none by a network model with windows or factors, .*" all_reduce \
	--platform "$scratch/window.xml" --fidelity flow
printf 'name: shared\ncores: 2\n' >"$scratch/shared.yaml"
flows "$none by a network model .* or cores" all_gather "${tree[@]}" \
	--algorithm all_gather=ring --profile "$scratch/shared.yaml"
expect 0 bench alltoall --backend sim "${tree[@]}" -b 64K -e 64K \
	--algorithm all_to_all=pairwise --json
jq -e '.fidelity == "flow" and .collectives == {flows: 0, by_messages: 1, why:
	{shared_links: 1, early_ranks: 0, no_timetable: 0, network_model: 0}}' \
	"$scratch/out" >/dev/null || fail "$(jq -c .collectives "$scratch/out")"
expect 0 bench all_reduce --backend tcp --nproc-per-node 2 -b 1K -e 1K --json
jq -e '.fidelity == null and .collectives == null' "$scratch/out" >/dev/null ||
	fail "a fidelity of what was measured"

# nccl-tests' names and ranks.
expect 0 bench all_reduce_perf "${sim[@]}" -b 1K -e 1K -g 3
expect_out '^# collective: all_reduce ranks: 3 '

# nccl-tests' columns, in its order.
expect 0 bench all_reduce "${sim[@]}" -b 1K -e 1K --tsv "$scratch/tsv"
expect_out '^# +size +count +type +redop +root +time +algbw +busbw +#wrong'
expect_out '^ +1024 +256 +float +sum +-1 +[0-9.]+ +[0-9.]+ +[0-9.]+ +N/A '
[ "$(grep -c '^1024' "$scratch/tsv")" -eq 1 ] || fail "TSV without the row"

# busbw is algbw times the factor in nccl-tests' PERFORMANCE.md; n is 4 here:
# 2 (n - 1) / n, (n - 1) / n, 1.
expect_factor() { # collective, factor
	expect 0 bench "$1" "${sim[@]}" --nproc-per-node 4 -b 1M -e 1M --json
	awk -v f="$2" '/algbw/ { a = $2 + 0 } /"busbw_GBps/ { b = $2 + 0 }
		END { exit !(a > 0 && (b / a - f) ^ 2 < 1e-8) }' \
		"$scratch/out" || fail "$1: busbw is not $2 algbw"
}
expect_factor all_reduce 1.5
for collective in all_gather reduce_scatter alltoall gather scatter; do
	expect_factor $collective 0.75
done
for collective in broadcast reduce sendrecv; do
	expect_factor $collective 1
done

# By NCCL a send has a launch and goes by one card, on a platform as on the
# machine that it is made of.
expect 0 platform new --machine dgx-a100 --nodes 2 -o "$scratch/two.xml"
expect 0 bench sendrecv --machine dgx-a100 --world-size 16 -b 1K -e 64M -f 65536
grep -v '^#' "$scratch/out" >"$scratch/machine"
expect 0 bench sendrecv --backend sim --platform "$scratch/two.xml" \
	--world-size 16 -b 1K -e 64M -f 65536
paste "$scratch/machine" <(grep -v '^#' "$scratch/out") |
	awk '{ if ($6 < 10 || $8 > 25 || $6 / $17 > 1.01 || $17 / $6 > 1.01)
			exit 1 }' || fail "other sends on the platform of a machine"
# So it does behind other switches; a card of a tenth of the rate takes ten times
# as long, and a slow processor no longer.
expect 0 bench sendrecv --machine dgx-a100 --world-size 16 -b 1K -e 64M -f 65536 \
	--topology fat-tree:1x2,taper=1
grep -v '^#' "$scratch/out" >"$scratch/switches"
expect 0 platform new --machine dgx-a100 --nodes 2 --slow node0:0.5 \
	--degrade node1.nic7:0.1 -o "$scratch/worn.xml"
expect 0 bench sendrecv --backend sim --platform "$scratch/worn.xml" \
	--world-size 16 -b 1K -e 64M -f 65536
paste "$scratch/machine" "$scratch/switches" <(grep -v '^#' "$scratch/out") |
	awk '{ first[NR] = $6; slow[NR] = $28
			if ($6 / $17 > 1.01 || $17 / $6 > 1.01) exit 1 }
		END { times = (slow[2] - slow[1]) / (first[2] - first[1])
			if (times < 9.5 || times > 10.5) exit 1 }' ||
	fail "sends by links alone, or by none"
expect_refusal 'formula: expected flow or message: node1.nic7_(UP|DOWN) carries 2.5 GB/s' \
	bench all_reduce --backend sim --platform "$scratch/worn.xml" \
	--world-size 16 --fidelity formula

# Every legal type and operation, whose results are known; of a reduce-scatter,
# which has the same ones, every type once and every operation once.
for type in float double half bfloat16 int8 uint8 int32 int64 bool; do
	for op in sum prod min max avg band bor bxor; do
		case $type:$op in
		bool:avg | float:b* | double:b* | half:b* | bfloat16:b*)
			expect_refusal '-o' bench all_reduce -d $type -o $op
			continue
			;;
		esac
		of=(all_reduce)
		[[ $type:$op != @(*:sum|uint8:*) ]] || of+=(reduce_scatter)
		for collective in "${of[@]}"; do
			expect 0 bench "$collective" "${sim[@]}" \
				--nproc-per-node 5 -b 1000 -e 1000 -d $type \
				-o $op -c 1
			expect_out '^# Out of bounds values : 0 OK$'
		done
	done
done

# What an algorithm copies beside its messages: 1 us for 1000 bytes. Of 4 ranks'
# parts of 1 MB: all-to-alls their own one, and Bruck's those of both steps and
# what they have brought; Bruck's all-gather its own one and all; a
# reduce-scatter by halving all and its own one.
echo 'name: none' >"$scratch/free.yaml"
printf 'name: copies\ncopy_Bps: 1e9\n' >"$scratch/copies.yaml"
us() { # PROFILE COLLECTIVE ALGORITHM
	expect 0 bench "$2" "${sim[@]}" --nproc-per-node 4 -b 4M -e 4M \
		--algorithm "$3" --profile "$scratch/$1.yaml" --json
	jq '.rows[0].time_us' "$scratch/out"
}
expect_copied() { # COLLECTIVE ALGORITHM PARTS
	awk -v with="$(us copies "$1" "$2")" -v without="$(us free "$1" "$2")" \
		-v us="$(($3 * 1048576))e-3" \
		'BEGIN { exit (with - without - us) ^ 2 > 1 }' ||
		fail "$2: not $3 parts copied"
}
expect_copied alltoall all_to_all=linear 1
expect_copied alltoall all_to_all=pairwise 1
expect_copied alltoall all_to_all=bruck 8
expect_copied all_gather all_gather=bruck 5
expect_copied reduce_scatter reduce_scatter=recursive_halving 5
expect_copied all_gather all_gather=ring 0

# Ranks of one machine: through memory, through sockets, and some of them so
# that they must find out that the others do not.
for intra in shm tcp; do
	expect 0 bench all_reduce --backend tcp --nproc-per-node 3 \
		--intra "$intra" -b 1M -e 1M -n 2
	expect_out '^# Out of bounds values : 0 OK$'
	# Who talks through sockets reads how these send.
	told=$(grep -cE '^# Sockets +: congestion control (cubic|reno)\b' \
		"$scratch/out")
	[ "$intra $told" = "shm 0" ] || [ "$intra $told" = "tcp 1" ] ||
		fail "--intra $intra: $told lines about sockets"
done
# shellcheck disable=SC2016 # what the ranks expand
expect 0 run --nproc-per-node 3 /bin/sh -c \
	'[ "$RANK" = 1 ] && export LOCKSTEP_INTRA=tcp
	exec "$0" bench all_reduce -b 1M -e 1M -n 2' "$LOCKSTEP"
expect_out '^# Out of bounds values : 0 OK$'

# What goes through memory alone may go its own way, where all ranks say so; a
# simulation goes by its profile, within a node.
cat >"$scratch/memory.yaml" <<'.'
name: memory
selection:
  broadcast:
    - {intra: shm, algorithm: chain}
    - {algorithm: linear}
.
sed 's/^name:.*/&\nintra: shm/' "$scratch/memory.yaml" >"$scratch/near.yaml"
expect_way() { # ALGORITHM WORDS... - by which the 4 ranks of these broadcast
	local algorithm=$1 way
	shift
	expect 0 run --nproc-per-node 4 --trace "$scratch/way.json" "$@"
	way=$(jq -r '[.traceEvents[] | select(.name == "lockstep:broadcast") |
		.args.algorithm // empty] | unique[]' "$scratch/way.json")
	[ "$way" = "$algorithm" ] || fail "$*: by $way, not $algorithm"
}
broadcast=(broadcast -b 1K -e 1K -n 1 -w 0 -c 0)
real=(--profile "$scratch/memory.yaml")
one_node=(--backend sim --platform h100-nvswitch-8)
four_nodes=(--backend sim --platform star-8)
expect_way chain "${real[@]}" "${broadcast[@]}"
expect_way linear "${real[@]}" --intra tcp "${broadcast[@]}"
# shellcheck disable=SC2016 # what the ranks expand
expect_way linear "${real[@]}" /bin/sh -c \
	'[ "$RANK" = 1 ] && export LOCKSTEP_INTRA=tcp
	exec "$0" bench "$@"' "$LOCKSTEP" "${broadcast[@]}"
expect_way chain "${one_node[@]}" --profile "$scratch/near.yaml" "${broadcast[@]}"
jq -e '.lockstep.intra == "shm"' "$scratch/way.json" >/dev/null ||
	fail "the trace does not tell what ranks of a node talk through"
expect_way linear "${one_node[@]}" "${real[@]}" "${broadcast[@]}"
expect_way linear "${four_nodes[@]}" --profile "$scratch/near.yaml" "${broadcast[@]}"

# GPUs of a platform are used with their maker's library where nobody says
# which.
same_as() { # WORDS... - of bench on a platform of GPUs
	expect 0 bench all_reduce --backend sim --platform h100-nvswitch-8 \
		--world-size 8 -b 1M -e 1M --tsv "$scratch/$1.tsv" "${@:2}"
}
same_as usual
same_as nccl --profile nccl
same_as ring --algorithm ring
cmp -s "$scratch/usual.tsv" "$scratch/nccl.tsv" || fail "H100: not as by NCCL"
! cmp -s "$scratch/usual.tsv" "$scratch/ring.tsv" || fail "as by a ring"

# Sizes by a step as well as by a factor.
expect 0 bench all_reduce "${sim[@]}" -b 1K -e 10K -i 4K --tsv "$scratch/tsv"
expect_out 'step: 4096\(bytes\)'
sizes=$(sed '1,2d' "$scratch/tsv" | cut -f 1 | xargs)
[ "$sizes" = "1024 5120 9216" ] || fail "-i 4K from 1K to 10K: $sizes"

# Calls timed together: where nothing varies, each takes the same but for the
# rounding of clocks that tick in ns.
single=$("$LOCKSTEP" bench all_reduce "${sim[@]}" -b 64K -e 64K --json |
	jq '.rows[0].time_us')
expect 0 bench all_reduce "${sim[@]}" -b 64K -e 64K -m 10 --json
jq -e --argjson t "$single" '.calls_an_iteration == 10 and
	(.rows[0].time_us / $t - 1 | fabs) < 1e-4' "$scratch/out" >/dev/null ||
	fail "-m 10: not the time of one call"

# Whose time: the root of a broadcast is done before the others.
for average in 0 1 2 3; do
	expect 0 bench broadcast "${sim[@]}" --nproc-per-node 4 -b 1M -e 1M \
		-a $average --json
	jq '.rows[0].time_us' "$scratch/out"
done >"$scratch/averages"
xargs <"$scratch/averages" | awk '
	{ exit !($3 <= $1 && $3 < $2 && $2 < $4) }' ||
	fail "-a 0 to 3: $(xargs <"$scratch/averages")"

# Spread, and calls that find the caches empty, checked as well.
expect 0 bench all_reduce --backend tcp --nproc-per-node 2 -n 5 -w 1 -b 256K \
	-e 256K --cold --json
jq -e '.cold and (.rows[0] | .wrong == 0 and .min_us <= .low_quartile_us and
	.low_quartile_us <= .time_us and .time_us <= .high_quartile_us and
	.high_quartile_us <= .max_us)' "$scratch/out" >/dev/null ||
	fail "--cold: $(cat "$scratch/out")"
expect 0 bench all_reduce --backend tcp --nproc-per-node 2 -n 1 -b 8 -e 8 --cold
expect_out '^# in-place, cold: caches emptied before each call;'

# By the clock rank 1 begins a broadcast with rank 0 and waits for the message;
# simulated, all of them begin in one instant and the time is the message's.
expect 0 bench broadcast --backend tcp --nproc-per-node 2 -n 3 -b 8 -e 8 \
	--together --json
jq -e '.together and .rows[0].wrong == 0' "$scratch/out" >/dev/null ||
	fail "--together: $(cat "$scratch/out")"
for together in "" --together; do
	expect 0 bench all_reduce "${sim[@]}" -b 1M -e 1M $together
	grep -v '^#' "$scratch/out" >>"$scratch/starts"
done
[ "$(sort -u "$scratch/starts" | wc -l)" -eq 1 ] ||
	fail "--together in simulation: $(cat "$scratch/starts")"

# Links of another speed are as those of a platform that has them, by option
# and by variable.
busbw() {
	expect 0 "$@"
	awk '$1 == 16777216 { print $8 }' "$scratch/out"
}
large=(all_reduce -b 16M -e 16M)
wanted=$(busbw bench "${large[@]}" --backend sim --platform ethernet-100g-1024 \
	--nproc-per-node 4)
on_25G=(--backend sim --platform star-64 --nproc-per-node 4)
for is in "$(busbw bench "${large[@]}" "${on_25G[@]}" --inter-bandwidth x4)" \
	"$(busbw run "${on_25G[@]}" --inter-bandwidth 100G "${large[@]}")" \
	"$(LOCKSTEP_LINKS='inter-bandwidth 100G, inter-latency x1' \
		busbw run "${on_25G[@]}" "${large[@]}")"; do
	if [ -z "$is" ] || [ "$is" != "$wanted" ]; then
		fail "25G as 100G: $is GB/s, not $wanted"
	fi
done

# A name alone is one of the collective benched; others are said in full.
for words in pairwise all_to_all=pairwise reduce=linear,pairwise; do
	expect 0 bench alltoall "${sim[@]}" -b 1K -e 1K --algorithm $words \
		--json
	jq '.rows[0].time_us' "$scratch/out"
done | sort -u >"$scratch/pairwise"
expect 0 bench alltoall "${sim[@]}" -b 1K -e 1K --algorithm linear --json
jq '.rows[0].time_us' "$scratch/out" >"$scratch/linear"
[ "$(wc -l <"$scratch/pairwise")" -eq 1 ] || fail "pairwise in three words"
! cmp -s "$scratch/pairwise" "$scratch/linear" || fail "pairwise as linear"
expect_refusal "of all_to_all: expected one of pairwise, linear, bruck" \
	bench alltoall --algorithm ring
expect_refusal 'unknown operation "square"' bench alltoall --algorithm square=a
expect_refusal '--algorithm: expected COLLECTIVE=' bench sendrecv --algorithm ring
LOCKSTEP_ALGORITHM=pairwise expect_refusal 'of all_reduce' bench alltoall

# One name with and without underscores.
expect 0 bench all_to_all "${sim[@]}" -b 1K -e 1K
expect_out '^# collective: alltoall '

expect_refusal 'expected a collective: all_reduce' bench
expect_refusal 'no collective "all_gatherer"; .*; did you mean "all_gather"?' bench all_gatherer
expect_refusal 'no collective "all"; expected' bench all
expect_refusal 'unexpected argument' bench all_reduce reduce
expect_refusal '-b' bench all_reduce -b many
expect_refusal '-e' bench all_reduce -b 8 -e 4
expect_refusal '-f' bench all_reduce -f 1
expect_refusal '-n' bench all_reduce -n 0
expect_refusal '-n' bench all_reduce -n -1
expect_refusal '-w' bench all_reduce -w -1
expect_refusal '-c' bench all_reduce -c -1
expect_refusal '-i' bench all_reduce -i 0
expect_refusal '-i' bench all_reduce -i little
expect_refusal '-m' bench all_reduce -m 0
expect_refusal '-a' bench all_reduce -a 4
expect_refusal '-a' bench all_reduce -a -1
expect_refusal '--cold: expected a real back end' bench all_reduce "${sim[@]}" \
	--cold
expect_refusal '--cold: expected -m 1' bench all_reduce --cold -m 2
expect_refusal '-i: expected without -f' bench all_reduce -i 8 -f 2
expect_refusal '-r: expected with broadcast' bench all_reduce -r 0
expect_refusal '-o: expected with all_reduce' bench alltoall -o sum
expect_refusal '--uncalibrated: expected another' bench sendrecv \
	--machine mn5-gpp --world-size 4 --uncalibrated
for option in '--profile gloo' '--intra tcp' '--bind-to core'; do
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal "${option% *}.*: expected --backend" bench all_reduce \
		--backend mpi $option
done
expect_refusal '-d' bench all_reduce -d short
expect_refusal '-o' bench all_reduce -o xor
expect_refusal 'sendrecv' bench sendrecv --nproc-per-node 1
expect_refusal '-r' bench broadcast "${sim[@]}" -r 4
expect_refusal 'nproc' bench all_reduce --nproc-per-node -1
expect_refusal 'platform' bench all_reduce --backend sim

# What many messages cost is said before they are simulated.
expect 0 platform new --nodes 128 --gpus 8 --intra nvswitch:300GB/s \
	--inter ib:8x200G --topology fat-tree:32x4,taper=2 -o "$scratch/wide.xml"
[ "${SANITIZED:-}" = yes ] || (
	ulimit -t 4
	exec "$LOCKSTEP" bench alltoall --backend sim --fidelity flow -b 1M -e 1M \
		--platform "$scratch/wide.xml" --world-size 1024 \
		--algorithm pairwise >"$scratch/out" 2>"$scratch/err"
)
[ "${SANITIZED:-}" = yes ] ||
	grep -q '^lockstep: all_to_all of 1024 ranks goes message by message, .*: its own messages share links; about 1e+06 messages, 3.1 s' \
	"$scratch/err" || fail "no word of the cost: $(cat "$scratch/err")"

# A machine on switches that its nodes share.
time_of() {
	expect 0 bench alltoall --machine hgx-h100-400g --world-size 64 -b 64M \
		-e 64M "$@"
	awk '$1 == 67108864 { print $6 }' "$scratch/out"
}
star=$(time_of) wide=$(time_of --topology fat-tree:2x4)
taper=$(time_of --topology fat-tree:2x4,taper=8)
awk -v star="$star" -v wide="$wide" -v taper="$taper" 'BEGIN {
	exit !(star > 0 && wide == star && taper > 2 * star) }' ||
	fail "switches: $star, $wide, $taper us"
expect_refusal '--topology: expected --fidelity flow' bench alltoall --machine \
	hgx-h100-400g --world-size 64 --topology star --fidelity formula

# What is simulated has an interval, by ranges of sizes below the table; what is
# run has none.
expect 0 bench all_reduce --machine aws-p5:efa --world-size 16 -b 1M -e 1G -f 32
expect_out '^# Interval  .*80 % of like cases .* all_reduce by nccl, .* to 64 MiB, calibrated'
[ "$(grep -c '^# Interval ' "$scratch/out")" = 2 ] || fail "an interval a range"
expect 0 bench all_reduce --machine aws-p5:efa --world-size 16 -b 1M -e 1M --json
jq -e '.rows[0] | .low_us < .time_us and .time_us < .high_us' "$scratch/out" \
	>/dev/null || fail "no interval"
expect 0 bench alltoall --machine aws-p5:efa --world-size 16 -b 1M -e 1M
expect_out '^# Interval  .*no like case was measured; the widest '
# AMD's library is taken for NCCL, with its launch, and nothing says how well.
expect 0 bench all_reduce --machine azure-ndmi300xv5 --world-size 8 -b 8 -e 8 --json
jq -e '(.rows[0] | .time_us > 10 and .low_us == null) and
	(.calibration | test("RCCL is taken for NCCL"))' \
	"$scratch/out" >/dev/null || fail "RCCL is as quick as links"
expect_refusal 'links is not known' bench all_reduce --machine lumi-g --world-size 8 -b 8
expect 0 bench all_reduce --nproc-per-node 2 -b 1K -e 1K --json
jq -e '.rows[0].low_us == null' "$scratch/out" >/dev/null ||
	fail "an interval around what was measured"

# Engines are of a simulation, and their words are told with the option.
for option in --engine=own --platform=star-8 --fidelity=flow; do
	expect_refusal '^lockstep bench: .*--engine: expected --backend sim' \
		bench all_reduce --nproc-per-node 2 "$option"
done
for option in --intra=tcp --bind-to=core; do
	expect_refusal '^lockstep bench: .*--bind-to: expected --backend tcp' \
		bench all_reduce --backend sim --platform star-8 "$option"
done
expect_refusal '^lockstep bench: --engine: expected auto, own or simgrid, not "fast"' \
	bench all_reduce --backend sim --platform star-8 --engine fast
expect_refusal '^lockstep run: --engine: expected with --backend sim' run \
	--nproc-per-node 2 --engine own hello

# A run on simulated NVIDIA GPUs takes NCCL, as bench and predict do.
expect 0 run --backend sim --platform h100-nvswitch-8 --nproc-per-node 8 \
	--trace "$scratch/gpus.json" hello
grep -q '"profile":"nccl"' "$scratch/gpus.json" || fail "not by NCCL"
expect 0 run --backend sim --platform h100-nvswitch-8 --nproc-per-node 8 \
	--trace "$scratch/gpus.json" --fidelity message hello
! grep -q '"profile":"nccl"' "$scratch/gpus.json" || fail "by NCCL, of which no message is known"

# NCCL's figures with their conditions; from 2.30 on of ranks that share a GPU.
export DOUBLE_DEVICES=1 MAX=8 SHARE=2 OUT=$scratch/figures.tsv
DOUBLE_NCCL_VERSION=22907 bash bench/nccl.sh >/dev/null || fail "no figures"
! grep -q '^2' "$OUT" || fail "figures of ranks that cannot share a GPU"
DOUBLE_NCCL_VERSION=23000 bash bench/nccl.sh >/dev/null || fail "no figures"
grep -q '^# NCCL 2.30.0 ' "$OUT" || fail "figures without conditions"
grep -q '^2	1	sendrecv	8	' "$OUT" || fail "no figures of ranks on one GPU"

finish
