#!/bin/bash
# A prediction states what it stands on, adds up, and is the same every time.
. tests/cli/support.bash

expect 0 predict --flops 60e12 --platform star-8 --world-size 1,2,8 --tsv "$scratch/tsv"
for word in workload model compute platform network profile fidelity; do
	expect_out "^# $word +[^ ]"
done
expect_out '^# network .*CM02'
expect_out '^# all_reduce +8 ranks: 8196000 31502336 26255360 26550272 9724160'
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

expect 0 predict --flops 60e12 --platform star-8 --world-size 1,2,8
cmp -s "$scratch/out" "$scratch/first" || fail "two runs differ"

# What the environment says of jobs would not stand beside the answer.
LOCKSTEP_PROFILE=no-such LOCKSTEP_ALGORITHM=all_reduce=double_tree \
	LOCKSTEP_P2P=buffered LOCKSTEP_TRACE=$scratch/no-such/trace \
	LOCKSTEP_LINKS='inter-bandwidth x2' LOCKSTEP_TIMEOUT=0.001 \
	expect 0 predict --flops 60e12 --platform star-8 --world-size 1,2,8
cmp -s "$scratch/out" "$scratch/first" ||
	fail "a variable of jobs changed a prediction"

# Why: the legs of the critical path add up, and a straggler is on it.
expect_out '^# narrowest .* of a ring over 8 ranks'
expect_out '^with 8 ranks, critical path: '
expect 0 predict --flops 60e12 --platform star-8 --world-size 8 --straggler 5:3 --json
jq -e '.critical_path as $path | .rows[0].step_ms as $step |
	(([$path.legs[].took_ms] | add) - $step | fabs < 1e-3) and
	([$path.legs[] | select(.kind == "compute" and .rank == 5)] |
		length > 0) and
	([$path.legs[] | select(.kind == "move" and .late_ms > 1)] |
		length > 0)' "$scratch/out" >/dev/null ||
	fail "no path by the straggler: $(jq -c .critical_path "$scratch/out")"
expect 0 predict --flops 60e12 --platform star-8 --world-size 8 --markdown
expect_out '^- model +resnet50: '
expect_out '^\| 8 \| [0-9.]+ \| .* \| message \| [0-9.]+ \| [0-9.]+ \|$'
expect 0 predict --flops 60e12 --platform star-8 --world-size 8 --no-explain --json
jq -e 'has("critical_path") | not' "$scratch/out" >/dev/null ||
	fail "explained though not asked"

# Layer after layer is told once, and what is left out still counts.
expect 0 predict --flops 60e12 --workload tensor_parallel --model gpt2_medium \
	--platform star-8 --world-size 8
expect_out ' the same [0-9]+ times more'
awk '/critical path:/ { whole = $6; next }
	whole && $2 ~ /^[0-9]/ { sum += $2 }
	END { off = sum - whole; exit !(off < 0.1 && off > -0.1) }' \
	"$scratch/out" || fail "lines do not add up: $(cat "$scratch/out")"

