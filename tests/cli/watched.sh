#!/bin/bash
# A simulated rank that ends the process of all, under run, check and by hand,
# and a real one that a signal ends.
# Every other way is tried in tests/unit/sim_watch.c.
. tests/cli/support.bash

if [ "$SANITIZED" = yes ]; then
	echo "skipped: the sanitizers have the signals"
	exit 0
fi
program=$(dirname "$LOCKSTEP")/tests/cli/misbehave
simulate=(--backend sim --platform star-8 --world-size 3)

# expect_trace WHY - what was done until then is in the trace.
expect_trace() {
	jq -e --arg why "$1" '.lockstep.partial == $why and
		any(.traceEvents[]; .name == "lockstep:all_reduce")' "$scratch/trace" \
		>/dev/null || fail "no trace with \"$1\""
}

expect 0 check "${simulate[@]}" "$program" none none 0
# A rank that changes its folder takes no report along.
json=$(realpath --relative-to=. "$scratch")/away
expect 0 run "${simulate[@]}" --json "$json" "$program" away call 1
[ -s "$json" ] || fail "no JSON where it was asked for"
rm -f "$json"
expect 0 run "${simulate[@]}" --json "$json" "$program" clears call 1
[ -s "$json" ] || fail "no JSON without the environment"
for command in run check; do
	rm -f "$scratch/trace"
	expect 13 $command "${simulate[@]}" --json "$scratch/json" \
		--trace "$scratch/trace" "$program" segv wait 1
	expect_trace 'signal 11 ended the job'
	expect_err 'rank lost: rank 1 was killed by signal 11'
	expect_err 'it was in err at tests/support/misbehave\.c:[0-9]+'
	grep -q '"verdict": "lost"' "$scratch/json" || fail "$command: no JSON"
	rm -f "$scratch/trace"
	expect 12 $command "${simulate[@]}" --patience 0.2 \
		--trace "$scratch/trace" "$program" endless group 2
	expect_trace 'a rank ran without a call'
	expect_err 'timeout: rank 2 has run for [0-9.]+ s without a call'
done

# A limit of the system that ends a rank, or keeps one from beginning, is named.
for world in "${simulate[*]}" "--nproc-per-node 3"; do
	# shellcheck disable=SC2086 # words
	expect 13 run $world "$program" file call 1
	expect_err 'rank lost: rank 1 was killed by signal 25 .*: files may have 1000 bytes \(ulimit -f\)'
	expect_err 'it was in write_file at tests/support/misbehave\.c:[0-9]+'
	# shellcheck disable=SC2086
	out=$(ulimit -f 0 && "$LOCKSTEP" run $world --json "$scratch/json" "$program" none none 0 2>&1)
	grep -qx 'lockstep: cannot make .*: File too large: files may have 0 bytes (ulimit -f)' \
		<<<"$out" || fail "files of 0 bytes: $out"
done
# A copy by fork() has no part in the job, and the job goes on without it.
for world in "${simulate[*]}" "--nproc-per-node 3"; do
	# shellcheck disable=SC2086 # words
	expect 19 run $world --json "$scratch/json" "$program" copy call 1
	expect_err 'invalid call: a copy of rank 1 called an operation at'
	[ "$(jq -c '[.culprits, .sites[0].line]' "$scratch/json")" = \
		"[[1],$(sed -n '/return dist_all_reduce/=' \
			tests/support/misbehave.c)]" ] ||
		fail "a copy: $(<"$scratch/json")"
	# Not the thread that simulated ranks share.
	# shellcheck disable=SC2086
	expect 11 run $world --json "$scratch/json" "$program" thread call 1
	jq -e '.verdict == "deadlock" and .culprits == [1]' "$scratch/json" \
		>/dev/null || fail "a thread: $(<"$scratch/json")"
done

# Who ends its process by _exit() has finished, in every world.
for world in "${simulate[*]}" "--nproc-per-node 3"; do
	# shellcheck disable=SC2086
	expect 0 run $world --json "$scratch/json" "$program" quit0 end 0
	jq -e '.verdict == "fine"' "$scratch/json" >/dev/null ||
		fail "after the last call: $(<"$scratch/json")"
	# shellcheck disable=SC2086
	expect 11 run $world --json "$scratch/json" "$program" quit0 call 2
	jq -e '.verdict == "deadlock" and .culprits == [2]' "$scratch/json" \
		>/dev/null || fail "before a call: $(<"$scratch/json")"
	# shellcheck disable=SC2086
	expect 13 run $world "$program" quit4 call 2
	# shellcheck disable=SC2086
	expect 1 run $world "$program" quit4 end 0
done
# Simulated, it has taken along one that had yet to begin, which is not missing.
expect 11 run "${simulate[@]}" --json "$scratch/json" "$program" quit0 call 1
jq -e '.culprits == [1]' "$scratch/json" >/dev/null ||
	fail "before one has begun: $(<"$scratch/json")"
# In a function that it serves it is lost; pthread_exit() ends that alone, and
# who called it gives up.
for world in "${simulate[*]}" "--nproc-per-node 3"; do
	# shellcheck disable=SC2086
	expect 13 run $world --json "$scratch/json" "$program" quit_inside call 1
	jq -e '.verdict == "lost" and .culprits == [1]' "$scratch/json" \
		>/dev/null || fail "in a function: $(<"$scratch/json")"
	# shellcheck disable=SC2086
	expect 13 run $world --json "$scratch/json" "$program" thread_inside call 1
	jq -e '.verdict == "lost" and .culprits == [0]' "$scratch/json" \
		>/dev/null || fail "a thread of a function: $(<"$scratch/json")"
