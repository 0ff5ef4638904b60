#!/bin/bash
# What machines read of a verdict is well formed and says what the words say.
. tests/cli/support.bash

export LOCKSTEP_JSON="$scratch/v.json" LOCKSTEP_JUNIT="$scratch/v.xml"
export LOCKSTEP_SARIF="$scratch/v.sarif" LOCKSTEP_ANNOTATE=github
site=scenarios/mismatch.c
line=$(grep -n 'culprit \*/' $site | cut -d: -f1)
line=$((line + 1))

# has FILE FILTER - jq's filter holds of the file.
has() { jq -e "$2" "$1" >/dev/null || fail "not so in $1: $2"; }

# junit XPATH - what it is in the JUnit file.
junit() { xmllint --xpath "$1" "$LOCKSTEP_JUNIT"; }

# The files of the last run are what their readers expect.
well_formed() {
	jq -e -f tests/support/sarif.jq "$LOCKSTEP_SARIF" >/dev/null ||
		fail "SARIF is not by its schema"
	xmllint --noout "$LOCKSTEP_JUNIT" || fail "JUnit is no XML"
}

for world in "--backend sim --platform star-8" "--backend tcp"; do
	# shellcheck disable=SC2086 # words
	expect 10 run $world --timeout 1 --nproc-per-node 4 mismatch
	has "$LOCKSTEP_JSON" '.version == 1 and .verdict == "mismatch"'
	has "$LOCKSTEP_JSON" '.exit_status == 10 and .culprits == [3]'
	has "$LOCKSTEP_JSON" '.world_size == 4 and (.sites | length) == 2'
	has "$LOCKSTEP_JSON" '.sites[0].role == "culprit"'
	has "$LOCKSTEP_JSON" ".sites[0].line == $line"
	has "$LOCKSTEP_JSON" '.sites[1].ranks == [0, 1, 2]'
	has "$LOCKSTEP_JSON" '.last_calls[0].rank == 3'
	has "$LOCKSTEP_JSON" '.groups[0].name == "default"'
	well_formed
	has "$LOCKSTEP_SARIF" '.runs[0].results[0].ruleId == "mismatch"'
	has "$LOCKSTEP_SARIF" ".runs[0].results[0] | [.locations, .relatedLocations |
		.[].physicalLocation | .artifactLocation.uri, .region.startLine] ==
		[\"$site\", $line, \"$site\", $((line + 2))]"
	[ "$(junit 'string(//failure/@type)')" = mismatch ] ||
		fail "JUnit names no mismatch"
	[ "$(junit 'string(//testcase/@classname)')" = mismatch ] ||
		fail "JUnit does not name the program"
	[[ $(junit 'string(//testcase/@name)') =~ ^(sim|tcp),\ 4\ ranks$ ]] ||
		fail "JUnit does not name the world"
	[[ $(junit 'string(//testcase/@time)') =~ ^[0-9]+\.[0-9]{3}$ ]] ||
		fail "JUnit tells no time"
	grep -q "^::error file=$site,line=$line,title=" "$scratch/out" ||
		fail "no annotation"

	# What calls are for, and why one was refused.
	# shellcheck disable=SC2086 # words
	expect 10 run $world --nproc-per-node 3 "$wrong" gradients_in_other_order
	has "$LOCKSTEP_JSON" '.sites[0].call.label == "right.weight"'
	has "$LOCKSTEP_JSON" '.sites[1].call.label == "left.weight"'
	grep -q "::rank 1 called all_reduce for right.weight here; mismatch" \
		"$scratch/out" || fail "no label in the annotation"
	# shellcheck disable=SC2086 # words
	expect 19 run $world --nproc-per-node 4 "$wrong" head_without_gradient
	has "$LOCKSTEP_JSON" '.sites[0].call.op == "ddp_finish"'
	has "$LOCKSTEP_JSON" 'any(.evidence[]; test("has no gradient of 2 of 4"))'

	# shellcheck disable=SC2086 # words
	expect 0 run $world --nproc-per-node 4 mismatch --fixed
	has "$LOCKSTEP_JSON" '.verdict == "fine" and .exit_status == 0'
	has "$LOCKSTEP_JSON" '.culprits == [] and .sites == []'
	has "$LOCKSTEP_SARIF" '.runs[0].results == []'
	well_formed
	[ "$(junit 'count(//failure)')" = 0 ] || fail "JUnit tells of a failure"
	[ ! -s "$scratch/out" ] || fail "an annotation about nothing"
done

# The time that a call may take is its own, whatever the job's is; simulated, it
# is told when who was late would have come.
three=(run --nproc-per-node 3 --timeout 1)
for world in tcp sim; do
	LOCKSTEP_PLATFORM=star-8 expect 12 "${three[@]}" --backend "$world" "$wrong" time_for_the_first_call
	has "$LOCKSTEP_JSON" '[.ranks[].call.timeout_s | values] == [2]'
	expect_err 'a call was not complete after 2.000 s$'
done
if [ "$SANITIZED" = no ]; then
	expect_err 'rank 1 would have come 58.000 s after the deadline; the run would have finished at 60.000 s$'
	has "$LOCKSTEP_JSON" '.forecast | .rank == 1 and .came_s == 60 and .finished_s > 60'
	expect 11 "${three[@]}" --backend sim --platform star-8 "$wrong" late_and_stuck
	has "$LOCKSTEP_JSON" '.forecast | .deadline_s == 1 and .stuck_s == 30'
fi

# A thousand ranks, one of them wrong: a report of a page, that rank named.
thousand=(run --backend sim --platform star-1024 --nproc-per-node 1024)
for case in 10:shard_not_padded 11:early_stop_ends; do
	expect "${case%:*}" "${thousand[@]}" "$wrong" "${case#*:}"
	[ "$(wc -l <"$scratch/err")" -lt 40 ] || fail "a report without end"
	has "$LOCKSTEP_JSON" '.world_size == 1024 and (.culprits | length) == 1'
done

# Files are named from the top of the checkout.
GITHUB_WORKSPACE=$PWD/scenarios expect 10 run --nproc-per-node 4 mismatch
has "$LOCKSTEP_SARIF" '.runs[0].results[0].locations[0].physicalLocation
	.artifactLocation.uri == "mismatch.c"'
expect_out '^::error file=mismatch.c,'

# A file that cannot be written: one line, nothing left over.
LOCKSTEP_JSON="$scratch/none/v.json"
expect 2 run --nproc-per-node 2 hello
grep -q "none/v.json: cannot be written: No such file" "$scratch/err" ||
	fail "not told which file"
[ -z "$(find "$scratch" -name 'v.*.[0-9]*')" ] || fail "a temporary is left"

finish