# A model written by hand: 32 blocks of 4096 without biases, 32 heads, on
# sequences of 2048. Without the columns nothing is guessed.
write_7b() { # COLUMNS... - those behind the first three
	awk -v columns="$*" 'BEGIN {
		count = split(columns, names, " ")
		printf "parameter,numel,forward_flops"
		for (i = 1; i <= count; i++) printf ",%s", names[i]
		print ""
		row("embed_tokens", 32000 * 4096, 0, 4096)
		for (l = 0; l < 32; l++) {
			at = "layers." l "."
			row(at "q_proj", 4096 * 4096, 1, 4096)
			row(at "k_proj", 4096 * 4096, 1, 4096)
			row(at "v_proj", 4096 * 4096, 1, 4096)
			row(at "o_proj", 4096 * 4096, 1, 4096, 32)
			row(at "gate_proj", 4096 * 11008, 1, 11008, "", 1)
			row(at "up_proj", 4096 * 11008, 1, 11008, "", 1)
			row(at "down_proj", 4096 * 11008, 1, 4096, "", 1)
			row(at "norms", 2 * 4096, 0)
		}
		row("lm_head", 32000 * 4096, 1, 32000)
	}
	function row(name, numel, works, width, heads, mlp) {
		has["width"] = width
		has["positions"] = width ? 2048 : ""
		has["heads"] = heads
		has["mlp"] = mlp
		printf "%s,%d,%.0f", name, numel, works * 2 * numel * 2048
		for (i = 1; i <= count; i++) printf ",%s", has[names[i]]
		print ""
	}'
}
write_7b >"$scratch/bare.csv"
write_7b width positions >"$scratch/widths.csv"
write_7b width positions heads mlp >"$scratch/7b.csv"
on_8=(predict --flops 60e12 --platform nvswitch-8 --profile ideal --world-size 8 --batch 4 --no-explain)
for words in 'tensor_parallel:2: layer layers.0: expected one row with heads' \
	'pipeline:2: layer layers.0: expected a row with width and positions' \
	'moe: expected rows of mlp'; do
	expect_refusal "bare.csv${words#"${words%%:*}"}.*docs/models.md" \
		"${on_8[@]}" --workload "${words%%:*}" --model "$scratch/bare.csv"
done
expect_refusal 'widths.csv:2: layer layers.0: expected one row with heads' \
	"${on_8[@]}" --workload tensor_parallel --model "$scratch/widths.csv"
expect_refusal 'widths.csv: expected rows of mlp' "${on_8[@]}" \
	--workload moe --model "$scratch/widths.csv"
for kind in ddp_step fsdp 'hybrid --tp 1'; do
	# shellcheck disable=SC2086 # a kind and its options
	expect 0 "${on_8[@]}" --fidelity formula --workload $kind --model "$scratch/bare.csv"
done
expect 0 "${on_8[@]}" --workload pipeline --model "$scratch/widths.csv"
expect_out '^# calls +8 ranks: 4 send of 134217728 B$'
expect 0 "${on_8[@]}" --workload tensor_parallel --model "$scratch/7b.csv"
expect_out '^# calls +8 ranks: 128 all_reduce of 17179869184 B$'
expect 0 "${on_8[@]}" --workload moe --model "$scratch/7b.csv"
expect_out '^# calls .*, 128 all_to_all of 34359738368 B$'
expect 0 "${on_8[@]}" --workload hybrid --tp 2 --pp 4 --model "$scratch/7b.csv"
expect_out '^# calls .* 128 all_reduce of 4294967296 B, 4 send of 134217728 B$'
expect_refusal 'heads, 32, to be a multiple of the ranks of a tensor group, 3; legal of 3 ranks in 1 stage: 1$' \
	predict --flops 60e12 --platform star-8 --world-size 3 \
	--workload tensor_parallel \
	--model "$scratch/7b.csv"
# Layouts that are not legal, with those that are.
expect_refusal 'gpt2_small.csv:10: .*heads, 12, .* group, 8; legal of 32 ranks in 2 stages: 1, 2, 4$' \
	predict --machine dgx-a100 --world-size 32 --model gpt2_small \
	--workload hybrid --tp 8 --pp 2
expect_refusal 'product to divide the world size, 8: 1, 2, 4, 8$' "${on_8[@]}" \
	--workload hybrid --tp 3 --model "$scratch/7b.csv"
expect_refusal '64 stages: expected 1 to 32, the layers' predict --flops 60e12 \
	--platform star-64 --workload pipeline --model "$scratch/7b.csv"
expect_refusal 'micro-batches 3: expected a divisor of --batch, 4: 1, 2, 4$' \
	"${on_8[@]}" --workload pipeline --micro-batches 3 \
	--model "$scratch/7b.csv"
expect_refusal 'experts 12: expected a multiple of the world size, 8$' \
	"${on_8[@]}" --workload moe --experts 12 --model "$scratch/7b.csv"
for kind in tensor_parallel moe; do
	expect_refusal "resnet50.csv:?[0-9]*: .*expected .*mlp" "${on_8[@]}" \
		--workload $kind
done

