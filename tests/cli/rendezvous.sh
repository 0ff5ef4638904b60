#!/bin/bash
# Ranks that do not find each other: who did not come, and why, within seconds.
. tests/cli/support.bash

export LOCKSTEP_JSON="$scratch/v.json"

# turns_on RANKS - those that the last verdict turns on.
turns_on() {
	local said
	said=$(jq -c .culprits "$LOCKSTEP_JSON")
	[ "$said" = "$1" ] || fail "turns on $said, not $1"
}

expect 18 run --nproc-per-node 3 "$wrong" missing_rank
expect_err '^  rank.*: 2 of 3 ranks came; missing: 2$'
turns_on '[2]'

# limited N WORDS... - lockstep WORDS where N files may be open and none is
# but the three: whoever started this test may have left it more.
limited() (
	for open in /proc/self/fd/*; do
		open=${open##*/}
		# 255 is bash's own; lockstep does not get it.
		[ "$open" -le 2 ] || [ "$open" -eq 255 ] || eval "exec $open>&-"
	done
	ulimit -n "$1"
	shift
	lockstep "$@"
	exit "$status"
)

# Files run out at rank 0, which would have to wait for the rest for ever; or
# before any rank can come, or once all have.
for files in 19 16 11 10 9; do
	began=$SECONDS
	limited $files run --nproc-per-node 8 hello
	[ $? -eq 18 ] || fail "ulimit -n $files: no verdict on the rendezvous"
	[ $((SECONDS - began)) -lt 15 ] || fail "ulimit -n $files: a long wait"
	expect_err "^  rank.*ulimit -n is $files([;)]|\$)"
done

# Files run out only when all have met and ranks connect among themselves.
limited 24 run --nproc-per-node 8 all_reduce
status=$?
[ $status -eq 1 ] || fail "ulimit -n 24: status $status: $(tail -n 5 "$scratch/err")"
expect_err '^rank .*\(Too many open files: ulimit -n is 24; 8 ranks want 32\)'
# A program may not say why, but the verdict does.
expect_err '^  rank [0-9] called [a-z_]+\(.*, which failed: Too many open files: ulimit -n is 24; 8 ranks want 32$'

expect 18 run --nproc-per-node 3 "$wrong" stale_file
expect_err 'so says .*: if an earlier job wrote it, delete the file'
turns_on '[]'

finish
