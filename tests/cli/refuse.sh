#!/bin/bash
# Bad input gives one clear line and status 2, and nothing is half done.
. tests/cli/support.bash

expect_refusal 'no command "rum"; did you mean "run"' rum
expect_refusal 'no command "frobnicate"' frobnicate
expect_refusal 'no command "hlep"; did you mean "help"' hlep
expect_refusal 'no option "--frobnicate"' --frobnicate
# ... and an option by the one that is near it.
near='unknown option; did you mean "--world-size"\?$'
for command in run predict bench check explore calibrate; do
	expect_refusal "^lockstep .*: --world-sise.*: $near" "$command" \
		--world-sise 4 hello
done
expect_refusal "^lockstep run: --world-sise=4: $near" run --world-sise=4 hello
expect_refusal 'mean "--json"' trace show --jso x.json
expect_refusal 'mean "--topology"' platform new --toplogy star
expect_refusal 'mean "--bucket-cap-mb"' run ddp_step --buckt-cap-mb 3
expect_refusal 'mean "--micro-batch"' predict --model llama3-8b --batch 3
expect_refusal '--zzz: unknown option$' compare --zzz
expect_refusal 'no command "frobnicate"' help frobnicate
expect_refusal 'record: missing argument' check --record
expect_refusal 'expect: missing argument' check --observe --expect
expect_refusal 'record: expected FILE' check --record= hello
expect_refusal 'no-such/order: cannot be written' check \
	--record "$scratch/no-such/order" hello
expect_refusal 'no-such-order' check --expect no-such-order hello
printf 'group default, ranks 0-1\n  barrier()\nbarrier()\n' >"$scratch/order"
expect_refusal 'order:3: expected "group NAME' check \
	--expect "$scratch/order" hello
: >"$scratch/order"
expect_refusal 'order:1: expected "group NAME' check \
	--expect "$scratch/order" hello
rm "$scratch/order"
for command in run predict sweep bench check explore diagnose calibrate compare trace platform list; do
	expect_refusal 'frobnicate' "$command" --frobnicate
done

expect_refusal 'expected .*backends' list
expect_refusal 'no list "frogs": expected backends, ' list frogs
expect_refusal 'no-such-platform' platform show no-such-platform

for option in '--nodes 0' '--gpus 0' '--gpus 257' '--intra nvswitch:300' \
	'--intra nvlink:300GB/s' '--inter ib:0x400G' '--inter ib:400' \
	'--inter efa:100G' '--topology fat-tree:4' '--topology ring' \
	'--queues lifo' '--degrade node0.nic0' '--degrade node0.nic0:2' '--slow node1:0.5' \
	'--slow node0:0'; do
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal "${option% *}" platform new $option
done
expect_refusal 'no-such' platform new --machine no-such
expect_refusal 'expected slingshot or tcp' platform new \
	--machine alps-gh200:ib
expect_refusal '5 ranks on a node of 4 GPUs' platform new \
	--machine alps-gh200 --gpus 5
expect_refusal '--inter: expected the bandwidth of a card, which is not known' \
	platform new --machine aws-ena
expect_refusal '--gpu: expected KIND, not ""' platform new --gpu=
expect_refusal '--nodes: expected any for the only' platform new --nodes any \
	--inter ib:100G --nodes 3
expect_refusal '--nodes: expected any for the only' platform new --nodes 3 \
	--inter ib:100G --nodes any
"$LOCKSTEP" platform new --nodes any --inter ib:100G -o "$scratch/broken.any.xml"
expect_refusal 'expected formula where ranks stand for others' run \
	--backend sim --platform "$scratch/broken.any.xml" --world-size 4096 \
	--fidelity message hello
sed -i '0,/value="any"/s//value="all"/' "$scratch/broken.any.xml"
expect_refusal 'broken.any.xml:[1-9][0-9]*: property nodes: expected any, not "all"' run --backend sim \
	--platform "$scratch/broken.any.xml" --world-size 2 hello
"$LOCKSTEP" platform new --queues fifo -o "$scratch/broken.queues.xml"
sed -i '0,/value="fifo"/s//value="lifo"/' "$scratch/broken.queues.xml"
expect_refusal 'property queues: expected none or fifo, not "lifo"' run \
	--backend sim --platform "$scratch/broken.queues.xml" --world-size 1 hello
