#!/bin/bash
# The least of make validate-local: every collective and a step are predicted
# and measured, and the errors told. The machine may be too busy for it.
. tests/cli/support.bash

RANKS=2 SHM=2 HOSTS=0 ROUNDS=3 timeout 300 tools/validate-local.sh "$LOCKSTEP" \
	"$scratch/here" >"$scratch/out" 2>"$scratch/err" </dev/null
status=$?
if [ "$status" -eq 1 ] && grep -q 'too busy' "$scratch/err"; then
	cat "$scratch/err"
	exit 77
fi
[ "$status" -eq 0 ] || fail "status $status: $(cat "$scratch/err")"
for scene in "loopback 2 ranks" "shared memory 2 ranks"; do
	expect_out "^$scene +36( +[0-9.]+){5}\$"
	for op in all_reduce all_gather_single reduce_scatter_single broadcast \
		all_to_all; do
		[ "$(grep -c "^$scene.$op" "$scratch/here/table.tsv")" -eq 7 ] ||
			fail "$scene: not seven sizes of $op"
	done
	[ -s "$scratch/here/${scene// /-}.svg" ] || fail "$scene: no figure"
done

finish
