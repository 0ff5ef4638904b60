#!/bin/bash
# A language model's step: its parts add up, what cannot be is refused or marked,
# and the plan's first layout is what predict says of it.
# shellcheck disable=SC2016 # variables of jq
. tests/cli/support.bash

at=(--machine hgx-h100-400g)
small=(predict --model llama3-8b "${at[@]}" --world-size 256)

# holds FILTER WHAT - jq's filter is true of the answer.
holds() {
	jq -e "$1" "$scratch/out" >/dev/null || fail "$2: $(head -c 2000 "$scratch/out")"
}

# ---- one step ----------------------------------------------------------------
expect 0 "${small[@]}" --shard fsdp --price 2.5 --tokens 15T
for word in model machine layout batch device profile calibration mfu; do
	expect_out "^# $word +[^ ]"
done
expect_out '^ 256 .* yes +formula$'
expect_out '^gemm +[0-9.]+ +[0-9.]+$'
expect_out '^exposed dp '
expect_out '^at 2.5 a GPU hour: '
expect_out '^15T tokens take [0-9.]+ days and cost '
cp "$scratch/out" "$scratch/first"
[ "$(wc -l <"$scratch/out")" -le 40 ] || fail "more than a screen"
expect 0 "${small[@]}" --shard fsdp --price 2.5 --tokens 15T
cmp -s "$scratch/out" "$scratch/first" || fail "two runs differ"

sums='.rows[0] as $r | ($r.memory | .parameters + .gradients + .optimizer +
	.activations + .temporary + .library + .slack) as $held |
	([$r.breakdown_ms[]] | add) / $r.step_ms - 1 | fabs < 1e-6 and
	($held / $r.memory.total - 1 | fabs < 1e-6)'
for layout in "--shard zero3" "--tp 8" "--tp 2 --pp 4 --vpp 2 --recompute full" \
	"--cp 2 --shard zero2 --schedule gpipe --pp 2"; do
	# shellcheck disable=SC2086 # words
	expect 0 "${small[@]}" $layout --json
	holds "$sums" "parts of $layout do not add up"
	holds '.rows[0] | .mfu > 0.1 and .mfu < 1 and .hfu >= .mfu and
		(.tokens_per_s / .tokens_per_s_gpu - 256 | fabs < 1e-3)' "$layout"
done

# The price is what it says; a step's tokens are all its sequences'.
expect 0 "${small[@]}" --price 2 --tokens 1B --seq 4096 --global-batch 512 --json
holds '.rows[0] | (.price_step / (2 * 256 * .step_ms / 3.6e6) - 1 | fabs < 1e-6) and
	(.price_million_tokens / (.price_step / (512 * 4096) * 1e6) - 1 | fabs < 1e-6) and
	(.days / (.step_ms * 1e9 / (512 * 4096) / 86.4e6) - 1 | fabs < 1e-6)' "bill"

# The program and its prediction take the same for what nobody gave.
expect 0 predict --model gpt2-small "${at[@]}" --world-size 8 --tp 2 --pp 2
expect_out '--seq 1024 --micro-batch 1 --global-batch 16$'
expect 0 run --backend sim --platform star-8 --nproc-per-node 8 llm --model gpt2-small \
	--tp 2 --pp 2
expect_out ', 1 sequences of 1024 tokens a micro-batch$'
expect_out ', 8 send of '

# What was measured wins over kernels' times.
computing='.rows[0].breakdown_ms | .gemm + .attention + .elementwise + .recompute'
expect 0 "${small[@]}" --step-ms 700 --json
holds "$computing - 700 | fabs < 0.1" "--step-ms"
expect 0 "${small[@]}" --mfu 40 --json
holds "(.rows[0] | .tflops_per_gpu * .step_ms / (989.4 * 0.4)) as \$ms |
	($computing) / \$ms - 1 | fabs < 1e-3" "--mfu"
expect_out 'computing at an MFU of 40 %'

# A faster network costs nothing, and helps.
for rate in 100G 400G 800G; do
	expect 0 predict --model llama3-70b "${at[@]}" --world-size 512 --tp 8 --pp 4 \
		--inter-bandwidth $rate --json
	jq .rows[0].step_ms "$scratch/out"
done >"$scratch/rates"
sort -rgc "$scratch/rates" || fail "faster cards are slower: $(cat "$scratch/rates")"

expect 0 predict --model llama3-8b "${at[@]}" --world-size 64,128 \
	--inter-bandwidth 100G,400G --json
