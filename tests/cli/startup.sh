#!/bin/bash
# A real rank is a small process that starts quickly: it loads neither the
# simulated world nor what that needs.
. tests/cli/support.bash

[ "$SANITIZED" != yes ] || {
	echo "sanitizers take memory of their own, and SimGrid is linked there"
	exit 77
}
resident=$(dirname "$LOCKSTEP")/tests/cli/resident

for intra in tcp shm; do
	LOCKSTEP_INTRA=$intra expect 0 run --backend tcp --nproc-per-node 3 \
		"$resident"
	awk '$2 ~ /^[0-2]:$/ && $3 > 0 && $3 < 8192 && $5 == "without" { well++ }
		END { exit well != 3 }' "$scratch/out" ||
		fail "$intra: not three ranks of less than 8 MiB:" \
			"$(cat "$scratch/out")"
done

# What it tells is true of a process that simulates.
platform=$("$LOCKSTEP" list platforms | awk 'NR == 2 { print $1 }')
WORLD_SIZE=2 LOCKSTEP_BACKEND=sim LOCKSTEP_PLATFORM=$platform \
	timeout 250 "$resident" >"$scratch/out" || fail "does not simulate"
expect_out '^rank 0: [0-9]{5} KiB, with SimGrid$'

# 32 ranks take less of the processors than ten times what one process does that
# loads SimGrid; three to four times is usual, 26 if every rank did.
seconds_of() { # COMMAND... - processor seconds, of all its children too
	local TIMEFORMAT='%U %S'
	{ time "$@" >"$scratch/out" 2>"$scratch/err"; } 2>"$scratch/time" ||
		fail "$*: $(cat "$scratch/err")"
	awk '{ print $1 + $2 }' "$scratch/time"
}
many=$(LOCKSTEP_INTRA=tcp seconds_of "$LOCKSTEP" run --nproc-per-node 32 "$resident")
one=$(WORLD_SIZE=1 LOCKSTEP_BACKEND=sim LOCKSTEP_PLATFORM=$platform \
	seconds_of "$resident")
awk -v many="$many" -v one="$one" 'BEGIN { exit !(many < 10 * one) }' ||
	fail "32 ranks take $many s of the processors, one simulation $one s"

# Of a job that simulates, the process of the ranks alone; of predictions, one
# for all that survey and simulate.
loads_once() { # WORD...
	local loaded
	LD_DEBUG=libs timeout 250 "$LOCKSTEP" "$@" >"$scratch/out" \
		2>"$scratch/err" || fail "$*: status $?"
	loaded=$(grep -c 'calling init: .*libsimgrid' "$scratch/err")
	[ "$loaded" -eq 1 ] || fail "$*: $loaded processes load SimGrid"
}
loads_once run --backend sim --platform star-8 --nproc-per-node 2 "$resident"
loads_once predict --model mnist --machine dgx-a100 --world-size 16,32

# The command's own commands.
ldd "$LOCKSTEP" >"$scratch/needs"
if grep -E 'simgrid|stdc\+\+' "$scratch/needs"; then
	fail "the command loads the simulation engine as it starts"
fi

finish
