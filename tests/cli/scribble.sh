#!/bin/bash
# A rank writes over the records that the launcher reads of it: the launcher
# names it, and tells of the others, whatever the rank does then.
. tests/cli/support.bash

# A rank that the system ends is ended by a signal, under sanitizers too.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_sigbus=0:handle_segv=0"

program=$(dirname "$LOCKSTEP")/tests/cli/scribble
json=$scratch/verdict.json
export LOCKSTEP_PATIENCE=1

# scribbles STATUS HOW TEXT... - what the launcher says of the job.
scribbles() {
	local status=$1 how=$2
	shift 2
	rm -f "$json"
	expect "$status" check --nproc-per-node 4 --timeout 30 --json "$json" \
		"$program" "$how"
	for text; do
		grep -qF "$text" "$scratch/err" || {
			fail "scribble $how: no \"$text\":"
			cat "$scratch/err"
		}
	done
	grep -qF '"exit_status": '"$status" "$json" ||
		fail "scribble $how: no verdict in JSON"
}

damaged='the records of rank 1 are damaged'
others='ranks 0,2-3 (3) wait in barrier() #1'
scribbles 1 wait 'rank 1 wrote over its own records' "$damaged"
scribbles 13 end 'rank lost: rank 1 wrote over its own records' "$damaged" \
	"$others"
scribbles 13 sleep 'rank lost: rank 1 wrote over its own records' \
	'rank 1 has damaged records' "$damaged" "$others"
scribbles 13 die 'rank lost: rank 1 was killed by signal 6' "$damaged"
scribbles 10 apart 'rank 2 called all_reduce' "$damaged"
scribbles 13 cut 'killed by signal 7' 'the records of ranks 0-3 (4) are damaged'

finish