holds '[.rows[] | [.world_size, .card_gbps]] ==
	[[64, 100], [64, 400], [128, 100], [128, 400]]' "sizes and rates"

# Several values of an option are compared, on one screen: which is best, what
# the others lose, what bounds the step.
expect 0 "${small[@]}" --shard ddp,fsdp
expect_out '^shard +GPUs '
expect_out '^fsdp +256 '
expect_out '^exposed dp +[0-9.]+ +[0-9.]+$'
expect_out '^most tokens/s/GPU: shard fsdp$'
expect_out '^its step: kernels [0-9.]+ %, .* between nodes [0-9.]+ % \(dp\), bubble 0.0 %$'
expect_out '^shard ddp: impossible: does not fit: '
[ "$(wc -l <"$scratch/out")" -le 40 ] || fail "more than a screen"
expect 0 predict --model llama3-70b "${at[@]}" --world-size 512 --tp 8 --pp 4 \
	--inter-bandwidth 400G,800G
expect_out '^inter-bandwidth 400G: loses [0-9.]+ ms a step, [0-9.]+ %: exposed dp \+'
# Two ways to say it; each row is what the line alone would say.
expect 0 "${small[@]}" --seq 4096 --shard zero1,fsdp --overlap none --overlap grad,param --json
cp "$scratch/out" "$scratch/four"
jq -c '[.rows[] | [.shard, .overlap]]' "$scratch/four" | grep -qx \
	'\[\["zero1","none"\],\["zero1","grad,param"\],\["fsdp","none"\],\["fsdp","grad,param"\]\]' ||
	fail "four: $(jq -c '.rows[].shard' "$scratch/four")"
for i in 0 1 2 3; do
	read -ra options < <(jq -r ".rows[$i] | \"--shard \(.shard) --overlap \(.overlap)\"" "$scratch/four")
	expect 0 "${small[@]}" --seq 4096 "${options[@]}" --json
	[ "$(jq .rows[0].step_ms "$scratch/out")" = "$(jq .rows[$i].step_ms "$scratch/four")" ] ||
		fail "${options[*]}: not what it is alone"
done
holds '.rows[0].step_ms > 0' "one"
jq -e '.rows | .[0].step_ms > .[1].step_ms and .[2].step_ms > .[3].step_ms' "$scratch/four" >/dev/null ||
	fail "nothing beside computing costs nothing"
expect 0 "${small[@]}" --seq 4096 --micro-batch 1,2 --shard fsdp --tsv "$scratch/two.tsv"
expect_out '^micro-batch 1: [0-9.]+ % fewer$'
grep -q $'^micro-batch\tworld_size' "$scratch/two.tsv" || fail "no column of micro-batches"
expect_refusal '--shard: expected "ddp" only once' "${small[@]}" --shard ddp,zero1 --shard ddp
expect_refusal '--shard: expected ddp, .* not "fsdb"' "${small[@]}" --shard ddp,fsdb
expect_refusal '--picture: expected one value of each' "${small[@]}" --tp 1,2 --picture "$scratch/p.svg"
expect_refusal '--tsv: expected once' "${small[@]}" --tsv "$scratch/a" --tsv "$scratch/b"
expect_refusal 'at most 64 combinations, got 70' "${small[@]}" --tp 1,2 --seq "$(seq -s, 1024 1024 35840)"

# Exchanges of tokens overlap where Megatron-LM has it.
moe=(predict --model qwen3-30b-a3b "${at[@]}" --world-size 64 --ep 8 --seq 4096
	--shard fsdp)
expect 0 "${moe[@]}" --recompute auto --overlap grad,param --overlap grad,param,ep --json
jq -e '.rows | .[0].step_ms > .[1].step_ms' "$scratch/out" >/dev/null || fail "ep hides nothing"
expect_refusal '--vpp: expected vpp above 1' "${moe[@]}" --pp 2 --overlap ep
expect_refusal '--recompute: expected another than full' "${moe[@]}" --recompute full --overlap ep

# Calls simulated: the closed form's step but for how they overlap; why; a trace.
flow=(predict --model llama3-8b "${at[@]}" --world-size 16 --tp 4 --pp 2
	--global-batch 8)
