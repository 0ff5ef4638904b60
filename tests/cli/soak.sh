#!/bin/bash
# All-reduces of worlds drawn by lot, while faults are done to their ranks:
# 150 worlds, 40 with sanitizers, from seed $SEED on.
. tests/cli/support.bash

soak=$(dirname "$LOCKSTEP")/tests/soak/soak
if [ "$SANITIZED" = yes ]; then runs=40; else runs=150; fi

RUNS=$runs "$soak" >"$scratch/out" 2>&1 </dev/null || fail "the soak ends with $?"
cat "$scratch/out"
grep -q "^soak: $runs worlds, 0 wrong;" "$scratch/out" || fail "no counts"
# A soak in which no fault strikes shows nothing.
grep -q "a peer was lost" "$scratch/out" || fail "no fault struck"

# wrong VARIABLE=VALUE - is refused in one line.
wrong() {
	local status

	env "$1" "$soak" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	[ $status -eq 2 ] || fail "$1: status $status, not 2"
	[ ! -s "$scratch/out" ] || fail "$1: something is run"
	grep -q "^${1%%=*} is \"${1#*=}\": expected an integer from 1 to" \
		"$scratch/err" || fail "$1: $(cat "$scratch/err")"
}
wrong RUNS=0
wrong RUNS=many
wrong SEED=-1
wrong WORLDS=65
finish
