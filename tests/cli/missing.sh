#!/bin/bash
# Calls that some ranks make and others never do are no well-ended job, in no
# world, with or without our launcher: which rank stayed away, and from what.
. tests/cli/support.bash

# These programs leave their groups and handles behind, as wrong ones do.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
absent=$(dirname "$LOCKSTEP")/tests/cli/absent

# judged WANTED CULPRITS FILE - what the JSON says of a case; nothing: it is so.
judged() {
	[ -s "$3" ] || { echo "no verdict" && return; }
	jq -r --arg wanted "$1" --arg culprits "$2" '
		"\(.verdict) of \(.culprits | join(" "))" as $said
		| (if $wanted == "fine" then "fine of " else
			"\($wanted) of \($culprits)" end) as $right
		| if $said != $right then "\($said), not \($right)"
		  elif $wanted == "fine" or
			any(.sites[]; .file == "tests/cli/absent.c" and
				.call.group == "log")
		  then empty
		  else "no line of the calls of group log" end' "$3"
}

# check_case OUT WORLD RANKS VERDICT CULPRITS WORDS... - prints what is wrong.
check_case() {
	local out=$1 world=$2 ranks=$3 wanted=$4 culprits=$5 said
	local options=(--backend tcp --intra "$world")

	shift 5
	options+=(--timeout 20) # to meet, on a busy machine
	[ "$world" != sim ] || options=(--backend sim --platform star-8 --timeout 2)
	timeout 250 "$LOCKSTEP" check "${options[@]}" \
		--patience 0.2 --json "$out.json" --nproc-per-node "$ranks" \
		"$absent" "$@" >"$out" 2>&1 </dev/null
	said=$(judged "$wanted" "$culprits" "$out.json")
	[ -z "$said" ] || echo "$world $ranks: $*: $said: $(cat "$out")"
}

# Ranks, verdict, culprits, words.
cases="4|mismatch|0|reduce 0 root
4|mismatch|0|gather 0 root
4|mismatch|0|broadcast 0 others
4|mismatch|1|scatter 1 others
2|mismatch|0 1|reduce 0 root
2|mismatch|0 1|broadcast 1 others
3|mismatch|2|gather last root
5|mismatch|4|reduce last root subset
8|mismatch|1|reduce 1 root
8|mismatch|3|gather 2 root subset later
4|mismatch|0|reduce 0 root async
4|mismatch|3|scatter last others async
4|mismatch|0|reduce 0 root one
4|mismatch|2|gather 2 root one later
3|mismatch|1|reduce 1 root open
4|deadlock|0 1 2 3|broadcast 0 root
4|deadlock|0 1 2 3|scatter 1 root
5|fine||reduce 1 nobody
4|fine||gather last nobody subset later
3|fine||broadcast 0 nobody async
4|fine||scatter 0 nobody open"
# Under sanitizers simulated ranks are threads, of which no copy can be made
# that tries what happens where nothing waits.
worlds="tcp sim shm"
[ "$SANITIZED" = no ] || worlds="tcp shm"
number=0
while IFS='|' read -r ranks wanted culprits words; do
	for world in $worlds; do
		number=$((number + 1))
		[ "$world" != shm ] || [ $((number % 2)) -eq 0 ] || continue
		# shellcheck disable=SC2086 # words
		check_case "$scratch/$number" "$world" "$ranks" "$wanted" \
			"$culprits" $words >"$scratch/$number.said" &
		[ "$(jobs -rp | wc -l)" -lt 4 ] || wait -n
	done
done <<<"$cases"
wait
for said in "$scratch"/*.said; do
	[ ! -s "$said" ] || fail "$(cat "$said")"
done

# by_hand RANKS WORDS... - starts ranks that nobody watches; their statuses land
# in $statuses, their dumps in $scratch/dumps.
by_hand() {
	local ranks=$1 pids=() pid

	shift
	rm -rf "$scratch/dumps"
	free_port
	for ((rank = 0; rank < ranks; rank++)); do
		RANK=$rank WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 \
			MASTER_PORT=$port LOCKSTEP_DUMP="$scratch/dumps" \
			"$absent" "$@" >/dev/null 2>&1 </dev/null &
		pids+=($!)
	done
	statuses=
	for pid in "${pids[@]}"; do
		wait "$pid"
		statuses+=$?
	done
}

# They leave their dumps, and who was handed the others' part is told.
by_hand 3 reduce 0 root
[ "$statuses" = 100 ] || fail "reduce by hand: statuses $statuses"
expect 10 diagnose "$scratch/dumps"
expect_err 'rank 0 did not come to reduce'
expect_err 'group log is ranks 0-2'
by_hand 3 scatter 1 others
[ "$statuses" = 101 ] || fail "scatter by hand: statuses $statuses"
expect 10 diagnose "$scratch/dumps"
expect_err 'ranks 0,2 .* did not come to scatter'
by_hand 3 gather last nobody subset later
[ "$statuses" = 000 ] || fail "gather by hand: statuses $statuses"
expect 0 diagnose "$scratch/dumps"

# Under mpirun, if it is here. It kills the others when a rank fails: each is
# given the time to leave its dump.
if command -v mpirun >/dev/null; then
	rm -rf "$scratch/dumps"
	# shellcheck disable=SC2016 # the shell of each rank expands it
	LOCKSTEP_DUMP="$scratch/dumps" timeout 250 mpirun --allow-run-as-root \
		--oversubscribe -n 4 sh -c '"$@"; status=$?; sleep 1; exit $status' \
		sh "$absent" gather 2 root \
		>"$scratch/mpirun" 2>&1 </dev/null &&
		fail "mpirun: status 0"
	expect 10 diagnose "$scratch/dumps"
	expect_err 'rank 2 did not come to gather'
fi

finish