expect 0 "${flow[@]}" --json
closed=$(jq .rows[0].step_ms "$scratch/out")
expect 0 "${flow[@]}" --fidelity flow --json --trace "$scratch/trace.json"
holds ".rows[0] | .fidelity == \"flow\" and (.step_ms / $closed | . > 0.8 and . < 1.2)" "flow"
holds '.critical_path | .compute_ms > .move_ms and .move_ms > 0' "no path"
grep -q '"forward layer 3 mb 2"' "$scratch/trace.json" || fail "no named spans"
expect 0 "${flow[@]}" --fidelity flow
expect_out '^with 16 ranks, critical path: '
expect_out '^computes backward layer +[0-9]+ '
taper() {
	expect 0 predict --model mixtral-8x7b "${at[@]}" --world-size 32 --ep 8 \
		--tp 2 --shard fsdp --recompute full --topology "fat-tree:2x2,taper=$1" \
		--json --no-explain
	jq .rows[0].step_ms "$scratch/out"
}
awk -v one="$(taper 1)" -v many="$(taper 16)" 'BEGIN { exit !(one > 0 && many > 1.05 * one) }' ||
	fail "a taper costs nothing: $(taper 1), $(taper 16)"
expect_refusal '--trace: expected --fidelity flow' "${flow[@]}" --fidelity formula \
	--trace "$scratch/t.json"
expect_refusal '--engine: expected --fidelity flow' "${flow[@]}" --engine own

# A picture has each piece of each stage.
for schedule in gpipe 1f1b zero-bubble; do
	expect 0 "${flow[@]}" --schedule $schedule --picture "$scratch/p.svg"
	ways=2
	[ $schedule != zero-bubble ] || ways=3
	[ "$(grep -c '<title>' "$scratch/p.svg")" -eq $((ways * 2 * 4)) ] ||
		fail "$schedule: $(grep -c '<title>' "$scratch/p.svg") pieces"
done
expect_refusal '--picture: expected at most' predict --model llama3-8b "${at[@]}" --world-size 16 \
	--tp 4 --pp 2 --global-batch 40000 --picture "$scratch/p.svg"

# What does not fit is marked, and is no failure.
expect 0 "${small[@]}" --shard ddp
expect_out '^impossible with 256 GPUs: does not fit: stage 0 needs [0-9.]+ GB of the '
expect 0 "${small[@]}" --shard ddp --json
holds '.rows[0] | .fits == "no" and (.impossible | test("does not fit"))' "ddp fits"
expect 0 "${small[@]}" --recompute auto --seq 32k --shard fsdp --json
holds '.rows[0].fits == "yes"' "--recompute auto does not fit"
expect 0 "${small[@]}" --recompute auto --seq 32768 --shard fsdp --no-headroom --json
holds '.rows[0].fits == "tight"' "--no-headroom leaves some"

# ---- a checkpoint's folder, a repository ---------------------------------------
mkdir "$scratch/checkpoint"
expect 0 model new --like qwen3-8b -o "$scratch/checkpoint/config.json"
for model in "$scratch/checkpoint" Qwen/Qwen3-8B-Base; do
	expect 0 predict --model "$model" "${at[@]}" --world-size 64 --shard fsdp
	expect_out '^# model .*: 8.191 G parameters'
done

# ---- refusals ----------------------------------------------------------------
expect_refusal '--tp: .*\(1, 2, 4, 8\), got 3' "${small[@]}" --tp 3
expect_refusal '--pp: ' "${small[@]}" --pp 64
expect_refusal '--world-size: expected a multiple of' "${small[@]}" --pp 5
expect_refusal '--seq: expected a whole number .*such as 8192 or 8k, not "1.3k"$' "${small[@]}" --seq 1.3k
expect_refusal '--global-batch: ' "${small[@]}" --global-batch 100
expect_refusal '--shard-ranks: expected the number of ranks .* with hsdp, .*: one of 1, 2, .* 256$' "${small[@]}" --shard hsdp
expect_refusal '--lora: expected no value, not "16"$' "${small[@]}" --lora 16
expect_refusal "--model: $scratch/config.json: cannot be read" predict --model "$scratch/" \
	"${at[@]}" --world-size 8
expect_refusal '--precision: precision fp4: expected for H100.* fp8' "${small[@]}" --precision nvfp4
expect_refusal '--mfu: expected a percentage of 1 or more' "${small[@]}" --mfu 0.45
expect_refusal 'MI300X is a GPU; .* that has it: azure-ndmi300xv5$' predict --model llama3-8b \
	--machine MI300X --world-size 8
