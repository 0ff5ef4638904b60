#!/bin/bash
# Jobs of several nodes, each an agent of its own on this machine: they meet, or
# say who did not come; they start again together, fewer after one was killed,
# more after one came late; and nothing is left of them.
# shellcheck disable=SC2016,SC2317 # what programs expand; what wait_for calls
. tests/cli/support.bash

quick=join_timeout=20,last_call_timeout=1,keep_alive_interval=0.8
free_port

# agent NAME OPTION... - an agent in the background; its output is in
# $scratch/NAME.out, its number in $id.
agent() {
	local name=$1
	shift
	timeout 250 "$LOCKSTEP" run "$@" >"$scratch/$name.out" \
		2>"$scratch/$name.err" </dev/null &
	id=$!
}

# ends STATUS NAME ID - the agent ends with that status.
ends() {
	wait "$3"
	status=$?
	[ $status -eq "$1" ] || {
		fail "agent $2: status $status, not $1"
		head -n 20 "$scratch/$2.err"
	}
}

said() { # NAME PATTERN - the agent printed such a line
	grep -qE -- "$2" "$scratch/$1.out" "$scratch/$1.err"
}

says() {
	said "$@" || fail "agent $1: no /$2/ in: $(cat "$scratch/$1.err")"
}

# ---- node ranks that are told

program place <<'END'
echo "rank $RANK of $WORLD_SIZE is $LOCAL_RANK of $LOCAL_WORLD_SIZE on node $GROUP_RANK of $GROUP_WORLD_SIZE"
END
static=(--master-port "$port" --nproc-per-node)
agent two "${static[@]}" 1 --nnodes 3 --node-rank 2 "$scratch/place"
two=$id
agent one "${static[@]}" 2 --nnodes 3 --node-rank 1 "$scratch/place"
one=$id
agent zero "${static[@]}" 1 --nnodes 3 --node-rank 0 "$scratch/place"
ends 0 zero $id
ends 0 one $one
ends 0 two $two
says zero '^rank 0 of 4 is 0 of 1 on node 0 of 3$'
says one '^rank 1 of 4 is 0 of 2 on node 1 of 3$'
says one '^rank 2 of 4 is 1 of 2 on node 1 of 3$'
says two '^rank 3 of 4 is 0 of 1 on node 2 of 3$'

# Ranks of ours meet across nodes, and a verdict takes the records of all.
agent zero "${static[@]}" 2 --nnodes 2 --node-rank 0 hello
zero=$id
agent one "${static[@]}" 2 --nnodes 2 --node-rank 1 hello
ends 0 one $id
ends 0 zero $zero
says zero '^4 ranks over tcp'
programs=$(dirname "$LOCKSTEP")/tests/programs/programs
agent zero "${static[@]}" 2 --nnodes 2 --node-rank 0 "$programs" reduce_for_all_reduce
zero=$id
agent one "${static[@]}" 2 --nnodes 2 --node-rank 1 "$programs" reduce_for_all_reduce
ends 10 one $id
ends 10 zero $zero
says zero '^Root Cause: rank 3, on another node$'
says one '^Root Cause \((by the verdict above|first observed failure)\):$'
lockstep run --nproc-per-node 2 --prefix-output --timeout 1 deadlock
alone=$status
grep -E 'rank.*(waits|in )' "$scratch/err" >"$scratch/alone"
agent zero "${static[@]}" 1 --nnodes 2 --node-rank 0 --timeout 1 deadlock
zero=$id
agent one "${static[@]}" 1 --nnodes 2 --node-rank 1 --timeout 1 deadlock
ends "$alone" one $id
ends "$alone" zero $zero
grep -E 'rank.*(waits|in )' "$scratch/zero.err" |
	diff "$scratch/alone" - || fail "two nodes make another verdict than one"
# The same before any call is too late: the first node looks at the records of
# both.
agent zero "${static[@]}" 1 --nnodes 2 --node-rank 0 --patience 0.5 deadlock
zero=$id
agent one "${static[@]}" 1 --nnodes 2 --node-rank 1 deadlock
ends "$alone" one $id
ends "$alone" zero $zero
grep -E 'rank.*(waits|in )' "$scratch/zero.err" |
	diff "$scratch/alone" - || fail "the records of two nodes prove less"

# One trace of all.
agent zero "${static[@]}" 1 --nnodes 2 --node-rank 0 \
	--trace "$scratch/trace.json" hello
