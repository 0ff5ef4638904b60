#!/bin/bash
# The lists show what comes with Lockstep, as tables and as JSON.
. tests/cli/support.bash

expect 0 list scenarios
expect_out '^ddp_step +'
expect_out '^deadlock +'
expect 0 list algorithms
expect_out '^all_reduce +ring +'
expect_out '^barrier +dissemination +.* ceil\(log2 p\) alpha'
expect 0 list models
expect_out '^resnet50 +25557032 +161 +'
expect 0 list platforms
expect 0 list profiles
expect_out '^openmpi +openmpi +4.1 +github.com/open-mpi/ompi'
expect_out '^ideal +lockstep '

expect 0 list backends
expect_out '^tcp +yes +real .* congestion control (cubic|reno)( within a machine, [a-z]+ between)?$'
expect_out '^nccl +(yes|no) +real processes, a GPU each, over NCCL +[^-]'
expect_out '^call +tcp +sim +nccl'
expect_out '^all_reduce_multigpu +yes +yes +yes'
expect_out '^band +yes +yes +no'
expect_out '^sum +yes +yes +not int16, uint16'
expect_out '^float8_e5m2 +moved only +moved only +moved only'

# Every call on a group is in the table, make_premul_sum as an op, and what the
# table has of it is what becomes of the call.
expect 0 list backends --json
sed -nE 's/^#define dist_(\w+)\((group|parent), .*/\1/p' include/lockstep/dist.h include/lockstep/p2p.h |
	grep -vx make_premul_sum | sort >"$scratch/calls"
[ "$(wc -l <"$scratch/calls")" -gt 30 ] || fail 'no calls in the headers'
jq -r '.[] | select(.name == "nccl").calls | keys[]' "$scratch/out" |
	grep -vxE 'allow_threads|rpc_init|phantom tensors' | sort | diff "$scratch/calls" - ||
	fail 'other calls than in the headers'
every_call=$(dirname "$LOCKSTEP")/tests/cli/every_call
doubles=$(realpath "$(dirname "$LOCKSTEP")/doubles")
for backend in tcp sim nccl; do
	LOCKSTEP_PLATFORM=star-8 DOUBLE_DEVICES=4 \
		LOCKSTEP_NCCL_LIBRARY=$doubles/libnccl.so.2 \
		LOCKSTEP_CUDART_LIBRARY=$doubles/libcudart.so.13 \
		expect 0 run --backend "$backend" \
		--nproc-per-node 2 "$every_call"
done

for kind in backends scenarios algorithms models llms devices platforms profiles machines measured studies; do
	expect 0 list "$kind"
	rows=$(sed '/^$/,$d' "$scratch/out" | tail -n +2 | wc -l)
	[ "$rows" -gt 0 ] || fail "list $kind: empty"
	expect 0 list "$kind" --json
	objects=$(grep -c '"name":' "$scratch/out")
	[ "$objects" -eq "$rows" ] ||
		fail "list $kind: $objects in JSON, $rows rows in the table"
	expect 0 list "$kind" --markdown --tsv "$scratch/tsv"
	[ "$(sed '/^$/,$d' "$scratch/out" | grep -c '^| ')" -eq "$((rows + 1))" ] ||
		fail "list $kind: not $rows rows in Markdown"
	columns=$(awk -F '\t' '{ print NF }' "$scratch/tsv" | uniq -c | xargs)
	[ "${columns% *}" -eq "$((rows + 1))" ] ||
		fail "list $kind: TSV of rows and columns: $columns"
done

# Peaks, and what of a GPU was measured on another.
expect 0 list devices
expect_out '^H100-SXM +989 +1979 '
expect_out '^GB200 .* attention and memory as on B200'
expect_out '^V100-SXM2-32GB +0.78 .* GEMM and attention and memory as on A100-PCIe-80GB'
[ "$(wc -L <"$scratch/out")" -le 120 ] || fail 'list devices: wider than 120 columns'
expect 0 list devices --json
expect_out '"note": "peak not published: between the 400 W part'

# What joins the GPUs of a machine must be said in full.
expect 0 list machines
expect_out '^dgx-1 +2 +8 +V100 +DGX-1'
mkdir -p "$scratch/other/machines"
sed 's/^  link_GBps: .*/  link_GBps: 0/' scenarios/machines/dgx-a100.yaml \
	>"$scratch/other/machines/dgx-a100.yaml"
LOCKSTEP_DATA=$scratch/other expect 2 list machines
grep -qE "dgx-a100.yaml:[0-9]+: link_GBps: expected more" "$scratch/err" ||
	fail "no word of the wrong machine: $(cat "$scratch/err")"

# A table of measured figures that does not hold is named; the others are there.
expect 0 list measured
expect_out '^nccl-dgx-2-1x12 +collectives +62 +2 +[0-9.]+ +[0-9.]+ +dgx-2 +'
expect 0 list measured --json
expect_out '"title": "All-reduce on 12 of the 16 V100 of a DGX-2'
mkdir -p "$scratch/data"
cp -r scenarios/measured "$scratch/data/"
table=$scratch/data/measured/collectives/nccl-dgx-2-1x12.tsv
sed -i 's/\t60\.87\t/\t0.06087\t/' "$table"
LOCKSTEP_DATA=$scratch/data expect 2 list measured
expect_out '^nccl-aws-p5-1x8 '
! grep -q '^nccl-dgx-2-1x12 ' "$scratch/out" || fail "a wrong table is listed"
grep -qE "nccl-dgx-2-1x12.tsv:[0-9]+: expected algbw_GBps" "$scratch/err" ||
	fail "no word of the wrong table: $(cat "$scratch/err")"

# Each platform that is listed can be shown.
expect 0 platform list
mapfile -t names < <(sed '1d; s/ .*//' "$scratch/out")
for name in "${names[@]}"; do
	expect 0 platform show "$name"
	expect_out '[Hh]osts'
done

finish
