#!/bin/bash
# Several hosts on one machine: made, used, removed, also after a crash.
. tests/cli/support.bash

: "${scratch:?}" "${status:=0}"
name=test$$
bed=(testbed run --name "$name")

expect_refusal 'hosts: expected a number from 2' "${bed[@]}" --hosts 1 true
expect_refusal 'bandwidth: expected 1mbit to' "${bed[@]}" --bandwidth 1 true
expect_refusal 'delay: expected 0us to 1s' "${bed[@]}" --delay 1 true
expect_refusal 'topology: expected star' "${bed[@]}" --topology ring true
expect_refusal 'slow: expected HOST:FACTOR' "${bed[@]}" --slow 1 true
expect_refusal 'slow: expected a host from 0 to 1' "${bed[@]}" --slow 2:0.5 true
expect_refusal 'leaves of 2 hosts' "${bed[@]}" --topology tree true
expect_refusal 'run: expected a command' "${bed[@]}"
expect_refusal 'no test bed "none"' testbed show --name none
expect_refusal 'only up and run' testbed down --hosts 3
expect_refusal 'hosts: expected' testbed up --name "$name" --hosts 0
expect_refusal 'expected up, show' testbed sideways

lockstep testbed up --name "$name" --hosts 3 --bandwidth 100mbit \
	--slow 1:0.5
if [ "$status" -eq 77 ]; then
	cat "$scratch/err"
	[ "$failures" -gt 0 ] && exit 1
	exit 77
fi
[ "$status" -eq 0 ] || fail "up: status $status: $(cat "$scratch/err")"
expect 0 testbed show --name "$name"
expect_out '100 Mbit/s each way'
expect_out 'host 1: 50 Mbit/s'
[ ! -e /dev/net/tun ] || expect_out 'shaped by +a process of Lockstep'
expect_refusal 'is up' testbed up --name "$name"
expect_refusal 'all or a host from 0 to 2' testbed exec --name "$name" 3 true
expect 7 testbed exec --name "$name" all -- \
	sh -c '[ {host} -ne 1 ] || exit 7'
expect 0 testbed platform --name "$name" -o "$scratch/bed.xml"
expect 0 run --backend sim --platform "$scratch/bed.xml" \
	--nproc-per-node 3 all_reduce
expect_refusal 'goodput: expected 1mbit to' testbed platform --name "$name" \
	--goodput 1
expect_refusal 'queues: expected fifo or none' testbed platform --name "$name" \
	--queues some
expect 0 testbed platform --name "$name" --queues none
! grep -q queues "$scratch/out" || fail "queues that were not asked for"
expect 0 testbed platform --name "$name" --goodput 80mbit --latency 50
expect_out 'id="queues" value="fifo"'
expect_out 'bandwidth="10000000Bps"'
expect_out 'bandwidth="5000000Bps"'
expect 0 testbed down --name "$name"
expect_refusal 'no test bed' testbed show --name "$name"

# A ring of 3 ranks at 100 Mbit/s: its bus bandwidth is a link's, less what
# headers take, and TCP and the machine add. Never faster; slower only while the
# machine is busy, which three tries in a row must not find.
busbw() {
	lockstep "${bed[@]}" --hosts 3 --bandwidth 100mbit --switch "$1" \
		"$LOCKSTEP" run --nnodes '{hosts}' --nproc-per-node 1 \
		--rdzv-backend c10d --rdzv-endpoint '{address0}:29400' \
		all_reduce -b 4M -e 4M -n 3 -w 1
	awk '$1 == 4194304 { print $8 }' "$scratch/out"
}
for by in kernel user; do
	for try in 1 2 3; do
		busbw $by >"$scratch/busbw"
		[ "$status" -eq 0 ] || break
		awk '$1 > 0.008' "$scratch/busbw" | grep -q . && break
		echo "$by: try $try: $(cat "$scratch/busbw") GB/s"
	done
	if [ "$status" -eq 77 ]; then
		echo "skipped: $by: $(cat "$scratch/err")"
		continue
	fi
	[ "$status" -eq 0 ] || fail "$by: status $status: $(cat "$scratch/err")"
	awk '{ found = $1 > 0.008 && $1 < 0.0126 } END { exit !found }' \
		"$scratch/busbw" || fail "$by: $(grep -v '^#' "$scratch/out")"
done

# Two hosts calibrate what is between them: no less than the delay, and 2 MiB in
# no less than the link needs for them, unless the machine is too busy to be
# measured.
lockstep "${bed[@]}" --hosts 2 --bandwidth 1gbit --delay 0.2ms \
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

# One that was not finished is told from none.
ip netns add "lockstep-$name-net"
expect_refusal 'was not finished: lockstep testbed down' testbed show \
	--name "$name"
expect 0 testbed down --name "$name"
expect_refusal 'there is no test bed' testbed show --name "$name"

# Killed in the middle, it leaves nothing that down does not find.
"$LOCKSTEP" "${bed[@]}" --hosts 2 --switch user sleep 100 \
	>/dev/null 2>&1 </dev/null &
killed=$!
# shellcheck disable=SC2317 # wait_for calls it
sleeps() { ip netns pids "lockstep-$name-1" 2>/dev/null | grep -q .; }
wait_for sleeps || fail "run: nothing came up"
kill -9 $killed
wait $killed 2>/dev/null
expect 0 testbed down --name "$name"
if ip netns list | grep -q "lockstep-$name-"; then
	fail "namespaces are left"
fi
[ ! -e "/run/lockstep-testbed.$name" ] || fail "its file is left"

finish