expect_refusal 'one of --mfu, --step-ms and --compute' "${small[@]}" --mfu 40 --step-ms 7
expect_refusal '--tokens: expected' "${small[@]}" --tokens many
expect_refusal '--world-size is needed' predict --model llama3-8b "${at[@]}"
expect_refusal '--model and --machine' predict --model llama3-8b --world-size 8
expect_refusal '--gpu is needed' predict --model llama3-8b --machine server-1gbe \
	--world-size 8
expect_refusal 'links is not known' predict --model llama3-8b --machine lumi-g \
	--world-size 16
expect_refusal '--recompute-layers: expected with --recompute full' "${small[@]}" \
	--recompute auto --recompute-layers 2
expect_refusal '--recompute-modules: expected with --recompute selective' "${small[@]}" \
	--recompute-modules mlp
modules=("${small[@]}" --recompute selective --recompute-modules)
expect_refusal '--recompute-modules: expected core_attn, .*, got "mpl"' "${modules[@]}" mpl
expect_refusal '--recompute-modules: expected modules that the model has' "${modules[@]}" moe_act
expect 0 "${small[@]}" --json
plain=$(jq '.rows[0].memory.activations' "$scratch/out")
expect 0 "${small[@]}" --fused-loss --json
holds ".rows[0] | .memory.activations < $plain and (.layout | test(\"--fused-loss\"))" \
	'one kernel for the loss keeps as much'
fused=$(jq '.rows[0].memory.activations' "$scratch/out")
expect 0 "${small[@]}" --loss-chunks 4 --json
holds ".rows[0] | .memory.activations < $fused and (.layout | test(\"--loss-chunks 4\"))" \
	'a loss in chunks keeps as much'
for words in 'keep-parameters: --shard fsdp or hsdp' 'no-sequence-parallel: --tp above 1' \
	'context gather: --cp above 1' 'schedule gpipe: --pp above 1' 'no-headroom: --recompute auto'; do
	option=${words%%:*}
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal "--${option% *}: expected with ${words#*: }\$" "${small[@]}" --$option
done
expect_refusal '--context: expected with --cp above 1' plan --model llama3-8b "${at[@]}" --gpus 8 \
	--global-batch 8 --context gather --cp 1
expect_refusal '--exchange: expected with --ep above 1' predict --model mixtral-8x7b "${at[@]}" \
	--world-size 8 --exchange plain
expect_refusal '--no-sync: expected with --pp 1 and several micro-batches .*, got --pp 1 and 1' \
	"${small[@]}" --shard fsdp --no-sync
for command in 'predict --world-size 8' 'plan --gpus 8 --global-batch 8'; do
	# shellcheck disable=SC2086 # a command and its options
	expect_refusal '--inter-bandwidth: no link between nodes is in use: expected ranks on several' \
		$command --model llama3-8b "${at[@]}" --inter-bandwidth 100G
done
# Of several layouts some may do without.
expect 0 predict --model llama3-8b "${at[@]}" --world-size 8,16 --cp 1,2 --context gather --json
# A list is one value, as of --overlap.
expect 0 "${small[@]}" --recompute selective --recompute-modules mlp,layernorm --json
holds '(.rows | length) == 1 and (.rows[0].layout | test("--recompute-modules mlp,layernorm"))' \
	'a list of modules is two questions'
expect_refusal '--no-sync: expected with shard fsdp or hsdp, got zero1' "${small[@]}" --no-sync
expect 0 "${small[@]}" --shard fsdp --no-sync --global-batch 512 --json
holds '.rows[0] | .layout | test("--shard fsdp --no-sync")' 'the layout lacks --no-sync'
expect 0 "${modules[@]}" layernorm+mlp --shard fsdp --json
holds '.rows[0] | .mfu < .hfu and .fits == "yes"' 'modules are not made again'
expect 0 plan --model llama3-70b "${at[@]}" --gpus 512 --global-batch 1024 --tp 8 --pp 4 \
	--recompute selective --recompute-modules layernorm+mlp
expect_out ' --recompute selective --recompute-modules mlp,layernorm'
expect_out ' --recompute-granularity selective --recompute-modules mlp layernorm'
for option in '--etp 2' '--imbalance 1.5' '--exchange plain'; do
	# shellcheck disable=SC2086 # words
	expect_refusal 'expected with experts' "${small[@]}" $option
done
expect_refusal 'NVLink joins 18 nodes: expected at most 72 ranks' predict --model llama3-8b \
	--machine gb200-nvl72 --world-size 76 --shard fsdp
