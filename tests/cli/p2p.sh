#!/bin/bash
# When a send of the program ends, in simulation: by the option, the variable,
# the profile, in this order; told by the trace, and by what hangs.
. tests/cli/support.bash

sim=(run --backend sim --platform star-8 --nproc-per-node 2)
both_send=("$wrong" ring_sends_first)

# Two ranks that send first hang unless the message is buffered; that they would
# not then is not known where the simulation cannot be copied.
hangs=$([ "$SANITIZED" = yes ] && echo 11 || echo 16)
expect "$hangs" "${sim[@]}" "${both_send[@]}"
expect "$hangs" "${sim[@]}" --p2p rendezvous "${both_send[@]}"
expect "$hangs" "${sim[@]}" --p2p eager:1023 "${both_send[@]}"
expect 0 "${sim[@]}" --p2p eager:1024 "${both_send[@]}"
expect 0 "${sim[@]}" --p2p buffered "${both_send[@]}"
expect 0 "${sim[@]}" --profile lockstep-tcp "${both_send[@]}"
expect "$hangs" "${sim[@]}" --profile lockstep-tcp --p2p rendezvous "${both_send[@]}"
LOCKSTEP_P2P=buffered expect 0 "${sim[@]}" "${both_send[@]}"
LOCKSTEP_P2P=buffered expect "$hangs" "${sim[@]}" --p2p rendezvous "${both_send[@]}"
LOCKSTEP_P2P=fast expect_refusal 'LOCKSTEP_P2P: expected rendezvous' \
	"${sim[@]}" "${both_send[@]}"
# As it does over TCP.
expect 0 run --backend tcp --nproc-per-node 2 "${both_send[@]}"

# The seeded deadlock has another cause: the same sentences in every mode.
for mode in rendezvous buffered; do
	expect 11 "${sim[@]}" --p2p "$mode" deadlock
	cp "$scratch/err" "$scratch/$mode.err"
	expect 0 "${sim[@]}" --p2p "$mode" deadlock --fixed
done
cmp "$scratch/rendezvous.err" "$scratch/buffered.err" ||
	fail "the deadlock reads otherwise when buffered"

# A message that is awaited takes as long in every mode.
for mode in rendezvous buffered; do
	expect 0 "${sim[@]}" --p2p "$mode" pingpong -e 64K -n 3
	cp "$scratch/out" "$scratch/$mode.out"
done
cmp "$scratch/rendezvous.out" "$scratch/buffered.out" ||
	fail "pingpong takes another time when buffered"

# lockstep check warns of what ends only because sends are buffered.
checked=(check "${sim[@]:1}" --p2p buffered --json "$scratch/json")
expect 0 "${checked[@]}" "${both_send[@]}"
if [ "$SANITIZED" = no ]; then
	expect_err 'warning: it ended only because sends are buffered: rank 0 waits in send .*messages.c:[0-9]+\) for rank 1, which waits .* for rank 0: a cycle$'
	jq -e '.verdict == "fine" and (.warnings | length) == 1' "$scratch/json" \
		>/dev/null || fail "no warning as JSON"
fi
expect 0 "${checked[@]}" "${both_send[@]}" correct
[ ! -s "$scratch/err" ] || fail "warned of a right program"
jq -e 'has("warnings") | not' "$scratch/json" >/dev/null ||
	fail "a warning as JSON"
expect 0 "${sim[@]}" --p2p buffered "${both_send[@]}"
[ ! -s "$scratch/err" ] || fail "warned where nobody checks"

# The trace tells.
expect 0 "${sim[@]}" --p2p eager:4096 --trace "$scratch/t.json" deadlock --fixed
grep -q '"p2p":"eager:4096"' "$scratch/t.json" || fail "no mode in the trace"
expect 0 "${sim[@]}" --trace "$scratch/t.json" deadlock --fixed
grep -q '"p2p":"rendezvous"' "$scratch/t.json" || fail "no default in the trace"
expect 0 run --backend tcp --nproc-per-node 2 --trace "$scratch/t.json" \
	deadlock --fixed
grep -q '"p2p":"buffered"' "$scratch/t.json" || fail "no mode of tcp"

finish
