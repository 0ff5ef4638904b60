#!/bin/bash
# SimGrid is loaded by what reads a platform that is not plain, or simulates with
# it, and by nothing else; where it cannot be, one line says so.
. tests/cli/support.bash

built=$(dirname "$LOCKSTEP")
engine=liblockstep-sim.so.0

# loads WANTED WORDS... - whether a command, or a process that it starts, loads
# SimGrid: yes or no.
loads() {
	local wanted=$1 found=no

	shift
	rm -f "$scratch"/loaded.*
	LD_DEBUG=files LD_DEBUG_OUTPUT=$scratch/loaded timeout 250 "$@" \
		>"$scratch/out" 2>&1 </dev/null || fail "$*: $(cat "$scratch/out")"
	grep -q 'calling init: .*/libc\.so' "$scratch"/loaded.* ||
		fail "$*: the loader says nothing"
	grep -q 'calling init: .*/libsimgrid' "$scratch"/loaded.* && found=yes
	[ $found = "$wanted" ] || fail "$*: loads SimGrid: $found"
}

loads no "$LOCKSTEP" --version
loads no "$LOCKSTEP" help predict
loads no "$LOCKSTEP" run --nproc-per-node 2 hello
loads no "$LOCKSTEP" run --nproc-per-node 2 "$wrong" half_precision_on_one correct
loads no "$LOCKSTEP" run --backend sim --platform star-8 --nproc-per-node 2 hello
loads yes "$LOCKSTEP" run --backend sim --engine simgrid --platform star-8 \
	--nproc-per-node 2 hello
for platform in scenarios/platforms/*.xml; do
	wanted=no
	case $platform in */fat-tree-64.xml) wanted=yes ;; esac
	loads $wanted "$LOCKSTEP" platform show "$platform"
done
if ldd "$built/liblockstep.so.0" | grep -q simgrid; then
	fail "whoever loads the library loads SimGrid"
fi

# Where nothing is right of it but its name, and where LD_LIBRARY_PATH says it is.
mkdir "$scratch/bin"
cp "$LOCKSTEP" "$scratch/bin/"
: >"$scratch/bin/$engine"
LOCKSTEP=$scratch/bin/lockstep
export LOCKSTEP_DATA=$PWD/scenarios
missing="no simulation engine: .*$engine: "
expect 0 platform show star-8
expect_refusal "^lockstep platform show: $missing" platform show fat-tree-64
expect 2 list platforms
expect_err "^lockstep list: $missing"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than one line: list platforms"
expect_refusal "^lockstep predict: $missing" predict --model resnet50 --gpu H100 \
	--platform fat-tree-64 --world-size 8
expect 2 run --backend sim --platform fat-tree-64 --nproc-per-node 2 hello
expect_err "$missing"
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than one line: run"
expect 0 run --nproc-per-node 2 hello
rm "$scratch/bin/$engine"
export LD_LIBRARY_PATH=$built
expect 0 platform show fat-tree-64

# Stacks fit where address space is short: two a rank, with their guards. Where
# they do not, a line says so.
if [ "$SANITIZED" = no ]; then
	short=(predict --flops 60e12 --platform star-1024 --model mnist --no-explain
		--world-size 1024 --fidelity flow --algorithm all_reduce=binomial_tree)
	limit_kb=$(ulimit -S -v)
	ulimit -S -v 1000000
	expect 0 "${short[@]}"
	ulimit -S -v 500000
	expect 3 "${short[@]}"
	ulimit -S -v "$limit_kb"
	expect_err '^lockstep: 1024 ranks take 0.6 GiB of address space for their stacks, the limit is 0.5: '
fi

finish
