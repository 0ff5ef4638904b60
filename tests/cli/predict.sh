#!/bin/bash
# A prediction states what it stands on, adds up, and is the same every time.
. tests/cli/support.bash

expect 0 predict --platform star-8 --world-size 1,2,8 --tsv "$scratch/tsv"
for word in workload model compute platform network profile fidelity; do
	expect_out "^# $word +[^ ]"
done
expect_out '^# network .*CM02'
expect_out '^# all_reduce 8 ranks: 8196000 31502336 26255360 26550272 9724160'
cp "$scratch/out" "$scratch/first"

# step = compute + exposed + idle; one rank has nothing to wait for; what is exposed
# is never more than the communication alone; efficiency falls.
awk '/^ / && $1 ~ /^[0-9]+$/ {
	rest = $2 - $3 - $5 - $6
	if (rest > 0.002 || rest < -0.002) exit 1
	if ($1 == 1 && $5 + $6 != 0) exit 1
	if ($5 > $4 + 0.002 || (last && $7 > last)) exit 1
	last = $7; rows++
} END { exit rows != 3 }' "$scratch/out" || fail "the table does not add up"
[ "$(grep -vc '^#' "$scratch/tsv")" -eq 4 ] || fail "not 4 lines of TSV"

expect 0 predict --platform star-8 --world-size 1,2,8
cmp -s "$scratch/out" "$scratch/first" || fail "two runs differ"

# What the environment says of jobs would not stand beside the answer.
LOCKSTEP_PROFILE=no-such LOCKSTEP_ALGORITHM=all_reduce=double_tree \
	LOCKSTEP_P2P=buffered LOCKSTEP_TRACE=$scratch/no-such/trace \
	LOCKSTEP_LINKS='inter-bandwidth x2' LOCKSTEP_TIMEOUT=0.001 \
	expect 0 predict --platform star-8 --world-size 1,2,8
cmp -s "$scratch/out" "$scratch/first" ||
	fail "a variable of jobs changed a prediction"

# Why: the legs of the critical path add up, and a straggler is on it.
expect_out '^# narrowest .* of a ring over 8 ranks'
expect_out '^with 8 ranks, critical path: '
expect 0 predict --platform star-8 --world-size 8 --straggler 5:3 --json
jq -e '.critical_path as $path | .rows[0].step_ms as $step |
	(([$path.legs[].took_ms] | add) - $step | fabs < 1e-3) and
	([$path.legs[] | select(.kind == "compute" and .rank == 5)] |
		length > 0) and
	([$path.legs[] | select(.kind == "move" and .late_ms > 1)] |
		length > 0)' "$scratch/out" >/dev/null ||
	fail "no path by the straggler: $(jq -c .critical_path "$scratch/out")"
expect 0 predict --platform star-8 --world-size 8 --no-explain --json
jq -e 'has("critical_path") | not' "$scratch/out" >/dev/null ||
	fail "explained though not asked"

# Layer after layer is told once, and what is left out still counts.
expect 0 predict --workload tensor_parallel --model gpt2_small \
	--platform star-8 --world-size 8
expect_out ' the same [0-9]+ times more'
awk '/critical path:/ { whole = $6; next }
	whole && $2 ~ /^[0-9]/ { sum += $2 }
	END { off = sum - whole; exit !(off < 0.1 && off > -0.1) }' \
	"$scratch/out" || fail "lines do not add up: $(cat "$scratch/out")"

# Whose model it is, and with which constants.
expect 0 predict --model mnist --platform star-8 --world-size 4 --profile gloo
expect_out '^# profile +gloo 2020: 17000 ns a message'
expect_out '^# library +gloo, from github.com/.*; .*tcp_stream_GBps 1.16'

# Without a world size: all that the platform holds.
expect 0 predict --model mnist --platform star-8
expect_out '^ +8 '

# A measured step is spread, not stretched.
expect 0 predict --model mnist --platform star-8 --world-size 1 --step-ms 10
expect_out '^ +1 +10\.000 +10\.000 +0\.000 +0\.000 +0\.000 +1\.0000 +message$'

# Buckets: one for everything, and the algorithm asked for.
expect 0 predict --model resnet18 --platform star-8 --world-size 4 \
	--first-bucket-mb 1000 --bucket-cap-mb 1000 --algorithm halving_doubling
expect_out '^# all_reduce 4 ranks: 46758048 B by halving_doubling$'

