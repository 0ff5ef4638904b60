#!/bin/bash
# fuzz.sh COMMAND - feed the parsers of models, profiles, platforms, traces,
# studies and measured tables and logs of nccl-tests with mutated files for FUZZ_SECONDS
# (60). What a parser refuses must be refused with status 2 and one line;
# anything but that and success is a find, kept in build/fuzz/. FUZZ_SEED makes
# a run again.
set -u
cd "$(dirname "$0")/.." || exit 1

lockstep=$1
seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-$((SECONDS + $$))}
finds=build/fuzz
RANDOM=$seed
echo "fuzz: seed $seed, $seconds s"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$finds"

"$lockstep" run --backend sim --platform star-8 --world-size 2 \
	--trace "$scratch/seed.json" hello >/dev/null || exit 1
"$lockstep" bench all_reduce -b 8 -e 1M --backend sim --platform star-8 \
	--nproc-per-node 2 >"$scratch/seed.log" || exit 1
seeds=(scenarios/models/mnist.csv scenarios/profiles/*.yaml
	scenarios/platforms/star-8.xml "$scratch/seed.json"
	"$scratch/seed.log" scenarios/measured/collectives/nccl-dgx-2-1x12.tsv "$scratch/seed.study")
cp scenarios/studies/bucket-size.yaml "$scratch/seed.study"
mkdir -p "$scratch/data/measured/"{collectives,steps,parts,hardware}

# How a file of each kind is read.
read_it() {
	case $1 in
	*.csv) set -- predict --model "$1" --platform star-8 --world-size 2 \
		--flops 60e12 ;;
	*.yaml) set -- predict --profile "$1" --model mnist --platform star-8 \
		--world-size 2 --flops 60e12 ;;
	*.study)
		cp "$1" "$1.yaml"
		set -- sweep --dry-run "$1.yaml"
		;;
	*.xml) set -- platform show "$1" ;;
	*.tsv)
		cp "$1" "$scratch/data/measured/collectives/"
		set -- list measured
		local -x LOCKSTEP_DATA=$scratch/data
		;;
	*.log) set -- validate --machine aws-p5 --nodes 1 --calibrate "$1" ;;
	*.json) set -- compare "$1" "$1" ;;
	esac
	timeout 20 "$lockstep" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
}

# Changes 1 to 8 bytes, or cuts the file off, or doubles a piece of it.
mutate() {
	local file=$1 size at n
	size=$(stat -c %s "$file")
	case $((RANDOM % 6)) in
	0) truncate -s $((RANDOM * 32768 % size)) "$file" ;;
	1)
		at=$(((RANDOM * 32768 + RANDOM) % size))
		tail -c +$at "$file" | head -c $((RANDOM % 300)) \
			>"$scratch/piece"
		head -c $at "$file" >"$scratch/front"
		tail -c +$((at + 1)) "$file" >"$scratch/rest"
		cat "$scratch/front" "$scratch/piece" "$scratch/rest" >"$file"
		;;
	*)
		for ((n = RANDOM % 8; n >= 0; n--)); do
			at=$(((RANDOM * 32768 + RANDOM) % size))
			printf '%b' "\\x$(printf %x $((RANDOM % 256)))" |
				dd of="$file" bs=1 seek=$at conv=notrunc \
					status=none
		done
		;;
	esac
}

tried=0 found=0
while [ $SECONDS -lt "$seconds" ]; do
	from=${seeds[RANDOM % ${#seeds[@]}]}
	file=$scratch/input.${from##*.}
	cp "$from" "$file"
	mutate "$file"
	read_it "$file"
	status=$?
	tried=$((tried + 1))
	# 1 and 10 to 13 are verdicts about readable input.
	case $status in
	0 | 1 | 1[0-3]) continue ;;
	2) [ "$(wc -l <"$scratch/err")" -ne 1 ] || continue ;;
	esac
	found=$((found + 1))
	cp "$file" "$finds/$seed-$tried.${from##*.}"
	echo "fuzz: $finds/$seed-$tried.${from##*.}: status $status:"
	tail -n 5 "$scratch/err"
done
echo "fuzz: $tried inputs, $found finds"
[ $found -eq 0 ]