expect_refusal '--seq: expected at most 1024, the positions' predict --model gpt2 "${at[@]}" \
	--world-size 8 --seq 2048
expect_refusal '--bucket-cap-mb: unknown option' "${small[@]}" --bucket-cap-mb 5
expect_refusal '--workload: expected llm or none; .* llama3-8b take --shard' \
	"${small[@]}" --workload fsdp
expect_refusal 'no language model "gpt-oss": .* such as gpt-oss-20b, gpt-oss-120b,' predict \
	--workload llm --model gpt-oss "${at[@]}" --world-size 8
expect_refusal 'no machine "gb300-nvl72"; gb300-racks is GB300 NVL72' predict --model llama3-8b \
	--machine gb300-nvl72 --world-size 8

# ---- plan --------------------------------------------------------------------
plan=(plan --model llama3-70b "${at[@]}" --gpus 512 --seq 8192 --global-batch)
TIMEFORMAT='%U %S'
{ time expect 0 "${plan[@]}" 1024 --json; } 2>"$scratch/seconds"
if [ "$SANITIZED" != yes ]; then
	awk '{ exit !($1 + $2 < 20) }' "$scratch/seconds" ||
		fail "a plan takes $(cat "$scratch/seconds") s of processors"
fi
holds '.layouts > 2000 and .fit > 100 and (.rows | length) == 10 and
	([.rows[].step_ms] | . == sort) and (.rows | all(.memory_gb <= 0.93 * .capacity_gb))' "plan"
# confirmed - predict says of the plan's command what the plan does.
confirmed() {
	jq -r '.rows[0].step_ms, .rows[0].command' "$scratch/out" >"$scratch/best"
	read -ra command < <(tail -n 1 "$scratch/best")
	expect 0 "${command[@]:1}" --json
	[ "$(jq .rows[0].step_ms "$scratch/out")" = "$(head -n 1 "$scratch/best")" ] ||
		fail "predict says otherwise: $(cat "$scratch/best")"
}
confirmed
# So too of what the plan does not search.
for fixed in '--attention flash-2 --gradient-bytes 2' '--state-bytes 8 --attention unfused' \
	'--lora --no-headroom' '--offload-layers 2 --tp 8 --pp 1'; do
	# shellcheck disable=SC2086 # options
	expect 0 "${plan[@]}" 1024 --top 1 --json $fixed
	confirmed
done
expect 0 plan --model mixtral-8x7b "${at[@]}" --gpus 64 --global-batch 64 --imbalance 1.3 --json
confirmed

# A GPU that the machine has not brings its own links, simulated too.
node=(predict --model llama3-8b "${at[@]}" --world-size 16 --tp 8 --global-batch 16)
for gpu in H100 B200 L40S; do
	expect 0 "${node[@]}" --gpu $gpu --json
	jq '.rows[0].breakdown_ms.exposed_tp' "$scratch/out"
done | jq -es '.[1] < 0.7 * .[0] and .[2] > 10 * .[0]' >/dev/null ||
	fail "links of another GPU are the machine's"
expect 0 "${node[@]}" --gpu B200 --fidelity flow --no-explain
expect_out '^# machine .*, 900 GB/s between GPUs, as B200 has it, '
expect_out '^# calibration none'
expect_refusal 'L40S on PCIe, which .* is not simulated' "${node[@]}" --gpu L40S --fidelity flow

# Activations in the host's memory: free as long as copies are hidden, else they
# have a part; the rate of the link must be known.
far=(predict --model llama3-8b "${at[@]}" --world-size 8 --shard fsdp --seq 32768)
expect 0 "${far[@]}" --offload-layers 2
grep -q '^exposed offload' "$scratch/out" && fail "copies that computing hides cost time"
expect 0 "${far[@]}" --offload-layers 30
expect_out '^exposed offload +[0-9]{3}'
expect_refusal 'between a B300 and its host.s memory is not known' "${far[@]}" --gpu B300 \
	--offload-layers 2
expect_refusal 'offload-layers: copies to the host.s memory are not simulated' "${far[@]}" \
	--offload-layers 2 --fidelity flow

# FlashAttention 2 knows nothing of Hopper; no library is slower than none.
for attention in fastest flash-2 unfused; do
	expect 0 "${small[@]}" --shard fsdp --attention $attention --json
	jq '.rows[0].step_ms' "$scratch/out"
