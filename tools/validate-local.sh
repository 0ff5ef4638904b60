#!/bin/bash
# validate-local.sh COMMAND DIR - calibrate on messages between ranks, predict
# collectives and training steps that calibration has not measured, measure
# them, and say how far off that was: on this machine's loopback, through the
# memory that its ranks share, and between the hosts of a test bed where there is
# the privilege to make one. To DIR: table.tsv, every row; a figure for each
# scene of collectives. A machine that is too busy to calibrate on: exit 1, as
# lockstep calibrate says.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8

lockstep=$(realpath "$1")
dir=$(mkdir -p "$2" && realpath "$2")
# Worlds on loopback and on shared memory, "": none; the test bed, 0 hosts: none.
: "${RANKS=2 3 4}" "${SHM=2 4}" "${HOSTS:=4}"
# The test bed's links: slow enough that two processors carry the frames of all
# hosts in time. BEDS: which of them.
: "${BANDWIDTH:=200mbit}" "${DELAY_US:=1000}"
: "${BEDS:=star slow oversubscribed}"
# Ranks have their processors, for where the kernel puts them is chance; what is
# left of that shows between launches, of each loopback collective so many, an odd
# number. The machine itself is another from minute to minute, so that each is
# predicted from a calibration of its own, or with CALIBRATE=round all of a round
# from one.
export LOCKSTEP_BIND_TO=core
: "${ROUNDS:=5}" "${CALIBRATE:=launch}"
: "${COLLECTIVES:=all_reduce all_gather reduce_scatter broadcast alltoall}"
sizes=(-f 4 -n 17 -c 0 --together)
calls=1  # on end, in one measurement
warmup=3 # measurements before the first; 3 of short calls find ranks half awake
smallest=1K # here less comes before, to wake them, and is not counted
largest=4M # by loopback; the test bed's links take their time
step=(ddp_step --model mnist --step-ms 40 --steps 12)
bed=validate$$
header=$(printf '%s\t' op algorithm measured_algorithm ranks bytes calls \
	predicted_us measured_us measured_min_us measured_p25_us \
	measured_p75_us measured_max_us)ratio

declare -A drifts # of scenes on this machine

printf 'scene\t%s\n' "$header" >"$dir/table.tsv"

# A scene: where to measure (real) and what to predict on (simulated), so many
# ranks. Each program is predicted and then measured, by the same words.
begin() {
	scene=$1 ranks=$2
	echo "$scene"
}

# on SIDE WORD... - runs a program on one side, predicted or measured; a trace
# of the real world would take its time.
on() {
	local side=$1 words=("${simulated[@]}" --nproc-per-node "$ranks"
		--trace "$dir/predicted.json")

	shift
	[ "$side" = predicted ] || words=("${real[@]}")
	"${words[@]}" "$@" >"$dir/$side.txt"
}

# bench SIDE NAME - rows of lockstep bench, without its head.
bench() {
	on "$1" "$lockstep" bench "$2" "${sizes[@]}" -b "$smallest" \
		-e "$largest" -m "$calls" -w "$warmup" --tsv "$dir/bench.tsv"
	# What lies behind the quartiles is of predictions alone.
	awk '/^[0-9]/ && $1 >= 1024' "$dir/bench.tsv" | cut -f 1-10
}

# collective NAME - predicts and measures NAME of lockstep bench once more; a
# trace tells the algorithms.
collective() {
	bench predicted "$1" >"$dir/predicted.tsv"
	"$lockstep" compare --tsv "$dir/$1.traced" "$dir/predicted.json" \
		"$dir/predicted.json" >/dev/null
	bench measured "$1" >"$dir/measured.tsv"
	paste "$dir/predicted.tsv" "$dir/measured.tsv" >>"$dir/$1.launches"
}

# rows NAME OP - the rows of NAME, which traces call OP. Its times are the
# slowest rank's from the common start on. Of several launches, each with what
# was predicted of it, that counts whose ratio is the one in the middle; the
# quartiles are those of all launches, of one launch its own.
rows() {
	awk -v scene="$scene" -v op="$2" -F'\t' -v OFS='\t' '
		function nth(list, n,   v, last, i, j, x) {
			last = split(list, v, " ")
			for (i = 2; i <= last; i++) {
				x = v[i]
				for (j = i - 1; j > 0 && v[j] + 0 > x + 0; j--)
					v[j + 1] = v[j]
				v[j + 1] = x
			}
			return v[int(n)]
		}
		FILENAME ~ /launches$/ { n = ++launches[$1]
			measured[$1] = measured[$1] " " $13
			pairs[$1] = pairs[$1] " " $3 / $13 ":" $3 ":" $13
			if (n == 1 || $14 < min[$1]) min[$1] = $14
			if (n == 1 || $15 > max[$1]) max[$1] = $15
			low[$1] = $19
			high[$1] = $20
			next }
		$1 == op && $5 in measured { rows++
			n = launches[$5]
			if (n > 1) {
				low[$5] = nth(measured[$5], (n + 3) / 4)
				high[$5] = nth(measured[$5], (3 * n + 3) / 4)
			}
			split(nth(pairs[$5], (n + 1) / 2), middle, ":")
			print scene, $1, $2, $3, $4, $5, $6,
				middle[2], middle[3], min[$5], low[$5],
				high[$5], max[$5], middle[1] }
		END { exit !rows }' "$dir/$1.launches" "$dir/$1.traced" \
		>>"$dir/table.tsv"
}

