#!/bin/bash
# Remote calls from Python (python/lockstep/rpc.py), with and without torch: the
# cases of torch's rpc_test that Python has more of than C.
. tests/cli/support.bash
needs_torch 1.13

export PYTHONPATH=$PWD/python:$PWD/tests/torch/light
LOCKSTEP_LIBRARY=$(dirname "$LOCKSTEP")/liblockstep.so.0
export LOCKSTEP_LIBRARY
expect 0 run --nproc-per-node 4 "$python" tests/torch/rpc.py
expect_out '^remote calls: right on 4 workers$'
# Simulated processes have no messages of their own yet.
expect 19 run --backend sim --platform star-8 --nproc-per-node 3 \
	"$python" tests/torch/rpc.py
expect_err 'init_rpc: expected a world that has messages of its own'
finish