# Data-parallel it does not fit, which the answer says; sharded it does. What is
# faster than the device is not silent either.
on_h100=(predict --machine hgx-h100-400g --fidelity formula --no-explain)
expect 0 "${on_h100[@]}" --world-size 8,16 --model "$scratch/bare.csv"
expect_out '^# compute .* at 395.6 TFLOP/s, assumed: 0.4 of the H100-SXM bf16 peak, 989 TFLOP/s; in DDP 15 us more a tensor, '
expect_out '^# memory +8 ranks: 107.8 GB a rank for parameters, gradients and adam'
for ranks in 8 16; do
	expect_out "^impossible with $ranks ranks: needs 107.8 GB a rank .*, H100 80GB has 85.9 GB\$"
done
expect 0 "${on_h100[@]}" --world-size 8 --json --step-ms 1 \
	--model "$scratch/bare.csv" --tsv "$scratch/tsv"
jq -e '.rows[0] | .memory_bytes == 107814584320 and (.impossible |
	test("needs 107.8 GB.*; computes at .* above the H100-SXM bf16"))' \
	"$scratch/out" >/dev/null || fail "$(jq -c '.rows[0]' "$scratch/out")"
grep -q '	107814584320	needs 107.8 GB' "$scratch/tsv" || fail "no TSV column"
expect 0 "${on_h100[@]}" --world-size 8 --json --workload fsdp \
	--model "$scratch/bare.csv"
jq -e '.rows[0] | .impossible == null and .memory_bytes < 14e9' "$scratch/out" \
	>/dev/null || fail "$(jq -c '.rows[0]' "$scratch/out")"

# So is what no device can do, where none is named; also under lockstep run.
expect 0 "${on_8[@]/nvswitch-8/star-8}" --flops 1e20 --model "$scratch/bare.csv"
expect_out '^impossible with 8 ranks: computes at 1e\+08 TFLOP/s, above that of any GPU, the GB300 fp4 peak, '
expect 0 "${on_8[@]/nvswitch-8/star-8}" --flops 1e15 --model "$scratch/bare.csv"
! grep -q '^impossible' "$scratch/out" || fail "1 PFLOP/s is impossible"
expect 0 run --backend sim --platform star-8 --nproc-per-node 8 ddp_step \
	--flops 1e20
expect_out '^impossible: computes at 1e\+08 TFLOP/s, above that of any GPU'

# The device is the machine's, the platform's, or the one that is named; one that
# nobody names has no rate.
expect 0 predict --platform h100-nvswitch-8 --model gpt2_xl --no-explain
expect_out '^# compute .* assumed: 0.4 of the H100-SXM bf16 peak'
expect 0 predict --machine dgx-a100 --world-size 8 --no-explain
expect_out '^# compute .* 60.6 TFLOP/s achieved by A100 SXM 80GB, ResNet-50 '
expect 0 predict --machine dgx-a100 --world-size 8 --gpu H200 --model vgg16 \
	--fidelity formula
expect_out '^# compute .* of the H200-SXM bf16 peak, 989 '
for place in '--platform star-8' '--machine xeon-40gbe --world-size 2'; do
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal 'expected --gpu, --flops or --step-ms' predict $place
done
for words in '--workload moe --experts 3' '--straggler 9:2' \
	'--workload tensor_parallel --model gpt2_small'; do
	# shellcheck disable=SC2086 # options and their values
	expect_refusal 'expected' predict --machine dgx-a100 --world-size 8 $words
done

# A call that takes longer than jobs wait has an answer all the same.
printf 'parameter,numel,forward_flops\nw,4000000000000,8000000000000\n' \
	>"$scratch/slow.csv"
expect 0 predict --flops 60e12 --platform star-8 --world-size 8 --json \
	--no-explain --fidelity formula --model "$scratch/slow.csv"
jq -e '.rows[0].step_ms > 8e6' "$scratch/out" >/dev/null ||
	fail "$(jq -c '.rows[0].step_ms' "$scratch/out")"

