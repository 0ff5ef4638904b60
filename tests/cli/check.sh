#!/bin/bash
# The conformance table, walked by the command; programs under the checker.
. tests/cli/support.bash
top=$PWD

expect 0 check --conformance --world-size 3 --op all_reduce,barrier \
	--algorithm ring
expect_out '^[1-9][0-9]+ cases, 0 failed$'
expect 0 check --conformance --world-size 1,2 --backend SIM --op broadcast
expect_out '^[1-9][0-9]+ cases, 0 failed$'
expect 0 check --conformance --world-size 2 --op all_gather --algorithm auto
expect_out '^[1-9][0-9]+ cases, 0 failed$'

# A case that fails is named, with what runs it again.
expect 1 check --conformance --backend sim --world-size 8 --op barrier \
	--algorithm dissemination --timeout 1e-6
expect_out '^FAIL barrier\(.* timed out|^FAIL barrier\(.*: rank [0-7]: barrier: .*; again: lockstep check --conformance --backend sim --world-size 8 --op barrier --algorithm dissemination$'
expect_out '^2 cases, 2 failed$'
expect 1 check --conformance --backend sim --world-size 2 --op reduce \
	--timeout 1e-6
expect_out '^FAIL and [0-9]+ more cases were not walked$'

expect_refusal 'all_reduce' check --conformance all_reduce
expect_refusal '"ucc"' check --conformance --backend sim,ucc
expect_refusal '"17"' check --conformance --world-size 1,17
expect_refusal '"two"' check --conformance --world-size two
expect_refusal '"all_reduce,"|""' check --conformance --op all_reduce,
expect_refusal '"bruck"' check --conformance --op all_reduce --algorithm bruck
expect_refusal 'timeout' check --conformance --timeout -1
expect_refusal timeout check --timeout 1.1e9 hello
expect 0 check --timeout 1e9 hello
expect_refusal 'no-such' check --conformance --platform no-such
expect_refusal 'hosts' check --conformance --backend sim --world-size 16 \
	--op barrier --platform star-8

# A program under the checker: the verdict is the status, and in the files.
sim=(--backend sim --platform star-8 --nproc-per-node 3)
expect 10 check "${sim[@]}" --json "$scratch/json" --junit "$scratch/junit" \
	--sarif "$scratch/sarif" --annotate github mismatch
expect_out '^::error file=scenarios/mismatch.c,line=[0-9]+'
grep -q '"verdict": "mismatch"' "$scratch/json" || fail "no verdict as JSON"
grep -q '<failure' "$scratch/junit" || fail "no failure as JUnit"
grep -q 'mismatch.c' "$scratch/sarif" || fail "no line as SARIF"
expect 0 check "${sim[@]}" --json "$scratch/json" mismatch --fixed
grep -q '"verdict": "fine"' "$scratch/json" || fail "not fine as JSON"

# Memory is watched unless told otherwise.
# A program that gives up leaves what it holds.
leaks=${ASAN_OPTIONS-}
export ASAN_OPTIONS=$leaks:detect_leaks=0
expect 14 check "${sim[@]}" "$wrong" waited_for_another
expect 0 check "${sim[@]}" --debug off "$wrong" waited_for_another
expect 14 check "${sim[@]}" --debug detail --json "$scratch/json" \
	--sarif "$scratch/sarif" --annotate github "$wrong" written_before_wait
export ASAN_OPTIONS=$leaks
expect_out '^::error file=.*rank 1 touched the memory of all_reduce here'
jq -e '.sites | any(.role == "access" and .function == "written_before_wait")' \
	"$scratch/json" >/dev/null || fail "no access as JSON"
grep -q 'access: rank 1 touched' "$scratch/sarif" || fail "no access as SARIF"

# Observed, a verdict is told and not held against it; bad input is.
expect 0 check --observe "${sim[@]}" mismatch
grep -q 'mismatch' "$scratch/err" || fail "--observe is silent"
expect 0 check --observe --nproc-per-node 2 hello
silent='warning: no rank called Lockstep: nothing was checked'
! grep -q "$silent" "$scratch/err" || fail "hello called nothing"
# A hang of real ranks is waited for; a simulated rank without end has one.
program patience <<'END'
echo "patience ${LOCKSTEP_PATIENCE-usual}"
END
expect 0 check --observe --nproc-per-node 1 "$scratch/patience"
expect_out '^patience 0$'
grep -q "$silent" "$scratch/err" || fail "real ranks without calls are fine"
expect 0 check --observe "${sim[@]}" "$scratch/patience"
expect_out '^patience usual$'
grep -q "$silent" "$scratch/err" || fail "simulated ranks likewise"
expect_refusal '^lockstep check: .*no-such' check --observe no-such
expect_refusal '^lockstep check: .*"minute"' check --timeout minute hello
expect_refusal 'a program, or --conformance' check
expect_refusal '^lockstep check: no PROGRAM: expected' check --observe

# The order of collectives, recorded and held against, in both worlds.
tcp=(--backend tcp --nproc-per-node 3)
expect 0 check --record "$scratch/order" "${sim[@]}" "$wrong" never_waited_for correct
cmp "$scratch/order" - <<-END || fail "another order: $(cat "$scratch/order")"
	group default, ranks 0-2
	  3 x all_reduce(float32 x 4, avg) in memory.c
