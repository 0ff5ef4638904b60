#!/bin/bash
# Every kind of step does the same calls in the same order simulated and over
# TCP, and what its tensors hold is right in both.
. tests/cli/support.bash

# same RANKS PROGRAM FLAGS... - runs it in both worlds.
same() {
	local ranks=$1
	shift
	expect 0 check --record "$scratch/order" --backend sim \
		--platform star-8 --nproc-per-node "$ranks" "$@" --check
	expect_out ": right on all $ranks ranks\$"
	expect 0 check --expect "$scratch/order" --nproc-per-node "$ranks" \
		"$@" --check
	expect_out ": right on all $ranks ranks\$"
}

step=(ddp_step --model mnist --batch 1)
same 3 "${step[@]}" --steps 2
grep -A 1 '^buckets (bytes):' "$scratch/out" | grep -q '^step ' ||
	fail "more than buckets: $(cat "$scratch/out")"
same 2 "${step[@]}" --no-overlap
same 2 "${step[@]}" --per-tensor --jitter 20
same 3 "${step[@]}" --accumulate 3 --straggler 1:2
same 2 "${step[@]}" --find-unused-parameters --steps 2
same 2 "${step[@]}" --static-graph --steps 2
same 3 "${step[@]}" --comm-hook fp16_compress
same 2 "${step[@]}" --comm-hook bf16_compress --no-overlap

for zero in 1 2 3; do
	same 3 fsdp --model mnist --batch 1 --zero $zero --steps 2
done
same 2 fsdp --model mnist --batch 1 --no-prefetch
expect_out '^calls of rank 0 in a step: [0-9]+ all_gather of [0-9]+ B, [0-9]+ reduce_scatter of'
same 3 pipeline --model mnist --batch 4 --steps 2
same 4 pipeline --model mnist --batch 4 --schedule gpipe --stages 2
same 4 tensor_parallel --model gpt_micro --batch 2
same 3 moe --model gpt_micro --batch 1 --imbalance 50 --steps 2
same 2 moe --model gpt_micro --batch 1 --experts 4 --top-k 1
same 3 ps --model mnist --batch 2 --steps 2
same 4 ps --model mnist --batch 2 --servers 2
same 3 ps --via rpc --model mnist --batch 2 --steps 2
same 4 ps --via rpc --model mnist --batch 2 --servers 2
same 8 hybrid --model gpt_micro --batch 4 --tp 2 --pp 2 --steps 2

# value COLUMN - of the row that the last prediction printed.
value() {
	awk -v column="$1" '/^# / { next }
		!row { for (i = 1; i <= NF; i++) at[$i] = i; row = 1; next }
		{ print $at[column] }' "$scratch/out"
}

predict=(predict --flops 60e12 --no-explain --model resnet50 --platform star-8 --world-size 8)

# One bucket: nothing is hidden.
expect 0 "${predict[@]}" --no-overlap
expect_out '^# all_reduce +8 ranks: 102228128 B by '
[ "$(value exposed_ms)" = "$(value comm_ms)" ] ||
	fail "no overlap, and yet something is hidden"

# Half of the bytes.
expect 0 "${predict[@]}" --no-overlap --comm-hook fp16_compress
expect_out '^# all_reduce +8 ranks: 51114064 B by '

# Four micro-batches compute four times; what is sent is the same.
expect 0 "${predict[@]}" --accumulate 4
expect_out '^# workload +ddp_step --accumulate 4$'
awk -v step="$(value compute_ms)" 'BEGIN { exit !(step > 52 && step < 52.5) }' ||
	fail "four micro-batches compute $(value compute_ms) ms"

# A straggler's ranks are idle meanwhile: 7 of 8 wait for half a step.
expect 0 "${predict[@]}" --no-overlap --straggler 0:1.5
awk -v idle="$(value idle_ms)" -v compute="$(value compute_ms)" 'BEGIN {
	one = compute / (8.5 / 8)
	exit !(idle > one * 0.5 * 7 / 8 * 0.99 && idle < one * 0.5 * 7 / 8 * 1.01)
}' || fail "idle $(value idle_ms) ms"

# The seed decides, and nothing else.
expect 0 "${predict[@]}" --jitter 10 --seed 3
cp "$scratch/out" "$scratch/first"
expect 0 "${predict[@]}" --jitter 10 --seed 3
cmp -s "$scratch/out" "$scratch/first" || fail "one seed, two answers"
expect 0 "${predict[@]}" --jitter 10 --seed 4
cmp -s "$scratch/out" "$scratch/first" && fail "two seeds, one answer"

# Every kind is predicted, with a part for each of its ranks.
for kind in fsdp hybrid moe pipeline tensor_parallel; do
	expect 0 predict --flops 60e12 --workload $kind --model bert_large \
		--platform nvswitch-8 --profile ideal --world-size 2,4,8 --json
	[ "$(grep -c '"idle_ms"' "$scratch/out")" -eq 3 ] ||
		fail "$kind: not 3 rows"
done

# One flow a rank and collective is nearly as good as every message.
for kind in 'fsdp' 'hybrid --tp 2 --pp 2' 'moe' 'ps'; do
	# shellcheck disable=SC2206 # a kind and its options
	on_star=(predict --flops 60e12 --platform star-8 --model bert_base --workload $kind)
	expect 0 "${on_star[@]}" --fidelity message
	message=$(value step_ms)
	expect 0 "${on_star[@]}" --fidelity flow
	awk -v a="$message" -v b="$(value step_ms)" \
		'BEGIN { exit !(a > 0.97 * b && b > 0.97 * a) }' ||
		fail "$kind: $message ms by messages, $(value step_ms) by flows"
done

expect 0 predict --workload ps --model resnet50 --platform star-8 --servers 2 \
	--flops 60e12
expect_out '^# calls +8 ranks: [0-9]+ send of [0-9]+ B$'
# Calls are answered one after the other, and so go out while others come in:
# between the time of one way and that of both.
predict=("${predict[@]}" --workload ps --servers 2)
expect 0 "${predict[@]}"
messages=$(value step_ms)
expect 0 "${predict[@]}" --via rpc
awk -v a="$messages" -v b="$(value step_ms)" \
	'BEGIN { exit !(a / 2 < b && b < a) }' ||
	fail "ps: $messages ms by messages, $(value step_ms) by calls"
expect 0 predict --workload ps --via rpc --model mnist --platform star-8 \
	--world-size 4 --flops 60e12
expect_out 'no critical path: remote calls are in the trace'

# A GPU's rate is that of the table.
expect 0 predict --platform star-8 --no-explain --gpu 'a100 sxm' \
	--precision tf32
expect_out '^# compute .* 23 TFLOP/s achieved by A100 SXM 80GB, ResNet-50 '

finish
