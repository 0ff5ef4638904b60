#!/bin/bash
# Remote calls from Python (python/lockstep/rpc.py), with and without torch: the
# cases of torch's rpc_test that Python has more of than C.
. tests/cli/support.bash
needs_torch 1.13

export PYTHONPATH=$PWD/python:$PWD/tests/torch/light
LOCKSTEP_LIBRARY=$(dirname "$LOCKSTEP")/liblockstep.so.0
export LOCKSTEP_LIBRARY
warm_torch lockstep.rpc
expect 0 run --nproc-per-node 4 "$python" tests/torch/rpc.py
expect_out '^remote calls: right on 4 workers$'
sim=(run --backend sim --platform star-8)
expect 0 "${sim[@]}" --nproc-per-node 4 "$python" tests/torch/rpc.py
expect_out '^remote calls: right on 4 workers$'

# Threads that wait for each other by locks of the program's, in both worlds.
waits=tests/torch/rpc_waits.py
expect 0 run --nproc-per-node 2 "$python" "$waits" locks
expect_out '^0\.8 s$'
expect 0 "${sim[@]}" --nproc-per-node 2 "$python" "$waits" locks
expect_out '^0\.8 s$'

# Calls that wait for each other in a circle, with the lines; a callee that dies.
line=$(grep -n 'rpc.rpc_sync(OTHER, deeper, args=(9' "$waits" | cut -d: -f1)
expect 11 "${sim[@]}" --nproc-per-node 2 "$python" "$waits" circle
expect_err "^  rank 0 waits in wait\(python\) on rank 1 at $waits:$line\$"
expect_err "^  rank 1 serves python for rank 0.*; it waits in wait\(python\) on rank 0 at $waits:"
expect_err 'and so on in a cycle$'
for world in "" "--backend sim --platform star-8"; do
	# shellcheck disable=SC2086 # words
	expect 13 run $world --nproc-per-node 2 "$python" "$waits" leave
	expect_err 'lost.*rank 1 exited with status 7'
done
# Who destroys the group before a shutdown is told where.
cat >"$scratch/early.py" <<'END'
import torch.distributed as dist
import lockstep.rpc as rpc
dist.init_process_group("lockstep")
rpc.init_rpc("worker%d" % dist.get_rank())
if dist.get_rank() == 1:
    dist.destroy_process_group()
rpc.shutdown()
END
expect 19 run --nproc-per-node 2 "$python" "$scratch/early.py"
expect_err 'invalid call: rank 1 called destroy at .*early\.py:6, which was refused'

finish
