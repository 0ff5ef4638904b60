#!/bin/bash
# The process group of python/: what every call leaves in the tensors of 2 and 4
# ranks is what gloo leaves there, and DDP trains as over gloo.
. tests/cli/support.bash
needs_torch 1.13

export PYTHONPATH=$PWD/python:$PWD/tests/torch/light
LOCKSTEP_LIBRARY=$(dirname "$LOCKSTEP")/liblockstep.so.0
export LOCKSTEP_LIBRARY
timeout 500 "$python" tests/torch/ddp.py 2 4 >"$scratch/out" 2>&1 ||
	fail "torch $torch: $(tail -n 20 "$scratch/out")"
# Names may be given until a group is made.
"$python" -c 'import os, lockstep, torch.distributed as dist
os.environ["LOCKSTEP_TORCH_BACKEND_AS"] = "gloo"
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
print(type(dist.group.WORLD).__module__)' >"$scratch/out" 2>&1
grep -qx lockstep.group "$scratch/out" ||
	fail "a name that was given late: $(cat "$scratch/out")"
warm_torch torch.optim torch._dynamo torch.distributed.fsdp torch.distributed.tensor.parallel
export PYTHON_EXEC=$python
if [[ $torch != 1.* && $torch != 2.[0-5].* ]]; then
	limit=250 expect 0 run --nproc-per-node 4 tests/torch/names.py
	limit=250 expect 0 run --backend sim --platform star-8 \
		--nproc-per-node 4 tests/torch/names.py
fi
if [[ $torch != 1.* && $torch != 2.[0-6].* ]]; then
	# A layer that differs between ranks is named. (torch 2.6's own FSDP2 asks a
	# CPU for an event.)
	expect 10 run --nproc-per-node 2 "$python" tests/torch/fsdp_mismatch.py
	expect_err 'rank 1 called .* for FSDP module 1 at tests/torch/fsdp_mismatch.py:13'
fi

# The parameters of DDP's bucket are named, those that torch says it holds.
limit=250 expect 10 run --nproc-per-node 2 tests/torch/buckets.py
expect_err 'rank 0 called all_reduce\(sum, float32, 20200\) for bucket 0 \(layers.4.bias ... layers.2.weight, 4 parameters\) at tests/torch/buckets.py:55'
# Who waits in C++ for a bucket's Future waits for it, and is in a deadlock
# before any deadline; who computes does not.
for words in "ddp" "ddp --backend sim --platform star-8" \
	"static --backend sim --platform star-8"; do
	read -r kind world <<<"$words"
	# shellcheck disable=SC2086 # words
	expect 11 run $world --nproc-per-node 2 tests/torch/skip_backward.py "$kind"
	expect_err 'rank 0 waits in all_reduce\(.* for bucket 0 .* at tests/torch/skip_backward.py:29'
done
LOCKSTEP_PATIENCE=0.2 expect 0 run --nproc-per-node 2 \
	tests/torch/skip_backward.py late
# A script that has no timeout of its own has that of lockstep run.
limit=250 expect 12 run --timeout 10 --nproc-per-node 2 tests/torch/late.py
expect_err 'rank 0 .*all_reduce.* at tests/torch/late.py:11'
# A call that nobody asks about, in a script that ends well without goodbye.
aside() { # the line that says so
	grep -n "# $1\$" tests/torch/aside.py | cut -d: -f1
}
expect 11 run --nproc-per-node 2 tests/torch/aside.py left
expect_err "rank 0 waits in all_reduce.* at tests/torch/aside.py:$(aside left)"
# A thread in torch's own function: the line that gave it that to do.
for words in "submitted" "started --backend sim --platform star-8"; do
	read -r what world <<<"$words"
	# shellcheck disable=SC2086 # words
	expect 10 run $world --nproc-per-node 2 tests/torch/aside.py "$what"
	expect_err "rank 1 called all_reduce.* at tests/torch/aside.py:$(aside "$what")"
done
expect_err 'rank 1 called all_reduce.* for thread saver, beside another thread that calls'
# Gradients that an optimizer takes before the wait.
for world in "" "--backend sim --platform star-8"; do
	# shellcheck disable=SC2086 # words
	expect 14 run $world --nproc-per-node 2 tests/torch/aside.py step
	expect_err "ranks 0-1 \(2\) called all_reduce.* #2 .* at tests/torch/aside.py:$(aside reduced)"
	expect_err "and read its tensor, .* at tests/torch/aside.py:$(aside step)"
done
# A last pass of DTensors that only one rank prints is no fault of the others.
case $torch in
1.* | 2.[0-5].*) ;;
*)
	expect 0 run --nproc-per-node 2 tests/torch/aside.py unused
	expect 0 run --backend sim --platform star-8 --nproc-per-node 2 tests/torch/aside.py unused
	;;
esac
# A wait for a key of torch's store has the script's line.
for world in "--timeout 4" "--backend sim --platform star-8"; do
	# shellcheck disable=SC2086 # words
	limit=250 expect 11 run $world --nproc-per-node 2 tests/torch/key.py
	expect_err 'rank 1 waits in store_wait\("(default_pg/.*)?addr"\) at tests/torch/key.py:12$'
	expect_err 'rank 0 stored .* under "(default_pg/.*)?address" at tests/torch/key.py:10$'
done
finish