done
# Simulated, it has taken the others along, which had yet to end a call.
expect 13 run "${simulate[@]}" "$program" quit0 call 0
expect_err 'rank lost: rank 0 ended the process with status 0'
expect_err 'simulated ranks share one process: a rank that ends returns'

# A handler that crashes at exit, when the verdict is known: it changes a good
# one.
expect 11 run "${simulate[@]}" "$program" handler call 1
expect_err 'deadlock: no rank can ever move'
expect 1 run "${simulate[@]}" --json "$scratch/json" "$program" abort_late call 1
expect_err 'the program was killed by signal 6 \(Aborted\), after its ranks'
jq -e '.verdict == "failed" and .exit_status == 1' "$scratch/json" >/dev/null ||
	fail "an abort at exit: $(<"$scratch/json")"

# A real rank says where it was, as well.
expect 13 run --nproc-per-node 3 --json "$scratch/json" "$wrong" crashes
expect_err 'rank lost: rank 1 was killed by signal 11'
expect_err 'it was in crash at tests/programs/endings\.c:[0-9]+'
jq -e '.sites[0] | .function == "crash" and .role == "culprit"' \
	"$scratch/json" >/dev/null || fail "a real rank: no site in the JSON"
# Before it joins, too.
expect 13 run --nproc-per-node 3 "$program" segv init 1
expect_err 'it was in err at tests/support/misbehave\.c:[0-9]+'
expect 13 run --nproc-per-node 3 "$wrong" aborts
expect_err 'it was in two_steps at tests/programs/endings\.c:[0-9]+'

# One that a signal has stopped, when the others have ended, is waited for as
# long as a call may take.
stopped='timeout: rank 1 has run for 0.3 s without a call: a signal has stopped its process'
expect 12 run --nproc-per-node 3 --timeout 0.3 --json "$scratch/json" \
	--dump "$scratch/stopped" "$program" stop end 1
expect_err "$stopped"
jq -e '.verdict == "timeout" and .culprits == [1]' "$scratch/json" >/dev/null ||
	fail "stopped: $(<"$scratch/json")"
expect 12 diagnose "$scratch/stopped"
expect_err "$stopped"

# A function that the rank serves runs without end.
expect 12 run "${simulate[@]}" --patience 0.2 "$program" function call 1
expect_err 'timeout: rank 1 has run for [0-9.]+ s without a call'
expect_err 'it (is|was) in loop at tests/support/misbehave\.c:[0-9]+'

# Who calls on a destroyed group is refused, and does not crash.
expect 0 run "${simulate[@]}" "$program" late call 1
expect 0 run --nproc-per-node 3 "$program" late call 1

# Who closes all its files closes Lockstep's sockets, too: others lose it.
for intra in tcp shm; do
	expect 1 run --nproc-per-node 3 --intra $intra --json "$scratch/json" \
		"$program" closes call 1
	[ "$(jq -c .culprits "$scratch/json")" = "[1]" ] ||
		fail "closed files: $(<"$scratch/json")"
	expect_err '^lockstep: rank 1 could do no I/O in all_reduce \(exit status 1\)$'
done

# A signal from another process is no rank's fault.
rm -f "$scratch/json"
"$LOCKSTEP" run "${simulate[@]}" --patience 60 --json "$scratch/json" \
	"$program" endless call 1 >/dev/null 2>"$scratch/err" </dev/null &
# shellcheck disable=SC2317 # by wait_for
has_child() { child=$(pgrep -x -P "$1" misbehave); }
wait_for has_child $!
kill -SEGV "$child" || fail "no one process simulates: $child"
status=0
wait $! || status=$?
[ $status -eq 139 ] || fail "a signal from outside: status $status"
expect_err 'interrupted by signal 11'
jq -e '.verdict == "interrupted" and .exit_status == 139' "$scratch/json" \
	>/dev/null || fail "a signal from outside: no JSON"

# A small stack is too small, and a large one is not.
expect 13 run "${simulate[@]}" --stack-size 64KiB "$program" overflow call 0
expect_err 'rank 0 overflowed its stack'
expect_err 'has 0\.0625 MiB: give --stack-size'
expect 2 run "${simulate[@]}" --stack-size 12 "$program" none none 0
expect_err '--stack-size: expected a size with its unit'

# Started by hand nobody watches, but the verdict is told.
export LOCKSTEP_BACKEND=sim LOCKSTEP_PLATFORM=$PWD/scenarios/platforms/star-8.xml
export WORLD_SIZE=3
status=0
"$program" abort call 1 2>"$scratch/err" || status=$?
[ $status -eq 13 ] || fail "by hand: status $status"
out=$(ulimit -f 0 && LOCKSTEP_JSON=$scratch/big "$program" abort call 1 2>&1)
grep -qx "lockstep: $scratch/big: cannot be written: File too large: .*" <<<"$out" ||
	fail "a report of 0 bytes: $out"
expect_err 'rank lost: rank 1 was killed by signal 6'
status=0
# Nor does a limit on files end who writes the report to one.
(ulimit -f 0 && exec "$program" exit3 call 1 2>"$scratch/err") || status=$?
[ $status -eq 13 ] || fail "by hand, exit: status $status"

finish