done >"$scratch/steps"
sort -nuc "$scratch/steps" || fail "attention: $(tr '\n' ' ' <"$scratch/steps")"

expect 0 "${plan[@]}" 1024 --tp 8 --pp 4 --shard zero1 --top 2
expect_out '^The second loses [0-9.]+ ms a step, '
expect_out '^lockstep predict .* --tp 8 --pp 4 '
expect_out '^torchtitan: has no flag for data-parallel ranks that divide optimizer state'
expect_out '^Megatron-LM, CUDA_DEVICE_MAX_CONNECTIONS=1: .*--tensor-model-parallel-size 8 --pipeline-model-parallel-size 4'
[ "$(grep -c '^ 8   4 ' "$scratch/out")" -eq 2 ] || fail "not two of --tp 8 --pp 4"
# Recomputation of some layers: torchtitan recomputes all or none.
expect 0 "${plan[@]}" 1024 --tp 4 --pp 1 --shard zero2 --recompute full --recompute-layers 10
expect_out '^torchtitan, all layers recomputed: .* activation_checkpoint:full$'
expect 0 "${plan[@]}" 1024 --tp 8 --pp 4 --shard zero2 --recompute full --micro-batch 1
expect_out '^torchtitan: .*fsdp_reshard_after_forward=never .*tensor_parallel_degree=8'
# Its parser knows tokens, not sequences, and a preset may have other degrees.
expect 0 "${plan[@]}" 1024 --tp 8 --pp 2 --vpp 41 --shard fsdp --micro-batch 1
expect_out '^torchtitan: .*_reshard_after_forward=always .*context_parallel_degree=1 '
expect_out '^torchtitan: .*num_pp_microbatches=32 .*_layers_per_stage=1 .*_tokens_per_train_step=8388608 '
expect_out '^torchtitan: .* --training.disable_cuda_graphs activation_checkpoint:'
# Megatron-LM counts recomputed layers of each chunk, and AUTO so too.
expect 0 "${plan[@]}" 1024 --tp 4 --pp 4 --vpp 5 --shard zero1 --recompute full --recompute-layers 10
expect_out '^Megatron-LM, CUDA_DEVICE_MAX_CONNECTIONS=1: .*method block --recompute-num-layers 2 '
expect 0 "${plan[@]}" 1024 --pp 4 --vpp 5 --tp 4 --micro-batch 2 --shard zero1 --cp 1 --json
jq -e '.rows[0].recompute | test("^(5|10|15) layers$")' "$scratch/out" >/dev/null ||
	fail "recomputed: $(jq -r '.rows[0].recompute' "$scratch/out"), not so many of each chunk"
# What a library cannot do, of the fastest layout or of all.
expect 0 plan --model llama3-8b "${at[@]}" --gpus 64 --global-batch 128 --recompute operators
expect_out '^torchtitan: .* activation_checkpoint:selective$'
expect_out '^Megatron-LM: has no flag for recomputation of single operators'
expect 0 plan --model mixtral-8x7b "${at[@]}" --gpus 64 --global-batch 512 --exchange plain --ep 8
expect_out '^Megatron-LM.*--moe-grouped-gemm --moe-token-dispatcher-type alltoall'
# 61 layers: no number of stages divides them, and the chunks are written by hand.
expect 0 plan --model deepseek-v3 "${at[@]}" --gpus 512 --global-batch 4096 --seq 4096 \
	--precision fp8 --ep 32 --micro-batch 1 --tp 1 --cp 1 --shard zero1 --schedule 1f1b
expect_out '^ 1  (16|32|64) '
expect 0 plan --model deepseek-v3 "${at[@]}" --gpus 512 --global-batch 4096 --seq 4096 \
	--precision mxfp8 --gpu B200 --ep 32 --micro-batch 1 --tp 1 --pp 16 --vpp 2
expect_out '^Megatron-LM: .*-parallel-layout "Et\*1\|\(t\*2\|\)\*30L" '
expect_out '^Megatron-LM: .* --bf16 --fp8-format e4m3 --fp8-recipe mxfp8'
expect 1 plan --model llama3-405b "${at[@]}" --gpus 8 --global-batch 8
expect_err 'none of [0-9]+ legal layouts fits: the least needs [0-9.]+ GB'
expect_refusal 'two kinds of GPUs are not modelled' plan --model llama3-8b \
	--machine hgx-h100-400g+dgx-a100 --gpus 8 --global-batch 8
