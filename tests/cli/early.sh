#!/bin/bash
# Small memory, on a stack, that is touched while an operation holds it: where
# no watchpoint saw it, the nearest two calls are named.
. tests/cli/support.bash

early=$(dirname "$LOCKSTEP")/tests/cli/early
source=tests/cli/early.c

# line WORD - where the source says so.
line() { grep -n "/\* $1 \*/" "$source" | cut -d: -f1; }

# sites ROLE - the lines that the verdict has in that role.
sites() {
	jq -r --arg role "$1" '.sites[] | select(.role == $role).line' \
		"$scratch/json" | paste -sd' '
}

for world in "--backend sim --platform star-8" "--backend tcp"; do
	# shellcheck disable=SC2206 # words
	options=($world --nproc-per-node 2 --debug detail --json "$scratch/json"
		--sarif "$scratch/sarif")

	expect 0 check "${options[@]}" "$early" none 30
	expect 14 check "${options[@]}" "$early" write 30
	expect_err "tensor, from element 30 of 64 on, between the call at \
$source:$(line before) and the call at $source:$(line after), before the \
wait at $source:$(line wait)\$"
	[ "$(sites between)" = "$(line before) $(line after)" ] ||
		fail "the lines between are $(sites between)"
	[ "$(sites partner)" = "$(line wait)" ] || fail "where is the wait?"
	jq -e -f tests/support/sarif.jq "$scratch/sarif" >/dev/null ||
		fail "SARIF is not by its schema"

	# What changed and changed back.
	expect 14 check "${options[@]}" "$early" back 30
	expect_err "and the call at $source:$(line after)"

	"$early" || continue
	expect 14 check "${options[@]}" "$early" write 63
	expect_err "wrote to its tensor, element 63 of 64, at \
$source:$(line written) in touch, before the wait at $source:$(line wait)\$"
	expect 14 check "${options[@]}" "$early" same 0
	expect_err "element 0 of 64, at $source:$(line written) in touch,"
	expect 14 check "${options[@]}" "$early" fill 0
	expect_err "element 0 of 64, at $source:$(line filled) in touch,"
	expect 14 check "${options[@]}" "$early" read 0
	expect_err "read its tensor, element 0 of 64, at $source:$(line read) in"
done

finish