sed -i 's/value="lifo"/value="fifo"/; s/"CM02"/"LV08"/' \
	"$scratch/broken.queues.xml"
expect_refusal 'property queues: expected network/model CM02, .* with it, not "fifo"' run \
	--backend sim --platform "$scratch/broken.queues.xml" --world-size 1 hello
expect_refusal '--gpus 8: expected --intra' platform new --gpus 8
expect_refusal 'expected --inter' platform new --nodes 2
expect_refusal 'room for 4 nodes' platform new --nodes 5 --inter ib:100G \
	--topology fat-tree:2x2
expect_refusal 'no link "node0.nic0"' platform new --degrade node0.nic0:0.5
expect_refusal 'no-such' platform new --import-nccl-topo "$scratch/no-such"
echo '<system><gpu/>' >"$scratch/broken.topology"
expect_refusal 'broken.topology:1: ' platform new --import-nccl-topo \
	"$scratch/broken.topology"
expect_refusal 'unexpected argument' platform new cluster
expect_refusal 'no-such' platform new -o "$scratch/no-such/a.xml"

# sweep
expect_refusal 'expected a study' sweep
expect_refusal 'no-such' sweep no-such
for jobs in 0 -1 two; do
	expect_refusal 'jobs' sweep --jobs=$jobs bucket-size
done
for part in 0/2 3/2 1 1/ 1/0 a/b 1/2/3; do
	expect_refusal 'part' sweep --part=$part bucket-size
done
expect_refusal 'restart' sweep --restart --part 1/2 bucket-size
expect_refusal 'merge' sweep --merge -o "$scratch/a" "$scratch/b"
expect_refusal 'merge' sweep --merge --dry-run "$scratch/b"
expect_refusal 'no-such/study\.yaml' sweep --merge "$scratch/no-such"
expect_refusal 'no-such' sweep -o "$scratch/no-such/a" bucket-size

# run
expect_refusal 'no PROGRAM' run
expect_refusal 'no scenario and no program "no-such"' run no-such
expect_refusal 'backend "ucc": expected one of tcp, sim, nccl, mpi$' run --backend ucc hello
for size in 0 -1 four 3.5 ''; do
	expect_refusal 'nproc-per-node' run --nproc-per-node "$size" hello
	expect_refusal 'nproc-per-node' run --nproc_per_node="$size" hello
	expect_refusal 'world-size' run --world-size="$size" hello
done
expect_refusal 'world-size' run --nproc-per-node 2 --world-size 4 hello
for timeout in 0 -1 soon nan inf 1h; do
	expect_refusal 'timeout' run --timeout="$timeout" hello
done
for intra in pcie SHM; do
	expect_refusal 'intra: expected shm or tcp' run --intra="$intra" hello
	expect_refusal 'intra: expected shm or tcp' bench --intra="$intra" \
		all_reduce
done
for command in run bench; do
	expect_refusal "^lockstep $command: --backend: expected sim where links" \
		"$command" --inter-latency x2 all_reduce
	expect_refusal "^lockstep $command: --intra-bandwidth: expected a band" \
		"$command" --backend sim --intra-bandwidth 100 all_reduce
	expect_refusal '--intra-latency: .* has no links within nodes' \
		"$command" --backend sim --platform star-8 --world-size 2 \
		--intra-latency x2 all_reduce
done
for option in --intra=tcp --bind-to=core; do
	expect_refusal "${option%=*}: expected with --backend tcp\$" \
		run --backend sim --platform star-8 "$option" hello
	expect_refusal "${option%=*}: expected with lockstep run --backend tcp: explore simulates all" \
		explore --platform star-8 "$option" hello
done
LOCKSTEP_LINKS=fast expect_refusal 'links: no word "fast": expected inter-b' \
	run --backend sim --platform star-8 --world-size 2 hello
LOCKSTEP_INTRA=udp expect_refusal 'INTRA: expected shm or tcp' run hello
LOCKSTEP_BIND_TO=1 expect_refusal 'BIND_TO: expected none or core' run hello
expect_refusal 'bind-to: expected none or core' run --bind-to socket hello
expect_refusal 'world-size: expected the same as --nproc-per-node, not "8"' \
	bench all_reduce --nproc-per-node 2 --world-size 8
expect_refusal 'bind-to: expected none or core' bench all_reduce --bind-to 0
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
expect_refusal 'log-dir: expected a folder' run --tee=3 --log-dir /dev/full hello
for filter in x '1,' ',1' -1; do
	expect_refusal 'local-ranks-filter' run --local-ranks-filter=$filter hello
