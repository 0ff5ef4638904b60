#!/bin/bash
# The layouts of a language model, eight ranks each: the same calls in the same
# order simulated and over TCP, phantoms and real ones, and what arrives is
# right.
. tests/cli/support.bash

# same MODEL FLAGS... - records the order of phantoms in simulation, and runs
# real tensors over TCP against it.
same() {
	local model=$1
	shift
	expect 0 check --record "$scratch/order" --backend sim \
		--platform star-8 --nproc-per-node 8 llm \
		--model "tests/support/$model.json" --seq 64 "$@"
	expect 0 check --expect "$scratch/order" --nproc-per-node 8 llm \
		--model "tests/support/$model.json" --seq 64 --check "$@"
	expect_out ": right on all 8 ranks\$"
}

for shard in ddp zero1 'zero1 --shard-ranks 4' zero2 fsdp 'hsdp --shard-ranks 4'; do
	# shellcheck disable=SC2086 # a word and its flag
	same tiny_dense --shard $shard --global-batch 16 --steps 2
done
same tiny_dense --shard fsdp --keep-parameters --global-batch 16
same tiny_dense --shard fsdp --no-sync --global-batch 16
same tiny_dense --shard fsdp --overlap none
same tiny_dense --shard zero1 --overlap none
same tiny_dense --shard fsdp --lora --recompute operators
same tiny_dense --shard zero1 --lora --overlap none --tp 2
same tiny_dense --shard zero1 --gradient-bytes 2
same tiny_dense --tp 8
same tiny_dense --tp 4 --no-sequence-parallel --overlap all
same tiny_dense --tp 2 --overlap all --recompute full --shard fsdp
same tiny_dense --cp 4 --tp 2
same tiny_dense --cp 8 --context gather --recompute selective
for schedule in gpipe 1f1b zero-bubble; do
	same tiny_dense --pp 4 --schedule $schedule --global-batch 16
	same tiny_dense --pp 4 --schedule $schedule --global-batch 4 --tp 2 \
		--overlap none
done
same tiny_dense --pp 2 --vpp 2 --global-batch 16 --recompute full \
	--recompute-layers 2
same tiny_dense --pp 4 --vpp 2 --global-batch 8 --overlap none --steps 2
same tiny_dense --pp 2 --tp 2 --cp 2 --shard fsdp
same tiny_dense --pp 2 --shard fsdp --keep-parameters --global-batch 16
same tiny_experts --ep 8 --imbalance 3
same tiny_experts --ep 4 --shard fsdp --overlap none
same tiny_experts --ep 2 --etp 2 --tp 2 --pp 2 --steps 2
same tiny_experts --ep 4 --etp 1 --tp 4 --imbalance 1.5

# The first and the last stage have the embedding.
expect 0 model new --like tests/support/tiny_dense.json --tied \
	-o "$scratch/tied.json"
expect 0 check --record "$scratch/order" --backend sim --platform star-8 \
	--nproc-per-node 8 llm --model "$scratch/tied.json" --seq 64 --pp 4
expect 0 check --expect "$scratch/order" --nproc-per-node 8 llm \
	--model "$scratch/tied.json" --seq 64 --pp 4 --check
expect_out ": right on all 8 ranks\$"
grep -qx 'group [^,]*, ranks 0,6' "$scratch/order" ||
	fail "no group of both ends: $(grep group "$scratch/order")"

# What is computed has the layer's name in the trace.
expect 0 run --backend sim --platform star-8 --nproc-per-node 8 \
	--trace "$scratch/trace" llm --model tests/support/tiny_dense.json \
	--pp 2 --seq 64 --recompute full
expect 0 trace show "$scratch/trace"
for label in 'forward embedding mb 0' 'forward layer 7 mb 1' \
	'recompute layer 4 mb 0' 'backward head mb 1'; do
	expect_out "$label"
done

# The least that fits.
expect 0 run --backend sim --platform star-8 --nproc-per-node 8 llm \
	--model tests/support/tiny_dense.json --seq 64 --recompute auto

expect 2 run --nproc-per-node 8 llm --model tests/support/tiny_dense.json --tp 3
expect_err 'tp'
expect 2 run --nproc-per-node 8 llm --model tests/support/tiny_dense.json \
	--overlap most
expect_err 'expected grad, param, tp, p2p or ep'

finish