# rounds N COMMAND... - all collectives N times, right after COMMAND.
rounds() {
	local n=$1 round name
	local -A op=([all_reduce]=all_reduce [all_gather]=all_gather_single
		[reduce_scatter]=reduce_scatter_single [broadcast]=broadcast
		[alltoall]=all_to_all)
	local names

	shift
	read -ra names <<<"$COLLECTIVES"
	rm -f "$dir"/*.launches
	for ((round = 1; round <= n; round++)); do
		for name in "${names[@]}"; do
			if [ "$CALIBRATE" = launch ] ||
				[ "$name" = "${names[0]}" ]; then
				"$@" "$round"
			fi
			collective "$name"
		done
	done
	for name in "${names[@]}"; do
		rows "$name" "${op[$name]}"
	done
}

# A training step, by what the program says of it: instead of quartiles, the
# shortest and the longest.
step() {
	on predicted "$@"
	on measured "$@"
	sed -nE 's/^step ([0-9.]+) ms \(([0-9.]+) to ([0-9.]+)\).*/\1 \2 \3/p' \
		"$dir/predicted.txt" "$dir/measured.txt" |
		awk -v OFS='\t' -v scene="$scene" -v ranks="$ranks" -v op="$1" '
		{ t[NR] = $1 * 1000; low = $2 * 1000; high = $3 * 1000 }
		END { if (NR != 2) exit 1
			print scene, op, "-", "-", ranks, 0, 1, t[1], t[2],
				low, low, high, high, t[1] / t[2] }' \
			>>"$dir/table.tsv"
}

