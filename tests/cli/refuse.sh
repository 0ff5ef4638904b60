#!/bin/bash
# Bad input gives one clear line and status 2, and nothing is half done.
. tests/cli/support.bash

expect_refusal 'no command "rum"; did you mean "run"' rum
expect_refusal 'no command "frobnicate"' frobnicate
expect_refusal 'no option "--frobnicate"' --frobnicate
expect_refusal 'no command "frobnicate"' help frobnicate
expect_refusal 'record: expected a file' check --record
expect_refusal 'expect: expected a file' check --observe --expect
expect_refusal 'no-such-order' check --expect no-such-order hello
printf 'group default, ranks 0-1\n  barrier()\nbarrier()\n' >"$scratch/order"
expect_refusal 'order:3: expected "group NAME' check \
	--expect "$scratch/order" hello
rm "$scratch/order"
for command in run predict bench check explore diagnose calibrate compare trace platform list; do
	expect_refusal 'frobnicate' "$command" --frobnicate
done

expect_refusal 'list what' list
expect_refusal 'no list of "frogs"' list frogs
expect_refusal 'no-such-platform' platform show no-such-platform

for option in '--nodes 0' '--gpus 0' '--gpus 257' '--intra nvswitch:300' \
	'--intra nvlink:300GB/s' '--inter ib:0x400G' '--inter ib:400' \
	'--inter efa:100G' '--topology fat-tree:4' '--topology ring' \
	'--degrade node0.nic0' '--degrade node0.nic0:2' '--slow node1:0.5' \
	'--slow node0:0'; do
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal "${option% *}" platform new $option
done
expect_refusal '--gpus 8: expected --intra' platform new --gpus 8
expect_refusal 'expected --inter' platform new --nodes 2
expect_refusal 'room for 4 nodes' platform new --nodes 5 --inter ib:100G \
	--topology fat-tree:2x2
expect_refusal 'no link "node0.nic0"' platform new --degrade node0.nic0:0.5
expect_refusal 'no-such' platform new --import-nccl-topo "$scratch/no-such"
echo '<system><gpu/>' >"$scratch/broken.topology"
expect_refusal 'broken.topology:1: ' platform new --import-nccl-topo \
	"$scratch/broken.topology"
expect_refusal 'options only' platform new cluster
expect_refusal 'no-such' platform new -o "$scratch/no-such/a.xml"

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
for debug in loud DETAIL 2; do
	expect_refusal 'debug.*off, info or detail' run --debug="$debug" hello
done
for nodes in 0 -1 two 2: :2 3:2 1:2:3 ''; do
	expect_refusal 'nnodes' run --nnodes="$nodes" hello
done
expect_refusal 'nnodes.*c10d' run --nnodes 1:2 hello
expect_refusal 'nnodes' run --nnodes 2 --standalone hello
expect_refusal 'world-size' run --nnodes 2 --world-size 4 hello
for rank in 1 -1 x; do
	expect_refusal 'node-rank' run --node-rank=$rank hello
done
expect_refusal 'node-rank' run --nnodes 2 --node-rank 2 hello
for restarts in -1 x 1.5; do
	expect_refusal 'max-restarts' run --max-restarts=$restarts hello
done
for interval in 0 -1 x; do
	expect_refusal 'monitor-interval' run --monitor-interval=$interval hello
done
expect_refusal 'master-port' run --master-port 70000 hello
expect_refusal 'master-port' run --master-port http hello
expect_refusal 'master-port' run --nnodes 2 --master-port 0 hello
expect_refusal 'rdzv-backend' run --rdzv-backend etcd hello
expect_refusal 'rdzv-id' run --rdzv-id 'a b' hello
expect_refusal 'role' run --role a/b hello
for endpoint in :1 h:0 h:x h:70000 '[::1' 'a b:1'; do
	expect_refusal 'rdzv-endpoint' run --nnodes 2 --rdzv-backend c10d \
		--rdzv-endpoint "$endpoint" hello
done
for conf in x join_timeout join_timeout=0 join_timeout=x speed=1 \
	keep_alive_max_attempt=0; do
	expect_refusal 'rdzv-conf' run --rdzv-conf $conf hello