done
expect_refusal 'at most 65535 ranks' run --nproc-per-node 65536 hello
for command in run check; do
	expect_refusal '--annotate: expected github' "$command" \
		--annotate gitlab hello
done
expect_refusal '--annotate: expected github' diagnose --annotate gitlab dumps
for option in trace json junit sarif; do
	expect_refusal 'cannot be written: Is a directory' run \
		--$option "$scratch" hello
	expect_refusal 'no/such: cannot be written: No such file' run \
		--$option "$scratch/no/such" hello
done
for option in tsv trace; do
	expect_refusal 'no/such: cannot be written: No such file' bench \
		--$option "$scratch/no/such" all_reduce
	expect_refusal 'no/such: cannot be written: No such file' predict \
		--platform star-8 --$option "$scratch/no/such"
done
both='twice: expected a file of its own for each output'
twice=(--trace "$scratch/twice" --tsv "$scratch/twice")
expect_refusal "$both" run "${twice[@]/--tsv/--json}" hello
expect_refusal "$both" bench all_reduce "${twice[@]}"
expect_refusal "$both" predict --platform star-8 "${twice[@]}"
[ ! -e "$scratch/twice" ] || fail "wrote one of two outputs"
expect 0 run --trace /dev/null --json /dev/null hello
expect_refusal '--dump: expected a folder' run --dump "$scratch/no/such" hello
expect_refusal '--dump: expected a folder' run --dump /dev/null/%r hello

# diagnose
expect_refusal 'expected dumps' diagnose
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
platform=star-8
for words in '--max-restarts 1' '--nnodes 1:2' '--node-rank 1' '--tee 3' \
	'--redirects 1' '--log-dir logs' '--local-ranks-filter 0' \
	'--dump dumps' '--prefix-output'; do
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal "${words% *}" run --backend sim --platform "$platform" \
		--world-size 2 $words hello
done
expect_refusal '--nnodes: expected 1 with --standalone, not "2"' run \
	--backend sim --platform "$platform" --standalone --nnodes 2 hello
for words in '--platform star-8' '--fidelity flow' '--engine own' \
	'--p2p buffered' '--stack-size 1MiB'; do
	# shellcheck disable=SC2086 # an option and its value
	expect_refusal "${words% *}: expected with --backend sim\$" run $words hello
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
for command in run bench; do
	expect_refusal 'fidelity: expected auto, message, flow or formula' \
		"$command" --backend sim --platform "$platform" --world-size 2 \
		--fidelity exact all_reduce
done
expect_refusal '--fidelity: expected auto, message, flow or formula' predict \
	--platform "$platform" --world-size 4 --fidelity exact
for fidelity in flow formula; do
	expect_refusal 'expected message where schedules are explored' run \
		--backend sim --platform "$platform" --world-size 2 \
		--replay v1/any --fidelity "$fidelity" hello
done
printf 'name: x\nlibrary: no-such\n' >"$scratch/no-library.yaml"
expect_refusal 'unknown library "no-such": expected lockstep' \
	predict --platform "$platform" --world-size 4 \
	--profile "$scratch/no-library.yaml"
rm "$scratch/no-library.yaml"
printf 'name: x\nselection: [3\n' >"$scratch/broken.yaml"
expect_refusal 'broken.yaml:[0-9]+' run --backend sim --platform "$platform" \
	--world-size 2 --profile "$scratch/broken.yaml" hello

# a byte order mark in front of a text file is passed over
marked() {
	printf '\xEF\xBB\xBF' >"$scratch/marked.$1"
	cat >>"$scratch/marked.$1"
}
printf 'parameter,numel,forward_flops\na,12,24\n' | marked csv
expect 0 predict --model "$scratch/marked.csv" --platform star-8 --flops 1 \
	--dry-run
marked tsv <scenarios/measured/collectives/nccl-aws-p5-2x8.tsv
expect 0 validate "$scratch/marked.tsv"
"$LOCKSTEP" run --backend sim --platform star-8 --world-size 2 \
	--trace "$scratch/plain.json" hello >/dev/null
marked json <"$scratch/plain.json"
expect 0 trace show "$scratch/marked.json"
"$LOCKSTEP" check --record "$scratch/plain.json" --nproc-per-node 2 hello \
	>/dev/null 2>&1
