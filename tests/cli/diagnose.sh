#!/bin/bash
# The verdict from dumps is the verdict that the launcher gave; a rank that
# nobody watches leaves its own; SIGUSR1 has everybody say where the ranks are.
. tests/cli/support.bash

endless=$(dirname "$LOCKSTEP")/tests/cli/endless

# same_words LIVE - the last diagnosis says what the launcher said, besides how
# each rank ended.
same_words() {
	grep -E '^(lockstep: |  )' "$1" |
		grep -vE '^  (<|[a-z_]+ *: )' >"$scratch/live"
	diff "$scratch/live" "$scratch/err" >"$scratch/diff" ||
		fail "$1: diagnosed otherwise: $(cat "$scratch/diff")"
}

# as_a_rank NAME RANKS RANK - runs one rank of a wrong program as mpirun does.
as_a_rank() {
	OMPI_COMM_WORLD_RANK=$3 OMPI_COMM_WORLD_SIZE=$2 \
		OMPI_COMM_WORLD_LOCAL_SIZE=$2 MASTER_ADDR=127.0.0.1 \
		MASTER_PORT=$port LOCKSTEP_BACKEND=tcp LOCKSTEP_TIMEOUT=1 \
		LOCKSTEP_DUMP="$scratch/$1" "$wrong" "$1" \
		>/dev/null 2>&1 </dev/null
}

# The launcher leaves the dumps of all ranks.
export LOCKSTEP_JSON
for case in 10:half_against_half:4 10:expert_splits:3 11:early_stop_ends:4 \
	11:groups_in_other_order:4 12:late_for_the_sum:3 13:exits_with_3:4 \
	19:listed_twice:3 17:never_waited_for:3; do
	IFS=: read -r wanted name ranks <<<"$case"
	LOCKSTEP_JSON="$scratch/live.json"
	expect "$wanted" run --timeout 1 --dump "$scratch/all" \
		--nproc-per-node "$ranks" "$wrong" "$name"
	cp "$scratch/err" "$scratch/$name.err"
	LOCKSTEP_JSON="$scratch/later.json"
	expect "$wanted" diagnose "$scratch/all"
	same_words "$scratch/$name.err"
	cmp -s "$scratch/live.json" "$scratch/later.json" ||
		fail "$name: other JSON later"
	rm -r "$scratch/all"
done
unset LOCKSTEP_JSON

# Where there is none, each rank leaves its own.
for case in 10:half_against_half:4 11:groups_in_other_order:4 12:late_for_the_sum:3; do
	IFS=: read -r wanted name ranks <<<"$case"
	free_port
	for ((rank = 0; rank < ranks; rank++)); do
		as_a_rank "$name" "$ranks" $rank &
	done
	wait
	expect "$wanted" diagnose "$scratch/$name"
	same_words "$scratch/$name.err"
done
expect 12 diagnose "$scratch/late_for_the_sum/"rank[01].dump.json
expect_err '^lockstep diagnose: no dump of rank 2$'
expect_err 'rank 2 has no records here'
expect_refusal 'of job' diagnose "$scratch/half_against_half" "$scratch/groups_in_other_order"
expect_refusal 'a second dump of rank 1' diagnose "$scratch/half_against_half" \
	"$scratch/half_against_half/rank1.dump.json"

# SIGUSR1 to the launcher: told, and the job goes on.
mkdir "$scratch/ranks"
LOCKSTEP_JSON="$scratch/status.json" "$LOCKSTEP" run --nproc-per-node 2 \
	--dump "$scratch/asked" "$endless" "$scratch/ranks" \
	2>"$scratch/told" &
job=$!
wait_for grep -q joined "$scratch/ranks/0" || fail 'not joined'
kill -USR1 $job
wait_for grep -q 'status: where the ranks are' "$scratch/told" || fail 'untold'
wait_for jq -e '.verdict == "status" and .exit_status == 0' \
	"$scratch/status.json" || fail 'no JSON'
expect 0 diagnose "$scratch/asked"
expect_err '^lockstep: status: where the ranks are$'
kill -0 $job || fail 'SIGUSR1 ended the job'
kill $job
wait $job

# Of several nodes: any is asked, the first tells of all.
free_port
rm "$scratch/ranks"/*
nodes=()
for node in 0 1; do
	LOCKSTEP_JSON="$scratch/status.json" "$LOCKSTEP" run --nnodes 2 \
		--node-rank $node --master-port "$port" --nproc-per-node 2 \
		"$endless" "$scratch/ranks" 2>"$scratch/node$node" &
	nodes+=($!)
done
for rank in 0 1 2 3; do
	wait_for grep -q joined "$scratch/ranks/$rank" || fail 'not joined'
done
for node in 1 0; do
	rm -f "$scratch/status.json"
	kill -USR1 "${nodes[node]}"
	wait_for jq -e '[.ranks[].ranks[]] | length == 4' \
		"$scratch/status.json" || fail 'not told of all'
	jq -e 'all(.ranks[]; .state != "unknown")' "$scratch/status.json" \
		>/dev/null || fail "$(cat "$scratch/node0")"
done
kill "${nodes[0]}"
wait "${nodes[@]}"

# SIGUSR1 to ranks; then one of them is killed, and the others tell who.
free_port
rm "$scratch/ranks"/*
pids=()
for rank in 0 1 2; do
	RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
		LOCKSTEP_DUMP="$scratch/own/%r.json" "$endless" \
		"$scratch/ranks" 2>/dev/null &
	pids+=($!)
done
for rank in 0 1 2; do
	wait_for grep -q joined "$scratch/ranks/$rank" || fail 'not joined'
done
kill -USR1 "${pids[@]}"
for rank in 0 1 2; do
	wait_for test -s "$scratch/own/$rank.json" || fail "none of rank $rank"
done
expect 0 diagnose "$scratch/own/"[012].json
kill -KILL "${pids[1]}"
wait 2>/dev/null
for dumps in 012 02; do
	expect 13 diagnose "$scratch/own/"[$dumps].json
	expect_err '^lockstep: rank lost: rank 1 left its peers'
done

finish
