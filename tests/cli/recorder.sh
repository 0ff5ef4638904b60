#!/bin/bash
# The verdict from dumps of torch's Flight Recorder: of jobs that hung, of jobs
# that are well, and of what only looks like a dump.
. tests/cli/support.bash

command -v python3 >/dev/null || {
	echo 'no python3'
	exit 77
}

jobs=$scratch/jobs
python3 tests/recordings/make.py "$jobs" >"$scratch/cases" ||
	fail 'no dumps were made'
cases=0
while read -r wanted name pattern; do
	expect "$wanted" diagnose "$jobs/$name"
	tr '\n' ' ' <"$scratch/err" | grep -qE -- "$pattern" ||
		fail "$name: no /$pattern/ in: $(cat "$scratch/err")"
	cases=$((cases + 1))
done <"$scratch/cases"
[ "$cases" -gt 40 ] || fail "only $cases cases"

# What torch 2.13 wrote over gloo (tests/recordings/hang.py): after the deadline
# and in the middle of it. There a call is retired however it ended, and no
# group has its ranks.
recorded=tests/recordings
expect 12 diagnose $recorded/gloo_absent
expect_err 'ranks 0-1 .* wait in all_reduce.* #2 of group default at /job/hang.py:51'
expect_err 'rank 2 runs in its own code; last call: .* of group tp at /job/hang.py:25'
expect 12 diagnose $recorded/gloo_absent_json
expect_err 'ranks 0-1 .* wait in all_reduce.* #2 of group default at an unknown line'
for job in gloo_abba gloo_asked; do
	expect 11 diagnose $recorded/$job
	expect_err 'rank 1 waits in all_reduce .group tp.* for rank 0, .* a cycle'
done
expect 0 diagnose $recorded/gloo_well
# Before the deadline nobody is late.
cp -r $recorded/gloo_asked "$scratch/asked"
touch -d 2020-01-01 "$scratch/asked"/*
expect 0 diagnose "$scratch/asked"
expect_err 'status: where the ranks are'

# What torch 2.11 wrote through NCCL 2.32.3, three ranks on one H100, when its
# watchdog ended the job: torchrun --nproc-per-node 3 tests/recordings/hang_nccl.py
# KIND FOLDER, with TORCH_FR_BUFFER_SIZE=2000, TORCH_NCCL_DUMP_ON_TIMEOUT=1 and
# TORCH_FR_DUMP_TEMP_FILE=FOLDER/nccl_trace_rank_; of KIND recv it wrote none.
expect 0 diagnose $recorded/nccl_well
expect 12 diagnose $recorded/nccl_absent
expect_err 'ranks 0-1 .* wait in all_reduce.* #2 of group default at .*hang_nccl.py:21'
expect_err 'rank 2 runs in its own code; last call: .* of group tp at .*hang_nccl.py:17'
expect 11 diagnose $recorded/nccl_abba
expect_err 'rank 1 waits in all_reduce .group tp.* for rank 0, .* a cycle'
expect 10 diagnose $recorded/nccl_size
expect_err 'rank 2 called all_reduce.float32, 1000. at .*hang_nccl.py:27'
expect 10 diagnose $recorded/nccl_op
expect_err 'rank 0 called broadcast.float32, 1024. at .*hang_nccl.py:36'

# The same as files, in any order, and all outputs.
expect 11 diagnose --json "$scratch/o.json" --junit "$scratch/o.xml" \
	--sarif "$scratch/o.sarif" \
	"$jobs"/groups_in_other_order_enqueued/*_{3,1,0,2}
jq -e '.verdict == "deadlock" and .exit_status == 11 and
	([.. | .line? | numbers] | contains([70, 71]))' "$scratch/o.json" \
	>/dev/null || fail 'JSON: no deadlock with both lines'
jq -e '.runs[0].results | length > 0' "$scratch/o.sarif" >/dev/null ||
	fail 'SARIF: no result'
grep -q '<failure' "$scratch/o.xml" || fail 'JUnit: no failure'

# A folder may hold other things; a dump's name says whose it is.
cp -r "$jobs/one_is_absent" "$scratch/mixed"
echo 'a log' >"$scratch/mixed/log_7"
expect 12 diagnose "$scratch/mixed"
cp "$scratch/mixed/nccl_trace_rank_0" "$scratch/dump"
expect_refusal 'expected a name that ends with the rank' diagnose "$scratch/dump"
cp "$scratch/dump" "$scratch/comm_lib_trace_rank_9"
expect_refusal 'of rank 9, by its name: expected one of the ranks' \
	diagnose "$scratch/comm_lib_trace_rank_9"
expect_refusal 'a second dump of rank 0' diagnose "$scratch/mixed" \
	"$scratch/mixed/nccl_trace_rank_0"
mkdir "$scratch/empty"
expect_refusal 'expected files .*nccl_trace_rank_0' diagnose "$scratch/empty"

# Not among dumps of ours, in either order.
"$LOCKSTEP" run --timeout 1 --dump "$scratch/ours" --nproc-per-node 2 "$wrong" \
	half_against_half >/dev/null 2>&1
expect_refusal 'expected dumps of one kind' diagnose "$scratch/mixed" "$scratch/ours"
expect_refusal 'expected dumps of one kind' diagnose "$scratch/ours" "$scratch/mixed"

# Nothing in a pickle is ever called.
python3 - "$scratch" <<'END'
import os, pickle, sys
class Wipe:
    def __reduce__(self):
        return os.system, ("touch " + sys.argv[1] + "/ran",)
for protocol in range(6):
    with open("%s/evil_%d" % (sys.argv[1], protocol), "wb") as out:
        pickle.dump({"version": "2.10", "entries": [Wipe()]}, out, protocol)
# What is no text is still written as JSON.
with open(sys.argv[1] + "/odd_0", "wb") as out:
    pickle.dump({"version": "2.10", "entries": [{
        "process_group": (b"\xff", b"\xff"), "record_id": 0,
        "profiling_name": b"\xff\xff:\xff\xff", "frames": [
            {"filename": b"\xff.py", "line": 1}]}]}, out)
END
expect 0 diagnose --json "$scratch/odd.json" "$scratch/odd_0"
for protocol in 0 1 2 3 4 5; do
	expect_refusal 'not (STACK_)?GLOBAL, which would run code' \
		diagnose "$scratch/evil_$protocol"
done
[ ! -e "$scratch/ran" ] || fail 'a pickle was executed'

# refused TEXT PATTERN - a dump of this JSON.
refused() {
	printf '%s' "$1" >"$scratch/trace_0.json"
	expect_refusal "$2" diagnose "$scratch/trace_0.json"
}
refused '{"version": "2.11", "entries": []}' 'version: expected 2.1 to 2.10'
refused '{"version": "2.1", "entries": {}}' 'entries: expected a list'
refused '{"version": "2.1", "entries": [{}]}' 'entries\[0\].process_group: expected'
refused '{"version": "2.1", "entries": [' 'line 1: expected a dump, in JSON'
refused '{"version": "2.9", "pg_config": {"0": {"ranks": "[0, 0]"}}, "entries": []}' \
	'pg_config: expected the ranks of each group, once'
refused '{"version": "2.9", "pg_config": {"0": {"desc": "default_pg", "ranks": "[0, 1, 9]"}},
	"entries": []}' 'pg_config: expected ranks of the default group'
refused '{"version": "2.9", "entries": [{"process_group": ["0", "default_pg"],
	"profiling_name": "nccl:send 0=1"}]}' 'profiling_name: expected "send 1->2"'

finish