marked order <"$scratch/plain.json"
expect 0 check --expect "$scratch/marked.order" --nproc-per-node 2 hello
printf '%s\n' '# collective: all_reduce ranks: 16 nodes: 2' '# size count type redop root time algbw busbw #wrong' '1024 256 float sum -1 20 1 1 0' | marked log
lockstep validate --machine aws-p5 --nodes 2 "$scratch/marked.log"
! grep -q 'expected the collective' "$scratch/err" || fail "a log with a mark: $(cat "$scratch/err")"
rm "$scratch"/marked.* "$scratch/plain.json"

# a folder, or bytes, for a file
mkdir "$scratch/folder"
printf '\0' >"$scratch/zero"
for words in 'trace show' compare 'validate --machine aws-p5 --transport efa'; do
	rest=
	[ "$words" != compare ] || rest=$scratch/folder
	# shellcheck disable=SC2086 # words
	expect_refusal 'folder: expected files \*.json or \*.json.gz, a trace of' \
		$words "$scratch/folder" $rest
done
for words in 'platform new --import-nccl-topo' \
	'calibrate --machine aws-p5 --from' 'validate' \
	'validate --machine' 'check --expect'; do
	case $words in
	'check --expect') rest=hello ;;
	'validate --machine') rest=/dev/null ;;
	*) rest= ;;
	esac
	# shellcheck disable=SC2086 # words
	expect_refusal 'folder: .*Is a directory$' $words "$scratch/folder" $rest
done
expect_refusal 'zero:1: expected "group' check --expect "$scratch/zero" hello
expect_refusal 'zero:1: expected text' validate "$scratch/zero"
rm -r "$scratch/folder" "$scratch/zero"

# A name that is nearly one.
meant() { # NAME ARGUMENT...
	local name=$1
	shift
	expect_refusal "did you mean \"$name\"\?\$" "$@"
}
meant ddp_step run ddp_stp
meant sim run --backend siim hello
meant all_reduce run --algorithm al_reduce=ring hello
meant ring run --algorithm all_reduce=rng hello
meant hgx-h100-400g bench all_reduce --machine hgx-h100 --world-size 16
meant star-8 run --backend sim --platform star8 hello
meant dgx-a100 predict --world-size 8 --machine dgxa100
meant nccl predict --world-size 8 --machine dgx-a100 --profile ncl
meant bert_large predict --world-size 8 --machine dgx-a100 --model bert_larg
meant ddp_step predict --workload ddp_stp
meant 1f1b plan --schedule 1f1 --machine dgx-a100 --model llama3-70b
meant machines list machins
expect_refusal 'no language model "llama3-70": .* such as Llama-3-70B' \
	predict --world-size 8 --machine dgx-a100 --model llama3-70

# predict
expect_refusal 'no model "no-such": expected one of lockstep list models or lockstep list llms, or' \
	predict --model no-such --platform "$platform" --world-size 4
expect_refusal 'no model "no-such": expected one of' \
	predict --model no-such --machine hgx-h100-400g --world-size 8 --ep 8
expect_refusal 'no platform "mine": expected FILE.xml, or a name of lockstep list platforms$' \
	predict --platform mine
expect_refusal '--machine: expected NAME' predict --machine hgx-h100-400g: \
	--world-size 8
expect_refusal 'no-such' predict --model no-such --platform "$platform" \
	--world-size 4
expect_refusal 'world-size' predict --model resnet50 --platform "$platform" \
	--world-size -3
printf 'parameter,numel,forward_flops\na,12\n' >"$scratch/broken.csv"
expect_refusal 'broken.csv:2' predict --model "$scratch/broken.csv" \
	--platform "$platform" --world-size 4

# workloads
on_star=(predict --flops 60e12 --platform "$platform" --world-size 4)
expect_refusal '--workload .*expected one of ddp_step' predict --workload nap
expect_refusal '--workload .*expected one of' predict --workload=
for flag in steps= seed= jitter= bucket-cap-mb= gpu= model=; do
	expect_refusal "--$flag?: expected (a .*number|NAME|MODEL)" "${on_star[@]}" \
		"--$flag"
done
for flag in batch=0 flops=nan flops=inf step-ms=-1 jitter=-1 jitter=101 seed=-1 steps=0 \
	bucket-cap-mb=-1 first-bucket-mb=nan accumulate=0; do
	expect_refusal "--${flag%=*}: expected " "${on_star[@]}" "--$flag"
	expect_refusal "--${flag%=*}: expected " run ddp_step "--$flag"
