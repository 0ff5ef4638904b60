#!/bin/bash
# run-tests.sh COMMAND ITEM ... [alone ITEM ...] - run tests in several lanes,
# count them, sum up.
#
# COMMAND is the lockstep command; tests find it in $LOCKSTEP. An item is
# KIND:TEST, KIND being criterion (a Criterion binary), shell (a script) or
# thread (a program built with the thread sanitizer). A script or program is one
# test: exit 0 passes, 77 skips, anything else fails. Items start in the order
# given, as many side by side as LANES says (two more than processors, for many
# wait rather than compute); those behind the word alone, which measure time,
# follow one after the other. SANITIZED=yes says that COMMAND and the tests are
# built with sanitizers. SUITE, if not empty, chooses: a kind (unit, cli), a
# suite of one (unit/verdict), or a script or program (cli/launch.sh, launch).
#
# A line for each item tells its counts, its seconds and those of processors.
# The last line of output is "N passed, N failed", with ", N skipped" when there
# are any; the exit status is 0 when none failed, and 2 when none was chosen.
set -u
cd "$(dirname "$0")/.." || exit 1

LOCKSTEP=$(realpath "$1") || exit 2
shift
export LOCKSTEP SANITIZED=${SANITIZED:-no}
# Ten frames tell where memory came from; thirty cost a tenth of all time.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:malloc_context_size=10}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0:exitcode=66}
# One test may take this long, and one program of tests that long, in seconds.
one_limit=${TEST_LIMIT:-300}
all_limit=${TEST_LIMIT_ALL:-1800}
lanes=${LANES:-$(($(nproc) + 2))}
suite=${SUITE:-}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
# shellcheck disable=SC2046 # process numbers
trap 'kill $(jobs -p) 2>/dev/null; exit 1' INT TERM
TIMEFORMAT='%R %U %S'

# limited COMMAND... - runs it for all_limit seconds at most. Its output goes to
# $log, the seconds that passed, and those of processors, to $log.time.
limited() {
	local child
	{
		time {
			timeout -k 5 "$all_limit" "$@" >"$log" 2>&1 </dev/null &
			child=$!
			# shellcheck disable=SC2064 # this child
			trap "kill $child; exit 1" TERM
			wait $child
		}
	} 2>"$log.time"
}

# TAP, one line a test: "ok - suite::name", "not ok - ...", "... # SKIP why".
# Of the suite $2 only, if there is one: Criterion lists what was left out.
count_tap() {
	awk -v suite="$2" '
	/^1\.\./       { if (suite == "") plan = substr($1, 4) + 0 }
	suite != "" && !index($0, " - " suite "::") { next }
	/^ok .*# SKIP/ { skip++; next }
	/^ok /         { pass++ }
	/^not ok /     { fail++ }
	END { print pass + 0, fail + 0, skip + 0, plan + 0 }' "$1"
}

# Each of these leaves its counts in $log.sum, what failed in $log.failed.

# Leaks are asked for inside the tests (tests/support/leaks.h). At its own end
# Criterion's runner, in which none of our code runs, may hold memory of its own.
run_criterion() {
	local name=$1 binary=$2 part=$3 tap="$log.tap" status words
	local pass fail skip plan

	ASAN_OPTIONS="$ASAN_OPTIONS:leak_check_at_exit=0" limited "$binary" \
		--timeout "$one_limit" --tap="$tap" ${part:+--filter "$part/*"}
	status=$?
	touch "$tap"
	read -r pass fail skip plan < <(count_tap "$tap" "$part")
	if [ $((pass + fail + skip)) -lt "$plan" ]; then
		fail=$((fail + plan - pass - fail - skip))
	fi
	if [ $status -ne 0 ] && [ "$fail" -eq 0 ] ||
		[ $((pass + fail + skip)) -eq 0 ]; then
		fail=$((fail + 1))
		echo "$name: ended with status $status" >>"$log"
	fi
	if [ "$fail" -gt 0 ]; then
		# What Criterion says of the failed, and the end.
		grep -a -A 8 -e '^\[FAIL\]' -e 'Assertion Failed' \
			-e 'CRASH!' "$log" | head -n 60
		tail -n 40 "$log"
		echo "$name: $fail, among them: $(
			sed -n 's/^not ok - \([^ ]*\).*/\1/p' "$tap" |
				head -n 5 | tr '\n' ' ')" >"$log.failed"
	fi
	grep -v 'SKIP test was skipped$' "$tap" |
		sed -n 's/^ok - \([^ ]*\).*# SKIP/  skipped \1:/p'
	words=$(printf '%5d passed %3d failed %3d skipped' "$pass" "$fail" "$skip")
	print_item "$name" "$words"
	echo "$pass $fail $skip" >"$log.sum"
}

