#!/bin/bash
# --compute roofline:GPU: simulated Python ranks on GPUs that are not here.
. tests/cli/support.bash

needs_torch 2.4
export PYTHON_EXEC=$python
sim=(run --backend sim --platform star-8 --torch-backend-as nccl)
script=tests/torch/roofline_ddp.py

expect 0 "${sim[@]}" --nproc-per-node 1 --compute roofline:a100 "$script"
alone=$(awk '/^step 2/ { print $3 }' "$scratch/out")
for run in 1 2; do
	expect 0 "${sim[@]}" --nproc-per-node 2 --compute roofline:a100 \
		--trace "$scratch/trace$run" "$script"
	grep '^step' "$scratch/out" >"$scratch/out$run"
done
cmp -s "$scratch/out1" "$scratch/out2" || fail 'two runs print otherwise'
cmp -s "$scratch/trace1" "$scratch/trace2" || fail 'two runs, two traces'
grep -q '"forward 3"' "$scratch/trace1" || fail 'no module in the trace'
grep -q '"backward 3"' "$scratch/trace1" || fail 'no backward in the trace'
grep -q 'rank 0 on A100 SXM 80GB: a step takes ' "$scratch/err" ||
	fail "no summary: $(cat "$scratch/err")"
# 6 x 3 products of 8192 x 2048 x 2048 in float32 at 0.9 of 19.5 TFLOP/s.
awk -v ms="$alone" 'BEGIN {
	exit !(ms > 69 && ms < 85) }' || fail "one GPU needs $alone ms"
# Gradients go while others are computed: of the six layers the last to have
# them, the first of the model, waits alone.
both=$(awk '/^step 2/ { print $3 }' "$scratch/out1")
awk -v a="$alone" -v b="$both" 'BEGIN { exit !(b > a) }' ||
	fail "two GPUs need $both ms, one $alone ms"
jq -e '[.traceEvents[] | select(.pid == 0 and .ph == "X")] as $all |
	[$all[] | select(.name == "lockstep:all_reduce")] as $calls |
	[$all[] | select(.name | startswith("backward"))] as $back |
	[$calls[] as $c | $back[] | select(.ts > $c.ts and
		.ts < $c.ts + $c.dur)] | length > 3' "$scratch/trace1" \
	>/dev/null || fail 'no gradient moved while others were computed'

expect 2 "${sim[@]}" --nproc-per-node 2 --compute roofline:abacus "$script"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than a line: $(cat "$scratch/err")"
grep -q "^lockstep: --compute: GPU 'abacus': expected one of A10, " \
	"$scratch/err" || fail "of an unknown GPU: $(cat "$scratch/err")"

# Shards are gathered and scattered by operations that name the GPU.
expect 0 "${sim[@]}" --nproc-per-node 2 --compute roofline:h100 \
	python/examples/gpt2.py --size tiny --parallel fsdp2 --steps 2
grep -q 'rank 0 on H100 SXM 80GB: a step takes ' "$scratch/err" ||
	fail "no step of FSDP2: $(cat "$scratch/err")"

# 256 GPUs, one process: the same twice. Alone it takes half a minute at most.
for run in 1 2; do
	limit=150 expect 0 "${sim[@]/star-8/ethernet-100g-1024}" \
		--nproc-per-node 256 --represent 1:256 --compute roofline:h100 \
		--trace "$scratch/trace$run" python/examples/gpt2.py --size 124M \
		--dtype bfloat16 --batch 8 --steps 2
	sed -n 's/.*a step takes//p' "$scratch/err" >"$scratch/out$run"
done
[ -s "$scratch/out1" ] || fail "no step of 256 GPUs: $(cat "$scratch/err")"
cmp -s "$scratch/trace1" "$scratch/trace2" || fail '256 GPUs: two traces'
cmp -s "$scratch/out1" "$scratch/out2" || fail '256 GPUs: two predictions'

finish