zero=$id
agent one "${static[@]}" 1 --nnodes 2 --node-rank 1 \
	--trace "$scratch/trace.json" hello
ends 0 one $id
ends 0 zero $zero
expect 0 trace show "$scratch/trace.json"
! compgen -G "$scratch/trace.json.rank*" || fail "parts of the trace are left"

# A failure on one node starts all again, once for all.
program second <<'END'
echo "start $TORCHELASTIC_RESTART_COUNT"
[ "$RANK" -ne 1 ] || [ "$TORCHELASTIC_RESTART_COUNT" -eq 1 ] || exit 5
[ "$TORCHELASTIC_RESTART_COUNT" -eq 1 ] || exec sleep 60
END
for restarts in 1 0; do
	agent zero "${static[@]}" 1 --nnodes 2 --node-rank 0 \
		--max-restarts $restarts "$scratch/second"
	zero=$id
	agent one "${static[@]}" 1 --nnodes 2 --node-rank 1 \
		--max-restarts $restarts "$scratch/second"
	ends $((1 - restarts)) one $id
	ends $((1 - restarts)) zero $zero
	if [ $restarts -eq 1 ]; then
		says zero '^start 1$'
		says one '^start 1$'
		says zero 'rank 1 exited with status 5; restart 1 of 1'
	else
		says zero '^lockstep: rank 1 exited with status 5$'
		says one '^lockstep: rank 1 exited with status 5$'
		says one '^  exitcode  : 5 '
	fi
done

# ---- those who do not meet

agent zero "${static[@]}" 1 --nnodes 3 --node-rank 0 \
	--rdzv-conf timeout=1 "$scratch/place"
zero=$id
agent two "${static[@]}" 1 --nnodes 3 --node-rank 2 "$scratch/place"
ends 18 two $id
ends 18 zero $zero
for name in zero two; do
	says $name '2 of 3 nodes came in 1 s: node 0 on .*, node 2 on .*; missing: node 1$'
done
agent two "${static[@]}" 1 --nnodes 3 --node-rank 2 \
	--rdzv-conf timeout=1 "$scratch/place"
ends 18 two $id
says two "nobody leads the job at 127.0.0.1:$port: node 0 has not come in 1 s"
# On a terminal it is said for what the command waits.
if command -v script >/dev/null; then
	script -qec "$LOCKSTEP run --nnodes 2 --node-rank 1 --rdzv-conf timeout=3 \
		--master-addr 127.0.0.1 --master-port $port hello" /dev/null \
		</dev/null >"$scratch/seen"
	grep -q "waiting for 2 nodes at 127.0.0.1:$port, . s of at most 3 s" \
		"$scratch/seen" || fail "not said: $(cat "$scratch/seen")"
fi

agent zero "${static[@]}" 1 --nnodes 3 --node-rank 0 "$scratch/place"
zero=$id
agent one "${static[@]}" 1 --nnodes 3 --node-rank 1 "$scratch/place"
one=$id
agent double "${static[@]}" 1 --nnodes 3 --node-rank 1 "$scratch/place"
ends 18 double $id
ends 18 one $one
ends 18 zero $zero
says zero 'two nodes of rank 1 came: on .* \(process [0-9]+\) and on '

agent zero "${static[@]}" 1 --nnodes 3 --node-rank 0 "$scratch/place"
zero=$id
agent other "${static[@]}" 1 --nnodes 3 --node-rank 1 --rdzv-id other "$scratch/place"
ends 18 other $id
says other 'the job there is not "other"'
agent double "${static[@]}" 1 --nnodes 3 --node-rank 0 "$scratch/place"
ends 18 double $id
says double "port 127.0.0.1:$port is taken by process [0-9]+ \(lockstep\)"
kill $zero
ends 143 zero $zero

# A secret keeps strangers out, and nobody waits for what will not change.
export LOCKSTEP_SECRET=one
agent zero "${static[@]}" 1 --nnodes 2 --node-rank 0 "$scratch/place"
zero=$id
LOCKSTEP_SECRET=two agent other "${static[@]}" 1 --nnodes 2 --node-rank 1 \
	"$scratch/place"
ends 18 other $id
says other 'LOCKSTEP_SECRET is not the one'
unset LOCKSTEP_SECRET
agent other "${static[@]}" 1 --nnodes 2 --node-rank 1 \
	"$scratch/place"
