#!/bin/bash
# Rates of a GPU of one's own, from the kernels of a step that was measured there:
# what was measured comes out again, other models and layouts follow, and what
# cannot be such a step is refused.
. tests/cli/support.bash

at=(--machine hgx-h100-400g)
trace=tests/recordings/llm_step/step.json
two=$scratch/two.json
expect 0 model new --like llama3-8b --layers 2 -o "$two"
run="--model $two --seq 4096 --global-batch 2"
own=(--compute "$trace" --compute-layout "$run")

# holds FILTER WHAT - jq's filter is true of the answer.
holds() {
	jq -e "$1" "$scratch/out" >/dev/null || fail "$2: $(head -c 2000 "$scratch/out")"
}

# is GEMM ATTENTION REST - the times of the answer's kernels, ms.
is() {
	holds ".rows[0].breakdown_ms | [.gemm - $1, .attention - $2,
		.elementwise + .optimizer - $3] | all(fabs < 1e-3)" "not $*"
}

# The step itself: 20 products of 3 ms; 4 x (0.75 + 1.75) of attention; 10 x 1 +
# 10 x 0.5 + 5 x 5 of others.
itself=(predict --model "$two" "${at[@]}" --world-size 1 --seq 4096 --global-batch 2)
expect 0 "${itself[@]}" --compute "$trace" --compute-layout '--global-batch 2 --seq 4096' --json
is 60 10 40
holds '.conditions.device | test("rates measured from tests/recordings/llm_step/step.json: large")' \
	"not told"
gzip -c "$trace" >"$scratch/step.json.gz"
expect 0 "${itself[@]}" --compute "$scratch/step.json.gz" --compute-layout "$run" --json
is 60 10 40

# Sixteen times the layers take sixteen times the attention, whoever shares weights.
expect 0 predict --model llama3-8b "${at[@]}" --world-size 64 --shard fsdp --seq 4096 \
	--global-batch 128 "${own[@]}" --json
holds '.rows[0].breakdown_ms.attention - 160 | fabs < 0.01' "32 layers"
expect 0 predict --model llama3-8b "${at[@]}" --world-size 64 --shard fsdp --seq 4096 \
	--global-batch 128 --json
holds '.rows[0].breakdown_ms.attention - 160 | fabs > 10' "without own rates"

# A table of kernels says the same; of kernels twice as slow twice as much.
table() {
	printf '# title: kernels of a step\n# source: this test\n# gpu: H100-SXM\n'
	printf 'kernel\ttimes\tus\n'
	printf '%s\t%d\t%d\n' nvjet_tst_192x192 20 $((3000 * $1)) \
		flash_fwd_kernel 4 $((750 * $1)) flash_bwd_dq_dk_dv_loop 4 $((1750 * $1)) \
		triton_poi_fused_mm_mul_silu_3 10 $((1000 * $1)) \
		multi_tensor_apply_kernel 5 $((6000 * $1)) ncclDevKernel_AllGather 1 5000
}
table 1 >"$scratch/one.tsv"
table 2 >"$scratch/double.tsv"
expect 0 "${itself[@]}" --compute "$scratch/one.tsv" --compute-layout "$run" --json
is 60 10 40
expect 0 "${itself[@]}" --compute "$scratch/double.tsv" --compute-layout "$run" --json
is 120 20 80

# With recomputation a step has its forward passes twice; they are kernels, too.
sed 's/^flash_fwd_kernel\t4/flash_fwd_kernel\t8/' "$scratch/double.tsv" >"$scratch/full.tsv"
expect 0 "${itself[@]}" --recompute full --compute "$scratch/full.tsv" \
	--compute-layout "$run --recompute full" --json
holds '.rows[0].breakdown_ms | .gemm + .attention + .elementwise + .optimizer +
	.recompute - 226 | fabs < 1e-3' "--recompute full"

# plan searches by them, and its command says so.
plan=(plan --model llama3-8b "${at[@]}" --gpus 16 --global-batch 32 --seq 4096 --tp 1 --pp 1)
expect 0 "${plan[@]}" --json
jq .rows[0].step_ms "$scratch/out" >"$scratch/usual"
expect 0 "${plan[@]}" "${own[@]}" --json
jq -r '.rows[0].step_ms, .rows[0].command' "$scratch/out" >"$scratch/best"
cmp -s <(head -n 1 "$scratch/best") "$scratch/usual" && fail "plan knows no own rates"
command=()
eval "command=($(tail -n 1 "$scratch/best"))"
expect 0 "${command[@]:1}" --json
[ "$(jq .rows[0].step_ms "$scratch/out")" = "$(head -n 1 "$scratch/best")" ] ||
	fail "predict says otherwise: $(cat "$scratch/best")"

# ---- refusals ----------------------------------------------------------------
expect_refusal 'has 4 forward passes of attention, expected 8 .* with 4 micro-batches; see --compute-layout' \
	"${itself[@]}" --compute "$trace" --compute-layout '--global-batch 4'
expect_refusal 'has 4 forward passes of attention, expected 64 of Llama-3-8B' \
	"${itself[@]}" --compute "$trace" --compute-layout '--model llama3-8b --global-batch 2'
