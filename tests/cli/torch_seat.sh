#!/bin/bash
# PyTorch scripts in the simulator: the ranks are forks of one interpreter.
# shellcheck source=tests/cli/support.bash
. "$(dirname "$0")/support.bash"
needs_torch 1.13

script=$(realpath tests/torch/seat.py)
export PYTHON_EXEC=$python
sim=(run --backend sim --platform star-8 --nproc-per-node)

line_of() { # the line of the script that says so
	grep -n "# $1\$" "$script" | cut -d: -f1
}

# The clock and the store are the simulation's, in its time. Numbers are those of
# real ranks, and the same each time.
expect 0 run --nproc-per-node 2 --torch-backend-as gloo "$script" train
mv "$scratch/out" "$scratch/real"
for run in 1 2; do
	expect 0 "${sim[@]}" 2 --trace "$scratch/trace$run" "$script" clock stores train drawn
	mv "$scratch/out" "$scratch/out$run"
done
grep -qF "$(cat "$scratch/real")" "$scratch/out1" || fail "a simulated rank computes otherwise"
cmp "$scratch/out1" "$scratch/out2" || fail "other random numbers"
cmp "$scratch/trace1" "$scratch/trace2" || fail "another trace"

# Verdicts name the script's lines; what a rank raises is its own.
expect 11 "${sim[@]}" 2 "$script" abba
expect_err "rank 0 waits in all_reduce.* at .*seat\.py:$(line_of first)"
expect_err "rank 1 waits in all_reduce.* at .*seat\.py:$(line_of second)"
expect 13 "${sim[@]}" 2 "$script" leave
expect_err '^no more$'
expect 1 "${sim[@]}" 2 "$script" fail
expect_err "KeyError: 'of rank 1'$"
if grep -q 'lockstep/simulated' "$scratch/err"; then
	fail "our frames in: $(cat "$scratch/err")"
fi

# One rank may stand for many that do the same.
expect 0 run --backend sim --platform star-1024 --represent 1:1024 "$script" train
grep -qF '[' "$scratch/out" || fail "no numbers of a rank that stands for 1024"

# Computing is charged where that is asked for.
expect 0 "${sim[@]}" 2 --compute cpu:10 "$script" train
expect_refusal 'expected none, cpu' "${sim[@]}" 2 --compute gpu "$script"
expect_refusal 'without a dist_launch' "${sim[@]}" 2 --compute none ddp_step

finish
