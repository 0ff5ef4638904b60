#!/bin/bash
# Every command explains itself on stdout and ends well.
. tests/cli/support.bash

commands="run predict sweep bench check explore diagnose calibrate compare validate trace platform testbed list"

expect 0 --help
for command in $commands; do
	expect_out "^ +$command +[a-z]"
done
cp "$scratch/out" "$scratch/help"
# shellcheck disable=SC2046 # its words
expect 0 $(sed -n 's/^  lockstep \(run .*\)/\1/p' "$scratch/help")
expect 0 help
cmp -s "$scratch/out" "$scratch/help" || fail "help differs from --help"

for command in $commands; do
	expect 0 "$command" --help
	expect_out "^Usage: lockstep $command"
	expect_out "Example"
	[ ! -s "$scratch/err" ] || fail "$command --help wrote to stderr"
	expect 0 help "$command"
	expect_out "^Usage: lockstep $command"
done

# What does not reach its reader is a failure.
for words in --help 'run --help' --version 'list models'; do
	# shellcheck disable=SC2086 # words
	"$LOCKSTEP" $words >/dev/full 2>"$scratch/err"
	[ $? -eq 1 ] || fail "$words to a full device: not status 1"
	grep -q 'standard output: No space' "$scratch/err" ||
		fail "$words to a full device: $(cat "$scratch/err")"
done

expect 0 --version
expect_out '^lockstep [0-9]+\.[0-9]+\.[0-9]+$'

# Without any word: the same help, but as a complaint.
expect 2
cmp -s "$scratch/err" "$scratch/help" || fail "no help without arguments"

finish
