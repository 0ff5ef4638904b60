#!/bin/bash
# Memory that is short is told as that: none for a rank's messages, more of them
# than a rank takes in unasked, no room in /dev/shm; and of a launcher that is
# killed nothing is left.
# shellcheck disable=SC2016,SC2317 # what other shells expand; what wait_for calls
. tests/cli/support.bash

hoard=$(dirname "$LOCKSTEP")/tests/cli/hoard
for intra in shm tcp; do
	job=(run --intra "$intra" --nproc-per-node 2 "$hoard")
	# 4 MiB 100 times, where the system gives 250 MB.
	if [ "$SANITIZED" = no ]; then
		limit_kb=$(ulimit -v)
		ulimit -S -v 250000
		expect 1 "${job[@]}" 100 4194304
		ulimit -S -v "$limit_kb"
		expect_err '^lockstep: rank 1 ran out of memory in recv'
		! grep -q deadlock "$scratch/err" || fail "told as a deadlock"
	fi
	export LOCKSTEP_UNEXPECTED=16
	expect 1 "${job[@]}" 24 1048576
	expect_err 'rank 1: .*MiB of messages that nobody asked for, the last from rank 0 \(LOCKSTEP_UNEXPECTED is 16'
	expect_err '^lockstep: rank 1 ran out of memory in recv'
	expect 0 "${job[@]}" 12 1048576
	expect_out '^got 12$'
	unset LOCKSTEP_UNEXPECTED
done
LOCKSTEP_UNEXPECTED=none lockstep run --nproc-per-node 2 hello
expect_err 'LOCKSTEP_UNEXPECTED is "none": expected an integer'

# Simulated ranks need the address space of their own stacks, and no more.
if [ "$SANITIZED" = no ]; then
	limit_kb=$(ulimit -v)
	ulimit -S -v 60000
	expect 0 run --backend sim --platform star-8 --nproc-per-node 8 hello
	ulimit -S -v "$limit_kb"
fi

# ---- a launcher that is killed

program parent <<'END'
sleep 300 &
echo $! >"$1/$RANK"
wait
END
"$LOCKSTEP" run --nproc-per-node 2 "$scratch/parent" "$scratch" &
launcher=$!
wait_for test -s "$scratch/0" -a -s "$scratch/1" || fail "no ranks"
kill -9 $launcher
wait $launcher 2>/dev/null
# Some first processes, such as a container's command, collect no orphans.
none_left() {
	! grep -hs '^State:' "/proc/$(cat "$scratch/0")/status" \
		"/proc/$(cat "$scratch/1")/status" | grep -qv 'Z (zombie)'
}
wait_for none_left || fail "what the ranks started is left"

# What it leaves of a trace goes with the next job that writes there.
trace=$scratch/trace.json
"$LOCKSTEP" run --nproc-per-node 4 --trace "$trace" \
	"$(dirname "$hoard")/endless" "$scratch" &
launcher=$!
for rank in 0 1 2 3; do
	wait_for grep -qs joined "$scratch/$rank" || fail "rank $rank never met"
done
# Meanwhile it is this job's.
expect 2 run --nproc-per-node 2 --trace "$trace" hello
expect_err '^lockstep: .*/trace\.json: another job writes this trace$'
kill -9 $launcher
wait $launcher 2>/dev/null
wait_for test -e "$trace.rank3.live" || fail "no part of a killed job"
expect 0 run --nproc-per-node 2 --trace "$trace" hello
! compgen -G "$trace.*" || fail "parts of the killed job are left"
jq -e '.lockstep | has("partial") | not' "$trace" >/dev/null ||
	fail "all of a trace is partial"
expect 13 run --nproc-per-node 3 --trace "$trace" \
	"$(dirname "$LOCKSTEP")/tests/cli/misbehave" kill end 1
jq -e '.lockstep.partial == "the job ended with status 13"' "$trace" \
	>/dev/null || fail "a trace that breaks off: $(jq .lockstep "$trace")"

# ---- no room in /dev/shm

# Who exceeds the memory of its control group is killed by the system.
group=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)/lockstep-$$
if mkdir "$group" 2>/dev/null; then
	echo 200M >"$group/memory.limit_in_bytes"
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$LOCKSTEP" run \
		--nproc-per-node 2 "$(dirname "$LOCKSTEP")/tests/cli/misbehave" eat call 1 \
		2>"$scratch/err"
	expect_err 'rank 1 was killed by signal 9 .*, likely by the system for want of memory'
	rmdir "$group"
fi

# full SIZE TMP COMMAND... - with so much of both, in a mount space of its own.
full() {
	unshare --mount sh -c 'mount -t tmpfs -o size=$1 none /dev/shm &&
		mount -t tmpfs -o size=$2 none "$TMPDIR" && shift 2 &&
		mount --bind "$TMPDIR" /tmp && exec "$@"' sh "$@"
}
if [ "$(id -u)" -ne 0 ] || ! TMPDIR=/mnt full 64k 1m true 2>/dev/null; then
	echo "no mount space of one's own: not tried with a full /dev/shm"
	finish
fi
real=$LOCKSTEP
mkdir "$scratch/tmp"
export TMPDIR=/mnt
program roomy <<END
$(declare -f full)
full 64k 16m "$real" "\$@"
END
program cramped <<END
$(declare -f full)
full 64k 64k "$real" "\$@"
END
LOCKSTEP=$scratch/roomy
expect 0 run --nproc-per-node 4 hello
expect_err '^lockstep: /dev/shm is full .*: the records lie in \$TMPDIR or /tmp$'
expect_out 'the sum of ones is 4'
LOCKSTEP=$scratch/cramped
lockstep run --nproc-per-node 4 hello
[ "$status" -ne 0 ] || fail "records without room"
expect_err 'cannot make a file for the records: No space left on device'
program small <<END
$(declare -f full)
full 16m 64k "$real" "\$@"
END
LOCKSTEP=$scratch/small
lockstep run --nproc-per-node 2 --trace /mnt/trace.json hello
expect_err 'trace.json: cannot be written: No space left on device'
finish