expect_refusal 'no layout is legal: ' "${plan[@]}" 1024 --tp 3
expect_refusal '--recompute-layers: expected with' "${plan[@]}" 1024 --recompute-layers 3

# What teams call things: FSDP2, a cloud's names of machines, a GPU alone.
for shard in fsdp fsdp2; do
	expect 0 predict --model llama3-8b "${at[@]}" --world-size 32 --shard $shard --json
	jq -c .rows "$scratch/out" >"$scratch/$shard"
done
cmp -s "$scratch/fsdp" "$scratch/fsdp2" || fail "fsdp2 is not fsdp"
expect_refusal 'no machine "p5.48xlarge"; aws-p5 is AWS p5.48xlarge' \
	predict --model llama3-8b --machine p5.48xlarge --world-size 64
expect_refusal 'expected --machine, for --gpu does not say' predict --model llama3-8b --gpu RTX-4090 \
	--world-size 8
expect 0 predict --model llama3-8b --machine pcie-8 --gpu RTX-4090 --world-size 8 --shard fsdp2
expect_out 'no +formula$'
expect_out '^# profile +nccl$'
expect_refusal '--gpu is needed: pcie-8' predict --model llama3-8b --machine pcie-8 --world-size 8

# Several values: the fastest layout with each, as a plan of it alone has it.
few=(plan --model llama3-8b "${at[@]}" --global-batch 64 --shard fsdp)
for tp in 2 4; do
	expect 0 "${few[@]}" --gpus 32 --tp $tp --top 1 --json
	jq '.rows[0] | [.step_ms, .tokens_per_s_gpu]' "$scratch/out"
done >"$scratch/alone"
expect 0 "${few[@]}" --gpus 32 --tp 2,4 --json
jq '.rows[] | [.step_ms, .tokens_per_s_gpu]' "$scratch/out" | cmp -s - "$scratch/alone" ||
	fail "compared: $(jq -c .rows "$scratch/out"), alone $(cat "$scratch/alone")"
expect 0 "${few[@]}" --gpus 32 --gpus 64 --tsv "$scratch/plans.tsv"
expect_out '^most tokens/s/GPU: gpus 32$'
expect_out '^gpus 64: [0-9.]+ % fewer$'
[ "$(grep -c '^[36]' "$scratch/plans.tsv")" = 2 ] || fail "$(cat "$scratch/plans.tsv")"
expect 1 plan --model llama3-405b "${at[@]}" --gpus 8,16 --global-batch 16 --tp 8 --micro-batch 1
expect_out '^ *8 .* no +formula$'
expect_refusal '--top: expected one value of each' "${few[@]}" --gpus 32,64 --top 3
expect_refusal '--confirm: expected one value of each' "${few[@]}" --gpus 32,64 --confirm 1
expect_refusal 'with tp 3: no layout is legal: ' "${few[@]}" --gpus 32 --tp 2,3
expect_refusal '--tp: expected "2" only once' "${few[@]}" --gpus 32 --tp 2,2
expect_refusal '--overlap: expected grad, ' "${plan[@]}" 1024 --overlap sideways
expect_refusal '--fsdp: unknown option; did you mean "--shard fsdp"' "${plan[@]}" 1024 --fsdp
expect_refusal '--zero-stage: unknown option; did you mean "--shard zero3"' "${plan[@]}" 1024 --zero-stage 3
expect_refusal '--zero=1: unknown option; did you mean "--shard zero1"' "${plan[@]}" 1024 --zero=1
expect_refusal '--zero: unknown option; did you mean "--shard"' "${plan[@]}" 1024 --zero much
expect_refusal '--mbs: unknown option; did you mean "--micro-batch"' "${plan[@]}" 1024 --mbs 2
expect_refusal '--gpus: unknown option; did you mean "--world-size"' predict --model llama3-8b \
	"${at[@]}" --gpus 8
expect_refusal '--gpus and --global-batch' plan --model llama3-8b "${at[@]}"

# What was simulated is kept: again it takes no simulation, which answers as
# before, also where one is missing.
few=(plan --model llama3-8b "${at[@]}" --gpus 8 --global-batch 8 --tp 2 --micro-batch 1
	--shard fsdp --json)
expect 0 "${few[@]}" --confirm 3
cp "$scratch/out" "$scratch/whole"
jq -e '[.rows[:3][].flow_ms | . > 0] == [true, true, true] and .rows[3].flow_ms == null' \
	"$scratch/out" >/dev/null || fail "not three simulated"
