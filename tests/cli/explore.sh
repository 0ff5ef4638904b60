#!/bin/bash
# Every way in which messages can meet, and delays: what is found is counted,
# told, and comes again by its token, byte for byte.
# shellcheck disable=SC2317 # what wait_for calls
. tests/cli/support.bash

options=(--platform star-8 --nproc-per-node 3)
sim=(run --backend sim "${options[@]}")

# found WORDS... - explores a program, and runs it by the token: the same
# verdict, to the last byte, as explore shows it, and the same trace.
found() {
	local token
	lockstep explore "${options[@]}" --trace "$scratch/found.trace" \
		--json "$scratch/json" "$@"
	token=$(jq -r .replay "$scratch/json")
	grep -v '^lockstep: \(explored\|once more\)' "$scratch/err" |
		sed '/^lockstep: message race/,/--replay .*any/d; /^  .*(--replay /d' \
			>"$scratch/found"
	expect_err "^lockstep: once more: --replay $token$"
	lockstep "${sim[@]}" --replay "$token" --trace "$scratch/again.trace" \
		"$@"
	sed -i 's/; run lockstep explore$//' "$scratch/err"
	cmp "$scratch/err" "$scratch/found" || fail "$1: $token tells another story"
	cmp "$scratch/again.trace" "$scratch/found.trace" ||
		fail "$1: $token leaves another trace"
	cp "$scratch/err" "$scratch/again"
	lockstep explore "${options[@]}" --replay "$token" "$@"
	sed -i 's/; run lockstep explore$//' "$scratch/err"
	cmp "$scratch/err" "$scratch/again" || fail "$1: explore --replay differs"
}

# A race is told with both senders, both ends, a token for each.
expect 15 explore "${options[@]}" race
expect_err '^lockstep: message race: .* rank 0 receives$'
expect_err '^  from rank 2, .*race.c:[0-9]+: the job ends well \(--replay v1/p2p:rendezvous/any\)$'
expect_err '^  from rank 1, .*race.c:[0-9]+: deadlock \(--replay v1/p2p:rendezvous/any:0.1\)$'
expect_err '^lockstep: explored, sends rendezvous: 2 schedules, 3 states'
expect 0 "${sim[@]}" --replay v1/p2p:rendezvous/any race
expect 11 "${sim[@]}" --replay v1/p2p:rendezvous/any:0.1 race
expect_err "^  rank 1's message was taken by the receive from any source at .*race.c:[0-9]+; run lockstep explore$"
LOCKSTEP_REPLAY=v1/any:0.1 expect 11 "${sim[@]}" race
found race
jq -e '.verdict == "race" and .exit_status == 15 and
	(.race.matches | length == 2 and all(.send.site.line > 0)) and
	.race.call.site.line > 0 and (.sites | length >= 2)' \
	"$scratch/json" >/dev/null || fail "the race is not in the JSON"

# So is a look that decides, with both answers.
found "$wrong" backward_when_it_can
jq -e '.verdict == "race" and .race.rank == 1 and
	([.race.matches[].complete] | sort == [false, true])' \
	"$scratch/json" >/dev/null || fail "the look is not in the JSON"

# Delays find what depends on time alone.
hasty=$(dirname "$LOCKSTEP")/tests/cli/hasty
expect 0 "${sim[@]}" "$hasty"
expect 0 explore "${options[@]}" --skew 0 "$hasty"
expect_err 'maybe not all: a rank looks'
expect 1 explore "${options[@]}" --json "$scratch/json" "$hasty"
token=$(jq -r .replay "$scratch/json")
[[ $token =~ ^v1/p2p:rendezvous/skew:[0-9]+$ ]] || fail "$token is no delay"
grep '^lockstep: rank 0' "$scratch/err" >"$scratch/found"
expect 1 "${sim[@]}" --replay "$token" "$hasty"
cmp "$scratch/err" "$scratch/found" || fail "$token tells another story"

# What ends well is counted: all ways, under both rules or the one asked for.
expect 0 explore "${options[@]}" --junit "$scratch/junit" race --fixed
[ "$(grep -cE '<testcase .* sends (rendezvous|buffered)"' "$scratch/junit")" -eq 2 ] ||
	fail "JUnit has no case for each rule of sends"
expect_err '^lockstep: explored, sends rendezvous: all 2 schedules, 5 states; 64 with delays$'
expect_err '^lockstep: explored, sends buffered: all 2 schedules, 5 states; 64 with delays$'
expect 0 explore "${options[@]}" --p2p buffered race --fixed
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than the rule asked for"
expect 0 explore "${options[@]}" --max-runs 1 --skew 3 "$wrong" passes_on_what_comes correct
expect_err '1 schedule, [0-9]+ states, maybe not all: there are more than --max-runs; 3 with delays$'

# The other rule is tried, too: this profile buffers. That it does is not known
# where the simulation cannot be copied while it runs.
expect "$([ "$SANITIZED" = yes ] && echo 11 || echo 16)" explore --platform star-8 --nproc-per-node 2 \
	--profile lockstep-tcp "$wrong" ring_sends_first
expect_err '^lockstep: once more: --replay v1/p2p:rendezvous$'

# Other bytes are told, and held against it when asked.
expect 0 explore "${options[@]}" "$wrong" passes_on_what_comes correct
expect_err 'the same bytes in all'
expect 15 explore "${options[@]}" --values "$wrong" passes_on_what_comes correct
expect_err 'other bytes'

# A plain verdict stays what it is; so does bad input of the program.
expect 10 explore "${options[@]}" --p2p rendezvous mismatch
expect 2 explore "${options[@]}" mismatch no-such

# A run goes with who explores, however long it would take.
"$LOCKSTEP" explore "${options[@]}" all_reduce -n 100000000 >"$scratch/out" \
	2>"$scratch/err" </dev/null &
explorer=$!
has_run() {
	read -r run <"/proc/$explorer/task/$explorer/children"
	[ -n "$run" ]
}
is_gone() {
	! kill -0 "$run"
}
wait_for has_run || fail "nothing is explored"
kill -TERM $explorer
wait $explorer
[ $? -eq 143 ] || fail "explore was to end by SIGTERM"
wait_for is_gone || fail "a run goes on without explore"

# The files that CI reads.
expect 15 explore "${options[@]}" --junit "$scratch/junit" \
	--sarif "$scratch/sarif" --annotate github race
expect_out '^::error file=scenarios/race.c,line=[0-9]+'
grep -q '<failure type="race"' "$scratch/junit" || fail "no race as JUnit"
jq -e '.runs[0].results[0] | .ruleId == "race" and
	(.locations | length >= 1) and (.relatedLocations | length >= 1)' \
	"$scratch/sarif" >/dev/null || fail "no race as SARIF"

# A token of another job is refused.
expect 2 "${sim[@]}" --replay v1/any:0.7 race
expect_err 'the replay token is of another job'
expect 2 "${sim[@]}" --replay v1/any:4.1 race --fixed
expect_err 'the replay token is of another job'

# --help has no options that say nothing here; they are read, as run's are.
expect 0 explore --help
grep -E -- '--(backend|intra|dump|replay|redirects|rdzv-id) ' "$scratch/out" &&
	fail "explore --help has options of other worlds"
expect_out '^  --nproc-per-node '
expect 15 explore "${options[@]}" --backend sim --rdzv-id 7 race

finish