done
for code in 4 x 0: 0:4 '0:1,' '0:1,1' 12 -1; do
	expect_refusal 'redirects' run --redirects=$code hello
	expect_refusal 'tee' run --tee=$code hello
done
for filter in x '1,' ',1' -1; do
	expect_refusal 'local-ranks-filter' run --local-ranks-filter=$filter hello
done
expect_refusal '--dump: expected a folder' run --dump "$scratch/no/such" hello
expect_refusal '--dump: expected a folder' run --dump /dev/null/%r hello

# diagnose
expect_refusal 'diagnose what' diagnose
expect_refusal 'no-such: No such file' diagnose "$scratch/no-such"
mkdir "$scratch/empty"
expect_refusal 'empty: expected files \*.dump.json' diagnose "$scratch/empty"
printf '{"format": "lockstep dump", "version": 99}' >"$scratch/broken.dump.json"
expect_refusal 'broken.dump.json: version: expected 1' diagnose "$scratch"
printf 'no dump' >"$scratch/broken.text"
expect_refusal 'broken.text: line 1: expected a dump, in JSON' diagnose \
	"$scratch/broken.text"

# simulation
expect_refusal 'no-such' run --backend sim --platform no-such hello
expect_refusal 'no-such' run --backend sim --platform "$scratch/no-such.xml" \
	hello
printf '<?xml version="1.0"?>\n<platform version="4.1">\n<zone id="a"' \
	>"$scratch/broken.xml"
expect_refusal 'broken.xml' run --backend sim --platform "$scratch/broken.xml" \
	hello
platform=$("$LOCKSTEP" list platforms | awk 'NR == 2 { print $1 }')
for words in '--max-restarts 1' '--nnodes 1:2' '--node-rank 1' '--tee 3' \
	'--redirects 1' '--log-dir logs' '--local-ranks-filter 0' \
	'--dump dumps'; do
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal "${words% *}" run --backend sim --platform "$platform" \
		--world-size 2 $words hello
done
expect_refusal 'hosts' run --backend sim --platform "$platform" \
	--world-size 1000000 hello
expect_refusal 'no-such' run --backend sim --platform "$platform" \
	--world-size 2 --algorithm all_reduce=no-such hello
expect_refusal 'no-such' run --backend sim --platform "$platform" \
	--world-size 2 --profile no-such hello
for mode in eager eager: eager:-1 eager:4k rendez-vous; do
	expect_refusal '^lockstep run: --p2p: expected rendezvous' run \
		--backend sim --platform "$platform" --world-size 2 \
		--p2p "$mode" hello
done
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

# explore and replay
explore=(explore --platform "$platform" --world-size 2)
for number in 0 -1 many 1.5 ''; do
	expect_refusal '--max-runs: expected' "${explore[@]}" \
		--max-runs="$number" hello
	expect_refusal '--max-seconds: expected' "${explore[@]}" \
		--max-seconds="$number" hello
done
for number in -1 many ''; do
	expect_refusal '--skew: expected' "${explore[@]}" --skew="$number" hello
done
expect_refusal '--backend: expected sim' explore --backend tcp hello
expect_refusal 'no PROGRAM' explore --platform "$platform"
expect_refusal 'replay: expected back end sim' run --replay v1/any hello
for token in v2/any v1/all v1/any: v1/any:1 v1/any:1.x v1/any:2.1,2.1 \
	v1/skew:0 v1/p2p: v1/p2p:fast v1/ any; do
	expect_refusal 'expected a replay token' run --backend sim \
		--platform "$platform" --world-size 2 --replay "$token" hello
done
for words in frobnicate max-runs=0 max-runs=x skew= values=1; do
	LOCKSTEP_EXPLORE=$words expect_refusal 'explore: expected' run \
		--backend sim --platform "$platform" --world-size 2 hello
done

# compare and trace
expect_refusal 'no-such' compare "$scratch/no-such" "$scratch/no-such"
printf '{"traceEvents": [' >"$scratch/broken.json"
expect_refusal 'broken.json' trace show "$scratch/broken.json"
expect_refusal 'broken.json' compare "$scratch/broken.json" \
	"$scratch/broken.json"

left=$(find "$scratch" -type f ! -name out ! -name err ! -name 'broken.*')
[ -z "$left" ] || fail "left behind: $left"

finish
