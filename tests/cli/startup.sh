#!/bin/bash
# A real rank is a small process that starts quickly: it loads neither the
# simulated world nor what that needs.
. tests/cli/support.bash

[ "$SANITIZED" != yes ] || {
	echo "sanitizers take time and memory of their own"
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

# What it tells is true of a process that simulates; our own engine is as small.
simulate=(env WORLD_SIZE=2 LOCKSTEP_BACKEND=sim LOCKSTEP_PLATFORM=star-8)
"${simulate[@]}" LOCKSTEP_ENGINE=simgrid timeout 250 "$resident" \
	>"$scratch/out" || fail "does not simulate by SimGrid"
expect_out '^rank 0: [0-9]{5} KiB, with SimGrid$'
"${simulate[@]}" timeout 250 "$resident" >"$scratch/out" ||
	fail "does not simulate"
expect_out '^rank 0: [0-9]{4} KiB, without SimGrid$'

# 32 ranks take less of the processors than ten times what one process does that
# loads SimGrid; three to four times is usual, 26 if every rank did. One
# simulation takes less than a quarter of it; a tenth is usual.
seconds_of() { # COMMAND... - processor seconds, of all its children too
	local TIMEFORMAT='%U %S'
	{ time "$@" >"$scratch/out" 2>"$scratch/err"; } 2>"$scratch/time" ||
		fail "$*: $(cat "$scratch/err")"
	awk '{ print $1 + $2 }' "$scratch/time"
}
many=$(LOCKSTEP_INTRA=tcp seconds_of "$LOCKSTEP" run --nproc-per-node 32 "$resident")
one=$(seconds_of "${simulate[@]}" LOCKSTEP_ENGINE=simgrid "$resident")
own=$(seconds_of "${simulate[@]}" "$resident")
awk -v many="$many" -v one="$one" 'BEGIN { exit !(many < 10 * one) }' ||
	fail "32 ranks take $many s of the processors, one of SimGrid $one s"
awk -v own="$own" -v one="$one" 'BEGIN { exit !(4 * own < one) }' ||
	fail "one simulation takes $own s of the processors, of SimGrid $one s"

# What SimGrid runs: of a job, in the process of the ranks alone; what it has to
# read for predictions, in one for all that survey and simulate.
loads_once() { # WORD...
	local loaded
	LD_DEBUG=libs timeout 250 "$LOCKSTEP" "$@" >"$scratch/out" \
		2>"$scratch/err" || fail "$*: status $?"
	loaded=$(grep -c 'calling init: .*libsimgrid' "$scratch/err")
	[ "$loaded" -eq 1 ] || fail "$*: $loaded processes load SimGrid"
}
loads_once run --backend sim --engine simgrid --platform star-8 --nproc-per-node 2 "$resident"
loads_once predict --model mnist --flops 60e12 --platform fat-tree-64 \
	--world-size 16,32

# The command's own commands.
ldd "$LOCKSTEP" >"$scratch/needs"
if grep -E 'simgrid|stdc\+\+' "$scratch/needs"; then
	fail "the command loads the simulation engine as it starts"
fi

finish
