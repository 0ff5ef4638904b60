#!/bin/bash
# plots.sh COMMAND DIR - draw what the demo left in DIR: predicted.json and
# measured.json (the traces of one program; with -sweep those of another) and
# scaling.tsv (from `lockstep predict --tsv`), each as SVG and PNG with its data
# beside it. What is not there is passed over.
set -eu
cd "$(dirname "$0")/.."

lockstep=$1
dir=$2
drawn=0

say() {
	drawn=$((drawn + 1))
	printf '  %-40s %s\n' "$dir/$1.{svg,png}" "$2"
}

for world in predicted measured; do
	[ -s "$dir/$world.json" ] || continue
	for kind in svg png; do
		"$lockstep" trace gantt -o "$dir/timeline-$world.$kind" \
			"$dir/$world.json"
	done
	say "timeline-$world" "the step, a line a rank: $world"
done

for what in "" -sweep; do
	predicted=$dir/predicted$what.json measured=$dir/measured$what.json
	if [ ! -s "$predicted" ] || [ ! -s "$measured" ]; then
		continue
	fi
	for kind in svg png; do
		"$lockstep" compare --plot "$dir/compare$what.$kind" \
			"$predicted" "$measured" >/dev/null
	done
	say "compare$what" "predicted and measured time by size, and their ratio"
done

if [ -s "$dir/scaling.tsv" ]; then
	for kind in svg png; do
		gnuplot -e "input='$dir/scaling.tsv'" \
			-e "output='$dir/scaling.$kind'" \
			-e "title='ResNet-50 data-parallel step'" \
			plots/scaling.gp
	done
	say scaling "step time and efficiency by world size"
fi

if [ $drawn -eq 0 ]; then
	echo "plots.sh: nothing to draw in $dir; \"make demo\" makes it" >&2
	exit 1
fi
