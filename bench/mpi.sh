#!/bin/bash
# mpi.sh - what an all-reduce takes in Open MPI and MPICH themselves, and what
# over them as a back end, in turns; and what of the latter is the agreement of
# the ranks, which an all-reduce of nothing consists of. Prints a table, and
# writes it to $OUT/mpi.tsv with its conditions. An MPI without its mpicc or
# libraries is left out, with a word.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8
: "${LOCKSTEP:=build/default/lockstep}" "${OUT:=build/bench}"
: "${WORLDS:=2 4}" "${SIZES:=8 1024 32768 262144 1048576 4194304 16777216}"
: "${ROUNDS:=5}" "${SECONDS_EACH:=1}"
peers=$(dirname "$LOCKSTEP")/bench/peers
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LOCKSTEP_MPI
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
mkdir -p "$OUT"

# iterations, calls of each, and those before them.
effort_of() { # bytes
	if [ "$1" -le 65536 ]; then
		echo 15 100 60
	elif [ "$1" -le 1048576 ]; then
		echo 15 10 20
	else
		echo 15 2 5
	fi
}

# The median in microseconds of the MPI itself, of the back end.
itself() { # ranks, bytes
	local words=("mpirun.$LOCKSTEP_MPI" -n "$1")

	[ "$LOCKSTEP_MPI" = mpich ] || words+=(--oversubscribe --bind-to none)
	# shellcheck disable=SC2046 # three words
	timeout 60 "${words[@]}" "$peers/$LOCKSTEP_MPI" all_reduce "$2" \
		$(effort_of "$2") "$SECONDS_EACH" 2>/dev/null | cut -f 1
}

over() { # ranks, bytes
	local iterations calls warmup

	read -r iterations calls warmup <<<"$(effort_of "$2")"
	timeout 60 "$LOCKSTEP" bench all_reduce --backend mpi \
		--nproc-per-node "$1" -b "$2" -e "$2" -n "$iterations" \
		-m "$calls" -w "$warmup" --tsv "$scratch/row" >/dev/null &&
		sed 1,2d "$scratch/row" | cut -f 3
}

measure() { # round, ranks, bytes
	local what of alone='' over='' nothing=''

	for what in $(shuf -e alone over nothing); do
		case $what in
		alone) alone=$(itself "$2" "$3") ;;
		over) over=$(over "$2" "$3") ;;
		nothing) nothing=$(over "$2" 0) ;;
		esac
	done
	for of in "$alone" "$over" "$nothing"; do
		[ "$of" ] || {
			echo "left out: $LOCKSTEP_MPI, $2 ranks, $3 B: no time" >&2
			return
		}
	done
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$LOCKSTEP_MPI" "$2" "$3" \
		"$alone" "$over" "$nothing" >>"$scratch/runs"
}

mpis=
: >"$scratch/runs"
for LOCKSTEP_MPI in openmpi mpich; do
	found=$("$LOCKSTEP" list backends | sed -n 's/^mpi  *//p')
	if [[ $found != yes* ]]; then
		echo "left out: $LOCKSTEP_MPI: ${found##*  }" >&2
	elif [ ! -x "$peers/$LOCKSTEP_MPI" ]; then
		echo "left out: $LOCKSTEP_MPI: no $peers/$LOCKSTEP_MPI: make" \
			"bench-peers builds it" >&2
	else
		mpis+=" $LOCKSTEP_MPI"
		echo "# ${found##*  }" >>"$scratch/found"
	fi
done
[ "$mpis" ] || exit 77
for ((round = 1; round <= ROUNDS; round++)); do
	for ranks in $WORLDS; do
		for size in $SIZES; do
			for LOCKSTEP_MPI in $mpis; do
				measure "$round" "$ranks" "$size"
			done
		done
	done
done

{
	cat "$scratch/found"
	echo "# $(uname -srm), $(nproc) cores, load $(cut -d ' ' -f 1-3 \
		/proc/loadavg), $(date -u +%Y-%m-%d)"
	echo "# microseconds a call, of the slowest rank; medians of $ROUNDS rounds"
	echo "# ratio: of the MPI's time to the back end's without the agreement"
	awk -f bench/mpi.awk "$scratch/runs"
} >"$scratch/out"
mv "$scratch/out" "$OUT/mpi.tsv"
grep -v '^#' "$OUT/mpi.tsv" | column -t -s "$(printf '\t')"
