#!/usr/bin/env python3
"""make.py - writes step.json: what torch.profiler would record of two steps of
a model of two layers on one GPU, two micro-batches each. By hand: a step has 60
ms of products, 10 ms of fused attention, 40 ms of others and 5 ms of calls."""

import json

KERNELS = [  # name, times a step, us
    ("nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNT", 14, 3000),
    ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 6, 3000),
    ("void cutlass::device_kernel<flash::FlashAttnFwdSm90<> >", 4, 750),
    ("void cutlass::device_kernel<flash::FlashAttnBwdSm90<> >", 4, 1750),
    ("triton_poi_fused_mm_mul_silu_3", 10, 1000),
    ("void at::native::vectorized_elementwise_kernel<4>", 10, 500),
    ("void at::native::multi_tensor_apply_kernel<FusedAdam>", 5, 5000),
    ("ncclDevKernel_AllGather_RING_LL", 1, 5000),
]

events = []
ts = 1000
for step in range(2):
    begin = ts
    for name, times, us in KERNELS:
        for _ in range(times):
            events.append(
                {
                    "ph": "X",
                    "cat": "kernel",
                    "name": name,
                    "pid": 0,
                    "tid": 7,
                    "ts": ts,
                    "dur": us,
                    "args": {"device": 0, "stream": 7},
                }
            )
            ts += us
    for category, tid in (("user_annotation", 1), ("gpu_user_annotation", 7)):
        events.append(
            {
                "ph": "X",
                "cat": category,
                "name": f"ProfilerStep#{step + 3}",
                "pid": 0,
                "tid": tid,
                "ts": begin,
                "dur": ts - begin,
            }
        )
    ts += 1000
# PyTorch 2.11 notes the step that follows, which has only begun.
events.append(
    {
        "ph": "X",
        "cat": "user_annotation",
        "name": "ProfilerStep#6",
        "pid": 0,
        "tid": 1,
        "ts": ts,
        "dur": 500,
        "args": {"finished": False},
    }
)

with open(__file__.replace("make.py", "step.json"), "w") as out:
    out.write('{"schemaVersion": 1,\n"deviceProperties": ')
    out.write('[{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],\n')
    out.write('"traceEvents": [\n')
    out.write(",\n".join(json.dumps(event) for event in events))
    out.write("\n]}\n")