expect 0 predict --platform star-8 --world-size 2 --json \
	--trace "$scratch/trace.json"
expect_out '"world_size": 2,'
expect_out '"fidelity": "message",'
expect_out '"algorithm": "'
[ -s "$scratch/trace.json" ] || fail "no trace"

# Samples of all ranks; a gradient for each parameter.
expect 0 predict --model mnist --platform star-8 --world-size 4 --batch 10 \
	--step-ms 10 --json
jq -e '.rows[0] | .gradient_bytes == 4 * 1199882 and
	(.samples_per_s - 40e3 / .step_ms | fabs) < 1e-3' "$scratch/out" \
	>/dev/null || fail "samples or bytes"

# A dry run refuses what a prediction would, and says nothing else.
expect 0 predict --platform star-8 --world-size 8 --dry-run
[ ! -s "$scratch/out" ] || fail "a dry run says something"
expect_refusal 'at most 8 ranks' predict --platform star-8 --world-size 8,9 \
	--dry-run

# A machine has as many nodes as are asked for; where two stand for them all,
# the answer is that of all of them.
expect 0 predict --machine hgx-h100-400g --world-size 4,8,24 --json
jq '.rows[] | del(.fidelity)' "$scratch/out" >"$scratch/message"
expect_out '"machine": "hgx-h100-400g, 8 ranks a node"'
expect 0 predict --machine hgx-h100-400g:rdma --world-size 4,8,24 --json \
	--fidelity formula
jq '.rows[] | del(.fidelity)' "$scratch/out" >"$scratch/formula"
paste -d ' ' <(jq .step_ms "$scratch/message") <(jq .step_ms "$scratch/formula") |
	awk '$1 / $2 > 1.001 || $1 / $2 < 0.999 { exit 1 } END { exit NR != 3 }' ||
	fail "formula is not near message"
expect 0 predict --model mnist --machine hgx-h100-400g --world-size 131072
expect_out '^ +131072 .* formula$'
[ -z "$(find /tmp -maxdepth 1 -name 'lockstep-*' -newer "$scratch/formula")" ] ||
	fail "platforms are left"

# Its trace says which machine that was, and nothing of where the platform lay.
expect 0 predict --model mnist --machine hgx-h100-400g --world-size 16 \
	--trace "$scratch/machine.json"
grep -q '"platform": *"hgx-h100-400g:rdma"' "$scratch/machine.json" ||
	fail "not the machine: $(grep -m 1 '"platform"' "$scratch/machine.json")"
grep -q '/tmp/lockstep-' "$scratch/machine.json" && fail "a passing path"

# What was a flow, and what was not: the buckets; rank 0's parameters, which a
# binomial tree spreads. A hierarchical collective counts as its parts.
flow=(predict --platform star-64 --model mnist --no-explain --fidelity flow)
expect 0 "${flow[@]}" --world-size 16,64
for ranks in 16 64; do
	expect_out "^# flows +$ranks ranks: 2 of 3 collectives were flows; by messages 1 of few messages or without a timetable\$"
done
expect 0 "${flow[@]}" --world-size 64 --json
jq -e '.rows[0].collectives == {flows: 2, by_messages: 1, why:
	{shared_links: 0, early_ranks: 0, no_timetable: 1, network_model: 0}}' \
	"$scratch/out" >/dev/null || fail "$(jq -c '.rows[0]' "$scratch/out")"
expect 0 predict --platform fat-tree-hdr-16x8 --model mnist --world-size 128 \
	--no-explain --fidelity flow --algorithm all_reduce=hierarchical --json
jq -e ".rows[0].collectives.flows > 2" \
	"$scratch/out" >/dev/null || fail "$(jq -c '.rows[0]' "$scratch/out")"
expect 0 predict --platform star-8 --model mnist --no-explain --json
jq -e '.rows[0].collectives == null' "$scratch/out" >/dev/null ||
	fail "flows at fidelity message"
expect 0 run --backend sim --platform star-64 --nproc-per-node 64 \
	--fidelity flow --json "$scratch/run.json" ddp_step --model mnist
expect_err '^lockstep run: fidelity flow: 2 of 3 collectives were flows; '
jq -e '.fidelity == "flow" and .collectives == {flows: 2, by_messages: 1, why:
	{shared_links: 0, early_ranks: 0, no_timetable: 1, network_model: 0}}' \
	"$scratch/run.json" >/dev/null || fail "$(jq -c . "$scratch/run.json")"
