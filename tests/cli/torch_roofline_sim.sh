#!/bin/bash
# --compute roofline:GPU: simulated Python ranks on GPUs that are not here.
. tests/cli/support.bash

needs_torch 2.4
export PYTHONPATH=$PWD/tests/torch/light LIGHT=torch._dynamo
warm_torch torch._dynamo torch.fx.experimental.symbolic_shapes \
	torch.distributed.tensor torch._meta_registrations \
	lockstep.roofline.script lockstep.roofline.mode
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
grep -q 'rank 0 on A100 SXM 80GB: a step takes .* of 80 GiB$' "$scratch/err" ||
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

# FSDP2 that is given no mesh takes that of the GPUs, and memory on them.
if [[ $torch != 2.[0-5].* ]]; then
	cat >"$scratch/fsdp.py" <<-'SCRIPT'
		import torch, torch.distributed as dist
		from torch.distributed.fsdp import fully_shard
		dist.init_process_group("nccl")
		model = fully_shard(torch.nn.Linear(2048, 2048, bias=False, device="cuda"))
		adam = torch.optim.AdamW(model.parameters())
		model(torch.ones(1, 2048, device="cuda")).sum().backward()
		adam.step()
		moments = adam.state[model.weight]["exp_avg"].device
		print(model.weight.device, moments,
		      torch.cuda.max_memory_allocated() > 24 << 20)
	SCRIPT
	expect 0 "${sim[@]}" --nproc-per-node 2 --compute roofline:a100 \
		"$scratch/fsdp.py"
	expect_out '^cuda:0 cuda:0 True$'
fi

expect 2 "${sim[@]}" --nproc-per-node 2 --compute roofline:abacus "$script"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than a line: $(cat "$scratch/err")"
grep -q "^lockstep: --compute: GPU 'abacus': expected one of A10, " \
	"$scratch/err" || fail "of an unknown GPU: $(cat "$scratch/err")"

# Small values go on through tensor parallelism, whose results are waited for at
# their first use. The rank that needs most is told, whatever is reset, and
# however ranks end.
code='import os, sys, torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import *
dist.init_process_group("cpu:gloo,cuda:nccl")
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8))
parallelize_module(model, init_device_mesh("cpu", (2,)),
                   {"0": ColwiseParallel(), "1": RowwiseParallel()})
x = torch.full((2, 8), 3.)
y = x + 0 * model(x)
print("sum", y.sum().item())
# What goes by gloo and what goes by nccl have no common order.
host, gpu = torch.ones(2), torch.ones(1, device="cuda")
work = [dist.all_reduce(gpu, async_op=True)] if dist.get_rank() else []
dist.all_reduce(host)
(work or [dist.all_reduce(gpu, async_op=True)])[0].wait()
print("orders", host.sum().item(), gpu.item())
freed = [torch.empty(dist.get_rank() * 90 << 30, dtype=torch.uint8,
                     device="cuda").untyped_storage().resize_(0)
         for _ in range(2)]
torch.cuda.reset_peak_memory_stats()
dist.destroy_process_group()
sys.stdout.flush()
if os.environ["RANK"] == "1":
    os._exit(0)'
expect 0 run --backend sim --platform star-8 --nproc-per-node 2 \
	--compute roofline:a100 "$python" -c "$code"
expect_out '^sum 48\.0$'
expect_out '^orders 4\.0 2\.0$'
expect_err 'rank 0 on .*peak memory 0\.00 GB of 80 GiB; the most, 96.64 GB, on rank 1$'
expect_err 'does not fit: rank 1 needs more memory than the GPU has$'

# A table says what modules and operations take: a module's row stands for all
# in it, forward and backward; so does recomputing it.
table() { # rows, of a name, a comma and microseconds
	printf '# gpu: h100\nname\tus\n' >"$scratch/table.tsv"
	printf '%s\n' "$@" | tr ',' '\t' >>"$scratch/table.tsv"
}
by_table=("${sim[@]}" --nproc-per-node 1 --compute "table:$scratch/table.tsv")
table 'forward 3,1000' 'backward 3,2000' 'backward 0,5000' addmm,100 \
	optimizer,500 'forward head,7'
expect 0 "${by_table[@]}" "$script"
# Module 3, five products of others, the backward of module 0, the optimizer.
expect_out '^step 2: 9\.000... ms$'
expect_err 'rank 0 on H100 SXM 80GB: a step takes 9.00. ms'
expect_err 'warning: .*table.tsv has no row for .*: they took no time$'
expect_err 'warning: .*table.tsv has rows for forward head: nothing of that'
code='import time, torch
from torch.utils.checkpoint import checkpoint
a, b = [torch.nn.Linear(64, 64).cuda() for _ in range(2)]
for old in True, False:
    start = time.perf_counter()
    checkpoint(a, b(torch.ones(8, 64, device="cuda", requires_grad=True)),
               use_reentrant=old).sum().backward()
    torch.cuda.synchronize()
    print("%s: %.6f ms" % (old, 1e3 * (time.perf_counter() - start)))'
table 'forward Linear,1000' 'backward Linear,10000' addmm,500
expect 0 "${by_table[@]}" "$python" -c "$code"
expect_out '^True: 23\.00.... ms$'
expect_out '^False: 23\.00.... ms$'
table 'forward 3,-1'
expect 2 "${by_table[@]}" "$script"
grep -qx "lockstep: --compute: $scratch/table.tsv:3: expected a name, a tab and microseconds, got \"forward 3	-1\"" \
	"$scratch/err" || fail "of a bad table: $(cat "$scratch/err")"

# Shards are gathered and scattered by operations that name the GPU.
expect 0 "${sim[@]}" --nproc-per-node 2 --compute roofline:h100 \
	python/examples/gpt2.py --size tiny --parallel fsdp2 --steps 2
grep -q 'rank 0 on H100 SXM 80GB: a step takes ' "$scratch/err" ||
	fail "no step of FSDP2: $(cat "$scratch/err")"

# Other calls of training scripts; what is not modelled ends them in a line.
FOLDER=$scratch expect 1 "${sim[@]}" --nproc-per-node 2 \
	--compute roofline:h100 tests/torch/roofline_calls.py
expect_out '^done$'
expect_err 'roofline_calls.py:[0-9]*: numbers without values are counted'
expect_err "lockstep: .*roofline_calls.py:[0-9]*: the result of aten._unique2"
grep -q Traceback "$scratch/err" && fail "no line alone: $(cat "$scratch/err")"

# 256 GPUs, one process: half a minute at most where it runs alone.
limit=150 expect 0 "${sim[@]/star-8/ethernet-100g-1024}" \
	--nproc-per-node 256 --represent 1:256 --compute roofline:h100 \
	python/examples/gpt2.py --size 124M --dtype bfloat16 --batch 8 --steps 2
expect_err ' a step takes [0-9.]+ ms'

finish
