#!/bin/bash
# Language models: the list, one in detail, and new ones.
. tests/cli/support.bash

expect 0 model list
expect_out '^Llama-3-70B +70\.55 +70\.55 +80 +8192 +64 +8 +28672 +- +-$'
expect_out '^Mixtral-8x7B +46\.7 +12\.88 +32 +4096 +32 +8 +14336 +8 +2$'
cp "$scratch/out" "$scratch/list"
expect 0 list llms
cmp -s "$scratch/out" "$scratch/list" || fail "list llms differs"
expect 0 model list --json
expect_out '"source": "deepseek-ai/DeepSeek-V3"'

# By hand, of a token: 2 x (6738415616 - 131072000 - 65 x 4096) in matrices, the
# embedding and norms left out, and 32 layers x 2 x 2 x 4096 x 1024 keys in
# scores; times 2,048 tokens: 28.16 TFLOP.
expect 0 model show llama2-7b --seq 2048
expect_out '^Llama-2-7B \(meta-llama/Llama-2-7b-hf\)$'
expect_out '^parameters +6\.738 billion, stated 6\.738 \(\+0\.01 %\)$'
expect_out '^layer +32 +202383360 +202383360 +0\.8633 +1\.727 +'
expect_out '^all +32 +6738415616 +6738415616 +28\.16 +56\.32 +'
expect 0 model show gpt-oss-120b
expect_out 'active +5\.712 billion, stated 5\.1 without the embedding \(\+0\.6'
expect_out '^layer with both +18 +'
expect 0 model show Llama-2-7B --seq 2048 --json --tsv "$scratch/rows"
expect_out '"parameters": 6738415616'
expect_out '"stated_active": null'

# One's own: what is written is shown, with the same numbers.
expect 0 model new --layers 32 --hidden 4096 --heads 32 --ffn 11008 \
	--vocab 32000 -o "$scratch/own.json"
expect 0 model show "$scratch/own.json" --seq 2048
expect_out '^own \('
expect_out '^all +32 +6738415616 +6738415616 +28\.16 +56\.32 +'
expect 0 model new --like deepseek-v3 --layers 8 --experts 32
expect_out '"model_type": "deepseek_v3"'
expect_out '"n_routed_experts": 32'

expect_refusal 'no language model "qwen3-next-80b": .* lockstep model list, such as Qwen3-8B' \
	predict --model qwen3-next-80b --machine hgx-h100-400g --world-size 64 --tp 8
expect_refusal 'no language model "llama3-71b": .* Llama-3-70B' \
	model show llama3-71b
expect_refusal 'none.json: cannot be read: No such file' model show none.json
expect_refusal 'expected --heads, or --like$' model new --layers 2 --hidden 8
expect_refusal 'kv_heads: expected a divisor of the 4 heads, got 3' \
	model new --layers 2 --hidden 8 --heads 4 --kv-heads 3 --ffn 8 --vocab 9
expect_refusal 'kv_heads: no family of config.json' model new --like gpt2 \
	--kv-heads 4
expect_refusal 'expected "list", "show NAME" or "new ..."' model show
expect_refusal 'seq' model show gpt2 --seq 0

finish
