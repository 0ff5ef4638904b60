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

# The command's own commands.
ldd "$LOCKSTEP" >"$scratch/needs"
if grep -E 'simgrid|stdc\+\+' "$scratch/needs"; then
	fail "the command loads the simulation engine as it starts"
fi

finish
