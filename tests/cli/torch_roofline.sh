#!/bin/bash
# python -m lockstep.roofline: the step of a script on a GPU that is not here.
. tests/cli/support.bash

needs_torch 2.4
export PYTHONPATH=$PWD/python:$PWD/tests/torch/light LIGHT=torch._dynamo
export PYTHONDONTWRITEBYTECODE=1
warm_torch torch._dynamo torch.fx.experimental.symbolic_shapes \
	torch._meta_registrations

run() { "$python" -m lockstep.roofline "$@"; }

# What a GPU run prints, and what it cannot print.
cat >"$scratch/train.py" <<'PROGRAM'
import sys
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.cuda.set_device(0)
assert torch.cuda.is_available() and torch.cuda.device_count() == 1
print(torch.cuda.get_device_name(), torch.cuda.get_device_capability())
device = torch.device("cuda")
data = TensorDataset(torch.randn(512, 1024), torch.randint(0, 10, (512,)))
loader = DataLoader(data, batch_size=128, shuffle=True, num_workers=2,
                    pin_memory=True)
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.BatchNorm1d(4096),
                      nn.Dropout(0.1), nn.Linear(4096, 10)).cuda()
weight = next(model.parameters())
assert weight.is_cuda and weight.device == torch.device("cuda", 0)
opt = torch.optim.AdamW(model.parameters())
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 8)
scaler = torch.amp.GradScaler("cuda")
first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
side = torch.cuda.Stream()
for epoch in range(2):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.cuda(non_blocking=True)
        first.record()
        with torch.autocast("cuda", dtype=torch.float16):
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
        assert out.dtype == torch.float16 and loss.dtype == torch.float32
        opt.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        plan.step()
        last.record()
        with torch.cuda.stream(side):
            noise = torch.zeros(1024, 1024, device="cuda") + 1
        torch.cuda.current_stream().wait_stream(side)
        if not torch.isfinite(loss):
            sys.exit("not finite")
        right = (out.argmax(1) == y).sum().item()
        first_class = out[y == 0]
        assert len(first_class) == (y.cpu().numpy() == 0).sum()
        positive = out[out[:, 0] > 0]
        torch.cuda.synchronize()
        assert first.elapsed_time(last) > 0
    start = time.perf_counter()
    model(x)
    torch.cuda.synchronize()
    assert 0 < time.perf_counter() - start < 0.01
    print(f"{loss:.2f} {right} {len(first_class)}")
assert torch.cuda.memory_allocated() <= torch.cuda.max_memory_allocated()
torch.cuda.reset_peak_memory_stats()
torch.save(model.state_dict(), sys.argv[1])
model.load_state_dict(torch.load(sys.argv[1], weights_only=True))
host = model.cpu()
assert not next(host.parameters()).is_cuda
PROGRAM
if run --gpu h100 "$scratch/train.py" "$scratch/x.pt" >"$scratch/out" \
	2>"$scratch/err"; then
	grep -q '^H100 SXM 80GB (9, 0)' "$scratch/out" || fail 'device not named'
	grep -q '^step  .* the last of 8' "$scratch/out" || fail 'no step'
	"$python" -c 'import sys, torch; torch.load(sys.argv[1], weights_only=False)' \
		"$scratch/x.pt" 2>&1 | grep -q 'saved under --compute roofline' ||
		fail 'a file without values does not say so'
	for word in 'their shapes are saved' 'a value of int64' 'selection by values'; do
		[ "$(grep -c "$word" "$scratch/err")" = 1 ] ||
			fail "not one warning: $word"
	done
	grep -q "train.py:[0-9]*: " "$scratch/err" || fail 'no line of the script'
else
	fail 'a script failed'
	cat "$scratch/err"
fi

# Counts by hand, two runs that are the same, steps that were published.
"$python" tests/torch/roofline_check.py >"$scratch/out" 2>"$scratch/err" ||
	fail "the check failed: $(tail -n 1 "$scratch/err")"
[ -s "$scratch/out" ] && fail "$(cat "$scratch/out")"

[ "$(run --list | wc -l)" -ge 10 ] || fail 'fewer than ten GPUs'
run --gpu abacus tests/torch/gpt2.py >"$scratch/out" 2>&1 &&
	fail 'an unknown GPU is taken'
grep -q "GPU 'abacus': expected one of A10, " "$scratch/out" ||
	fail "of an unknown GPU: $(cat "$scratch/out")"
run --gpu a100 nowhere.py >"$scratch/out" 2>&1 && fail 'no script is taken'

finish
