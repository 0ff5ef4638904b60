#!/bin/bash
# Every program of the zoo gets the verdict that its head asks for, with the
# ranks and the marked lines named; its correct twin gets none. Where the head
# says explore, the twin is shown to end well in all ways.
. tests/cli/support.bash

folder=scenarios/zoo
# Devices there need not be.
doubles=$(dirname "$LOCKSTEP")/doubles
export LOCKSTEP_NCCL_LIBRARY=$doubles/libnccl.so.2
export LOCKSTEP_CUDART_LIBRARY=$doubles/libcudart.so.13

# head_says WORD NAME - the last line of the program's head for the word.
head_says() { sed -n "s/^ \* $1: //p" "$folder/$2.c" | tail -n 1; }

# The lines that the program marks.
marked() {
	grep -nE '/\* (culprit|partner|access) \*/' "$folder/$1.c" |
		while IFS=: read -r line _; do echo $((line + 1)); done
}

# check_verdict NAME JSON - what the verdict lacks, or has too much.
check_verdict() {
	local name=$1 json=$2 said wanted line

	[ -s "$json" ] || { echo "no verdict" && return; }
	wanted=$(head_says verdict "$name")
	[ "$wanted" = argument ] && wanted=failed
	# A simulation under the sanitizers cannot be copied.
	[ "$wanted" = buffering ] && [ "$SANITIZED" = yes ] && wanted=deadlock
	said=$(jq -r .verdict "$json")
	[ "$said" = "$wanted" ] || echo "verdict $said, not $wanted"
	said=$(jq -r '.culprits | join(" ")' "$json")
	wanted=$(head_says ranks "$name")
	[ "$said" = "$wanted" ] || echo "ranks $said, not $wanted"
	for line in $(marked "$name"); do
		jq -e --arg file "$folder/$name.c" --argjson line "$line" \
			'any(.sites[]; .file == $file and .line == $line)' \
			"$json" >/dev/null || echo "line $line not named"
	done
}

# check_program NAME RANKS WORLD - prints what is wrong, nothing when all is
# well. Runs beside others: uses files of its own.
check_program() {
	local name=$1 ranks=$2 world=$3 out="$scratch/$1.$3" status said
	local options=(--backend "$world") debug

	[ "$world" = sim ] && options+=(--platform star-8)
	options+=(--timeout 2 --patience 0.2 --nproc-per-node "$ranks" zoo "$name")
	debug=$(head_says debug "$name")
	LOCKSTEP_JSON="$out.json" LOCKSTEP_DEBUG=$debug timeout 30 \
		"$LOCKSTEP" run "${options[@]}" >"$out" 2>&1 </dev/null
	status=$?
	said=$(check_verdict "$name" "$out.json")
	[ "$status" = "$(jq .exit_status "$out.json")" ] ||
		said+=" status $status is not that of the verdict"
	if [ -n "$said" ]; then
		echo "$name on $world: $said"
		head -n 12 "$out"
	fi
	LOCKSTEP_DEBUG=detail timeout 30 \
		"$LOCKSTEP" run "${options[@]}" --correct >"$out" 2>&1 </dev/null
	status=$?
	if [ $status -ne 0 ] || [ -s "$out" ]; then
		echo "$name --correct on $world: status $status"
		head -n 12 "$out"
	fi
	[ "$world" = sim ] || return
	options=(--platform star-8 --nproc-per-node "$ranks" --skew 6)
	timeout 30 "$LOCKSTEP" explore "${options[@]}" zoo "$name" --correct \
		>"$out" 2>&1 </dev/null && return
	echo "$name --correct explored: status $?"
	head -n 12 "$out"
}

# check_explored NAME RANKS - the same for a program that ends well as it is
# usually run, and not in every way in which it can: so does its twin.
check_explored() {
	local name=$1 ranks=$2 out="$scratch/$1.explore" status said
	local options=(--platform star-8 --nproc-per-node "$ranks")

	timeout 30 "$LOCKSTEP" run --backend sim "${options[@]}" zoo "$name" \
		>"$out" 2>&1 </dev/null || echo "$name: wrong as it is usually run"
	LOCKSTEP_JSON="$out.json" timeout 30 "$LOCKSTEP" explore \
		"${options[@]}" zoo "$name" >"$out" 2>&1 </dev/null
	status=$?
	said=$(check_verdict "$name" "$out.json")
	[ "$status" = "$(jq .exit_status "$out.json")" ] ||
		said+=" status $status is not that of the verdict"
	[ -z "$said" ] || { echo "$name explored: $said" && head -n 12 "$out"; }
	LOCKSTEP_JSON="$out.json" timeout 30 "$LOCKSTEP" explore \
		"${options[@]}" zoo "$name" --correct >"$out" 2>&1 </dev/null
	status=$?
	[ $status -eq 0 ] && jq -e '.verdict == "fine" and
		(.explored | length == 2 and all(.all and .states > 0))' \
		"$out.json" >/dev/null && return
	echo "$name --correct explored: status $status"
	head -n 12 "$out"
}

"$LOCKSTEP" run zoo list >"$scratch/list" || fail "no list"
count=$(wc -l <"$scratch/list")
[ "$count" -ge 22 ] || fail "only $count programs"
while read -r name ranks; do
	[ "$(head_says copy "$name")$SANITIZED" = neededyes ] && continue
	for world in $(head_says worlds "$name"); do
		if [ "$world" = explore ]; then
			check_explored "$name" "$ranks"
		else
			check_program "$name" "$ranks" "$world"
		fi >"$scratch/$name.$world.said" &
		[ "$(jobs -rp | wc -l)" -lt 4 ] || wait -n
	done
done <"$scratch/list"
wait
for said in "$scratch"/*.said; do
	[ ! -s "$said" ] || fail "$(cat "$said")"
done
echo "$count programs"

finish