END
expect 0 check "${tcp[@]}" --expect="$scratch/order" "$wrong" never_waited_for correct
expect 1 check --expect "$scratch/order" "${tcp[@]}" "$wrong" late_for_the_sum correct
expect_err "rank 0, #0 of group default: expected all_reduce\(float32 x 4, avg\) in memory.c \(.*/order:2\), got all_reduce\(float32 x 4, sum\) in endings.c at line [0-9]+$"
expect_err 'differ besides: 2$'
expect 0 check --observe --expect "$scratch/order" "${tcp[@]}" \
	"$wrong" late_for_the_sum correct
expect 1 check --expect "$scratch/order" --nproc-per-node 2 \
	"$wrong" never_waited_for correct
expect_err 'rank 2, #0 of group default: expected .*, got no more$'
expect 2 check --record "$scratch/none" --trace "$scratch/trace" \
	--nproc-per-node 2 hello
expect_err 'expected no other trace'
# Of a program without collectives it says so.
expect 0 check --record "$scratch/none" --nproc-per-node 2 tutorial_send_recv
expect 0 check --expect "$scratch/none" --nproc-per-node 2 tutorial_send_recv
expect 1 check --expect "$scratch/none" --nproc-per-node 2 hello
[ "$(cat "$scratch/none")" = "no collectives" ] || fail "not said: none"
rm "$scratch/none"
# The run's trace, which may be long, goes where the user has the room.
TMPDIR=$scratch/absent expect 3 check --record "$scratch/none" hello
expect_err 'absent/lockstep-.*: No such file or directory'
# Only of what ended well: a verdict comes first.
expect 10 check --record "$scratch/none" "${sim[@]}" mismatch
[ ! -e "$scratch/none" ] || fail "recorded what failed"

# What docs/ci.md has others write into their jobs.
sed -nE 's/^ *- (run: )?(lockstep check .*)/\2/p' docs/ci.md | sort -u >"$scratch/lines"
[ "$(wc -l <"$scratch/lines")" -ge 4 ] || fail "no jobs in docs/ci.md"
LOCKSTEP=$(realpath "$LOCKSTEP")
cd "$scratch" || exit 1
while read -r _ words; do
	# shellcheck disable=SC2086 # a line of words
	expect 0 ${words//.\/train/hello}
done <"$scratch/lines"

# Ended midway: the trace that the order was to be read from goes as well.
program stays <<'END'
[ "$RANK" != 0 ] || dirname "$LOCKSTEP_TRACE" >"$1"
sleep 60
END
"$LOCKSTEP" check --record "$scratch/order" --nproc-per-node 2 "$scratch/stays" \
	"$scratch/folder" 2>/dev/null &
wait_for test -s "$scratch/folder" || fail "check: no rank came"
kill -TERM $!
wait $!
[ $? -eq 143 ] || fail "check, ended: another status"
[ ! -e "$(cat "$scratch/folder")" ] || fail "check, ended: left its folder"

# Interrupted: where the ranks were, and the files, before it ends.
mkdir "$scratch/endless"
programs=$(dirname "$LOCKSTEP")/tests/cli
# shellcheck disable=SC2317 # what wait_for calls
joined() {
	grep -qs joined "$scratch"/endless/*
}
# interrupt SIGNAL READY COMMAND... - starts it, and sends it the signal when
# READY says so.
interrupt() {
	local signal=$1 ready=$2
	shift 2
	rm -f "$scratch"/i.* "$scratch"/endless/*
	env --default-signal=INT "$LOCKSTEP" check --json "$scratch/i.json" \
		--junit "$scratch/i.xml" --sarif "$scratch/i.sarif" "$@" 2>"$scratch/err" &
	$ready || fail "check: no rank came"
	kill -s "$signal" $!
	wait $!
	status=$?
	[ $status -eq $((128 + $(kill -l "$signal"))) ] || fail "$*: status $status"
}
interrupted() { # SIGNAL PATTERN
	expect_err "^lockstep: interrupted by signal $(kill -l "$1") "
	expect_err "$2"
	jq -e ".verdict == \"interrupted\" and .exit_status == $status" \
		"$scratch/i.json" >/dev/null || fail "SIG$1: no such JSON"
	grep -q '<failure type="interrupted"' "$scratch/i.xml" || fail "SIG$1: no JUnit"
	jq -e -f "$top/tests/support/sarif.jq" "$scratch/i.sarif" >/dev/null ||
		fail "SIG$1: no SARIF"
}
for signal in INT TERM; do
	interrupt $signal 'wait_for joined' --nproc-per-node 2 "$programs/endless" "$scratch/endless"
	interrupted $signal 'rank.* at tests/cli/endless.c:[0-9]+$|rank.* has not '
	# Nobody says when a simulated rank is at work: later and later.
	for seconds in 0.3 1 4 16; do
		interrupt $signal "sleep $seconds" --backend sim --platform star-8 \
			--nproc-per-node 3 "$programs/misbehave" endless call 1
		[ ! -s "$scratch/i.json" ] || break
	done
	interrupted $signal 'rank 0 waits in all_reduce.* at tests/support/misbehave.c:[0-9]+$'
done

finish
