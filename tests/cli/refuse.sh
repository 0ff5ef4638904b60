#!/bin/bash
# Bad input gives one clear line and status 2, and nothing is half done.
. tests/cli/support.bash

expect_refusal 'no command "rum"; did you mean "run"' rum
expect_refusal 'no command "frobnicate"' frobnicate
expect_refusal 'no option "--frobnicate"' --frobnicate
expect_refusal 'no command "frobnicate"' help frobnicate
for command in run predict bench calibrate compare trace platform list; do
	expect_refusal 'frobnicate' "$command" --frobnicate
done

expect_refusal 'list what' list
expect_refusal 'no list of "frogs"' list frogs
expect_refusal 'no-such-platform' platform show no-such-platform

# run
expect_refusal 'no PROGRAM' run
expect_refusal 'no scenario and no program "no-such"' run no-such
expect_refusal 'no back end "mpi"' run --backend mpi hello
for size in 0 -1 four 3.5 ''; do
	expect_refusal 'nproc-per-node' run --nproc-per-node "$size" hello
	expect_refusal 'nproc-per-node' run --nproc_per_node="$size" hello
	expect_refusal 'world-size' run --world-size="$size" hello
done
expect_refusal 'world-size' run --nproc-per-node 2 --world-size 4 hello
for timeout in 0 -1 soon nan inf 1s; do
	expect_refusal 'timeout' run --timeout="$timeout" hello
done
expect_refusal 'nnodes' run --nnodes 2 hello
expect_refusal 'node-rank' run --node-rank 1 hello
expect_refusal 'max-restarts' run --max-restarts 3 hello
expect_refusal 'master-port' run --master-port 70000 hello
expect_refusal 'master-port' run --master-port http hello

# simulation
expect_refusal 'no-such' run --backend sim --platform no-such hello
expect_refusal 'no-such' run --backend sim --platform "$scratch/no-such.xml" \
	hello
printf '<?xml version="1.0"?>\n<platform version="4.1">\n<zone id="a"' \
	>"$scratch/broken.xml"
expect_refusal 'broken.xml' run --backend sim --platform "$scratch/broken.xml" \
	hello
platform=$("$LOCKSTEP" list platforms | awk 'NR == 2 { print $1 }')
expect_refusal 'hosts' run --backend sim --platform "$platform" \
	--world-size 1000000 hello
expect_refusal 'no-such' run --backend sim --platform "$platform" \
	--world-size 2 --algorithm all_reduce=no-such hello
expect_refusal 'no-such' run --backend sim --platform "$platform" \
	--world-size 2 --profile no-such hello
printf 'name: x\nselection: [3\n' >"$scratch/broken.yaml"
expect_refusal 'broken.yaml:[0-9]+' run --backend sim --platform "$platform" \
	--world-size 2 --profile "$scratch/broken.yaml" hello

# predict
expect_refusal 'no-such' predict --model no-such --platform "$platform" \
	--world-size 4
expect_refusal 'world-size' predict --model resnet50 --platform "$platform" \
	--world-size -3
printf 'parameter,numel,forward_flops\na,12\n' >"$scratch/broken.csv"
expect_refusal 'broken.csv:2' predict --model "$scratch/broken.csv" \
	--platform "$platform" --world-size 4

# compare and trace
expect_refusal 'no-such' compare "$scratch/no-such" "$scratch/no-such"
printf '{"traceEvents": [' >"$scratch/broken.json"
expect_refusal 'broken.json' trace show "$scratch/broken.json"
expect_refusal 'broken.json' compare "$scratch/broken.json" \
	"$scratch/broken.json"

left=$(find "$scratch" -type f ! -name out ! -name err ! -name 'broken.*')
[ -z "$left" ] || fail "left behind: $left"

finish