# Samples are those of the replicas: one of eight ranks in a tensor group.
expect 0 "${on_8[@]}" --workload tensor_parallel --model "$scratch/7b.csv" --json
jq -e '.rows[0] | .samples_per_s * .step_ms / 4e3 - 1 | fabs < 1e-6' \
	"$scratch/out" >/dev/null || fail "samples of no replica"

# Whose model it is, and with which constants.
expect 0 predict --flops 60e12 --model mnist --platform star-8 --world-size 4 --profile gloo
expect_out '^# profile +gloo 2020: 17000 ns a message'
expect_out '^# library +gloo, from github.com/.*; .*one_thread 1, stream_GBps 2.32'

# Without a world size: all that the platform holds.
expect 0 predict --flops 60e12 --model mnist --platform star-8
expect_out '^ +8 '

# A measured step is spread, not stretched.
expect 0 predict --model mnist --platform star-8 --world-size 1 --step-ms 10
expect_out '^ +1 +10\.000 +10\.000 +0\.000 +0\.000 +0\.000 +1\.0000 +message '

# Buckets: one for everything, and the algorithm asked for.
expect 0 predict --flops 60e12 --model resnet18 --platform star-8 --world-size 4 \
	--first-bucket-mb 1000 --bucket-cap-mb 1000 --algorithm halving_doubling
expect_out '^# all_reduce +4 ranks: 46758048 B by halving_doubling$'
expect 0 predict --model bert_large --machine dgx-a100 --profile nccl \
	--world-size 8 --no-explain
expect_out '^# all_reduce +8 ranks: 4214792 B by ring LL128, 37 buckets of 29396992 to 131330048 B by ring Simple$'

expect 0 predict --flops 60e12 --platform star-8 --world-size 2 --json \
	--trace "$scratch/trace.json"
expect_out '"world_size": 2,'
expect_out '"fidelity": "message",'
expect_out '"algorithm": "'
[ -s "$scratch/trace.json" ] || fail "no trace"

# Samples of all ranks; a gradient for each parameter.
expect 0 predict --model mnist --platform star-8 --world-size 4 --batch 10 --step-ms 10 --json
jq -e '.rows[0] | .gradient_bytes == 4 * 1199882 and
	(.samples_per_s - 40e3 / .step_ms | fabs) < 1e-3' "$scratch/out" \
	>/dev/null || fail "samples or bytes"

# A dry run refuses what a prediction would, and says nothing else.
expect 0 predict --flops 60e12 --platform star-8 --world-size 8 --dry-run
[ ! -s "$scratch/out" ] || fail "a dry run says something"
expect_refusal 'at most 8 ranks' predict --platform star-8 --world-size 8,9 \
	--dry-run

# A rate that a machine's description lacks may be given; the refusal says how.
for command in 'predict --no-explain' 'bench all_reduce -b 1G -e 1G'; do
	# shellcheck disable=SC2086 # words
	expect_refusal 'machine leonardo: the rate of its links is not known; expected --intra-bandwidth RATE, or another machine$' \
		$command --machine leonardo --world-size 16 --profile nccl \
		--intra-bandwidth x2
	# shellcheck disable=SC2086 # words
	expect 0 $command --machine leonardo --world-size 4 --profile nccl \
		--intra-bandwidth 100GB/s
done
awk '$1 == 1073741824 { exit !($8 > 50 && $8 < 100) }' "$scratch/out" ||
	fail "links of 100 GB/s: $(grep 1073741824 "$scratch/out")"

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
mkdir "$scratch/passing"
TMPDIR=$scratch/passing expect 0 predict --model mnist --machine hgx-h100-400g \
	--world-size 131072
expect_out '^ *131072 .* formula '
rmdir "$scratch/passing" || fail "platforms are left"

# Its trace says which machine that was, and nothing of where the platform lay.
expect 0 predict --model mnist --machine hgx-h100-400g --world-size 16 \
	--trace "$scratch/machine.json"
grep -q '"platform": *"hgx-h100-400g:rdma"' "$scratch/machine.json" ||
	fail "not the machine: $(grep -m 1 '"platform"' "$scratch/machine.json")"
