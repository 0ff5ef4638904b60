#!/bin/bash
# Every command of docs/tutorials.md's table prints over TCP what the
# golden transcript says that it prints in simulation, line for line but for the
# order in which ranks come to speak.
. tests/cli/support.bash

golden=tests/golden/tutorial.txt

# What the transcript says about the command with these words, sorted.
golden_of() {
	awk -v command="\$ lockstep run --backend sim --platform star-8 $1" '
		/^\$ / { sub(/ \| sort$/, ""); mine = $0 == command; next }
		mine && !/no meaning in a simulation/' "$golden" | sort
}

# expect_golden WORDS - the lines in $scratch/tcp are those of the command.
expect_golden() {
	golden_of "$1" >"$scratch/sim"
	[ -s "$scratch/sim" ] || fail "not in $golden: $1"
	sort "$scratch/tcp" | diff "$scratch/sim" - ||
		fail "the worlds differ: $1"
}

# over_tcp WORDS - runs the command with these words, given as one string.
over_tcp() {
	read -ra words <<<"$1"
	lockstep run "${words[@]}"
	{
		cat "$scratch/out" "$scratch/err"
		echo "[exit $status]"
	} >"$scratch/tcp"
}

# on_two_nodes WORDS - the same command on each of two nodes, both of them here.
on_two_nodes() {
	local node nodes=()

	free_port
	read -ra words <<<"${1/HOST:29400/127.0.0.1:$port}"
	for node in 0 1; do
		timeout 250 "$LOCKSTEP" run "${words[@]}" </dev/null \
			>"$scratch/node$node" 2>&1 &
		nodes+=($!)
	done
	for node in "${nodes[@]}"; do
		wait "$node" || fail "$1: a node ends with status $?"
	done
	{
		cat "$scratch/node0" "$scratch/node1"
		echo "[exit 0]"
	} >"$scratch/tcp"
}

# shellcheck disable=SC2016 # backquotes of the page
mapfile -t commands < <(grep -oE '`lockstep run [^`]*tutorial_[^`]*`' \
	docs/tutorials.md | sed 's/^`lockstep run //; s/`$//')
for command in "${commands[@]}"; do
	case $command in
	*HOST*) on_two_nodes "$command" ;;
	*) over_tcp "$command" ;;
	esac
	expect_golden "$command"
done

# None is forgotten.
expect 0 list scenarios
mapfile -t programs < <(grep -o '^tutorial_[a-z_]*' "$scratch/out")
for program in "${programs[@]}"; do
	printf '%s\n' "${commands[@]}" | grep -qE "(^| )$program( |$)" ||
		fail "$program is not in docs/tutorials.md"
done

# Any number of ranks learns the same, and the loss says so.
learn="tutorial_sgd --batch 16 --epochs 6"
numbers=(1 3)
[ "$SANITIZED" != yes ] || numbers=() # arithmetic: four have learned above
for ranks in ${numbers[@]+"${numbers[@]}"}; do
	over_tcp "--nproc-per-node $ranks $learn"
	expect_golden "--nproc-per-node 4 $learn"
done

# The clock of a simulation advances by the operations of 640 rows, on devices
# of 1e6 a second: 0.576 s of all ranks together.
expect 0 run --backend sim --platform star-8 --nproc-per-node 4 \
	--trace "$scratch/trace.json" tutorial_sgd --epochs 1 --flops 1e6
expect 0 trace show "$scratch/trace.json"
expect_out '^forward and backward +\(computing\) .* 576 ms '

# A checkpoint that is asked for stays; one that cannot be written is an error.
expect 0 run --nproc-per-node 2 tutorial_checkpoint --file "$scratch/weights"
[ -s "$scratch/weights" ] || fail "no checkpoint"
[ ! -e "$scratch/weights.new" ] || fail "the unfinished checkpoint stays"
expect 1 run --nproc-per-node 2 tutorial_checkpoint --file "$scratch/no/weights"
grep -q "no/weights.new: No such file" "$scratch/err" ||
	fail "no reason: $(cat "$scratch/err")"
ln -s /dev/null "$scratch/null"
expect 1 run --nproc-per-node 2 tutorial_checkpoint --file "$scratch/null"
grep -q "null: expected a plain file" "$scratch/err" ||
	fail "no reason: $(cat "$scratch/err")"
[ -L "$scratch/null" ] || fail "a device was replaced"

expect_refusal 'batch: expected a whole number, 1 or more' run tutorial_sgd --batch 0
expect_refusal 'flops: expected a number above 0' run tutorial_sgd --flops 0
expect_refusal 'epochs: expected a whole number, 1 or more' run tutorial_sgd --epochs -1
expect_refusal 'size: expected a whole number, 1 or more' run tutorial_spawn --size 0
expect_refusal 'splits 3: expected a divisor of the 20 rows' \
	run --nproc-per-node 2 tutorial_model_parallel --splits 3
expect_refusal 'unexpected argument "x"' run tutorial_ring x
expect 1 run --nproc-per-node 2 tutorial_rpc_pipeline
grep -q 'expected 3 ranks or more, got 2' "$scratch/err" ||
	fail "no reason: $(cat "$scratch/err")"
expect 19 run tutorial_send_recv
grep -q 'dst is 1' "$scratch/err" || fail "no reason: $(cat "$scratch/err")"

finish
