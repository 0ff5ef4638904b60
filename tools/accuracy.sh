#!/bin/bash
# accuracy.sh COMMAND - the rows of the table of accuracy in README.md and
# docs/accuracy.md: medians over tables of what others measured, with the rows
# that they give away for calibration and from the descriptions alone.
set -eu
cd "$(dirname "$0")/.."
command=$1

# summary TABLE ... - tables; median and 90th percentile of the prediction; of the
# fit.
summary() {
	"$command" validate "$@" | sed -nE \
		's/^Collectives: .* of ([0-9]+) tables .* median ([0-9.]+ %), p90 ([0-9.]+ %).* rows: median ([0-9.]+ %), p90 ([0-9.]+ %)\.$/\1|\2, \3|\4, \5/p'
}

# row WHAT TABLE-PATTERN ...
row() {
	local what=$1 names=() with without
	shift
	for pattern; do
		for table in scenarios/measured/collectives/$pattern.tsv; do
			table=${table##*/}
			names+=("${table%.tsv}")
		done
	done
	IFS='|' read -r tables with fit < <(summary "${names[@]}")
	IFS='|' read -r alone without _ < <(summary --uncalibrated "${names[@]}")
	[ "$tables" = "$alone" ] || without+=" (of $alone)"
	[ "$tables" = 1 ] || what+=", $tables tables"
	echo "| $what | $without | $with | $fit |"
}

# The lowest and the highest of a column of the table of steps.
steps() {
	"$command" validate | awk -v column="$1" '
	/^steps / { inside = 1; next }
	/^$/ { inside = 0 }
	inside { if (!n++ || $column < low) low = $column; if ($column > high) high = $column }
	END { printf "%s to %s %%", low, high }'
}

cat <<'END'
| what | blind | with two rows | fit that has seen all |
|---|---|---|---|
END
row "NCCL on 16 H100 (h100.log)" nccl-xe9680-2x8
row "NCCL, V100 to GB200, 2 to 72 GPUs" 'nccl-*' 'torch-*'
row "Open MPI and Cray MPICH, up to 32 nodes" 'openmpi-*' 'cray-*'
echo "| Training steps, 7 schedules; one GPU's time is given | - | $(steps 4), $(steps 5) | - |"
cat <<'END'
| Hosts of a test bed, measured here | 0.4 to 5.4 % | - | - |
| Loopback and shared memory of two busy cores, measured here | 3.0 to 11 %, 11 to 28 % | - | - |
END
