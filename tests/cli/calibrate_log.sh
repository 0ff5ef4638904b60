#!/bin/bash
# What logs of nccl-tests say of a machine; what calibrate refuses; the constants
# of the machines that come with Lockstep.
. tests/cli/support.bash

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
expect 0 bench all_reduce --backend sim --platform nvswitch-8 --profile ideal \
	--nproc-per-node 8 -b 8 -e 1M -f 2
cp "$scratch/out" "$scratch/bench.txt"
expect 0 calibrate --from "$scratch/bench.txt" --machine a100-nvswitch \
	--nodes 1 -o "$scratch/fit"
expect_out '^launch_us +2 +at its bound'
expect_out 'residual [1-9][0-9.]+ %.*the model lacks something: launch_us'
expect 0 predict --machine "$scratch/fit/a100-nvswitch.yaml" --profile nccl \
	--world-size 8 --model resnet18 --flops 1e12

# Processes that do not know of each other each list a rank 0.
{ grep Rank "$log"; cat "$log"; } >"$scratch/twice.log"
expect_refusal 'twice.log:10: expected the ranks of one run, not rank 0 again' \
	calibrate --from "$scratch/twice.log" --machine a100-nvswitch \
	-o "$scratch/none"
{ cat "$log"; echo '# Collective test concluded: all_gather_perf'; } >"$scratch/two.log"
expect_refusal 'two.log:15: expected rows of one collective' calibrate \
	--from "$scratch/two.log" --machine a100-nvswitch -o "$scratch/none"
[ ! -e "$scratch/none" ] || fail "half written"

# Several logs, one of them of two nodes, are fitted for each network.
table() { # NAME NODES ROW...
	echo "\$ mpirun -np 16 ./build/$1_perf -b 8 -e 1G"
	for ((rank = 0; rank < 16; rank++)); do
		echo "[1,0]<stdout>:#  Rank $rank Group  0 Pid 1 on host$((rank * $2 / 16)) device 0 [0x07] NVIDIA A100-SXM4-40GB"
	done
	echo "[1,0]<stdout>:# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
	printf '[1,0]<stdout>: %s\n' "${@:3}"
}
{
	table all_reduce 2 \
		'8 2 float sum -1 40.0 0.00 0.00 0 40.0 0.00 0.00 0' \
		'1073741824 268435456 float sum -1 20000 53.69 100.66 0 20000 53.69 100.66 0'
	table sendrecv 2 \
		'1073741824 268435456 float sum -1 50000 21.47 21.47 0 50000 21.47 21.47 N/A'
} >"$scratch/two_nodes.log"
expect 0 calibrate --from "$log" "$scratch/two_nodes.log" --machine dgx-a100 \
	-o "$scratch/both"
expect_out '^launch_us .* one node$'
expect_out '^intra_share .* ib$'
expect_out '^all 14 rows: median'
[ "$(grep -c 'library: nccl' "$scratch/both/dgx-a100.yaml")" -eq 2 ] ||
	fail "not both: $(cat "$scratch/both/dgx-a100.yaml")"
expect_refusal 'two_nodes.log: expected logs with --from' calibrate \
	"$scratch/two_nodes.log"

# What no link of the machine carries, and what is noise, is said: eight cards of
# 200 Gbit/s bring 1 GiB to another node in 5.4 ms.
table all_reduce 2 \
	'8 2 float sum -1 40.0 0.00 0.00 0 60.0 0.00 0.00 0' \
	'16 4 float sum -1 90.0 0.00 0.00 0 60.0 0.00 0.00 0' \
	'32 8 float sum -1 40.0 0.00 0.00 0 60.0 0.00 0.00 0' \
	'1073741824 268435456 float sum -1 2684.4 400.00 750.00 0 2684.4 400.00 750.00 0' \
	>"$scratch/odd.log"
expect 0 calibrate --from "$scratch/odd.log" --machine dgx-a100 -o "$scratch/odd"
expect_out '^look: the rate is 200 % of what 8 cards of 200 Gbit/s have: are there'
expect_out '^look: intra_share ends at 1.25, its bound'
expect_out '^look: rows that take half again as long as the next size: 1; noise'
expect_out '^look: rows of one size differ by 33 % .median.'
expect 0 calibrate --from "$scratch/odd.log" --machine dgx-a100 \
	-o "$scratch/odd" --json
jq -e '.advice[0] | startswith("the rate is 200 %")' "$scratch/out" \
	>/dev/null || fail "as JSON: $(jq -c . "$scratch/out")"

expect_refusal 'world-size' calibrate --world-size 1
expect_refusal 'no-such' calibrate --world-size 2 -o "$scratch/no-such/deep"
: >"$scratch/a-file"
expect_refusal '--output .*a-file: expected a folder: Not a directory' calibrate -o "$scratch/a-file"
expect_refusal 'intra: expected shm or tcp' calibrate --intra pcie
expect_refusal 'bind-to: expected none or core' calibrate --bind-to socket
expect_refusal '--bind-to: expected without --from' calibrate --from x \
	--machine y --bind-to core
expect_refusal 'passes: expected a whole number from 1 to 9' calibrate --passes 0
expect_refusal 'passes: expected a whole number from 1 to 9' calibrate --passes 10
expect_refusal 'passes: expected without --from' calibrate --from x --machine y \
	--passes 1
expect_refusal 'attempts: expected a whole number from 1 to 99' calibrate --attempts 0
expect_refusal 'attempts: expected without --from' calibrate --from x --machine y \
	--attempts 1
RANK=0 WORLD_SIZE=2 expect_refusal 'a job has its own' calibrate --world-size 2

# The constants of the machines that come with Lockstep are those that the rows
# declared for it come to.
expect 0 calibrate --measured -o "$scratch/machines"
for file in "$scratch"/machines/*.yaml; do
	cmp "$file" "$PWD/scenarios/machines/${file##*/}" ||
		fail "${file##*/}: other constants than its rows say"
done
expect_refusal "nosuch: expected --measured --machine NAME" calibrate --measured nosuch
expect_refusal 'expected a machine of which' calibrate --measured \
	--machine gpu8-ib -o "$scratch/machines"

finish
