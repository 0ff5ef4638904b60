#!/bin/bash
# run-tests.sh COMMAND SANITIZED KIND:TEST ... - run tests, count them, sum up.
#
# COMMAND is the lockstep command and SANITIZED the one built with sanitizers;
# tests find one of them in $LOCKSTEP. KIND says how to run TEST: criterion (a
# Criterion binary), sanitized (the same, built with sanitizers), shell (a
# script), sanitized-shell (a script with the sanitized command), thread (a
# program built with the thread sanitizer). A script or program is one test:
# exit 0 passes, 77 skips, anything else fails. The last line of output is
# "N passed, N failed", with ", N skipped" when there are any; the exit status
# is 0 when none failed.
set -u
cd "$(dirname "$0")/.." || exit 1

plain=$(realpath "$1") && sanitized=$(realpath "$2") || exit 2
shift 2
export LOCKSTEP
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0:exitcode=66}
# One test may take this long, and one program of tests that long, in seconds.
one_limit=${TEST_LIMIT:-300}
all_limit=${TEST_LIMIT_ALL:-1800}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0
failures=()

# TAP, one line a test: "ok - suite::name", "not ok - ...", "... # SKIP why".
count_tap() {
	awk '
	/^ok .*# SKIP/ { skip++; next }
	/^ok /         { pass++ }
	/^not ok /     { fail++ }
	/^1\.\./       { plan = substr($1, 4) + 0 }
	END { print pass + 0, fail + 0, skip + 0, plan + 0 }' "$1"
}

# Leaks are asked for inside the tests (tests/support/leaks.h). At its own end
# Criterion's runner, in which none of our code runs, may hold memory of its own.
run_criterion() {
	local name=$1 binary=$2 tap="$scratch/tap" log="$scratch/log" status
	local start=$SECONDS pass fail skip plan

	rm -f "$tap"
	ASAN_OPTIONS="$ASAN_OPTIONS:leak_check_at_exit=0" \
		timeout -k 5 "$all_limit" "$binary" --timeout "$one_limit" \
		--tap="$tap" >"$log" 2>&1 </dev/null
	status=$?
	touch "$tap"
	read -r pass fail skip plan < <(count_tap "$tap")
	if [ $((pass + fail + skip)) -lt "$plan" ]; then
		fail=$((fail + plan - pass - fail - skip))
	fi
	if [ $status -ne 0 ] && [ "$fail" -eq 0 ] ||
		[ $((pass + fail + skip)) -eq 0 ]; then
		fail=$((fail + 1))
		echo "$name: ended with status $status" >>"$log"
	fi
	passed=$((passed + pass)) failed=$((failed + fail))
	skipped=$((skipped + skip))
	if [ "$fail" -gt 0 ]; then
		tail -n 100 "$log"
		failures+=("$name: $fail, among them: $(
			sed -n 's/^not ok - \([^ ]*\).*/\1/p' "$tap" |
				head -n 5 | tr '\n' ' ')")
	fi
	sed -n 's/^ok - \([^ ]*\).*# SKIP/  skipped \1:/p' "$tap"
	printf '%-28s %5d passed %3d failed %3d skipped  %4d s\n' "$name" \
		"$pass" "$fail" "$skip" $((SECONDS - start))
}

run_program() {
	local name=$1 log="$scratch/log" start=$SECONDS status word
	shift

	timeout -k 5 "$all_limit" "$@" >"$log" 2>&1 </dev/null
	status=$?
	case $status in
	0) passed=$((passed + 1)) word=passed ;;
	77) skipped=$((skipped + 1)) word="skipped: $(tail -n 1 "$log")" ;;
	*)
		failed=$((failed + 1)) word="FAILED with status $status"
		failures+=("$name")
		tail -n 60 "$log"
		;;
	esac
	printf '%-28s %s  %d s\n' "$name" "$word" $((SECONDS - start))
}

for item; do
	kind=${item%%:*}
	test=${item#*:}
	name=$(basename "$test")
	LOCKSTEP=$plain
	case $kind in
	criterion) run_criterion "${name%.test}" "$test" ;;
	sanitized)
		LOCKSTEP=$sanitized
		run_criterion "${name%.test} (sanitized)" "$test"
		;;
	shell) run_program "cli/$name" bash "$test" ;;
	sanitized-shell)
		LOCKSTEP=$sanitized
		SANITIZED=yes run_program "cli/$name (sanitized)" bash "$test"
		;;
	thread) run_program "tsan/$name" "$test" ;;
	*)
		echo "run-tests.sh: unknown kind $kind" >&2
		exit 2
		;;
	esac
done

if [ ${#failures[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failures[@]}"
fi
echo "all tests took $SECONDS s"
summary="$passed passed, $failed failed"
[ $skipped -eq 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