done
expect_refusal '--flops: expected FLOP/s above 0, such as 60T' "${on_star[@]}" --flops 60X
expect_refusal '--batch 3.5: expected a whole number' "${on_star[@]}" --batch 3.5
expect_refusal '--comm-hook: expected allreduce, .*, not "powersgd"' \
	"${on_star[@]}" --comm-hook powersgd
expect_refusal '--precision: expected fp32, tf32 or amp, not "fp8"' "${on_star[@]}" \
	--gpu A100 --precision fp8
expect_refusal '--precision: expected --gpu' predict --platform "$platform" --precision amp
for words in 'flops without --step-ms: --step-ms 10' 'precision without --flops: --precision amp' \
	'bucket-cap-mb without --per-tensor: --per-tensor --bucket-cap-mb 5' \
	'first-bucket-mb without --per-tensor: --per-tensor --first-bucket-mb 5' \
	'find-unused-parameters without --static-graph: --static-graph --find-unused-parameters' \
	'no-prefetch with --zero 3: --workload fsdp --zero 2 --no-prefetch'; do
	# shellcheck disable=SC2086 # options and their values
	expect_refusal "--${words%% *}: expected $(cut -d : -f 1 <<<"${words#* }")\$" "${on_star[@]}" ${words#*: }
done
expect_refusal 'GPU abacus: expected one of .lockstep list devices., .* or --flops or --step-ms' \
	predict --platform "$platform" --gpu abacus
expect_refusal 'expected --gpu, --flops or --step-ms' predict \
	--platform "$platform"
expect_refusal '--precision tf32: expected for V100 one of amp fp32' predict \
	--platform "$platform" --gpu V100 --precision tf32
expect_refusal '--seed: nothing is random: expected --jitter' "${on_star[@]}" --seed 3
expect_refusal '--optimizer: expected adam' "${on_star[@]}" \
	--optimizer lion
expect_refusal '--straggler 1: expected RANK:FACTOR' "${on_star[@]}" \
	--straggler 1
for words in 'fsdp --zero=0' 'fsdp --zero=4' 'pipeline --stages=0' \
	'pipeline --micro-batches=0' 'moe --experts=0' 'moe --top-k=0' \
	'moe --imbalance=-1' 'ps --servers=0' 'tensor_parallel --tp=0' 'hybrid --pp=0'; do
	flag=${words#* } kind=${words% *}
	expect_refusal "${flag%=*}: expected " "${on_star[@]}" \
		--workload "$kind" "$flag"
	expect_refusal "${flag%=*}: expected " run "$kind" "$flag"
done
expect_refusal '--schedule: expected gpipe or 1f1b, not "zigzag"' \
	"${on_star[@]}" --workload pipeline --schedule zigzag
expect_refusal 'bucket-cap-mb: expected with ddp_step, not fsdp' "${on_star[@]}" \
	--workload fsdp --bucket-cap-mb 1
expect_refusal 'divide the world size, 4' "${on_star[@]}" --workload hybrid \
	--tp 3
expect_refusal 'divide the world size, 4' run --nproc-per-node 4 hybrid --pp 3
expect_refusal 'stages: expected 1 to 4, the layers of mnist' predict \
	--platform star-8 --world-size 8 --workload pipeline --model mnist \
	--flops 60e12
expect_refusal '--experts 6: expected a multiple of the world size, 4' \
	"${on_star[@]}" --workload moe --experts 6
expect_refusal '--top-k 5: expected 1 to 4' "${on_star[@]}" --workload moe \
	--top-k 5
expect_refusal '--servers 4: expected a world of 5 ranks' "${on_star[@]}" --workload ps \
	--servers 4
expect_refusal '--servers 1: expected' run --nproc-per-node 1 ps
expect_refusal '--micro-batches 4: expected at most --batch, 2' \
	"${on_star[@]}" --workload pipeline --batch 2
expect_refusal '--micro-batches 5: expected a divisor of --batch, 32' \
	"${on_star[@]}" --workload pipeline --micro-batches 5
expect_refusal 'GPU H100.80GB: expected one of' predict \
	--platform "$platform" --gpu $'H100\n80GB'
expect_refusal '--batch 1e\+15: expected less' "${on_star[@]}" --batch 1e15
expect_refusal '--straggler: no rank 4: expected 0 to 3' "${on_star[@]}" \
	--straggler 1:2,4:2
expect_refusal '--phantom' run ddp_step --phantom --check

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
expect_refusal '--replay: expected with --backend sim' run --replay v1/any hello
for token in v2/any v1/all v1/any: v1/any:1 v1/any:1.x v1/any:2.1,2.1 \
	v1/skew:0 v1/p2p: v1/p2p:fast v1/ any; do
	expect_refusal '^lockstep: --replay: expected a replay token' run --backend sim \
		--platform "$platform" --world-size 2 --replay "$token" hello
done
for words in frobnicate max-runs=0 max-runs=x skew= values=1; do
	LOCKSTEP_EXPLORE=$words expect_refusal 'explore: expected' run \
		--backend sim --platform "$platform" --world-size 2 hello
done

# compare and trace
for words in 'gantt --calls' 'show -o x.svg' 'path --ranks=0' 'show --from=1' \
	'show --to=1' 'gantt --json' 'gantt --markdown'; do
	option=${words#* }
	# shellcheck disable=SC2086 # words
	expect_refusal "${words% -*}: ${option%[= ]*}: expected with" trace \
		$words x.json
done
expect_refusal '--seq, --precision: expected with show' model list --seq 8
expect_refusal 'no-such' compare "$scratch/no-such" "$scratch/no-such"
printf '{"traceEvents": [], "traceEvents": []}' >"$scratch/broken.json"
expect_refusal 'broken.json:1:35: expected "traceEvents" only once' \
	trace show "$scratch/broken.json"
printf '{"traceEvents": [' >"$scratch/broken.json"
expect_refusal 'broken.json' trace show "$scratch/broken.json"
expect_refusal 'broken.json' compare "$scratch/broken.json" \
	"$scratch/broken.json"

# calibrate, from a log, or of what comes with Lockstep
expect_refusal '--measured: expected --output DIR too' calibrate --measured
expect_refusal '--from: expected --machine' calibrate --from x.log
expect_refusal '--world-size: expected without --from' calibrate \
	--from x.log --machine aws-p5 --world-size 4
for option in '--machine x' '--transport x' '--collective reduce' '--nccl-version 2.27' '--profile x'; do
	# shellcheck disable=SC2086 # words
	expect_refusal "${option% *}: expected with --from" calibrate $option
done
expect_refusal '--nodes: expected a whole number' calibrate --from x.log \
	--machine aws-p5 --nodes -1
expect_refusal '--ranks: expected a whole number' calibrate --from x.log \
	--machine aws-p5 --ranks -1
expect_refusal '--collective: expected all_reduce' calibrate --from x.log \
	--machine aws-p5 --collective dance
for version in 3 2.x two 2.18beta; do
	expect_refusal '--nccl-version: expected 2.M' calibrate --from x.log \
		--machine aws-p5 --nccl-version "$version"
done
expect_refusal 'no machine "nowhere": expected' calibrate --from x.log --machine nowhere
expect_refusal 'has no network of transport "pigeon": expected efa' calibrate --from x.log \
	--machine aws-p5 --transport pigeon
expect_refusal 'x.log: No such file' calibrate --from x.log --machine aws-p5

# validate
expect_refusal 'no table "no-such": expected a name' validate no-such
expect_refusal 'no table "..no-such.tsv": expected' validate ./no-such.tsv
for number in -1 many 10x ''; do
	expect_refusal '--max-error: expected a percentage' validate \
		--max-error "$number"
done
printf '# title: t\n# source: s\nuse\tbytes\n' >"$scratch/broken.tsv"
expect_refusal 'broken.tsv' validate "$scratch/broken.tsv"
expect_refusal '--collective: expected all_reduce' validate \
	--machine aws-p5 --collective sum x.log
expect_refusal '--nodes: expected a whole number' validate \
	--machine aws-p5 --nodes -1 x.log
expect_refusal 'x.log: No such file' validate --machine aws-p5 x.log
for option in --plot --plot-errors; do
	expect_refusal "$option x.jpg: expected a name that ends in .svg or .png" validate $option x.jpg
done
expect_refusal '/no/such/folder' validate --tsv /no/such/folder/x.tsv

left=$(find "$scratch" -type f ! -name out ! -name err ! -name 'broken.*')
[ -z "$left" ] || fail "left behind: $left"

finish