expect_refusal 'measured on NVIDIA H100 80GB HBM3, expected A100' predict --model "$two" \
	--machine dgx-a100 --world-size 1 "${own[@]}"
expect_refusal '--precision: expected bf16, whose rates .*step.json has, got fp8' \
	"${itself[@]}" "${own[@]}" --precision fp8
expect_refusal '--compute-layout: expected --pp 1' "${itself[@]}" --compute "$trace" \
	--compute-layout '--world-size 2 --pp 2 --global-batch 2'
expect_refusal 'unknown option' "${itself[@]}" --compute "$trace" --compute-layout '--ppp 2'
expect_refusal 'expected --compute and --compute-layout, ' "${itself[@]}" --compute-layout '--pp 1'
expect_refusal 'expected --compute and --compute-layout, ' "${itself[@]}" --compute "$trace"
expect_refusal 'one of --mfu, --step-ms and --compute' "${itself[@]}" "${own[@]}" --mfu 40
expect_refusal 'expected a .json or .json.gz of torch.profiler' "${itself[@]}" --compute "$two.x" --compute-layout "$run"
expect_refusal 'two.json:1:.*' "${itself[@]}" --compute "$two" --compute-layout "$run"
grep -v ProfilerStep "$trace" | sed 's/}},$/}}/; s/^{"ph"/,&/; 0,/^,{/s/^,{/{/' >"$scratch/steps.json"
expect_refusal 'expected steps \(ProfilerStep#\)' "${itself[@]}" --compute "$scratch/steps.json" \
	--compute-layout "$run"
sed 's/"kernel"/"cpu_op"/' "$trace" >"$scratch/cpu.json"
expect_refusal 'expected kernels of a GPU' "${itself[@]}" --compute "$scratch/cpu.json" \
	--compute-layout "$run"
sed 's/"device": 0/"device": 1/1;n' "$trace" >"$scratch/mixed.json"
expect_refusal 'expected kernels of one GPU, got those of' "${itself[@]}" \
	--compute "$scratch/mixed.json" --compute-layout "$run"
grep -v nvjet "$scratch/one.tsv" >"$scratch/none.tsv"
expect_refusal 'none of matrix products' "${itself[@]}" --compute "$scratch/none.tsv" \
	--compute-layout "$run"
sed 's/\t3000$/\t2000/' "$scratch/one.tsv" >"$scratch/fast.tsv"
expect_refusal 'matrix products would compute at [0-9.]+ % of the peak' "${itself[@]}" \
	--compute "$scratch/fast.tsv" --compute-layout "$run"
sed 's/\t3000$/\t3/' "$scratch/one.tsv" >"$scratch/faster.tsv"
expect_refusal 'matrix products take [0-9.]+ ms, less than at any rate' "${itself[@]}" \
	--compute "$scratch/faster.tsv" --compute-layout "$run"
sed 's/\t3000$/\tmany/' "$scratch/one.tsv" >"$scratch/wrong.tsv"
expect_refusal 'wrong.tsv:5: ' "${itself[@]}" --compute "$scratch/wrong.tsv" --compute-layout "$run"
expect_refusal '--mfu: unknown option' "${plan[@]}" --mfu 40

# A study says of each point what predict says of it, and knows its kernels again.
study() {
	printf 'title: own kernels\npredict:\n  model: llama3-8b\n  machine: hgx-h100-400g\n'
	printf '  seq: 4096\n  global-batch: 256\n  world-size: 64\n  compute: %s\n' "$1"
	printf '  compute-layout: "%s"\ngrid:\n  shard: [zero1, fsdp]\n' "$2"
}
cp "$scratch/one.tsv" "$scratch/mine.tsv"
study "$scratch/mine.tsv" "$run" >"$scratch/study.yaml"
expect 0 sweep "$scratch/study.yaml" -o "$scratch/swept" -j 1
for shard in zero1 fsdp; do
	expect 0 predict --model llama3-8b "${at[@]}" --world-size 64 --seq 4096 --global-batch 256 \
		--shard $shard --compute "$scratch/mine.tsv" --compute-layout "$run" --json
	jq '.rows[0].step_ms' "$scratch/out"
done >"$scratch/steps"
awk -F '\t' '$2 == "zero1" || $2 == "fsdp" { print $5 }' "$scratch/swept/points.tsv" >"$scratch/points"
paste "$scratch/steps" "$scratch/points" |
	awk '{ n++; if (($1 - $2) ^ 2 > 1e-6 * $1 ^ 2) exit 1 } END { exit n != 2 }' ||
	fail "sweep says otherwise: $(paste "$scratch/steps" "$scratch/points")"
expect 0 sweep "$scratch/study.yaml" -o "$scratch/swept" -j 1
cp "$scratch/double.tsv" "$scratch/mine.tsv"
expect_refusal 'points of another study, or of another version of it' sweep \
	"$scratch/study.yaml" -o "$scratch/swept" -j 1
study "$scratch/fast.tsv" "$run" >"$scratch/fast.yaml"
expect_refusal 'fast.yaml:8: .*of the peak' sweep "$scratch/fast.yaml" -o "$scratch/none" -j 1

finish
