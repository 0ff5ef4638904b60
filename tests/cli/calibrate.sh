#!/bin/bash
# What calibrate writes can be used, and says what it was made of. The machine
# may be too busy to be measured: then it says so and writes nothing.
. tests/cli/support.bash

limit=300 lockstep calibrate -o "$scratch/here" --world-size 3
if [ "$status" -eq 1 ]; then
	grep -q 'too busy' "$scratch/err" || fail "no reason for status 1"
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
# other is told apart.
cores=$(nproc)
if [ "$cores" -gt 1 ] && [ "$cores" -le 4 ]; then
	limit=300 lockstep calibrate -o "$scratch/bound" --bind-to core \
		--world-size $((2 * cores))
	if [ "$status" -eq 0 ]; then
		grep -q 'core_share: [0-9]' "$scratch/bound/loopback.yaml" ||
			fail "no share of ranks of a core"
		expect_out '^ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$'
	else
		grep -q 'too busy' "$scratch/err" ||
			fail "bound: status $status: $(cat "$scratch/err")"
	fi
fi

# What one pair sends goes the way of a collective's messages.
limit=300 lockstep run --nproc-per-node 2 --trace "$scratch/job.json" \
	"$LOCKSTEP" calibrate -o "$scratch/job"
if [ "$status" -eq 0 ]; then
	grep -q '"gather"' "$scratch/job.json" || fail "no stream of gathers"
	[ -s "$scratch/job/wire.yaml" ] || fail "no profile of a job"
else
	grep -q 'too busy' "$scratch/out" "$scratch/err" ||
		fail "a job: status $status: $(cat "$scratch/err")"
fi

expect_refusal 'world-size' calibrate --world-size 1
expect_refusal 'no-such' calibrate --world-size 2 -o "$scratch/no-such/deep"
: >"$scratch/a-file"
expect_refusal 'a-file: Not a directory' calibrate -o "$scratch/a-file"
expect_refusal 'intra: expected shm or tcp' calibrate --intra pcie
expect_refusal 'bind-to: expected none or core' calibrate --bind-to socket
expect_refusal 'bind-to, --passes: expected without --from' calibrate --from x \
	--machine y --bind-to core
expect_refusal 'passes: expected a whole number from 1 to 9' calibrate --passes 0
expect_refusal 'passes: expected a whole number from 1 to 9' calibrate --passes 10
expect_refusal 'passes: expected without --from' calibrate --from x --machine y \
	--passes 1
RANK=0 WORLD_SIZE=2 expect_refusal 'a job has its own' calibrate --world-size 2

# A log of nccl-tests moves the constants of a library: what a node of 8 A100
# took by scenarios/measured/collectives/nccl-a100-40gb-1x8.tsv.
log=$scratch/a100.log
{
	echo '# Collective test starting: all_reduce_perf'
	for rank in 0 1 2 3 4 5 6 7; do
		echo "#  Rank  $rank Group  0 Pid 1 on node1 device 0 [0x07] GPU"
	done
	cat <<'END'
#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
      4      1 float    sum    -1 34.73   0.00   0.00      0 35.30   0.00   0.00      0
      8      2 float    sum    -1 34.66   0.00   0.00      0 34.84   0.00   0.00      0
     16      4 float    sum    -1 35.00   0.00   0.00      0 35.61   0.00   0.00      0
8589934592 2147483648 float sum -1 63965 134.29 235.01     0 63959 134.30 235.03      0
END
} >"$log"
expect 0 calibrate --from "$log" --machine a100-nvswitch -o "$scratch/fit"
expect_out '^launch_us +27.2[0-9]* +fitted'
expect_out '^intra_share +1.0'
expect_out '^calibrated on 20.* from 2 rows of a100.log, residual 0.0 %, of all 8 rows [0-3]'
expect_out 'wrote .*/fit/a100-nvswitch.yaml'

# What was written is the machine, which every command takes; and fits again.
expect 0 calibrate --from "$log" --machine "$scratch/fit/a100-nvswitch.yaml" \
	-o "$scratch/again"
cmp "$scratch/fit/a100-nvswitch.yaml" "$scratch/again/a100-nvswitch.yaml" ||
	fail "another fit of the same"
expect 0 predict --machine "$scratch/fit/a100-nvswitch.yaml" --profile nccl \
	--world-size 8 --model resnet18 --flops 1e12
expect 0 calibrate --from "$log" --machine a100-nvswitch -o "$scratch/again" --json
jq -e '.rows == 8 and .residual < 0.001 and (.constants[0] |
	.constant == "launch_us" and .value > 27) and
	(.machine | endswith("/again/a100-nvswitch.yaml"))' "$scratch/out" >/dev/null ||
	fail "as JSON: $(jq -c . "$scratch/out")"

# A table of lockstep bench is read as well; what no constants of a library can
# explain stops at a bound, which is said, and is left as residual. (Lockstep's
# own ring over these links takes less than NCCL does to start.)
expect 0 bench all_reduce --backend sim --platform nvswitch-8 \
	--nproc-per-node 8 -b 8 -e 1M -f 2
cp "$scratch/out" "$scratch/bench.txt"
expect 0 calibrate --from "$scratch/bench.txt" --machine a100-nvswitch \
	--nodes 1 -o "$scratch/fit"
expect_out '^launch_us +2 +at its bound'
expect_out 'residual [1-9][0-9.]+ %.*the model lacks something: launch_us'
expect 0 predict --machine "$scratch/fit/a100-nvswitch.yaml" --profile nccl \
	--world-size 8 --model resnet18 --flops 1e12

# The constants of the machines that come with Lockstep are those that the rows
# declared for it come to.
expect 0 calibrate --measured -o "$scratch/machines"
for file in "$scratch"/machines/*.yaml; do
	cmp "$file" "$PWD/scenarios/machines/${file##*/}" ||
		fail "${file##*/}: other constants than its rows say"
done
expect_refusal 'expected a machine of which' calibrate --measured \
	--machine gpu8-ib -o "$scratch/machines"

# Processes that do not know of each other each list a rank 0.
{ grep Rank "$log"; cat "$log"; } >"$scratch/twice.log"
expect_refusal 'twice.log:10: expected the ranks of one run, not rank 0 again' \
	calibrate --from "$scratch/twice.log" --machine a100-nvswitch \
	-o "$scratch/none"
{ cat "$log"; echo '# Collective test concluded: all_gather_perf'; } >"$scratch/two.log"
expect_refusal 'two.log:15: expected rows of one collective' calibrate \
	--from "$scratch/two.log" --machine a100-nvswitch -o "$scratch/none"
[ ! -e "$scratch/none" ] || fail "half written"

finish
