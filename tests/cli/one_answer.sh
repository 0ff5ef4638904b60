#!/bin/bash
# A time that bench or predict gives for a machine is the one that validate holds
# against what was measured there, to the nanosecond of their clocks.
. tests/cli/support.bash

# hold TABLE COLLECTIVE RANKS BENCH-ARGUMENT... - all rows of the table.
hold() {
	local table=${1##*/} of=$1 collective=$2 ranks=$3 rows
	shift 3
	expect 0 validate "$of" --tsv "$scratch/$table.tsv"
	expect 0 bench "$collective" --world-size "$ranks" --fidelity formula \
		-b 8 -e 16G -f 2 "$@" --tsv "$scratch/bench.tsv"
	expect_out '^# Calibration +: '"$calibration"
	rows=$(awk -F'\t' -v ranks="$ranks" '
		/^#/ { next }
		FILENAME != headed {
			headed = FILENAME
			for (i = 1; i <= NF; i++)
				at[FILENAME, $i] = i
			next
		}
		FILENAME ~ /bench.tsv$/ {
			time[$at[FILENAME, "size_bytes"]] = \
				$at[FILENAME, "time_us"]
			next
		}
		$at[FILENAME, "ranks"] == ranks &&
		$at[FILENAME, "bytes"] in time {
			predicted = $at[FILENAME, "predicted_us"]
			off = predicted - time[$at[FILENAME, "bytes"]]
			if (off < 0)
				off = -off
			if (off > 0.001 + predicted * 1e-8) {
				print "off"
				exit
			}
			rows++
		}
		END { print rows + 0 }' "$scratch/bench.tsv" "$scratch/$table.tsv")
	[ "${rows/off/0}" -ge 7 ] || fail "$table: $rows rows with one answer"
}

calibration='calibrated on 20'
hold nccl-aws-p5-2x8 all_reduce 16 --machine aws-p5:efa
hold nccl-aws-p5-1x8 all_reduce 8 --machine aws-p5
# The machine's rows are of several versions: this table's has to be said.
sed 's/minor: 27/minor: 30/' scenarios/profiles/nccl.yaml >"$scratch/nccl-30.yaml"
hold nccl-alps-2x1 all_reduce 2 --machine alps-gh200:slingshot --ranks-per-node 1 \
	--profile "$scratch/nccl-30.yaml"
hold nccl-gcp-a3-ultra-2x8-all-gather all_gather 16 --machine gcp-a3-ultra:roce
hold nccl-aws-tcp-2x1 all_reduce 2 --machine aws-1-gpu:tcp --profile nccl
calibration='none'
hold openmpi-alps-2x4-tcp-device alltoall 8 --machine alps-gh200:tcp \
	--profile openmpi
sed 's/minor: 27/minor: 29/' scenarios/profiles/nccl.yaml >"$scratch/nccl-29.yaml"
hold scenarios/measured/collectives-unseen/nccl-b200-2x8-sendrecv.tsv sendrecv 16 \
	--machine hgx-b200-400g:ib --profile "$scratch/nccl-29.yaml"

# The other answer is there, and said to be it.
expect 0 bench all_reduce --machine aws-p5:efa --world-size 16 -b 1M -e 1M
cp "$scratch/out" "$scratch/with"
expect 0 bench all_reduce --machine aws-p5:efa --world-size 16 -b 1M -e 1M \
	--uncalibrated
expect_out "^# Calibration +: none, the library's profile alone"
cmp -s <(grep -v '^#' "$scratch/with") <(grep -v '^#' "$scratch/out") &&
	fail "the same without calibration"
step=(predict --machine aws-p5 --profile nccl --world-size "8,16"
	--model resnet50 --gpu H100)
expect 0 "${step[@]}"
expect_out '^# calibration from 8 ranks on: calibrated on .*nccl-aws-p5-1x8.*; from 16 ranks on: calibrated on .*nccl-aws-p5-2x8'
expect 0 "${step[@]}" --uncalibrated
expect_out "^# calibration .*none, the library's profile alone"

# Collectives without an algorithm obey it too, and all that send to the next.
for collective in alltoall gather scatter sendrecv; do
	once=("$collective" --machine aws-p5:efa --world-size 16 -b 64M -e 64M)
	expect 0 bench "${once[@]}"
	cp "$scratch/out" "$scratch/with"
	expect 0 bench "${once[@]}" --uncalibrated
	cmp -s <(grep -v '^#' "$scratch/with") <(grep -v '^#' "$scratch/out") &&
		fail "$collective: the same without calibration"
done
expect 0 bench all_reduce --machine aws-p5:efa --world-size 16 -b 1M -e 1M
cp "$scratch/out" "$scratch/with"

# A platform made of the machine has what was measured there, and gives the same.
expect 0 platform new --machine aws-p5:efa --nodes 2 -o "$scratch/p5.xml"
expect 0 bench all_reduce --backend sim --platform "$scratch/p5.xml" \
	--profile nccl --world-size 16 -b 1M -e 1M
cmp -s <(grep -v '^#' "$scratch/with") <(grep -v '^#' "$scratch/out") ||
	fail "another answer on the machine's platform"
# Other cards are another machine.
expect 0 platform new --machine aws-p5:efa --nodes 2 --inter ib:200Gbps \
	-o "$scratch/other.xml"
! grep -q calibration0 "$scratch/other.xml" || fail "constants of other cards"
sed -i 's/rows=2/rows=two/' "$scratch/p5.xml"
expect_refusal 'property calibration0: expected what lockstep platform new' bench \
	all_reduce --backend sim --platform "$scratch/p5.xml" --world-size 16

# NVLink or PCIe, cards or sockets: a platform says it, and nobody guesses.
sed 's/prop id="intra" value="nvswitch"/prop id="of" value="GPUs"/' \
	scenarios/platforms/h100-nvswitch-8.xml >"$scratch/unsaid.xml"
sed 's/"nvswitch"/"NVLink 4"/' scenarios/platforms/h100-nvswitch-8.xml >"$scratch/unknown.xml"
expect_refusal 'profile nccl: what joins the GPUs of a node is not stated: expected property intra \(nvswitch, nvlink or pcie\)' \
	bench all_reduce --backend sim --platform "$scratch/unsaid.xml" --world-size 8
sed '/id="transport"/d' scenarios/platforms/star-8.xml >"$scratch/star.xml"
expect_refusal 'nccl: what joins the nodes is not stated: expected property transport \(ib, roce' \
	bench all_reduce --backend sim --platform "$scratch/star.xml" --profile nccl --world-size 8
expect 0 bench all_reduce --backend sim --platform star-8 --profile nccl --world-size 8
expect_refusal 'unknown.xml:[1-9][0-9]*: property intra: expected nvswitch, nvlink or pcie, not "NVLink 4"' \
	bench all_reduce --backend sim --platform "$scratch/unknown.xml" --world-size 8
sed 's/id="transport" value="tcp"/id="transport" value="ethernet"/' \
	scenarios/platforms/star-8.xml >"$scratch/word.xml"
line=$(grep -n 'id="transport"' "$scratch/word.xml" | cut -d : -f 1)
expect_refusal "word.xml:$line: property transport: expected ib, roce, rdma, .* not \"ethernet\"" \
	bench all_reduce --backend sim --platform "$scratch/word.xml" --world-size 8
expect 0 bench all_reduce --backend sim --platform "$scratch/unsaid.xml" \
	--profile ideal --world-size 8 -b 1M -e 1M

# Of 300 GB/s of NVLink 3 NCCL takes 240, which is about what a ring reaches.
for of in 'built 300GB/s' 'reached 240GB/s,reached'; do
	expect 0 platform new --gpus 8 --gpu 'A100 40GB' \
		--intra "nvswitch:${of#* }" -o "$scratch/links.xml"
	for fidelity in flow formula; do
		expect 0 bench all_reduce --backend sim --world-size 8 \
			--platform "$scratch/links.xml" --fidelity $fidelity \
			-b 64K -e 8G -f 16
		grep -v '^#' "$scratch/out" >"$scratch/${of%% *}.$fidelity"
	done
done
for fidelity in flow formula; do
	cmp "$scratch/built.$fidelity" "$scratch/reached.$fidelity" ||
		fail "another rate of the same links, by $fidelity"
done

for option in --ranks-per-node=2 --uncalibrated; do
	expect_refusal 'expected with --machine' bench all_reduce "$option"
	expect_refusal 'expected with --machine' predict "$option" \
		--platform star-8 --model resnet50
done
expect_refusal 'expected --world-size too' bench all_reduce --machine aws-p5
expect_refusal 'without --platform, and with --backend sim' bench all_reduce \
	--machine aws-p5 --world-size 8 --platform star-8
# What nobody knows, and nobody measured, is no rate.
expect_refusal 'the rate of its links is not known; expected --inter-bandwidth' bench all_reduce \
	--machine aws-1-gpu:tcp --profile nccl --world-size 2 --uncalibrated

finish
