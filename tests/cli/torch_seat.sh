#!/bin/bash
# PyTorch scripts in the simulator: the ranks are forks of one interpreter.
# shellcheck source=tests/cli/support.bash
. "$(dirname "$0")/support.bash"
needs_torch 1.13

script=$(realpath tests/torch/seat.py) trains=$(realpath tests/torch/seat_train.py)
export PYTHON_EXEC=$python PYTHONPATH=$PWD/tests/torch/light
real=$python
sim=(run --backend sim --platform star-8 --nproc-per-node)

line_of() { # the line of the script that says so
	grep -n "# $1\$" "$script" | cut -d: -f1
}

# The clock and the store are the simulation's, in its time. Numbers are those of
# real ranks, and the same each time, however the interpreter starts.
expect 0 run --nproc-per-node 2 --torch-backend-as gloo "$trains" train
mv "$scratch/out" "$scratch/real"
for run in 1 2; do
	expect 0 "${sim[@]}" 2 --trace "$scratch/trace$run" "$trains" clock stores train drawn place
	mv "$scratch/out" "$scratch/out$run"
	[ $run = 2 ] || warm_torch numpy.random torch._dynamo
	PYTHON_EXEC=$python
done
grep -qF "$(cat "$scratch/real")" "$scratch/out1" || fail "a simulated rank computes otherwise"
cmp "$scratch/out1" "$scratch/out2" || fail "other random numbers"
cmp "$scratch/trace1" "$scratch/trace2" || fail "another trace"

# A thread that waits does not hold up the rank's others.
expect 0 "${sim[@]}" 2 "$script" threads end_beside
limit=55 expect 11 "${sim[@]}" 2 "$script" thread_alone
expect_err "rank 0 waits in all_reduce.* at .*seat\.py:$(line_of aside)"

# Verdicts name the script's lines; what a rank raises is its own.
expect 11 "${sim[@]}" 2 "$script" abba
expect_err "rank 0 waits in all_reduce.* at .*seat\.py:$(line_of first)"
expect_err "rank 1 waits in all_reduce.* at .*seat\.py:$(line_of second)"
expect 10 "${sim[@]}" 2 "$script" members
expect_err "rank 0 called new_group\(ranks 0\) at .*seat\.py:$(line_of alone)"
expect_err "rank 1 called new_group\(ranks 0-1\) at .*seat\.py:$(line_of third)"
expect 10 "${sim[@]}" 4 "$script" pairs
expect_err 'the ranks disagree about number 11 of the groups'
for pair in 0-1 2-3; do
	expect_err "ranks $pair \(2\) called new_group\(ranks $pair\) at .*seat\.py:$(line_of pair)"
done
expect 13 "${sim[@]}" 2 "$script" leave
expect_err '^no more$'
expect_err "^  it was in leave at .*seat\.py:$(line_of out)\$"
expect 1 "${sim[@]}" 2 "$script" fail
expect_err "KeyError: 'of rank 1'$"
expect_err "^lockstep: rank 1 exited with status 1: KeyError: 'of rank 1'$"
if grep -q 'lockstep/simulated' "$scratch/err"; then
	fail "our frames in: $(cat "$scratch/err")"
fi

