#!/bin/bash
# What torch calls in a training step of a small language model, divided by
# FSDP2, HSDP and DDP, is what the program llm calls in the same layout: in
# order, with sizes, types and reductions, in each group.
. tests/cli/support.bash
needs_torch 2.7
export PYTHONPATH=$PWD/tests/torch/light
warm_torch torch._dynamo torch.distributed.fsdp

# calls RECORD - its calls, one a line behind the ranks of their group, in order
# of the groups; without those that make groups, check shapes and gather times.
calls() {
	awk '/^group/ { sub(/.*ranks /, ""); ranks = $0; next }
		/int64|float64|barrier|broadcast/ { next }
		{
			sub(/ in [^ ]*$/, "")
			times = 1
			if (/^ +[0-9]+ x /) times = $1
			sub(/^ +([0-9]+ x )?/, "")
			while (times-- > 0) print ranks "\t" $0
		}' "$1" | sort -s -k 1,1
}

# ours FLAGS... - appends what llm calls to the list.
ours() {
	expect 0 check --record "$scratch/record" --nproc-per-node 4 llm \
		--model tests/support/tiny_four.json --seq 64 "$@"
	calls "$scratch/record" >>"$scratch/ours"
}

limit=250 PYTHON_EXEC=$python expect 0 check --record "$scratch/torch.record" \
	--nproc-per-node 4 --torch-backend-as gloo tests/torch/layouts.py \
	fsdp keep accumulate defer bf16 ddp hsdp
calls "$scratch/torch.record" >"$scratch/torch"

ours --precision fp32 --shard fsdp
ours --precision fp32 --shard fsdp --keep-parameters
ours --precision fp32 --shard fsdp --global-batch 8
ours --precision fp32 --shard fsdp --global-batch 8 --no-sync
ours --shard fsdp
ours --precision fp32 --shard ddp --global-batch 8
ours --precision fp32 --shard hsdp --shard-ranks 2
sort -s -k 1,1 "$scratch/ours" | diff "$scratch/torch" - >"$scratch/diff" ||
	fail "torch's calls (<) and ours (>): $(head -n 20 "$scratch/diff")"
[ "$(wc -l <"$scratch/torch")" -ge 120 ] ||
	fail "torch made $(wc -l <"$scratch/torch") calls"

finish