grep -q '/tmp/lockstep-' "$scratch/machine.json" && fail "a passing path"

# Where rank 0 stands for all, its calls came together, in the trace as well.
expect 0 predict --model mnist --machine hgx-h100-400g --world-size 131072 \
	--trace "$scratch/one.json"
expect_out ' all came together$'
expect 0 trace path "$scratch/one.json"
expect_out ' all came together$'

# What was a flow, and what was not: the buckets; rank 0's parameters, which a
# binomial tree spreads, and for which a prediction of steps takes no time. A
# hierarchical collective counts as its parts.
by_tree=(--algorithm broadcast=binomial --fidelity flow)
flow=(predict --flops 60e12 --platform star-64 --model mnist --no-explain "${by_tree[@]}")
expect 0 "${flow[@]}" --world-size 16,64
for ranks in 16 64; do
	expect_out "^# flows +$ranks ranks: 2 of 2 collectives were flows\$"
done
# Ranks that each know their own parts only find out that all are as long.
moe=(predict --flops 60e12 --platform star-64 --model gpt_micro --no-explain
	--workload moe --algorithm all_to_all=pairwise --world-size 32 --json)
expect 0 "${moe[@]}" --fidelity message
step_ms=$(jq .rows[0].step_ms "$scratch/out")
expect 0 "${moe[@]}" --fidelity flow
jq -e --argjson message "$step_ms" '.rows[0] | .collectives.flows == 20 and
	(.step_ms / $message - 1 | fabs) < 0.005' "$scratch/out" >/dev/null ||
	fail "even parts: $(jq -c '.rows[0]' "$scratch/out")"
for uneven in '--imbalance 30' '--straggler 3:2'; do
	# shellcheck disable=SC2086 # an option and its value
	expect 0 "${moe[@]}" --fidelity flow $uneven
	jq -e '.rows[0].collectives | .flows < 6 and .why.no_timetable > 14' \
		"$scratch/out" >/dev/null ||
		fail "$uneven: $(jq -c '.rows[0]' "$scratch/out")"
done
# At formula one rank runs for all that do the same, unless there is a trace of
# all to write: the answer is that of all.
"$LOCKSTEP" platform new --nodes 8 --inter ib:100G --slow node5:0.8 \
	-o "$scratch/slow.xml"
for platform in star-8 machine-16 "$scratch/slow.xml"; do
	expect 0 predict --flops 60e12 --model mnist --platform "$platform" \
		--world-size 8 --fidelity formula --no-explain --json
	one=$(jq -c '.rows[0]' "$scratch/out")
	expect 0 predict --flops 60e12 --model mnist --platform "$platform" \
		--world-size 8 --fidelity formula --no-explain --json \
		--trace "$scratch/all.trace"
	all=$(jq -c '.rows[0]' "$scratch/out")
	[ "$one" = "$all" ] || fail "$platform: $one, of all ranks $all"
done
expect 0 "${flow[@]}" --world-size 64 --json
jq -e '.rows[0].collectives == {flows: 2, by_messages: 0, why:
	{shared_links: 0, early_ranks: 0, no_timetable: 0, network_model: 0}}' \
	"$scratch/out" >/dev/null || fail "$(jq -c '.rows[0]' "$scratch/out")"
expect 0 predict --flops 60e12 --platform fat-tree-hdr-16x8 --model mnist --world-size 128 \
	--no-explain --fidelity flow --algorithm all_reduce=hierarchical --json
jq -e ".rows[0].collectives.flows > 2" \
	"$scratch/out" >/dev/null || fail "$(jq -c '.rows[0]' "$scratch/out")"
expect 0 predict --flops 60e12 --platform star-8 --model mnist --no-explain --json
jq -e '.rows[0].collectives == null' "$scratch/out" >/dev/null ||
	fail "flows at fidelity message"
expect 0 run --backend sim --platform star-64 --nproc-per-node 64 \
	"${by_tree[@]}" --json "$scratch/run.json" ddp_step --model mnist
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
	expect 0 predict --flops 60e12 --model resnet50 --no-explain --json "$@"
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
	--profile ideal --inter-bandwidth x0.5 --intra-latency 2us \
	--trace "$scratch/links.json"