# Python code that stands in no file has the ranks' clock and numbers, too.
code='import sys, time, torch.distributed as dist
dist.init_process_group("gloo")
time.sleep(100)
dist.barrier()
sys.stdout.write("%d %s\n" % (dist.get_rank(), sys.argv))
dist.destroy_process_group()'
expect 0 "${sim[@]}" 2 "$real" -c "$code" word
[ "$(sort "$scratch/out")" = "0 ['-c', 'word']
1 ['-c', 'word']" ] || fail "python3 -c: $(cat "$scratch/out")"
"$LOCKSTEP" "${sim[@]}" 2 "$real" - word <<<"$code" >"$scratch/out" ||
	fail "python3 - ends with $?"
[ "$(sort "$scratch/out")" = "0 ['-', 'word']
1 ['-', 'word']" ] || fail "python3 -: $(cat "$scratch/out")"
# Its lines are named as Python names them.
code='import torch, torch.distributed as dist
dist.init_process_group("gloo")
dist.recv(torch.ones(1), 1 - dist.get_rank())'
expect 11 "${sim[@]}" 2 "$python" -c "$code"
expect_err 'rank 0 waits in recv.* at <string>:3'
expect 11 run --nproc-per-node 2 "$python" -c "$code"
expect_err 'rank 0 waits in recv.* at <string>:3'
for word in -I -sE -uS; do
	expect_refusal "python3 $word: expected no -I, -E or -S" \
		"${sim[@]}" 2 python3 $word -c "$code"
	expect_refusal "python3 $word: .* or --torch-backend-as none" \
		run --nproc-per-node 2 python3 $word -X dev "$script"
done
expect 0 run --torch-backend-as none --nproc-per-node 2 python3 -I -c pass

# Ranks share their output, and write whole lines there.
printf 'for i in range(100):\n    print("line", i, "of", 100)\n' \
	>"$scratch/lines.py"
expect 0 "${sim[@]}" 8 "$scratch/lines.py"
[ "$(grep -cxE 'line [0-9]+ of 100' "$scratch/out")" -eq 800 ] ||
	fail "$(grep -vxE 'line [0-9]+ of 100' "$scratch/out" | head -n 3)"

# A script may import torch by a module of its own.
mkdir "$scratch/apart"
echo 'import torch.distributed as dist' >"$scratch/apart/mine.py"
cat >"$scratch/apart/main.py" <<'SCRIPT'
from mine import dist
dist.init_process_group("gloo")
store = dist.distributed_c10d._get_default_store()
while hasattr(store, "underlying_store"):
    store = store.underlying_store
print(type(store).__name__)
SCRIPT
expect 0 "${sim[@]}" 1 "$scratch/apart/main.py"
expect_out '^SeatStore$'

# Ranks take the place of as many processes that a script would start; what it
# starts otherwise is refused.
expect 0 "${sim[@]}" 3 python/examples/spawn.py --size 3
[ "$(sort "$scratch/out")" = "rank 0 of 3: the ranks' sum is 3
rank 1 of 3: the ranks' sum is 3
rank 2 of 3: the ranks' sum is 3" ] || fail "spawn.py: $(cat "$scratch/out")"
expect 1 "${sim[@]}" 1 python/examples/spawn.py --size 2
expect_err 'a rank of the simulation started this process, which is no rank itself: expected those of --nproc-per-node'

cat >"$scratch/loop.py" <<'SCRIPT'
import sys, torch, torch.distributed as dist, torch.multiprocessing as mp
def work(rank, size):
    if type(rank) is str:
        rank = int(rank)
    dist.init_process_group("gloo", "tcp://127.0.0.1:29400", rank=rank,
                            world_size=size)
    dist.all_reduce(torch.ones(1 + (rank == 1 and sys.argv[1] == "size")))
    print("rank", rank)
mp.set_start_method("fork")
size = 3
ranks = [mp.Process(target=work, args=(
    str(rank) if sys.argv[1] == "text" else rank, size)) for rank in range(size)]
[rank.start() for rank in ranks]
[rank.join() for rank in ranks]
print("ends", [rank.exitcode for rank in ranks])
SCRIPT
expect 0 "${sim[@]}" 3 "$scratch/loop.py" none
[ "$(sort "$scratch/out" | uniq -c | tr -s ' ')" = " 3 ends [0, 0, 0]
 1 rank 0
 1 rank 1
 1 rank 2" ] || fail "loop.py: $(cat "$scratch/out")"
expect 10 "${sim[@]}" 3 "$scratch/loop.py" size
expect_err '^  rank 1 called all_reduce\(sum, float32, 2\) at .*loop.py:7$'
# Which no script may hide by looking at no status.
expect 1 "${sim[@]}" 1 "$scratch/loop.py" text
expect_err '^lockstep: rank 0 started processes that are no ranks: they have trained nothing$'

# One rank may stand for many that do the same.
expect 0 run --backend sim --platform star-1024 --represent 1:1024 "$trains" train
grep -qF '[' "$scratch/out" || fail "no numbers of a rank that stands for 1024"

# So may some, each for a class; what cannot be so is refused or found.
stand=(run --backend sim --platform star-8 --represent)
for ranks in 1 4; do
	expect 0 "${stand[@]}" "$ranks:8" tests/torch/represent.py all "$ranks"
done
if [[ $torch != 1.* && $torch != 2.[0-5].* ]]; then
	expect 0 "${stand[@]}" 2:8 tests/torch/represent.py checkpoint
fi
expect 10 "${stand[@]}" 2:8 tests/torch/represent.py branch
expect_err '^  rank 0 called all_reduce\(sum, float32, 1\)'
expect 2 "${stand[@]}" 1:8 tests/torch/represent.py root
expect_err '^lockstep: broadcast: rank 7 of the group brings data, and rank 0, which stands for it, brings none'
expect 2 "${stand[@]}" 1:8 tests/torch/represent.py splits
expect_err '^lockstep: all_to_all: rank 0 of the group has room for 2 elements of rank 1, for which rank 0 stands with 1'
expect 2 "${stand[@]}" 2:8 tests/torch/represent.py apart
expect_err '^lockstep: a group has rank 7 without rank 1, which stands for it'

# Computing is charged where that is asked for.
expect 0 "${sim[@]}" 2 --compute cpu:10 "$trains" train
expect_refusal 'expected none, cpu' "${sim[@]}" 2 --compute gpu "$script"
expect_refusal 'does not call dist_launch' "${sim[@]}" 2 --compute none ddp_step

finish
