#!/bin/bash
# What calibrate writes can be used, and says what it was made of. The machine
# may be too busy to be measured: then it says so and writes nothing.
. tests/cli/support.bash

lockstep calibrate -o "$scratch/here" --world-size 3
if [ "$status" -eq 1 ]; then
	grep -q 'too busy' "$scratch/err" || fail "no reason for status 1"
	[ ! -e "$scratch/here/loopback.xml" ] || fail "half written"
elif [ "$status" -ne 0 ]; then
	fail "status $status: $(cat "$scratch/err")"
else
	expect_out '^residual: [0-9]+ %'
	for word in '[0-9] us' '[0-9] GB/s' '[0-9] cores' 'misses'; do
		grep -qE "$word" "$scratch/here/loopback.xml" ||
			fail "no /$word/ in the platform"
	done
	grep -q '^message_overhead_ns: [0-9]' "$scratch/here/loopback.yaml" ||
		fail "no overhead in the profile"
	expect 0 platform show "$scratch/here/loopback.xml"
	expect 0 predict --model mnist --platform "$scratch/here/loopback.xml" \
		--profile "$scratch/here/loopback.yaml" --world-size 3,16
	ls "$scratch/here" >"$scratch/files"
	[ "$(wc -l <"$scratch/files")" -eq 2 ] || fail "more than two files"
fi

expect_refusal 'world-size' calibrate --world-size 1
expect_refusal 'no-such' calibrate --world-size 2 -o "$scratch/no-such/deep"

finish
