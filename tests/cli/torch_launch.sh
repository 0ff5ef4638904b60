#!/bin/bash
# Scripts of torch under lockstep run as under torchrun: over gloo, which knows
# nothing of us, and over our own groups; restarts, nodes, ends and verdicts.
# shellcheck disable=SC2119,SC2154,SC2317 # python is needs_torch's; wait_for
. tests/cli/support.bash
needs_torch
export PYTHON_EXEC=$python PYTHONPATH=$PWD/tests/torch/light
script=tests/torch/launch.py
line=$(awk '/dist.broadcast/ { print NR }' $script)
limit=120
free_port

# ---- torch's own groups: two nodes on this machine, and a restart of both

nodes=(run --torch-backend-as none --nnodes 2 --master-port "$port"
	--max-restarts 1 --node-rank)
timeout 250 "$LOCKSTEP" "${nodes[@]}" 1 $script gloo fails \
	>"$scratch/one" 2>&1 </dev/null &
expect 0 "${nodes[@]}" 0 $script gloo fails
wait $! || fail "node 1: status $?: $(cat "$scratch/one")"
expect_out '^rank 0 of 2 at 0 adds 3, start 1$'
expect_err '^lockstep: rank 1 .*; restart 1 of 1$'
grep -q '^rank 1 of 2 at 1 adds 3, start 1$' "$scratch/one" ||
	fail "node 1 did not start again: $(cat "$scratch/one")"

# ---- ours, by gloo's name

warm_torch
export PYTHON_EXEC=$python
ours=(--nproc-per-node 2 --master-port "$port")
expect 0 check "${ours[@]}" --record "$scratch/order" $script gloo ends
grep -q '^  all_reduce(float32 x 4, sum) in launch.py$' "$scratch/order" ||
	fail "the order: $(cat "$scratch/order")"

expect 10 check "${ours[@]}" --expect "$scratch/order" --dump "$scratch/dumps" \
	--log-dir "$scratch/logs" --redirects 3 $script lockstep disagrees
expect_err '^lockstep: mismatch: the ranks disagree about collective #1 '
expect_err "^  rank 1 called broadcast\\(src 0, float32, 4\\) at $script:$line\$"
[ "$(cat "$scratch"/logs/none_*/attempt_0/1/stdout.log)" = \
	'rank 1 of 2 at 0 adds 3, start 0' ] || fail "the log of rank 1"
expect 10 diagnose "$scratch/dumps"
expect_err "^  rank 1 called broadcast\\(src 0, float32, 4\\) at $script:$line\$"

"$LOCKSTEP" run "${ours[@]}" $script gloo stays >"$scratch/out" \
	2>"$scratch/err" </dev/null &
job=$!
wait_for sh -c "[ \$(grep -c adds '$scratch/out') = 2 ]" ||
	fail "the ranks do not start: $(cat "$scratch/err")"
asked() { # until both are where they stay
	kill -USR1 "$job"
	sleep 0.1
	grep -q '^    File ".*launch.py", line .* in stay' "$scratch/err" &&
		grep -q '^  rank 0 waits in all_reduce' "$scratch/err"
}
wait_for asked || fail "no stacks: $(cat "$scratch/err")"
kill "$job"
wait "$job"

# ---- ranks that the script starts itself

cat >"$scratch/own.py" <<-'SCRIPT'
	import sys, torch, torch.distributed as dist, torch.multiprocessing as mp
	def work(rank, how, file):
	    dist.init_process_group("gloo", init_method="file://" + file,
	                            rank=rank, world_size=2)
	    if how == "differ":
	        dist.all_reduce(torch.ones(1 + rank))
	    elif how == "raise" and rank == 1:
	        raise ValueError("bad data")
	    elif how == "hang":
	        dist.barrier() if rank == 0 else dist.recv(torch.ones(1), 0)
	    dist.barrier()
	    dist.destroy_process_group()
	if __name__ == "__main__":
	    how, start, file = sys.argv[1:]
	    if start == "spawn":
	        mp.spawn(work, (how, file), nprocs=2)
	        sys.exit(how == "exit")
	    context = mp.get_context("fork")
	    ranks = [context.Process(target=work, args=(rank, how, file))
	             for rank in range(2)]
	    [rank.start() for rank in ranks]
	    [rank.join() for rank in ranks]
	    sys.exit(any(rank.exitcode for rank in ranks))
SCRIPT
own=(run --nproc-per-node 1)
expect 0 "${own[@]}" "$scratch/own.py" well spawn "$scratch/file1"
expect 1 "${own[@]}" "$scratch/own.py" exit spawn "$scratch/file2"
expect_err '^lockstep: rank 0 exited with status 1'
expect 10 "${own[@]}" "$scratch/own.py" differ spawn "$scratch/file3"
expect_err '^  rank 1 called all_reduce\(sum, float32, 2\) at .*/own.py:6$'
export LOCKSTEP_PATIENCE=1
expect 11 "${own[@]}" --dump "$scratch/forked" "$scratch/own.py" hang fork \
	"$scratch/file4"
expect_err '^  rank 1 waits in recv\(src 0, .* at .*/own.py:10'
expect 11 diagnose "$scratch/forked"
expect_err '^  rank 1 waits in recv\(src 0, .* at .*/own.py:10'
for start in fork spawn; do
	expect 13 "${own[@]}" "$scratch/own.py" raise $start \
		"$scratch/file-$start"
	expect_err '^lockstep: rank lost: rank 1 ended by an error of its own'
	expect_err '^  it was in work at .*/own.py:8$'
	expect_err '^  rank 1 is lost; no call yet'
done

finish
