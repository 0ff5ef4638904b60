#!/bin/bash
# accuracy.sh COMMAND [ERRORS.tsv] - the rows of the table of accuracy in README.md
# and docs/accuracy.md: medians over tables of what others measured, without their
# machines in any constant and with the rows that they give away for calibration.
# ERRORS.tsv gets the blind errors that intervals are made of.
set -eu
cd "$(dirname "$0")/.."
command=$1
errors=$("$command" validate --blind --json ${2:+--write-errors "$2"})

# row WHAT TABLE-PATTERN - the medians over the tables whose names fit: of the
# error, and of what nine of ten rows stay below.
row() {
	jq -r --arg what "$1" --arg names "$2" '
	def median: sort | if length % 2 == 1 then .[length / 2 | floor]
		else (.[length / 2 - 1] + .[length / 2]) / 2 end;
	def percent: . * 1000 | round / 10 | tostring |
		if test("[.]") then . else . + ".0" end | . + " %";
	def pair(a; b): (map(a) | median | percent) + ", " +
		(map(b) | median | percent);
	[.tables[] | select(.rows > 0 and (.name | test($names)))] |
	length as $all | [.[] | select(.blind_median != null)] as $blind |
	"| " + $what + (if $all > 1 then ", \($all) tables" else "" end) +
	" | " + ($blind | pair(.blind_median; .blind_p90)) +
	(if ($blind | length) < $all then " (of \($blind | length))" else "" end) +
	" | " + pair(.median; .p90) + " | " + pair(.fit_median; .fit_p90) + " |"
	' <<<"$errors"
}

# steps MEDIAN P90 - the lowest and the highest of these columns of the table of steps.
steps() {
	jq -r --arg median "$1" --arg p90 "$2" '
	def tenths: . * 1000 | round / 10 | tostring |
		if test("[.]") then . else . + ".0" end;
	def range(name): [.steps[][name]] | "\(min | tenths) to \(max | tenths) %";
	range($median) + ", " + range($p90)' <<<"$errors"
}

cat <<'END'
| what | blind | with two rows | fit that has seen all |
|---|---|---|---|
END
row "NCCL on 16 H100 (h100.log)" '^nccl-xe9680-2x8$'
row "NCCL, V100 to GB200, 2 to 72 GPUs" '^(nccl|torch)-'
row "Open MPI and Cray MPICH, up to 32 nodes" '^(openmpi|cray)-'
echo "| Training steps, 7 schedules; one GPU's time is given | $(steps blind_median blind_p90) | $(steps median p90) | - |"
cat <<'END'
| Hosts of a test bed, measured here | 0.4 to 5.4 % | - | - |
| Loopback and shared memory of two busy cores, measured here | 3.0 to 11 %, 11 to 28 % | - | - |
END
