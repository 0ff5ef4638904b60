#!/bin/bash
# Two machines whose network is cut: both sides notice in the time of the
# keep-alive, launchers and ranks, also ranks without a launcher, whether
# something was under way between them or nothing was.
# shellcheck disable=SC2016,SC2317 # what programs expand; what wait_for calls
. tests/cli/support.bash

if [ "$(id -u)" -ne 0 ] || ! unshare --net true 2>/dev/null ||
	! command -v ip nsenter >/dev/null; then
	echo "skipped: only root can make a network to cut"
	exit 77
fi

# Two machines, each a process that holds a network of its own.
unshare --net sleep 300 &
near=$!
unshare --net sleep 300 &
far=$!
trap 'kill $near $far; rm -rf "$scratch"' EXIT
own=$(readlink /proc/self/ns/net)
apart() { # whether process $1 has its own network by now
	[ "$(readlink "/proc/$1/ns/net")" != "$own" ]
}
on() { # on MACHINE COMMAND...
	local machine=$1
	shift
	nsenter --net="/proc/$machine/ns/net" "$@"
}
wait_for apart $near
wait_for apart $far
if ! on $near ip link add left type veth peer name right netns $far; then
	echo "skipped: no pair of network devices"
	exit 77
fi
on $near ip addr add 10.77.0.1/24 dev left
on $far ip addr add 10.77.0.2/24 dev right
on $near ip link set lo up
on $far ip link set lo up

linked() { # whether device $2 of machine $1 has a link
	on "$1" ip link show "$2" | grep -q LOWER_UP
}
on $near ip link set left up
on $far ip link set right up
wait_for linked $near left && wait_for linked $far right

# Launchers, whose ranks have nothing to do with each other.
program idle <<'END'
: >"$1/$RANK"
exec sleep 60
END
conf=keep_alive_interval=0.5,keep_alive_max_attempt=4
agent() { # agent NAME MACHINE NODE
	on "$2" timeout 250 "$LOCKSTEP" run --nnodes 2 --node-rank "$3" \
		--nproc-per-node 1 --master-addr 10.77.0.1 --master-port 29500 \
		--rdzv-conf $conf "$scratch/idle" "$scratch" \
		>"$scratch/$1.out" 2>"$scratch/$1.err" </dev/null &
	ids[$1]=$!
}

# Ranks without a launcher that talk, or wait.
endless=$(dirname "$LOCKSTEP")/tests/cli/endless
rank() { # rank NAME MACHINE RANK talks|waits PORT
	RANK=$3 WORLD_SIZE=2 MASTER_ADDR=10.77.0.1 MASTER_PORT=$5 \
		LOCKSTEP_KEEP_ALIVE=2 LOCKSTEP_BACKEND=tcp \
		on "$2" timeout 250 "$endless" "$scratch/$4" "$4" \
		>"$scratch/$1.out" 2>"$scratch/$1.err" </dev/null &
	ids[$1]=$!
}
joined() {
	grep -q joined "$scratch/$1/0" && grep -q joined "$scratch/$1/1"
}

declare -A ids
agent leader $near 0
agent follower $far 1
wait_for test -e "$scratch/0" -a -e "$scratch/1" || fail "no start"
mkdir "$scratch/talks" "$scratch/waits"
rank talks0 $near 0 talks 29501
rank talks1 $far 1 talks 29501
rank waits0 $near 0 waits 29502
rank waits1 $far 1 waits 29502
for what in talks waits; do
	wait_for joined $what || fail "$what: the ranks did not meet"
done
sleep 0.2
on $far ip link set right down
cut=${EPOCHREALTIME/[.,]/}

# The keep-alive is 2 s; ending the ranks of a launcher takes up to one more,
# and a busy machine some.
for name in leader follower talks0 talks1 waits0 waits1; do
	wait "${ids[$name]}"
	status=$?
	took=$(((${EPOCHREALTIME/[.,]/} - cut) / 1000))
	wanted=1
	[[ $name != *e* ]] || wanted=13
	[ $status -eq $wanted ] || {
		fail "$name: status $status, not $wanted"
		head -n 20 "$scratch/$name.err"
	}
	[ $took -lt 8000 ] || fail "$name: it took $took ms"
done
grep -q 'node 0, which led the job at .*, is gone' "$scratch/follower.err" ||
	fail "the follower says: $(cat "$scratch/follower.err")"
grep -q 'went with node 1' "$scratch/leader.err" ||
	fail "the leader says: $(cat "$scratch/leader.err")"
for file in "$scratch"/{talks,waits}/{0,1}; do
	grep -q 'error .*lost' "$file" || fail "$file: $(cat "$file")"
done
grep -q 'no LOCKSTEP_SECRET' "$scratch/talks0.err" || fail "no warning"
finish