expect_out '^# links +inter-bandwidth x0.5, intra-latency 2us$'
grep -q '"inter bandwidth": *"x0.5"' "$scratch/links.json" ||
	fail "the trace does not say that links are changed"
for words in bandwidth=100 bandwidth=0G bandwidth=-1G bandwidth=x0 \
	bandwidth=5us latency=5 latency=0us latency=x1e9; do
	expect_refusal "^lockstep predict: --inter-${words%%=*}: expected .* with its unit, .*, or a factor of x0.001 to x1000, not \"${words#*=}\"\$" \
		predict --platform star-8 "--inter-$words"
done
expect_refusal '^lockstep predict: --intra-latency: the platform has no links within nodes: expected hosts that share a node$' \
	predict --platform star-8 --intra-latency x2
expect_refusal '^lockstep predict: --inter-bandwidth: the platform has no links between nodes: expected hosts on several nodes$' \
	predict --platform h100-nvswitch-8 --inter-bandwidth 100G
# A machine has as many nodes as the largest size needs.
expect_refusal '^lockstep predict: --inter-bandwidth: no link between nodes is in use: expected ranks on several nodes$' \
	predict --machine dgx-a100 --world-size 4,8 --inter-bandwidth x2
"$LOCKSTEP" predict --machine dgx-a100 --world-size 8,16 \
	--inter-bandwidth x2 >/dev/null || fail "x2 of 8 and 16 ranks"
expect_refusal '^lockstep predict: --intra-bandwidth: no link within nodes is in use: expected several ranks on a node$' \
	predict --machine dgx-a100 --ranks-per-node 1 --world-size 2 --intra-bandwidth x2

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

# Of a machine's nodes, joined by one switch, the formula is the same, unless
# several groups share links.
expect 0 predict --model resnet50 --machine dgx-a100 --profile nccl \
	--world-size 16 --no-explain
expect_out ' formula  +[0-9.]+ +[0-9.]+$'
expect 0 predict --model gpt2_medium --machine dgx-a100 --profile nccl \
	--workload hybrid --batch 4 --tp 4 --world-size 16 --no-explain
expect_out ' flow  +[0-9.]+ +[0-9.]+$'

# A step is what validate predicts for such a row: of ResNet-50 on 8 A100 and on
# 16 V100.
expect 0 validate nvidia-examples pytorch-ddp-benchmark --tsv "$scratch/steps.tsv"
same_step() {
	expect 0 predict --machine "$2" --world-size "$3" --step-ms "$4" --json \
		--model resnet50 --no-explain
	awk -F'\t' -v table="$1" -v ranks="$3" -v ms="$(jq '.rows[0].step_ms' "$scratch/out")" '
	$1 == table && $4 == ranks && $6 == "resnet50" && !found++ { off = $8 / 1e3 / ms - 1 }
	END { exit !(found && off < 1e-5 && off > -1e-5) }' "$scratch/steps.tsv" ||
		fail "$1 on $3: not what validate says"
}
same_step nvidia-examples dgx-a100 8 272.92
same_step pytorch-ddp-benchmark dgx-1 16 97

# Between which times it lies, by what blind predictions of steps were off by;
# where no like case was measured, the widest.
expect 0 predict --machine dgx-a100 --world-size 16 --step-ms 100 --no-explain --json
jq -e '(.conditions.interval | test("^80 % of like cases lie within a factor of ")) and
	(.rows[0] | (.step_ms / .low_ms) as $k | $k > 1.02 and $k < 1.5 and
	.high_ms / .step_ms / $k > 0.999 and .high_ms / .step_ms / $k < 1.001)' \
	"$scratch/out" >/dev/null || fail "interval: $(cat "$scratch/out")"
expect 0 predict --machine dgx-a100 --world-size 16 --no-explain \
	--tsv "$scratch/interval.tsv"
