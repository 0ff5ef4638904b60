#!/bin/bash
# validate.sh COMMAND DIR - compare predictions with published measurements: write
# docs/validation.md, the rows of accuracy that the README shows and the blind errors
# that intervals are made of, and draw to DIR.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8

lockstep=$1
dir=$2
page=docs/validation.md
mkdir -p "$dir"

for kind in svg png; do
	"$lockstep" validate --tsv "$dir/rows.tsv" \
		--plot "$dir/predicted_measured.$kind" \
		--plot-errors "$dir/errors.$kind" --markdown >"$dir/report.md"
done

{
	cat <<'END'
# Errors by table

Written by `make validate`, from nothing but the tables, machines and profiles that come with Lockstep;
[measured.md](measured.md#validation) says what the columns mean and what a prediction is made of. `make validate` also draws
every row, predicted against measured, and the error by size for every table, to `build/validation/`.

A table is good when the median error is at most 10 % and nine of ten rows are within 30 %; a table that says "no" is one that
predictions are bad at, and the columns by size say where. What no column says:

- These errors are not blind. The command looks at no row that it predicts (but for constants that a machine's file says were `given`), but the
  constants that machines share were fitted to these tables, or chosen by them (MPI, Gloo). `lockstep validate --blind` fits them without
  the table's machine and shows both errors ([accuracy](accuracy.md)).
- The first rows of a run are often cold: a call that takes three times as long as the same one a moment later is not predicted.
- Networks shared with others, and TCP over a card made for something else, take a different time each run; one number misses most of them:
  on nccl-hkbu-4x4-ipoib-ring sizes 2 MB apart differ in rate by 18 % by median and by 47 % in one of ten pairs, and the row given away is
  slower than most.
- nccl-alps-2x4-tcp: from 16 KiB to 1 MiB messages leave a node at a fifth of the rate of larger ones, as single streams do there by
  Open MPI (osu-bandwidth-alps.tsv); over Ethernet they do not, so that it is no law of sockets. Rows of 512 B and 1 KiB took
  up to seven times their neighbours.
- nccl-alps-2x1: from 1 to 4 MiB two GPUs take 0.1 ms more than two hops over Slingshot; no row of a small size is known that would tell
  how much of it is a start, a hop, or a way of this network to announce messages.
- gloo-v100-2x1: 256 KiB took 20 ms, nineteen times 128 KiB and a hundred times what its bytes need: the fault that its source reports.
- What a processor does beside sending bytes is not modelled: parameter servers, schedulers by priority, input pipelines. Steps that wait
  for their data loader (dlperf-resnet50, the first settings) come out too short.
- The time of computing is taken from one GPU, never predicted: steps without such a row are left out. From FLOP alone it would be wrong by
  a factor of two for small micro-batches, which wait for kernels to start.

END
	cat "$dir/report.md"
} >"$dir/page.md"
mv "$dir/page.md" "$page"

# README and docs/accuracy.md show a few rows.
errors=scenarios/measured/blind-errors.tsv
tools/accuracy.sh "$lockstep" "$dir/errors.tsv" "$dir/llm.md" >"$dir/accuracy.md"
same() { cmp -s <(grep -v '^# date' "$1") <(grep -v '^# date' "$2"); }
same "$dir/errors.tsv" $errors || cp "$dir/errors.tsv" $errors
# put FILE NAME - the table NAME.md between its marks in FILE.
put() {
	awk -v table="$dir/$2.md" -v name="$2" '
	$0 == "<!-- end of " name " -->" { inside = 0 }
	!inside
	$0 == "<!-- " name " -->" {
		inside = 1
		while ((getline line < table) > 0)
			print line
	}' "$1" >"$dir/page.md"
	cmp -s "$dir/page.md" "$1" || cp "$dir/page.md" "$1"
}
put README.md accuracy
put docs/accuracy.md accuracy
put docs/accuracy.md llm

cat "$dir/accuracy.md"
printf '  %-40s %s\n' "$page" "errors by table" \
	"$dir/predicted_measured.{svg,png}" "every row, predicted and measured" \
	"$dir/errors.{svg,png}" "predicted over measured, by size and table"
