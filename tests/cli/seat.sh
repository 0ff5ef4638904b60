#!/bin/bash
# A program without a dist_launch(), in the simulator: each rank is a process.
# shellcheck source=tests/cli/support.bash
. "$(dirname "$0")/support.bash"

[ "$SANITIZED" = no ] || {
	echo "actors are threads here, and ranks end with the one that started them"
	exit 77
}

seat=$(dirname "$LOCKSTEP")/tests/cli/seat
sim=(--backend sim --platform star-8 --nproc-per-node)

# Every operation, with data; the same trace each time.
for run in 1 2 3; do
	expect 0 run "${sim[@]}" 8 --trace "$scratch/trace$run" "$seat" all
	expect_out '^0 of 8 at [1-9][0-9]* ns$'
done
for run in 2 3; do
	cmp "$scratch/trace1" "$scratch/trace$run" || fail "run $run has another trace"
done
expect 0 run "${sim[@]}" 2 "$seat" many 100
expect 0 run "${sim[@]}" 4 --fidelity formula "$seat" many 10

# The clock is the simulation's, and computing moves it.
expect 0 run "${sim[@]}" 4 "$seat" compute
expect_out '^0 of 4 at 304[0-9]{4} ns$'

# Verdicts name the line.
expect 11 run "${sim[@]}" 4 "$seat" abba
expect_err 'rank 0 waits in all_reduce\(.*\) #0 of group 1 at tests/cli/seat\.c:[0-9]+'
expect_err 'ranks 1-3 \(3\) wait in all_reduce\(.*\) #0 of group 2 at tests/cli/seat\.c:[0-9]+'
expect_err 'a cycle'
expect 10 run "${sim[@]}" 4 "$seat" mix
expect_err 'rank 1 called broadcast\(src 0, float32, 4\) at tests/cli/seat\.c:[0-9]+'
expect 13 run "${sim[@]}" 4 "$seat" kill
expect_err '^lockstep: rank lost: rank 1 was killed by signal 9'
expect 13 run "${sim[@]}" 4 "$seat" exit
expect_err '^lockstep: rank lost: rank 1 exited with status 7$'
expect 12 run "${sim[@]}" 4 --patience 1.5 "$seat" silent
expect_err '^lockstep: timeout: rank 1 has run for .* without a call$'
expect_err 'ranks 0,2-3 \(3\) wait in barrier\(\) #0'
# Who has not joined yet is not accused.
expect 0 run "${sim[@]}" 2 --patience 1.5 "$seat" late
if pgrep -f "^$seat " >/dev/null; then
	fail "ranks are left: $(pgrep -fa "^$seat ")"
fi

# What a copy would find out is said not to be tried.
expect 11 run "${sim[@]}" 2 "$seat" cross
expect_err '^lockstep: warning: not tried: .*; expected --p2p buffered for that$'
expect 0 run "${sim[@]}" 2 --p2p buffered "$seat" cross
! grep -q 'not tried' "$scratch/err" || fail "$(cat "$scratch/err")"
expect 0 check "${sim[@]}" 2 --p2p buffered "$seat" cross
expect_err '^lockstep: warning: not tried: .*; expected --p2p rendezvous for that$'
expect 11 run "${sim[@]}" 2 "$seat" abba
! grep -q 'not tried' "$scratch/err" || fail "$(cat "$scratch/err")"

# What is run in many ways, or held against a record, starts its ranks anew.
expect 0 explore "${sim[@]:2}" 3 --skew 4 "$seat" all
expect_err 'explored, sends rendezvous: all 1 schedule'
expect 0 check "${sim[@]}" 3 --record "$scratch/order" "$seat" many 5
expect 0 check "${sim[@]}" 3 --expect "$scratch/order" "$seat" many 5
expect 1 check "${sim[@]}" 3 --expect "$scratch/order" "$seat" many 4

# One rank that stands for many: the same results, one process.
expect 0 run "${sim[@]}" 8 --fidelity formula "$seat" same
expect 0 run --backend sim --platform star-1024 --represent 1:1024 "$seat" same
expect_out '^0 of 1024 at [1-9][0-9]* ns$'
expect 0 run "${sim[@]}" 8 --represent 2:8 "$seat" same
expect_refusal 'expected R:N' run "${sim[@]}" 8 --represent 3:8 "$seat" same
expect_refusal 'as many ranks as' run "${sim[@]}" 4 --represent 1:8 "$seat" same
expect 2 run "${sim[@]}" 8 --represent 1:8 "$seat" all
expect_err '^lockstep: broadcast: rank 1 .* and rank 0, which stands for it, brings none: expected ranks that do the same$'
expect 2 run "${sim[@]}" 8 --represent 1:8 "$seat" cross
expect_err '^lockstep: ranks stand for others, .* expected messages among those'

# A program that knows nothing of us is started as often as there are ranks.
program plain <<'SCRIPT'
#!/bin/sh
echo "$RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE on $GROUP_RANK"
exit "$1"
SCRIPT
expect 0 run "${sim[@]}" 2 --nnodes 2 "$scratch/plain" 0
[ "$(sort "$scratch/out" | tr '\n' ';')" = "0 of 4, 0 of 2 on 0;1 of 4, 1 of 2 on 0;2 of 4, 0 of 2 on 1;3 of 4, 1 of 2 on 1;" ] ||
	fail "places: $(cat "$scratch/out")"
expect 1 run "${sim[@]}" 2 "$scratch/plain" 3

finish