expect_out '^# interval +no like case was measured; the widest of others is a factor of '
grep -q '	low_ms	high_ms	' "$scratch/interval.tsv" || fail "no interval in TSV"

# NCCL's bytes flow over the platform's links: a narrow one between switches, a
# slow card, and a card that two groups share make a step longer, and the
# critical path says which link it was.
cluster=(platform new --gpu 'A100 40GB' --intra nvswitch:300GB/s)
step=(predict --model resnet50 --batch 1 --profile nccl)
expect 0 "${cluster[@]}" --nodes 8 --gpus 4 --inter ib:4x50G \
	-o "$scratch/star.xml"
expect 0 "${step[@]}" --platform "$scratch/star.xml"
! grep -q 'held up by' "$scratch/out" || fail 'a link of its own holds a step up'
expect 0 "${cluster[@]}" --nodes 8 --gpus 4 --inter ib:4x50G \
	--topology fat-tree:2x4,taper=16 -o "$scratch/taper.xml"
for engine in own simgrid; do # the first by name of those that are busy alike
	expect 0 "${step[@]}" --platform "$scratch/taper.xml" --engine $engine
	expect_out 'all_reduce .* held up by leaf0.up_DOWN'
done
# Rank 0 for all takes as long as all ranks, who are there in a trace.
# With messages it may be that they differ, and all run, too: where chunks share
# links, and by trees.
expect 0 "${cluster[@]}" --nodes 8 --gpus 4 --inter ib:4x50G \
	--topology fat-tree:2x4 -o "$scratch/wide.xml"
ours='resnet50 --algorithm all_reduce'
for step_of in "star.xml resnet50 --profile nccl --find-unused-parameters" \
	"taper.xml resnet50 --profile nccl" \
	"taper.xml resnet50 --profile nccl --workload fsdp" \
	"taper.xml gpt_micro --profile nccl --workload moe" \
	"wide.xml $ours=hierarchical" "taper.xml $ours=hierarchical" \
	"wide.xml $ours=ring" "wide.xml $ours=double_tree"; do
	read -ra of <<<"$step_of"
	alone=(predict --platform "$scratch/${of[0]}" --model "${of[@]:1}"
		--batch 1 --fidelity flow --no-explain --json)
	expect 0 "${alone[@]}"
	jq .rows "$scratch/out" >"$scratch/alone"
	expect 0 "${alone[@]}" --trace "$scratch/all.trace"
	jq .rows "$scratch/out" | diff "$scratch/alone" - ||
		fail "$step_of: rank 0 takes another time than all"
done
# Ranks that do not do the same all run on a machine, too, by formulas.
for step_of in ps 'hybrid --pp 2' 'moe --imbalance 10' 'moe --batch 31'; do
	# shellcheck disable=SC2086 # a workload and its options
	expect 0 predict --model gpt_micro --flops 60e12 --no-explain \
		--machine dgx-a100 --world-size 16 --fidelity formula \
		--workload $step_of
done
# The step and its communication alone refuse it, in one line.
expect_refusal 'NCCL has no algorithm "nvls" for 6' predict --model mnist \
	--flops 60e12 --platform tcp-100g-16x1 --world-size 6 --profile nccl \
	--algorithm all_reduce=nvls
machine=("${step[@]}" --machine hgx-h100-400g --world-size 64)
expect 0 "${machine[@]}" --topology fat-tree:2x4,taper=16
expect_out 'all_reduce .* held up by leaf[0-3].up_DOWN'
expect_refusal '--topology: expected --fidelity flow' "${machine[@]}" \
	--topology star --fidelity formula
expect_refusal 'room for 4 nodes' "${machine[@]}" --topology fat-tree:2x2
expect_refusal '--topology: expected with --machine' "${step[@]}" \
	--platform "$scratch/star.xml" --topology star
expect 0 "${cluster[@]}" --nodes 8 --gpus 4 --inter ib:4x50G \
	--degrade node5.nic2:0.25 -o "$scratch/slow.xml"
expect 0 "${step[@]}" --platform "$scratch/slow.xml"
expect_out 'all_reduce .* held up by node5.nic2_'
expect 0 "${cluster[@]}" --nodes 4 --gpus 2 --inter ib:1x50G \
	-o "$scratch/shared.xml"
