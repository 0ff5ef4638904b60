#!/bin/bash
# A prediction states what it stands on, adds up, and is the same every time.
. tests/cli/support.bash

expect 0 predict --platform star-8 --world-size 1,2,8 --tsv "$scratch/tsv"
for word in model compute platform network profile fidelity; do
	expect_out "^# $word +[^ ]"
done
expect_out '^# network .*CM02'
expect_out '^# all_reduce 8 ranks: 8196000 31502336 26255360 26550272 9724160'
cp "$scratch/out" "$scratch/first"

# step = compute + exposed; one rank has nothing to wait for; what is exposed
# is never more than the communication alone; efficiency falls.
awk '/^ / && $1 ~ /^[0-9]+$/ {
	if ($2 - $3 - $5 > 0.002 || $3 + $5 - $2 > 0.002) exit 1
	if ($1 == 1 && $5 != 0) exit 1
	if ($5 > $4 + 0.002 || (last && $6 > last)) exit 1
	last = $6; rows++
} END { exit rows != 3 }' "$scratch/out" || fail "the table does not add up"
[ "$(grep -vc '^#' "$scratch/tsv")" -eq 4 ] || fail "not 4 lines of TSV"

expect 0 predict --platform star-8 --world-size 1,2,8
cmp -s "$scratch/out" "$scratch/first" || fail "two runs differ"

# Without a world size: all that the platform holds.
expect 0 predict --model mnist --platform star-8
expect_out '^ +8 '

# A measured step is spread, not stretched.
expect 0 predict --model mnist --platform star-8 --world-size 1 --step-ms 10
expect_out '^ +1 +10\.000 +10\.000 +0\.000 +0\.000 +1\.0000$'

# Buckets: one for everything, and the algorithm asked for.
expect 0 predict --model resnet18 --platform star-8 --world-size 4 \
	--first-bucket-mb 1000 --bucket-cap-mb 1000 --algorithm halving_doubling
expect_out '^# all_reduce 4 ranks: 46758048 B by halving_doubling$'

expect 0 predict --platform star-8 --world-size 2 --json \
	--trace "$scratch/trace.json"
expect_out '"world_size": 2,'
expect_out '"algorithm": "'
[ -s "$scratch/trace.json" ] || fail "no trace"

expect_refusal '9.*at most 8 ranks' predict --platform star-8 --world-size 9
expect_refusal 'no-such' predict --platform no-such --world-size 2
expect_refusal 'no-such' predict --platform star-8 --world-size 2 \
	--profile no-such
expect_refusal 'no-such' predict --platform star-8 --world-size 2 \
	--algorithm no-such
expect_refusal 'platform' predict --world-size 2
expect_refusal 'fidelity' predict --platform star-8 --world-size 2 \
	--fidelity flow
for batch in 0 -1 nan; do
	expect_refusal 'batch' predict --platform star-8 --world-size 2 \
		--batch=$batch
done
expect_refusal 'trace' predict --platform star-8 --world-size 2,4 \
	--trace "$scratch/no.json"
expect_refusal 'no-such' predict --platform star-8 --world-size 2 \
	--tsv "$scratch/no-such/tsv"

finish
