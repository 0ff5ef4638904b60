#!/bin/bash
# A rank is killed at a random moment, $KILLS times (20); $SEED says which
# moments. Every survivor ends, with an error, within 2 s of the death, the
# command with status 13 and the name of the rank; no process is left, and
# nobody listens at the job's port.
#
# In every other run the ranks do not listen to SIGTERM: those that have met
# must notice by themselves. In half of the runs they take their time to meet.
#
# And the command is killed: what a rank started ends, too, in a session of its
# own or not.
. tests/cli/support.bash

kills=${KILLS:-20} ranks=4 limit=2000000 # microseconds
RANDOM=${SEED:=$((EPOCHSECONDS % 32768))}
program=$(dirname "$LOCKSTEP")/tests/cli/endless
echo "$kills kills, SEED=$SEED"

# The functions start no process: that would take longer than ranks to meet.

now() { # in microseconds, into $now
	now=${EPOCHREALTIME/[.,]/}
}

# Stores the line that begins with $2, of what rank $1 wrote, in $words.
look() {
	words=()
	[ -e "$scratch/job/$1" ] || return 1
	while read -ra words; do
		[ "${words[0]}" != "$2" ] || return 0
	done <"$scratch/job/$1"
	words=()
	return 1
}

pause() { # a moment, or $1 seconds
	read -rt "${1:-0.002}" <>"$scratch/pipe" || true
}

# Waits until rank $1 has started, or 30 s are past.
started() {
	local until
	now
	until=$((now + 30000000))
	until look "$1" start; do
		now
		[ "$now" -lt $until ] || return 1
		pause
	done
}

# Waits until the processes $@ are gone, or much too long has passed.
gone() {
	local pid
	for pid; do
		while kill -0 "$pid" 2>/dev/null; do
			now
			[ "$now" -lt $((died + 10 * limit)) ] || return 1
			pause
		done
	done
	now
}

listening() { # whether anybody listens at port $1
	grep -qE ":$(printf %04X "$1") [0-9A-F]+:0000 0A " \
		/proc/net/tcp /proc/net/tcp6
}

mkfifo "$scratch/pipe"
slowest=0 own=0 ended=0 early=0 slowest_own=0
for ((run = 0; run < kills; run++)); do
	rm -rf "$scratch/job"
	mkdir "$scratch/job"
	how=()
	[ $((run % 2)) -eq 0 ] || how+=(stubborn)
	[ $((run % 4)) -lt 2 ] || how+=(late)
	victim=$((RANDOM % ranks)) wait_ms=$((RANDOM % 400))
	"$LOCKSTEP" run --nproc-per-node $ranks "$program" "$scratch/job" \
		"${how[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null &
	launcher=$!
	if ! started $victim; then
		fail "run $run: the ranks did not start"
		kill $launcher
		wait $launcher
		continue
	fi
	target=${words[1]} port=${words[2]}
	pause "0.$(printf %03d $wait_ms)"
	what="run $run, rank $victim after $wait_ms ms ${how[*]}"
	joined=0
	for ((rank = 0; rank < ranks; rank++)); do
		! look $rank joined || joined=$((joined + 1))
	done
	read -ra pids <"/proc/$launcher/task/$launcher/children"
	now
	died=$now
	kill -9 "$target"
	if ! gone "${pids[@]}"; then
		fail "$what: somebody hangs"
		kill -9 $launcher
	fi
	took=$((now - died))
	wait $launcher
	status=$?
	[ $status -eq 13 ] || fail "$what: status $status, not 13"
	grep -q "rank $victim was killed by signal 9" "$scratch/err" ||
		fail "$what: not named in: $(cat "$scratch/err")"
	[ $took -lt $limit ] || fail "$what: took $took us"
	[ $took -le $slowest ] || slowest=$took
	[ $joined -eq $ranks ] || early=$((early + 1))
	for ((rank = 0; rank < ranks; rank++)); do
		[ $rank -ne $victim ] || continue
		if ! look $rank error; then
			ended=$((ended + 1))
			[ $joined -lt $ranks ] || [ $((run % 2)) -eq 0 ] ||
				fail "$what: rank $rank noticed nothing"
			continue
		fi
		own=$((own + 1))
		took=$((${words[1]/./} - died))
		[ $took -lt $limit ] || fail "$what: rank $rank took $took us"
		[ $took -le $slowest_own ] || slowest_own=$took
	done
	! listening "$port" || fail "$what: port still taken"
done
echo "$early deaths before all had met; survivors: $own told an error, the" \
	"slowest after $((slowest_own / 1000)) ms, $ended were ended;" \
	"the slowest job was gone after $((slowest / 1000)) ms"

# Not gone, and not only waited for by nobody.
runs() {
	local state
	read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" && [ "$state" != Z ]
}

program parent <<-END
	setsid sh -c 'echo \$\$ >"$scratch/stray"; exec sleep 600' &
	exec sleep 600
END
for world in tcp 'sim --platform star-8'; do
	rm -f "$scratch/stray"
	# shellcheck disable=SC2086 # words
	"$LOCKSTEP" run --backend $world "$scratch/parent" </dev/null &
	launcher=$!
	wait_for [ -s "$scratch/stray" ] || fail "$world: nobody started"
	stray=$(<"$scratch/stray")
	kill -9 $launcher
	wait $launcher 2>/dev/null
	now
	until=$((now + 10 * limit))
	while runs "$stray" && [ "$now" -lt $until ]; do
		pause
		now
	done
	! runs "$stray" || {
		fail "$world: process $stray outlives the command"
		kill -9 "$stray"
	}
done
finish
