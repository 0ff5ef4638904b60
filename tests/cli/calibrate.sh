#!/bin/bash
# What calibrate writes can be used, and says what it was made of. The machine
# may be too busy to be measured: then it says so and writes nothing.
. tests/cli/support.bash

# Whether calibrate said so, or its time ran out while it measured once more.
is_busy() {
	grep -q 'too busy' "$scratch/out" "$scratch/err" ||
		{ [ "$status" -eq 124 ] && grep -q 'attempt . of [25]' "$scratch/out" "$scratch/err"; }
}

limit=300 lockstep calibrate -o "$scratch/here" --passes 1 --world-size 3
if [ "$status" -eq 1 ] || [ "$status" -eq 124 ]; then
	is_busy || fail "no reason for status $status: $(cat "$scratch/err")"
	[ ! -e "$scratch/here/loopback.xml" ] || fail "half written"
elif [ "$status" -ne 0 ]; then
	fail "status $status: $(cat "$scratch/err")"
else
	expect_out '^residual: [0-9]+ %'
	expect_out '^round of a barrier, all ranks +[0-9.]+ +[0-9.]+ +[0-9.]+$'
	for word in '[0-9] us' '[0-9] GB/s' '[0-9] cores' 'misses'; do
		grep -qE "$word" "$scratch/here/loopback.xml" ||
			fail "no /$word/ in the platform"
	done
	for key in call_ns message_overhead_ns receive_overhead_ns \
		wait_ns cores send_Bps \
		receive_Bps copy_Bps rates_ranks cache_bytes; do
		grep -q "^$key: [0-9]" "$scratch/here/loopback.yaml" ||
			fail "no $key in the profile"
	done
	grep -q 'share: [0-9.]*, sum_share: [0-9]' "$scratch/here/loopback.yaml" ||
		fail "no rate of sums in the profile"
	grep -q ', copy_share: [0-9]' "$scratch/here/loopback.yaml" ||
		fail "no rates of copies in the profile"
	! grep -q core_share "$scratch/here/loopback.yaml" ||
		fail "a share of ranks of a core that ranks do not stay on"
	grep -qx 'intra: shm' "$scratch/here/loopback.yaml" ||
		fail "the profile does not tell what the ranks talked through"
	expect 0 platform show "$scratch/here/loopback.xml"
	expect 0 predict --model mnist --platform "$scratch/here/loopback.xml" \
		--flops 60e12 \
		--profile "$scratch/here/loopback.yaml" --world-size 3,16
	# Ranks of one memory: long vectors go from the root to all, as they do
	# for real.
	expect 0 bench broadcast --backend sim --nproc-per-node 3 -b 1M -e 1M \
		--platform "$scratch/here/loopback.xml" \
		--profile "$scratch/here/loopback.yaml" \
		--trace "$scratch/broadcast.json"
	expect 0 compare --tsv "$scratch/calls.tsv" "$scratch/broadcast.json" \
		"$scratch/broadcast.json"
	grep -q "^broadcast	linear	" "$scratch/calls.tsv" ||
		fail "not from the root: $(cat "$scratch/calls.tsv")"
	expect_refusal 'share cores' predict --model mnist --world-size 3 \
		--flops 60e12 \
		--platform "$scratch/here/loopback.xml" --fidelity formula \
		--profile "$scratch/here/loopback.yaml"
	ls "$scratch/here" >"$scratch/files"
	[ "$(wc -l <"$scratch/files")" -eq 2 ] || fail "more than two files"
fi

# Ranks that stay on their processors, two on each: what these two send each
# other is told apart. They take the processor from each other, which spreads.
cores=$(nproc)
if [ "$cores" -gt 1 ] && [ "$cores" -le 4 ]; then
	limit=300 lockstep calibrate -o "$scratch/bound" --bind-to core \
		--passes 1 --attempts 2 --world-size $((2 * cores))
	if [ "$status" -eq 0 ]; then
		grep -q 'core_share: [0-9]' "$scratch/bound/loopback.yaml" ||
			fail "no share of ranks of a core"
		expect_out '^ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$'
	else
		is_busy || fail "bound: status $status: $(cat "$scratch/err")"
	fi
fi

# What one pair sends goes the way of a collective's messages.
limit=300 lockstep run --nproc-per-node 2 --trace "$scratch/job.json" \
	"$LOCKSTEP" calibrate --passes 1 -o "$scratch/job"
if [ "$status" -eq 0 ]; then
	grep -q '"gather"' "$scratch/job.json" || fail "no stream of gathers"
	[ -s "$scratch/job/wire.yaml" ] || fail "no profile of a job"
else
	is_busy || fail "a job: status $status: $(cat "$scratch/err")"
fi

finish