expect 0 predict --workload hybrid --model gpt2_medium --batch 4 --tp 2 \
	--profile nccl --platform "$scratch/shared.xml"
expect_out 'all_reduce .* held up by node[0-3].nic0_'

# NVIDIA's GPUs are used with NCCL where nobody says which library or algorithm,
# at every fidelity that has it; other kinds, and processors, are not.
profile_of() { # WORDS... - the profile that predict names for them
	expect 0 predict --model mnist --no-explain --json "$@"
	jq -r .conditions.profile "$scratch/out"
}
for fidelity in auto formula flow; do
	said=$(profile_of --machine dgx-a100 --world-size 16 --fidelity "$fidelity")
	[[ "$said" == 'nccl '* ]] || fail "dgx-a100 at $fidelity: $said"
	same=$(profile_of --machine dgx-a100 --world-size 16 \
		--fidelity "$fidelity" --profile nccl)
	[ "$said" = "$same" ] || fail "not as --profile nccl says: $same"
done
said=$(profile_of --machine dgx-a100 --world-size 16 --fidelity message)
[[ "$said" != 'nccl '* ]] || fail "NCCL at message: $said"
said=$(profile_of --platform fat-tree-ndr-16x8 --world-size 16)
[[ "$said" == 'nccl '* ]] || fail "a platform of H100: $said"
said=$(profile_of --machine dgx-a100 --world-size 16 --algorithm ring)
[[ "$said" != 'nccl '* ]] || fail "--algorithm ring: $said"
# NCCL's algorithms have its names, and only some can do a call. The links'
# latency is not in its model.
forced() { # ALGORITHM - the step's ms by it
	expect 0 "${machine[@]}" --no-explain --json --algorithm "$1"
	jq .rows[0].step_ms "$scratch/out"
}
[ "$(forced ring)" != "$(forced tree)" ] || fail "by ring as by tree"
expect_refusal '"hierarchical" of all_reduce by nccl: expected one of ring, tree, nvls, nvlstree, pat$' \
	"${machine[@]}" --algorithm all_reduce=hierarchical
expect 2 "${machine[@]}" --algorithm all_reduce=nvls
expect_err 'all_reduce: NCCL has no algorithm "nvls" for 64 of these ranks: expected one of ring tree nvlstree$'
expect 2 "${machine[@]}" --algorithm all_to_all=ring
expect_err 'all_to_all: NCCL has no algorithms of it'
expect_refusal '--inter-latency: the model of nccl has a time of its own' \
	"${machine[@]}" --inter-latency x2
expect_refusal '--intra-latency: the model of openmpi has a time of its own' \
	"${machine[@]}" --profile openmpi --intra-latency x2
expect 1 run --nproc-per-node 1 --profile nccl hello
expect_err 'profile nccl: expected one with a selection: real ranks run'
printf 'name: x\nlibrary: nccl\nselection:\n  all_reduce:\n    - {algorithm: ring}\n' \
	>"$scratch/nccl.yaml"
expect_refusal 'profile x: selection: expected none: nccl chooses by a model' \
	"${machine[@]}" --profile "$scratch/nccl.yaml"

# A slow rank holds the others up at every fidelity, where the nodes stand for
# any number of them, too.
for fidelity in formula flow; do
	expect 0 predict --machine dgx-a100 --world-size 16 --straggler 1:5 \
		--no-explain --json --fidelity $fidelity
	jq '.rows[0].step_ms' "$scratch/out" >"$scratch/slow.$fidelity"
done
diff "$scratch/slow.formula" "$scratch/slow.flow" || fail "a slow rank at formula"

said=$(profile_of --machine lumi-g --world-size 8 --flops 60e12)
[[ "$said" != 'nccl '* ]] || fail "MI250X: $said"
said=$(profile_of --machine pcie-8 --gpu L40S --world-size 8)
[[ "$said" == 'nccl '* ]] || fail "L40S: $said"

finish