run_program() {
	local name=$1 status
	shift

	limited "$@"
	status=$?
	case $status in
	0)
		print_item "$name" passed
		echo 1 0 0 >"$log.sum"
		;;
	77)
		print_item "$name" "skipped: $(tail -n 1 "$log")"
		echo 0 0 1 >"$log.sum"
		;;
	*)
		tail -n 60 "$log"
		echo "$name" >"$log.failed"
		print_item "$name" "FAILED with status $status"
		echo 0 1 0 >"$log.sum"
		;;
	esac
}

print_item() { # name, words
	local wall user sys
	read -r wall user sys <"$log.time"
	awk -v name="$1" -v words="$2" -v wall="$wall" -v busy="$user+$sys" '
	BEGIN {
		split(busy, parts, "+")
		printf "%-30s %-35s %5.1f s, %5.1f s of processors\n", name,
			words, wall, parts[1] + parts[2]
	}'
}

# name_of KIND:TEST - as SUITE and the lines of output call it.
name_of() {
	local base
	base=$(basename "${1#*:}")
	case $1 in
	criterion:*) name=${base%.test} ;;
	shell:*) name=${1#*:} name=${name#tests/} ;;
	thread:*) name=tsan/$base ;;
	*)
		echo "run-tests.sh: unknown kind: $1" >&2
		exit 2
		;;
	esac
}

# Whether SUITE means the item $1 called $name; of which part, in $part.
chosen() {
	part=
	case $suite in
	"" | "$name" | "${name%%/*}" | "${name#*/}") return 0 ;;
	"$name"/*)
		part=${suite#*/}
		return 0
		;;
	esac
	[ "$suite.sh" = "$name" ] || [ "cli/$suite.sh" = "$name" ]
}

# run_item KIND:TEST - one item in a lane, with $name and $part.
run_item() {
	local shown=$name
	[ "$SANITIZED" = no ] || [[ $1 == thread:* ]] || shown="$name (sanitized)"
	case $1 in
	criterion:*) run_criterion "$shown" "${1#*:}" "$part" ;;
	shell:*) run_program "$shown" bash "${1#*:}" ;;
	thread:*) run_program "$shown" "${1#*:}" ;;
	esac >"$log.out"
}

passed=0 failed=0 skipped=0 running=0 started=0
failures=()
declare -A log_of

# Waits until one item has ended, and counts it.
take_one() {
	local lane log pass fail skip
	wait -n -p lane
	log=${log_of[$lane]}
	running=$((running - 1))
	cat "$log.out"
	if read -r pass fail skip 2>/dev/null <"$log.sum"; then
		passed=$((passed + pass)) failed=$((failed + fail))
		skipped=$((skipped + skip))
	else
		failed=$((failed + 1)) failures+=("$log: no counts")
	fi
	[ ! -e "$log.failed" ] || failures+=("$(cat "$log.failed")")
}

for item; do
	if [ "$item" = alone ]; then
		lanes=1
		continue
	fi
	name_of "$item"
	chosen || continue
	while [ "$running" -ge "$lanes" ]; do take_one; done
	log=$scratch/$(tr '/ ' '--' <<<"$name")
	run_item "$item" &
	log_of[$!]=$log
	running=$((running + 1)) started=$((started + 1))
done
while [ "$running" -gt 0 ]; do take_one; done

if [ ${#failures[@]} -gt 0 ]; then
	printf 'failed: %s\n' "${failures[@]}"
fi
if [ $started -eq 0 ]; then
	echo "run-tests.sh: SUITE=$suite names no test" >&2
	exit 2
fi
echo "all tests took $SECONDS s"
summary="$passed passed, $failed failed"
[ $skipped -eq 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
