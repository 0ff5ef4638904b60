# What the tests of the command share. Sourced, not run. The command under test
# is $LOCKSTEP; $scratch is an empty folder that goes away at the end.
# shellcheck shell=bash

set -u
: "${LOCKSTEP:=build/default/lockstep}"
if [ ! -x "$LOCKSTEP" ]; then
	echo "no command at $LOCKSTEP; set LOCKSTEP"
	exit 1
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
unset LOCKSTEP_BACKEND LOCKSTEP_PLATFORM LOCKSTEP_PROFILE LOCKSTEP_ALGORITHM
unset LOCKSTEP_TRACE LOCKSTEP_TIMEOUT LOCKSTEP_DATA

failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# Runs the command; its output lands in $scratch/out and $scratch/err, its
# status in $status.
lockstep() {
	timeout 60 "$LOCKSTEP" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
}

# expect STATUS WORDS... - the command with these words ends with STATUS.
expect() {
	local wanted=$1
	shift
	lockstep "$@"
	if [ "$status" -ne "$wanted" ]; then
		fail "lockstep $*: status $status, not $wanted"
		head -n 20 "$scratch/err"
	fi
}

# expect_refusal PATTERN WORDS... - bad input: status 2, nothing on stdout, one
# line on stderr that matches PATTERN.
expect_refusal() {
	local pattern=$1
	shift
	expect 2 "$@"
	[ ! -s "$scratch/out" ] || fail "lockstep $*: wrote to stdout"
	if [ "$(wc -l <"$scratch/err")" -ne 1 ]; then
		fail "lockstep $*: not one line on stderr:"
		head -n 5 "$scratch/err"
	fi
	grep -qE -- "$pattern" "$scratch/err" ||
		fail "lockstep $*: no /$pattern/ in: $(cat "$scratch/err")"
}

# expect_out PATTERN - the last command's stdout has a line that matches.
expect_out() {
	grep -qE -- "$1" "$scratch/out" || fail "no /$1/ on stdout"
}

finish() {
	[ "$failures" -eq 0 ] && echo fine
	exit $((failures > 0))
}
