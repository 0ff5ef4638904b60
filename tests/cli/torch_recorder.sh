#!/bin/bash
# What torch's own analyser says of the same dumps: it finds the same ranks where
# it looks at one group, and takes the first rank that it reads for the right
# one; of waits over several groups it sees that states differ. And what torch
# writes today is read.
. tests/cli/support.bash
needs_torch 2.9
export PYTHONPATH=$PWD/tests/torch/light

# Rank 1 of 2 does not come.
mkdir "$scratch/live"
for rank in 0 1; do
	timeout 250 "$python" tests/recordings/hang.py $rank 2 absent "$scratch/live" \
		>"$scratch/log$rank" 2>&1 &
done

jobs=$scratch/jobs
python3 tests/recordings/make.py "$jobs" >"$scratch/cases" || fail 'no dumps'
cat >"$scratch/table" <<'END'
one_is_absent timeout 2 missing 2
two_of_eight_are_absent timeout 3,6 missing 3,6
one_is_absent_in_a_group timeout 1 missing 1
the_buffer_wrapped timeout 1 missing 1
the_rank_that_raised_left_no_dump timeout 3 undecided
one_has_another_size mismatch 3 SIZE_OR_SYNTAX_MISMATCH 3
they_parted_long_ago mismatch 2 SIZE_OR_SYNTAX_MISMATCH 2
one_has_another_type mismatch 1 COLLECTIVE_DTYPE_MISMATCH 1
one_calls_another_operation mismatch 0 COLLECTIVE_TYPE_MISMATCH 1,2,3
groups_in_other_order_blocking deadlock 0,1,2,3 missing 1
groups_in_other_order_enqueued deadlock 0,1,2,3 COLLECTIVE_STATE_MISMATCH 1
three_groups_in_a_ring deadlock 0,1,2 COLLECTIVE_STATE_MISMATCH 1
all_is_complete status - nothing
all_are_in_the_same_call status - nothing
END
names=$(cut -d ' ' -f 1 "$scratch/table")
# shellcheck disable=SC2086 # a word a job
timeout 250 "$python" tests/torch/recorder.py "$jobs" $names \
	>"$scratch/torch" 2>"$scratch/torch.err" ||
	fail "torch's analyser: $(tail -n 5 "$scratch/torch.err")"
for name in $names; do
	lockstep diagnose --json "$scratch/o.json" "$jobs/$name"
	echo "$name $(jq -r '"\(.verdict) \(.culprits | map(tostring) |
		join(",") | if . == "" then "-" else . end)"' "$scratch/o.json")"
done >"$scratch/ours"
join "$scratch/ours" "$scratch/torch" --nocheck-order >"$scratch/both"
diff "$scratch/table" "$scratch/both" || fail 'other findings'

wait
# As if they had been written after the deadline.
touch -d '30 seconds' "$scratch"/live/*
expect 12 diagnose "$scratch"/live/comm_lib_trace_rank_*
expect_err 'rank 0 waits in all_reduce.* #2 of group default at .*hang.py:[0-9]+$'
expect_err 'rank 1 runs in its own code; last call: .* of group tp at .*hang.py'
expect 12 diagnose "$scratch"/live/trace_*.json
finish