ends 18 other $id
says other 'rank 0 has a LOCKSTEP_SECRET, this process has none'
export LOCKSTEP_SECRET=one
agent one "${static[@]}" 1 --nnodes 2 --node-rank 1 "$scratch/place"
ends 0 one $id
ends 0 zero $zero
unset LOCKSTEP_SECRET
agent other "${static[@]}" 1 --nnodes 2 --node-rank 1 \
	--master-addr no-such-host.invalid "$scratch/place"
ends 18 other $id
says other 'no-such-host.invalid'

# The store of ranks is no store of agents.
mkdir "$scratch/endless"
agent ranks "${static[@]}" 2 "$(dirname "$LOCKSTEP")/tests/cli/endless" \
	"$scratch/endless"
ranks=$id
wait_for grep -q joined "$scratch/endless/0" || fail "the ranks did not meet"
store=$(sed -n 's/^start [0-9]* //p' "$scratch/endless/0")
agent other --master-port "$store" --nproc-per-node 1 --nnodes 2 --node-rank 1 \
	--rdzv-conf timeout=1 "$scratch/place"
ends 18 other $id
says other "what listens at 127.0.0.1:$store is no store of a job"
kill $ranks
ends 143 ranks $ranks

# ---- nodes that come and go

# Ranks that wait for $scratch/go, and say when they start.
program wait <<END
echo "start \$TORCHELASTIC_RESTART_COUNT of \$WORLD_SIZE, node \$GROUP_RANK"
while [ ! -e $scratch/go ]; do sleep 0.05; done
END
elastic=(--nproc-per-node 2 --rdzv-backend c10d --rdzv-id e --rdzv-conf "$quick"
	--rdzv-endpoint "127.0.0.1:$port" --nnodes)
agent first "${elastic[@]}" 1:3 "$scratch/wait"
first=$id
wait_for said first 'start 0 of 2, node 0' || fail "no start alone"
agent second "${elastic[@]}" 1:3 "$scratch/wait"
second=$id
wait_for said second 'start 1 of 4, node 1' || fail "no start with two"
says first 'start 1 of 4, node 0'
says first 'a node has come; starting again'
agent third "${elastic[@]}" 1:3 "$scratch/wait"
third=$id
wait_for said third 'start 2 of 6, node 2' || fail "no start with three"
# $second is timeout; the agent below it dies without a word.
kill -9 "$(cat "/proc/$second/task/$second/children")"
wait_for said third 'start 3 of 4, node 1' || fail "no start without the second"
ends 137 second $second
says first 'rank 2 went with node 1 .*; starting again'
# One that is told to go says so.
kill "$third"
ends 143 third "$third"
wait_for said first 'start 4 of 2, node 0' || fail "no start alone again"
: >"$scratch/go"
ends 0 first $first

# Too few are left, and no restart.
rm "$scratch/go"
agent first "${elastic[@]}" 2 "$scratch/wait"
first=$id
agent second "${elastic[@]}" 2 "$scratch/wait"
second=$id
wait_for said first 'start 0 of 4' && wait_for said second 'start 0 of 4'
# Whoever came first leads; the other one is killed.
follower=$second leader=$first name=first
said second 'node 0' && follower=$first leader=$second name=second
kill -9 "$(cat "/proc/$follower/task/$follower/children")"
ends 13 $name "$leader"
says $name 'rank 2 .*went with node 1'
wait

# The leader is killed: the others end.
agent first "${elastic[@]}" 1:2 "$scratch/wait"
first=$id
wait_for said first 'start 0 of 2' || fail "no leader"
agent second "${elastic[@]}" 1:2 "$scratch/wait"
second=$id
wait_for said second 'start 1 of 4' || fail "no follower"
kill -9 "$(cat "/proc/$first/task/$first/children")"
ends 13 second $second
says second 'node 0, which led the job at 127.0.0.1:[0-9]+, is gone'
wait

# Nothing is left, not even the port.
# shellcheck disable=SC2062 # the pattern comes by stdin: grep is no find
left=$(grep -lsF -f - /proc/[0-9]*/cmdline <<<"$scratch")
[ -z "$left" ] || fail "left: $left"
agent zero "${static[@]}" 1 --nnodes 1 "$scratch/place"
ends 0 zero $id

finish