draw() {
	local kind name=${scene// /-}

	{
		echo "${header//_us/_ns}"
		awk -F'\t' -v OFS='\t' -v scene="$scene" '
		$1 == scene && $6 > 0 {
			for (i = 8; i <= 13; i++) $i *= 1000
			print }' "$dir/table.tsv" | cut -f 2-
	} >"$dir/$name.tsv"
	for kind in svg png; do
		gnuplot -e "input='$dir/$name.tsv'" \
			-e "output='$dir/$name.$kind'" \
			-e "title='Predicted and measured: $scene'" \
			plots/predicted_measured.gp
	done
}

# thrice COMMAND... - up to three times, until it succeeds; who is busy may be
# through soon.
thrice() {
	"$@" || { sleep 5 && "$@"; } || { sleep 15 && "$@"; }
}

# ---- this machine: ranks that share its cores -----------------------------
# calibrate_here INTRA RANKS ROUND - what is predicted from next; of a round the
# last one stays.
calibrate_here() {
	local at=$dir/$1-$2-$3

	thrice "$lockstep" calibrate --intra "$1" --world-size "$2" \
		--passes 1 -o "$at" >"$dir/calibrate-$1-$2-$3.txt"
	simulated=("$lockstep" run --backend sim --platform "$at/loopback.xml"
		--profile "$at/loopback.yaml")
}

# drift FILE FILE - how far two calibrations are apart, in percent: by a round
# of a barrier or by the bytes of all pairs, whichever is more.
drift() {
	awk 'function apart(a, b) { return a > b ? a / b - 1 : b / a - 1 }
		/^round of a barrier/ { round[NR == FNR] = $7 }
		/^fitted:/ { sub(/.*all pairs /, ""); pairs[NR == FNR] = $1 }
		END { r = apart(round[0], round[1]); p = apart(pairs[0], pairs[1])
			printf "%.1f\n", 100 * (r > p ? r : p) }' "$@"
}

# here INTRA RANKS NAME - so many ranks that talk by INTRA, on what is fitted for
# as many.
here() {
	real=("$lockstep" run --intra "$1" --nproc-per-node "$2")
	begin "$3 $2 ranks" "$2"
	smallest=256 calls=10 warmup=30
	rounds "$ROUNDS" calibrate_here "$1" "$2"
	smallest=1K calls=1 warmup=3
	step "${step[@]}"
	draw
	drifts[$scene]=$(drift "$dir/calibrate-$1-$2"-{1,"$ROUNDS"}.txt)
}

# ---- the test bed: hosts behind links of a known rate and delay -----------
testbed() { # VERB WORD...
	LOCKSTEP=$lockstep tools/testbed.sh "$1" --name "$bed" "${@:2}"
}

bed_up() {
	testbed up --hosts "$HOSTS" --bandwidth "$BANDWIDTH" \
		--delay "${DELAY_US}us" "$@"
}

bed_down() {
	testbed down
}

wire() {
	testbed run --hosts "$HOSTS" --bandwidth "$BANDWIDTH" \
		--delay "${DELAY_US}us" \
		"$lockstep" run --nnodes "$HOSTS" --nproc-per-node 1 \
		--rdzv-backend c10d --rdzv-endpoint '{address0}:29400' \
		"$lockstep" calibrate -o "$dir/wire" >"$dir/calibrate-wire.txt"
}

# What is between two hosts, for the twin of all.
bed_calibrate() {
	thrice wire
	read -r latency_us goodput < <(awk -v delay="$DELAY_US" '
		/^between hosts:/ { us = $3 - delay
			print (us > 0 ? us : 0), $5 "mbit" }' \
		"$dir/calibrate-wire.txt")
}

bed_ready() {
	testbed platform --latency "$latency_us" --goodput "$goodput" \
		-o "$dir/bed.xml"
	real=(testbed exec all "$lockstep" run --nnodes "$HOSTS" --nproc-per-node 1
		--node-rank '{host}' --master-addr '{address0}'
		--master-port 29400)
	simulated=("$lockstep" run --backend sim --platform "$dir/bed.xml"
		--profile "$dir/wire/wire.yaml")
}

# bed NAME OPTION... - the scenes of a test bed that is up so.
bed() {
	scene="test bed $1"
	shift
	bed_up "$@"
	bed_ready
	begin "$scene" "$HOSTS"
	rounds 1 true
	step "${step[@]}"
	draw
}

test_bed() {
	largest=1M
	bed_calibrate
	trap bed_down EXIT
	if [[ $BEDS = *star* ]]; then
		bed star
		begin "test bed straggler" "$HOSTS"
		step "${step[@]}" --straggler 1:1.5
		begin "test bed two groups" "$HOSTS"
		step hybrid --tp 2 --model mnist --step-ms 40 --steps 12
		bed_down
	fi
	if [[ $BEDS = *slow* ]]; then
		bed "slow link" --slow 1:0.5
		bed_down
	fi
	if [[ $BEDS = *oversubscribed* ]]; then
		bed oversubscribed --topology oversubscribed
		bed_down
	fi
}

# ---- how far off ----------------------------------------------------------
# quantile Q - of the numbers on stdin, linear between neighbours.
quantile() {
	sort -g | awk -v q="$1" '{ v[NR] = $1 }
		END { x = 1 + q * (NR - 1); i = int(x)
			print v[i] + (i < NR ? (x - i) * (v[i + 1] - v[i]) : 0) }'
}

# of_scene SCENE EXPRESSION - of its rows: r is predicted over measured, s the
# measured quartiles' distance over the median.
of_scene() {
	awk -F'\t' -v scene="$1" '$1 == scene { r = $14; s = ($12 - $11) / $9
		print 100 * ('"$2"') }' "$dir/table.tsv"
}

errors() {
	local scene error='r > 1 ? r - 1 : 1 - r'

	echo "|predicted / measured - 1|, how far the measured quartiles are" \
		"apart by the median, and" \
		"the first and the last calibration, in percent"
	printf '%-26s %5s %8s %8s %8s %8s %8s\n' \
		scene rows median p90 worst spread drift
	cut -f 1 "$dir/table.tsv" | sed 1d | uniq | while read -r scene; do
		printf '%-26s %5d %8.1f %8.1f %8.1f %8.1f %8s\n' "$scene" \
			"$(of_scene "$scene" r | wc -l)" \
			"$(of_scene "$scene" "$error" | quantile 0.5)" \
			"$(of_scene "$scene" "$error" | quantile 0.9)" \
			"$(of_scene "$scene" "$error" | quantile 1)" \
			"$(of_scene "$scene" s | quantile 0.5)" \
			"${drifts[$scene]:--}"
	done
}

for ranks in $RANKS; do
	here tcp "$ranks" loopback
done
for ranks in $SHM; do
	here shm "$ranks" "shared memory"
done
status=0
if [ "$HOSTS" -gt 0 ]; then
	bed_up || status=$?
	case $status in
	0)
		bed_down
		test_bed
		;;
	77) echo "skipped: the test bed needs root" ;;
	*) exit "$status" ;;
	esac
fi
errors | tee "$dir/errors.txt"