for kept in 0 1 3; do
	expect 0 "${few[@]}" --confirm 3 --resume "$scratch/kept"
	cmp -s "$scratch/out" "$scratch/whole" || fail "with $kept kept it says otherwise"
	[ "$(wc -l <"$scratch/kept/journal.jsonl")" -eq 4 ] || fail "not three are kept"
	[ $kept -ne 0 ] || sed -i 3,4d "$scratch/kept/journal.jsonl"
done
sed -i '/"point"/s/"answer": *[0-9]*/"answer": 5000000000/' "$scratch/kept/journal.jsonl"
expect 0 "${few[@]}" --confirm 3 --resume "$scratch/kept"
jq -e '[.rows[:3][].flow_ms] == [5000, 5000, 5000]' "$scratch/out" >/dev/null ||
	fail "what is kept is simulated again"
expect_refusal '--resume: .*kept has answers to another question' "${few[@]}" --confirm 3 \
	--seq 4096 --resume "$scratch/kept"
expect_refusal '--topology: expected with --confirm' "${few[@]}" --topology fat-tree:4x2
expect_refusal '--resume: expected with --confirm' "${few[@]}" --resume "$scratch/kept"

# Links between pairs of GPUs join a group of two by one, of eight by seven; AMD's
# library is NCCL's.
for machine in azure-ndmi300xv5 'hgx-h100-400g --gpu MI300X'; do
	# shellcheck disable=SC2086 # options
	expect 0 predict --model llama3-8b --machine $machine --world-size 8 --tp 2,8 --json
	holds '[.rows[].breakdown_ms.exposed_tp] | .[0] > 3 * .[1]' "links of $machine"
	expect_out '"profile": "nccl"'
done

# ---- sweep -------------------------------------------------------------------
expect_refusal 'sweep: --model: expected a study.*predict compares.*plan searches' \
	sweep --model llama3-8b --tp 1,2
expect_refusal 'explore: --model: expected a program' explore --model llama3-8b
cat >"$scratch/study.yaml" <<-'END'
	title: Llama 3 8B
	predict: {model: llama3-8b, machine: hgx-h100-400g, world-size: 64}
	grid:
	  shard: [ddp, fsdp]
	  seq: [2048, 4096, 8192]
END
expect 0 sweep "$scratch/study.yaml" -o "$scratch/results"
expect_out '^3 of 6 points are impossible'
head -n 2 "$scratch/results/points.tsv" | tail -n 1 |
	grep -q 'tokens_per_s_gpu.*mfu.*memory_gb' || fail "no columns of memory"
sed -n 's/<[^>]*>/ /gp' "$scratch/results/report.html" |
	sed -n '/Best at each/,/Figures/p' >"$scratch/best"
# All layouts can be read, the fifth and sixth unfold.
xmllint --noout "$scratch/results/report.html" || fail "the page is not well formed"
grep -A 99 '"table whole"' "$scratch/results/report.html" |
	grep -q '<details><summary>more</summary>64 GPUs.*seq 4096.*<br/>64 GPUs.*</details>' ||
	fail "not all layouts"
if ! grep -q fsdp "$scratch/best" || grep -q ddp "$scratch/best"; then
	fail "what does not fit is best: $(cat "$scratch/best")"
fi
sed -i 's/seq:/sequence:/' "$scratch/study.yaml"
expect 2 sweep "$scratch/study.yaml" -o "$scratch/results"
expect_err 'study.yaml:5: unknown key "sequence" of grid'

expect_refusal '--recompute-layers: expected with --recompute full$' predict \
	--model llama3-8b --machine hgx-h100-400g --world-size 32 --recompute-layers 2

# Compiled, GPT-2 allocates 9.00 GB (torch-steps-h100.tsv): norms and activations
# are made again, and logits are not copied.
expect 0 predict --model gpt2-small "${at[@]}" --world-size 1 --shard ddp --seq 1024 \
	--micro-batch 16 --global-batch 16 --recompute selective \
	--recompute-modules layernorm+mlp_act --fused-loss --json
jq -e '.rows[0].memory | .parameters + .gradients + .optimizer +
	.activations + .temporary | . > 8.1e9 and . < 9.9e9' "$scratch/out" >/dev/null ||
	fail "a compiled step's memory: $(jq -c '.rows[0].memory' "$scratch/out")"

finish
