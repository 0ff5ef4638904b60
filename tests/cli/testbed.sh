#!/bin/bash
# Several hosts on one machine: made, used, removed, also after a crash.
. tests/cli/support.bash

export LOCKSTEP
name=test$$
run=(run --name "$name" --hosts 3 --bandwidth 100mbit)

# testbed WORD... - its output in $scratch/out and err, its status in $status.
testbed() {
	status=0
	timeout 200 tools/testbed.sh "$@" >"$scratch/out" 2>"$scratch/err" \
		</dev/null || status=$?
}

# refuses PATTERN WORD... - status 2 and a line that matches.
refuses() {
	testbed "${@:2}"
	[ "$status" -eq 2 ] || fail "${*:2}: status $status"
	expect_err "$1"
}

refuses 'hosts: expected 2 to 64' up --name "$name" --hosts 1
refuses 'bandwidth: expected' up --name "$name" --bandwidth 1
refuses 'delay: expected' up --name "$name" --delay 1
refuses 'topology: expected star' up --name "$name" --topology ring
refuses 'slow: expected HOST' up --name "$name" --slow 2:0.5
refuses 'more than 2 hosts' up --name "$name" --topology tree
refuses 'name: expected' up --name 'my bed'
refuses 'expected a command' "${run[@]}"
refuses 'no test bed "none"' platform --name none
refuses 'expected up, exec' sideways

testbed up --name "$name" --hosts 3 --bandwidth 100mbit --slow 1:0.5
if [ "$status" -eq 77 ]; then
	cat "$scratch/err"
	[ "$failures" -gt 0 ] && exit 1
	exit 77
fi
[ "$status" -eq 0 ] || fail "up: status $status: $(cat "$scratch/err")"
refuses 'is up' up --name "$name"
refuses 'all or a host from 0 to 2' exec --name "$name" 3 true
testbed exec --name "$name" all -- sh -c '[ {host} -ne 1 ] || exit 7'
[ "$status" -eq 7 ] || fail "exec: status $status, not host 1's"
testbed platform --name "$name" --goodput 80mbit --latency 50 -o "$scratch/bed.xml"
for words in 'id="queues" value="fifo"' 'bandwidth="10000000Bps"' 'bandwidth="5000000Bps"' 'latency="2.5e-05s"'; do
	grep -q "$words" "$scratch/bed.xml" || fail "platform: no $words"
done
expect 0 run --backend sim --platform "$scratch/bed.xml" --nproc-per-node 3 all_reduce
testbed down --name "$name"
refuses 'no test bed' exec --name "$name" all true

# A ring of 3 ranks at 100 Mbit/s: its bus bandwidth is a link's, less what
# headers take, and TCP and the machine add. Never faster; slower only while the
# machine is busy, which three tries in a row must not find.
for try in 1 2 3; do
	testbed "${run[@]}" \
		"$LOCKSTEP" run --nnodes '{hosts}' --nproc-per-node 1 \
		--rdzv-backend c10d --rdzv-endpoint '{address0}:29400' \
		all_reduce -b 4M -e 4M -n 3 -w 1
	[ "$status" -eq 0 ] || fail "run: status $status: $(cat "$scratch/err")"
	busbw=$(awk '$1 == 4194304 { print $8 }' "$scratch/out")
	awk "BEGIN { exit !($busbw > 0.008) }" && break
	echo "try $try: $busbw GB/s"
done
awk "BEGIN { exit !($busbw > 0.008 && $busbw < 0.0126) }" ||
	fail "$busbw GB/s: $(grep -v '^#' "$scratch/out")"

# Two hosts calibrate what is between them: no less than the delay, and 2 MiB in
# no less than the link needs for them, unless the machine is too busy to be
# measured.
testbed run --name "$name" --hosts 2 --bandwidth 1gbit --delay 0.2ms \
	"$LOCKSTEP" run --nnodes '{hosts}' --nproc-per-node 1 \
	--rdzv-backend c10d --rdzv-endpoint '{address0}:29400' \
	"$LOCKSTEP" calibrate -o "$scratch/wire"
if [ "$status" -eq 0 ]; then
	awk '$1 == 2097152 { taken_us = $2 }
		/^between hosts:/ { found = $3 > 150 && $5 > 100 }
		END { exit !(found && taken_us > 2097152 * 8 / 1000) }' \
		"$scratch/out" || fail "wire: $(tail -n 4 "$scratch/out")"
	grep -q '^name: wire' "$scratch/wire/wire.yaml" || fail "no profile"
else
	grep -q 'too busy' "$scratch/err" ||
		fail "wire: status $status: $(cat "$scratch/err")"
fi

# Killed in the middle, it leaves nothing that down does not find.
tools/testbed.sh run --name "$name" --hosts 2 sleep 100 >/dev/null 2>&1 </dev/null &
killed=$!
# shellcheck disable=SC2317 # wait_for calls it
sleeps() { ip netns pids "lockstep-$name-1" 2>/dev/null | grep -q .; }
wait_for sleeps || fail "run: nothing came up"
kill -9 $killed
wait $killed 2>/dev/null
testbed down --name "$name"
if ip netns list | grep -q "lockstep-$name-"; then
	fail "namespaces are left"
fi
[ ! -e "/run/lockstep-testbed.$name" ] || fail "its file is left"

finish
