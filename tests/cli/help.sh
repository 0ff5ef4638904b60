#!/bin/bash
# Every command explains itself on stdout and ends well.
. tests/cli/support.bash

commands="run predict plan sweep bench check explore diagnose calibrate compare validate trace platform model list"

fits() { # whose help it is
	awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' \
		"$scratch/out" || fail "$1 --help is wider than 80 columns"
}

expect 0 --help
fits lockstep
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
	fits "$command"
	expect 0 help "$command"
	expect_out "^Usage: lockstep $command"
done

# Every example can be run as it stands: those that need no file, network or
# root, of every command, workload and program.
examples() { # prints them, a line each, without "lockstep"
	"$LOCKSTEP" "$@" --help | sed -n '/^Example/,$p' |
		sed -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ba' -e '}' |
		sed -n 's/^  lockstep //p'
}
cd "$scratch" || exit 1
workloads="ddp_step fsdp hybrid moe pipeline ps tensor_parallel"
{
	for command in run predict explore list model 'model new' 'platform new'; do
		# shellcheck disable=SC2086 # words
		examples $command
	done
	for workload in $workloads; do
		examples predict --workload "$workload"
		examples run "$workload"
	done
	for program in hello pingpong deadlock mismatch race all_reduce llm; do
		examples run "$program"
	done
} >"$scratch/examples"
[ "$(wc -l <"$scratch/examples")" -ge 24 ] || fail "examples are missing"
while read -r words; do
	[[ $words != predict* ]] || words="$words --dry-run"
	# shellcheck disable=SC2086 # words
	timeout 250 "$LOCKSTEP" $words >"$scratch/out" 2>&1 </dev/null
	got=$?
	case "$words $got" in
	*' 0' | *'deadlock 11' | *'mismatch 10' | 'explore '*'race 15') ;;
	*) fail "lockstep $words: status $got: $(head -3 "$scratch/out")" ;;
	esac
done <"$scratch/examples"
cd "$OLDPWD" || exit 1

# Colour is for terminals alone, and not for those who do not want it.
if command -v script >/dev/null; then
	verdict="run --backend sim --platform star-8 --nproc-per-node 4 deadlock"
	for words in 'list --help' 'list nothing' "$verdict"; do
		for setting in TERM=xterm TERM=dumb 'NO_COLOR=1 TERM=xterm'; do
			# shellcheck disable=SC2086 # words
			env $setting script -qec "$LOCKSTEP $words" /dev/null \
				>"$scratch/seen" </dev/null
			case "$setting $(grep -c $'\033' "$scratch/seen")" in
			'TERM=xterm '[1-9]*) ;;
			TERM=xterm*) fail "$words: no colour on a terminal" ;;
			*' 0') ;;
			*) fail "$words: colours with $setting" ;;
			esac
		done
	done
	# There comments are broken into lines, and nothing is wider than 100 columns.
	predict='predict --model resnet18 --machine dgx-a100 --world-size 16,64'
	script -qec "$LOCKSTEP $predict" /dev/null </dev/null | tr -d '\r' >"$scratch/seen"
	awk 'length > 100 { exit 1 }' "$scratch/seen" || fail "$predict: wider than a terminal"
	grep -q '^#             [a-z]' "$scratch/seen" || fail "$predict: no line goes on"
	# shellcheck disable=SC2086 # options and their values
	expect 0 $predict
	expect_out '^# library .{200}'
fi

# The pages for man are such that man has nothing to say.
mkdir "$scratch/man"
tools/manual.sh "$LOCKSTEP" 1.0 "$scratch/man" || fail "no pages"
for page in "$scratch"/man/*.1; do
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$page" | grep -v 'missing date'
	fi
	if command -v groff >/dev/null; then
		groff -man -ww -z "$page" 2>&1
	fi
done >"$scratch/said"
[ ! -s "$scratch/said" ] || fail "man pages: $(head -3 "$scratch/said")"
for command in $commands; do
	grep -q "lockstep..$command (1)" "$scratch/man/lockstep.1" ||
		fail "$command is not in lockstep.1"
done
grep -q 'bucket.-cap.-mb' "$scratch/man/lockstep-predict.1" ||
	fail "an option of a workload is not in its page"

# What a shell completes.
expect_words() { # word that is there, words typed
	"$LOCKSTEP" complete "${@:2}" | cut -f 1 | grep -qxe "$1" ||
		fail "complete ${*:2}: no $1"
}
expect_words predict pre
expect_words --zero predict --workload fsdp --z
expect_words resnet50 predict --model ''
expect_words fsdp predict --workload ''
expect_words flow run --fidelity f
expect_words star-8 run --platform s
expect_words ddp_step run ''
expect_words --topology platform new --
expect_words gantt trace ''
[ -z "$("$LOCKSTEP" complete run --trace '')" ] || fail "a file is no word"
COMP_WORDS=("$LOCKSTEP" predict --work) COMP_CWORD=2 COMPREPLY=()
. tools/completion/lockstep.bash
_lockstep
[ "${COMPREPLY[0]}" = --workload ] || fail "bash completes ${COMPREPLY[*]}"
if command -v fish >/dev/null; then
	mkdir "$scratch/bin"
	ln -s "$LOCKSTEP" "$scratch/bin/lockstep"
	PATH=$scratch/bin:$PATH HOME=$scratch fish -c \
		'source tools/completion/lockstep.fish; complete -C "lockstep predict --workl"' |
		grep -q '^--workload' || fail "fish does not complete"
fi
if command -v zsh >/dev/null; then
	zsh -n tools/completion/_lockstep || fail "zsh cannot read its completion"
fi

# What does not reach its reader is a failure.
for words in --help 'run --help' --version 'list models'; do
	# shellcheck disable=SC2086 # words
	"$LOCKSTEP" $words >/dev/full 2>"$scratch/err"
	[ $? -eq 1 ] || fail "$words to a full device: not status 1"
	grep -q 'standard output: No space' "$scratch/err" ||
		fail "$words to a full device: $(cat "$scratch/err")"
done

# Where a standard stream is closed, nothing that the command opens lies there.
"$LOCKSTEP" run --nproc-per-node 2 hello 0<&- 1>&- 2>&-
[ $? -eq 1 ] || fail "with no streams: not status 1"

expect 0 --version
expect_out '^lockstep [0-9]+\.[0-9]+\.[0-9]+$'

# Without any word: the same help, but as a complaint.
expect 2
cmp -s "$scratch/err" "$scratch/help" || fail "no help without arguments"

finish
