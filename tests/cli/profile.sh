#!/bin/bash
# Profiles of PyTorch jobs: looked at, and held against the prediction.
. tests/cli/support.bash

machine=hgx-h100-400g bytes=67108864 ranks=16

# What the prediction says of two calls.
predicted() { # collective
	"$LOCKSTEP" bench "$1" --backend sim --machine $machine \
		--world-size $ranks -b $bytes -e $bytes \
		--json 2>/dev/null | jq '.rows[0].time_us'
}

# A profile of a rank as torch.profiler writes it: three steps of an all-reduce
# and an all-gather that take FIRST, SECOND, THIRD times as long as predicted,
# and longer where the rank comes earlier than rank 5; then a small call, a
# barrier, and a call of a group that is not listed.
write_profile() { # folder rank clock_us
	jq -n --argjson rank "$2" --argjson clock "$3" \
		--argjson reduction "$reduce_us" --argjson gathering "$gather_us" \
		--argjson ranks $ranks --argjson bytes $bytes '
	def call($op; $elements; $group; $until; $us):
		(if $rank == 5 then 0 else 100 + $rank end) as $early |
		{ph: "X", cat: "kernel", name: "ncclDevKernel_X(ncclDevKernelArgs)",
		 pid: 0, tid: 20, ts: ($clock + $until - $us - $early),
		 dur: ($us + $early),
		 args: {"Collective name": $op, dtype: "Float",
			"In msg nelems": $elements, "Group size": $ranks,
			"Process Group Name": $group}};
	{deviceProperties: [{id: 0, name: "NVIDIA H100 80GB HBM3"}],
	 distributedInfo: {backend: "nccl", rank: $rank, world_size: ($ranks + 8),
		pg_config: [{pg_name: "0", pg_size: $ranks,
			ranks: [range($ranks)]}]},
	 traceEvents: ([range(3) | (100000 * (. + 1)) as $at |
		(if . == 1 then 1.5 else 1 end) as $times |
		{ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7,
		 ts: ($clock + $at - 50000), dur: 1000, args: {device: 0}},
		call("allreduce"; $bytes / 4; "0"; $at; $times * $reduction),
		call("_allgather_base"; $bytes / 4 / $ranks; "0"; $at + 30000;
			$times * $gathering)] +
		[call("allreduce"; 16; "0"; 500000; 20),
		 call("barrier"; 0; "0"; 510000; 20),
		 call("allreduce"; $bytes / 4; "7"; 600000; 100)])}
	' >"$1/rank$2.json"
}

reduce_us=$(predicted all_reduce) gather_us=$(predicted all_gather)
mkdir "$scratch/job"
for ((rank = 0; rank < ranks; rank++)); do
	write_profile "$scratch/job" $rank $((rank * 7919 % 1000000))
done

# The last rank's kernel is as long as the call, the median step is as
# predicted: the answer is that of bench, whose clock counts nanoseconds, to the
# last of the six digits that it prints.
expect 0 validate --machine $machine "$scratch/job" --json
jq -e --argjson reduction "$reduce_us" --argjson gathering "$gather_us" '
	.calls | length == 2 and
	(.[0] | .collective == "all_reduce" and .ranks == 16 and .nodes == 2 and
		.calls == 3 and .bytes == 67108864 and
		(.predicted_us - $reduction | fabs) < 0.002 and
		(.measured_us - $reduction | fabs) < 0.002) and
	(.[1] | .collective == "all_gather" and .bytes == 67108864 and
		(.predicted_us - $gathering | fabs) < 0.002 and
		(.measured_us - $gathering | fabs) < 0.002)
	' "$scratch/out" >/dev/null || fail "calls: $(jq -c .calls "$scratch/out")"
expect_err 'job: 1 calls are left out: below 64 KiB'
expect_err 'job: 1 calls are left out: messages and barriers'
expect_err 'job: 1 calls are left out: the ranks of their group are not known'
expect 0 validate --machine $machine "$scratch/job"
expect_out '^job +all_reduce +67108864 +16 +2 +3 .* 1\.00 '

# One rank of 16 knows its own waiting, too: the shortest of its calls counts.
gzip -k "$scratch/job/rank5.json"
expect 0 validate --machine $machine "$scratch/job/rank5.json.gz" --json
jq -e --argjson reduction "$reduce_us" '(.calls[0].measured_us - $reduction | fabs) < 0.002' \
	"$scratch/out" >/dev/null || fail "of one rank: $(jq -c .calls "$scratch/out")"
expect_refusal 'rank5.json.gz: expected one trace a rank' trace show "$scratch/job"
rm "$scratch/job/rank5.json.gz"

# The clocks are brought together, so that the last one can be named.
expect 0 trace show "$scratch/job"
expect_out ': nccl, 24 ranks, 144 calls, 48 compute spans$'
expect_out '^  16 of the ranks are there$'
expect_out '^  clocks: set so that collectives end at one time'
expect_out '^kernel +\(computing\) +- +- +48 +0 +0 ns .* 1 ms +1 ms +1 ms$'
expect 0 trace path "$scratch/job" --to 260
expect_out ' 5 +all_reduce 0, 67.1 MB +came last, 0.115 ms after the first$'
expect 0 trace path "$scratch/job/rank3.json" --to 260
expect_out ' 3 +all_reduce 0, 67.1 MB +other ranks. traces would tell$'
expect 0 trace gantt "$scratch/job" --tsv "$scratch/bars.tsv"

# What cannot be held against the machine is refused in a line.
expect_refusal 'expected GPUs of dgx-a100, A100, not NVIDIA H100 80GB HBM3' \
	validate --machine dgx-a100 "$scratch/job"
expect_refusal 'expected a machine with GPUs' \
	validate --machine aws-ena "$scratch/job"
expect_refusal 'expected a log with --collective, --nodes, --ranks and' \
	validate --machine $machine --nodes 2 "$scratch/job"
sed 's/"cat": "kernel"/"cat": "cpu_op"/' "$scratch/job/rank0.json" >"$scratch/host.json"
expect_refusal 'host.json: expected kernels of collectives' \
	validate --machine $machine "$scratch/host.json"
expect 1 compare "$scratch/host.json" "$scratch/host.json"
expect_out 'has no times of collectives'
mkdir "$scratch/none"
expect_refusal 'none: expected files \*.json or \*.json.gz' trace show "$scratch/none"

finish