expect 0 run --backend sim --platform star-8 --nproc-per-node 8 \
	--json "$scratch/run.json" ddp_step --model mnist
[ ! -s "$scratch/err" ] || fail "talk of flows: $(cat "$scratch/err")"
jq -e '.fidelity == "message" and (has("collectives") | not)' \
	"$scratch/run.json" >/dev/null || fail "$(jq -c . "$scratch/run.json")"
expect 0 run --nproc-per-node 2 --json "$scratch/run.json" hello
jq -e 'has("fidelity") or has("collectives") | not' "$scratch/run.json" \
	>/dev/null || fail "fidelity of real ranks"

# Links of another speed are as those of a platform that has them, what is
# degraded included.
steps() {
	expect 0 predict --model resnet50 --no-explain --json "$@"
	jq -r '.rows[].step_ms' "$scratch/out"
}
for fidelity in message flow formula; do
	is=$(steps --platform star-64 --world-size 2,48 --fidelity $fidelity \
		--inter-bandwidth 100G)
	[ "$is" = "$(steps --platform ethernet-100g-1024 --world-size 2,48 \
		--fidelity $fidelity)" ] || fail "$fidelity: 25G as 100G: $is"
done
for card in 100G 200G; do
	expect 0 platform new --nodes 4 --gpus 2 --intra nvswitch:235.3GB/s \
		--inter "ib:2x$card" --degrade node2.nic0:0.5 \
		-o "$scratch/ib-$card.xml"
done
is=$(steps --platform "$scratch/ib-100G.xml" --inter-bandwidth x2)
[ "$is" = "$(steps --platform "$scratch/ib-200G.xml")" ] ||
	fail "100G x2 is not 200G: $is"
expect 0 predict --model mnist --machine hgx-h100-400g --world-size 16 \
	--inter-bandwidth x0.5 --intra-latency 2us --trace "$scratch/links.json"
expect_out '^# links +inter-bandwidth x0.5, intra-latency 2us$'
grep -q '"inter bandwidth": *"x0.5"' "$scratch/links.json" ||
	fail "the trace does not say that links are changed"
for words in bandwidth=100 bandwidth=0G bandwidth=-1G bandwidth=x0 \
	bandwidth=5us latency=5 latency=0us latency=x1e9; do
	expect_refusal "^lockstep predict: --inter-${words%%=*}: expected .* with its unit, .*, or a factor of x0.001 to x1000, not \"${words#*=}\"\$" \
		predict --platform star-8 "--inter-$words"
done
expect_refusal '^lockstep predict: --intra-latency: .*star-8.xml has no links within nodes: expected hosts that share a node$' \
	predict --platform star-8 --intra-latency x2
expect_refusal '^lockstep predict: --inter-bandwidth: .* has no links between nodes: expected hosts on several nodes$' \
	predict --platform h100-nvswitch-8 --inter-bandwidth 100G

expect_refusal '9.*at most 8 ranks' predict --platform star-8 --world-size 9
expect_refusal 'no-such' predict --platform no-such --world-size 2
expect_refusal 'no-such' predict --platform star-8 --world-size 2 \
	--profile no-such
expect_refusal 'no-such' predict --platform star-8 --world-size 2 \
	--algorithm no-such
expect_refusal 'platform' predict --world-size 2
expect_refusal 'one of --platform and --machine' predict --world-size 2 \
	--platform star-8 --machine dgx-a100
expect_refusal 'no-such' predict --machine no-such --world-size 2
expect_refusal 'no network of transport "efa": expected rdma' predict \
	--machine hgx-h100-400g:efa --world-size 2
expect_refusal '--world-size is needed' predict --machine hgx-h100-400g
expect_refusal '--world-size: expected' predict --machine hgx-h100-400g \
	--world-size 0
expect_refusal 'fidelity' predict --platform star-8 --world-size 2 \
	--fidelity exact
for batch in 0 -1 nan; do
	expect_refusal 'batch' predict --platform star-8 --world-size 2 \
		--batch=$batch
done
expect_refusal 'trace' predict --platform star-8 --world-size 2,4 \
	--trace "$scratch/no.json"
expect_refusal 'no-such' predict --platform star-8 --world-size 2 \
	--tsv "$scratch/no-such/tsv"

finish
