#!/bin/bash
# What is read and written is the same in every language: also where numbers
# have a comma (German), and where the small letter of I is none of ASCII
# (Turkish).
. tests/cli/support.bash

for language in de_DE tr_TR; do
	localedef -i $language -f UTF-8 "$scratch/$language.UTF-8" >/dev/null 2>&1
	LOCPATH=$scratch LC_ALL=$language.UTF-8 locale -k decimal_point \
		2>/dev/null | grep -q '","' && continue
	echo "localedef cannot make $language"
	exit 77
done

study=$scratch/study.yaml
cat >"$study" <<'END'
title: Fractions
predict:
  model: resnet18
  platform: star-8
  flops: 60e12
  bucket-cap-mb: 2.5
grid:
  world-size: [2, 4]
  inter-bandwidth: [x0.5, 12.5GB/s]
END
words=("predict --model resnet18 --platform star-8 --gpu A100 --bucket-cap-mb 2.5 --jitter
	1.5 --tsv predicted.tsv"
	"predict --model resnet18 --platform star-8 --step-ms 12.5 --json"
	"run --backend SIM --platform star-8 --nproc-per-node 2 --timeout 1.5
	--trace trace.json --fidelity flow ddp_step --model resnet18 --jitter 0.5"
	"trace show trace.json"
	"trace path trace.json"
	"trace gantt trace.json -o gantt.svg"
	"compare trace.json trace.json --max-error 0.5"
	"check --backend sim --platform star-8 --nproc-per-node 3 --json
	verdict.json --junit verdict.xml $wrong late_for_the_sum"
	"bench --backend sim --platform star-8 --nproc-per-node 2 all_reduce -b 8
	-e 64K"
	"platform new --nodes 2 --gpus 2 --intra nvswitch:235.3GB/s,lat=0.5us
	--inter ib:2x12.5GB/s"
	"list machines --json"
	"validate --json"
	"sweep $study -j 1 -o swept")

# answer LANGUAGE - leaves what all commands write in a folder of that name.
answer() {
	mkdir "$scratch/in-$1" && cd "$scratch/in-$1" || exit 1
	for i in "${!words[@]}"; do
		# shellcheck disable=SC2086 # words
		LOCPATH=$scratch LC_ALL=$1 timeout 250 "$LOCKSTEP" ${words[i]} \
			>"$i.out" 2>"$i.err" </dev/null
		echo $? >"$i.status"
	done
	# How long a run took is its own; a comma in it would stay.
	sed -i 's/ time="[0-9.]*"/ time=""/' verdict.xml
	cd - >/dev/null || exit 1
}

answer C
[ "$(cat "$scratch"/in-C/*.status | sort -u)" = 0 ] ||
	fail "not every command is fine: $(grep -H . "$scratch"/in-C/*.status)"
for language in de_DE.UTF-8 tr_TR.UTF-8; do
	answer $language
	diff -r "$scratch/in-C" "$scratch/in-$language" >"$scratch/difference" ||
		fail "$language: $(head -n 20 "$scratch/difference")"
done

finish
