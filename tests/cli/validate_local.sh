#!/bin/bash
# The least of make validate-local: every collective and a step are predicted
# and measured, and the errors told. The machine may be too busy for it.
. tests/cli/support.bash

# try NAME "OP..." WORD... - a scene of 2 ranks by variables WORD, of which these
# collectives come; skips where the
# machine is too busy, or calibration needed so many attempts that time ran out.
try() {
	local name=$1 ops status=0

	read -ra ops <<<"$2"
	shift 2
	env RANKS= SHM= HOSTS=0 CALIBRATE=round "$@" timeout 300 tools/validate-local.sh \
		"$LOCKSTEP" "$scratch/here" >"$scratch/out" 2>"$scratch/err" \
		</dev/null || status=$?
	if { [ "$status" -eq 1 ] && grep -q 'too busy' "$scratch/err"; } ||
		{ [ "$status" -eq 124 ] &&
			[ "$(grep -c 'attempt . of 5' "$scratch/err")" -ge 5 ]; }; then
		cat "$scratch/err"
		exit 77
	fi
	[ "$status" -eq 0 ] || fail "status $status: $(cat "$scratch/err")"
	expect_out "^$name +$((7 * ${#ops[@]} + 1))( +[0-9.]+){5}\$"
	for op in "${ops[@]}"; do
		[ "$(grep -c "^$name.$op" "$scratch/here/table.tsv")" -eq 7 ] ||
			fail "$name: not seven sizes of $op"
	done
	[ -s "$scratch/here/${name// /-}.svg" ] || fail "$name: no figure"
}

# launches - time and ratio of each all-to-all of 1 KiB.
launches() {
	awk -F'\t' -v OFMT=%.6g '$1 == 1024 { print $13, $3 / $13 }' \
		"$scratch/here/alltoall.launches"
}

try "loopback 2 ranks" "all_reduce all_gather_single reduce_scatter_single broadcast all_to_all" \
	RANKS=2 ROUNDS=1
# Each round takes a calibration: the median of three, of two collectives.
try "shared memory 2 ranks" "all_reduce all_to_all" SHM=2 ROUNDS=3 \
	COLLECTIVES="all_reduce alltoall"
read -r measured ratio < <(awk -F'\t' '$2 == "all_to_all" && $6 == 1024 {
	print $9, $14 }' "$scratch/here/table.tsv")
launches | sort -g -k 2 | sed -n 2p >"$scratch/middle"
echo "$measured $ratio" | diff - "$scratch/middle" ||
	fail "not of the launch in the middle"

finish
