#!/bin/bash
# accuracy.sh COMMAND [ERRORS.tsv [LLM.md]] - the rows of the table of accuracy in
# README.md and docs/accuracy.md: medians over tables of what others measured, without
# their machines in any constant and with the rows that they give away for calibration.
# ERRORS.tsv gets the blind errors that intervals are made of, LLM.md the table of
# language models by source.
set -eu
cd "$(dirname "$0")/.."
command=$1
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
"$command" validate --llm --blind --json >"$scratch" &
errors=$("$command" validate --blind --json ${2:+--write-errors "$2"})
wait $!

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

# models LIST FORM - the errors of steps of language models: of a list of the
# answer, as rows by source or as rows of the table of accuracy.
models() {
	jq -r --arg list "$1" --arg form "$2" '
	def tenths: . * 1000 | round / 10 | tostring |
		if test("[.]") then . else . + ".0" end;
	def pair(a; b): if a == null then "-" else (a | tenths) + ", " + (b | tenths) end;
	.[$list][] | select(.rows > 0) |
	[pair(.median; .p90), pair(.given_median; .given_p90),
	 pair(.blind_median; .blind_p90), pair(.no_skill_median; .no_skill_p90)] as $e |
	if $form == "source"
	then "| \(.of) | \(.model) | \(.rows) | \($e | join(" | ")) |"
	else "| Steps of language models, " + .model + ", \(.rows) rows; one row of model and GPU | " + ([$e[2], $e[1], $e[3]] |
		map(sub(", "; " %, ") + " %") | join(" | ")) + " |" end
	' "$scratch"
}

# without WHAT... - as rows by source, with all that is left out of the constants.
without() {
	jq -r '
	def tenths: . * 1000 | round / 10 | tostring |
		if test("[.]") then . else . + ".0" end;
	.blind[] | select(.left_out | IN($ARGS.positional[])) |
	"| all, without \(.left_out) | \(.model) | \(.rows) | - | - | \(.median | tenths), \(.p90 | tenths) | - |"
	' --args "$@" <"$scratch"
}

if [ -n "${3-}" ]; then
	{
		cat <<'END'
| source | models | rows | everything predicted | one row given | blind | no skill |
|---|---|---|---|---|---|---|
END
		models all source
		without "a GPU" "a precision" "a family of models"
		models sources source
	} >"$3"
fi

cat <<'END'
| what | blind | with two rows | fit that has seen all |
|---|---|---|---|
END
row "NCCL on 16 H100 (h100.log)" '^nccl-xe9680-2x8$'
row "NCCL, V100 to GB200, 2 to 72 GPUs" '^(nccl|torch)-'
row "Open MPI and Cray MPICH, up to 32 nodes" '^(openmpi|cray)-'
echo "| Training steps, 7 schedules; one GPU's time is given | $(steps blind_median blind_p90) | $(steps median p90) | - |"
models all sum
cat <<'END'
| Hosts of a test bed, measured here | 0.4 to 5.4 % | - | - |
| Loopback and shared memory of two busy cores, measured here | 3.0 to 11 %, 11 to 28 % | - | - |
END
