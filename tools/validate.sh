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

Written by `make validate` from the tables, machines and profiles that come with Lockstep. [measured.md](measured.md#validation) explains the
columns and how a prediction is made. `make validate` also draws each table, predicted and measured, and its error by size, to
`build/validation/`.

A table is good when the median error is at most 10 % and nine of ten rows are within 30 %. In a table that says "no" the columns by size show
where predictions are bad. What no column says:

- These errors are not blind. The command uses no row that it predicts (except where a machine's file marks a constant as `given`), but the
  constants that machines share were fitted to these tables, or chosen by hand (MPI, Gloo). `lockstep validate --blind` fits them without the
  table's machine, and shows both errors ([accuracy](accuracy.md)).
- The first rows of a run are often cold. A call that takes three times as long as the same call a moment later is not predicted.
- Shared networks, and TCP over a card made for another protocol, take another time each run; one number misses most of them. On
  nccl-hkbu-4x4-ipoib-ring, sizes 2 MB apart differ in rate by 18 % (median), by 47 % in one of ten pairs, and the row for calibration is
  slower than most.
- nccl-alps-2x4-tcp: messages of 16 KiB to 1 MiB leave a node at a fifth of the rate of larger ones. Single streams of Open MPI do the same
  there (osu-bandwidth-alps.tsv), but not over Ethernet: it is not a property of sockets. Rows of 512 B and 1 KiB took up to seven times their
  neighbours.
- nccl-alps-2x1, nccl-alps-2x4-slingshot: what announcing a message takes (slingshot_us) is a compromise. From 1 to 4 MiB, where NCCL 2.30 chooses
  LL128, two GPUs take 0.1 to 0.15 ms more than predicted: its operators say that LL128 is slow on Slingshot, not why. Messages of LL of 8 KiB (calls of
  4 to 32 KiB) take 5 us a hop more than those of 4 KiB, which is not modelled. The version of the other table is not stated; 2.27's choice is taken.
- gloo-v100-2x1: 256 KiB took 20 ms, nineteen times 128 KiB and a hundred times what its bytes need. This is the fault that its source reports.
- Work of processors other than sending is not modelled: parameter servers, priority schedulers, input pipelines. Steps that wait for their
  data loader (dlperf-resnet50, the first settings) are predicted too short.
- Computing time is measured on one GPU, never predicted; steps without such a row are left out. From FLOP alone it would be wrong by a factor
  of two for small micro-batches, which wait for kernel launches.

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
