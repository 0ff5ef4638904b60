#!/bin/bash
# Every wrong program gets the verdict of its label, with the ranks and the
# marked lines named; its correct twin, and every right one, gets none, nor in
# any way in which its messages can meet. ONLY, a pattern of names, chooses some
# of them.
. tests/cli/support.bash

folder=tests/programs
program=$(dirname "$LOCKSTEP")/tests/programs/programs
# Devices there need not be.
doubles=$(dirname "$LOCKSTEP")/doubles
export LOCKSTEP_NCCL_LIBRARY=$doubles/libnccl.so.2
export LOCKSTEP_CUDART_LIBRARY=$doubles/libcudart.so.13

# Of a wrong program, which gives up with what it holds.
holds=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# The lines that programs mark, a NAME and FILE:LINE each: in its function, or
# anywhere in a comment with its name.
marked() {
	awk '
	FNR == 1 { inside = "" }
	/^enum dist_error [a-z_0-9]+\(struct job/ {
		inside = $3
		sub(/\(.*/, "", inside)
	}
	/^}/ { inside = "" }
	!named {
		for (name in mark) print name, FILENAME ":" FNR
		split("", mark)
	}
	inside && /\/\* (culprit|partner|access) \*\// { mark[inside] }
	/\/\* (culprit|partner|access): / { named = 1 }
	named { for (i = 1; i <= NF; i++) mark[$i] }
	/\*\// { named = 0 }
	' "$folder"/*.[ch]
}

# hold_verdict OUT NAME VERDICT CULPRITS STATUS - leaves in OUT.case what OUT.json
# is to be: all are held at the end at once, for jq takes longer to start than a
# simulation.
hold_verdict() {
	local out=$1 name=$2 verdict=$3 culprits=$4 status=$5 text=

	# A simulation under the sanitizers cannot be copied.
	[ "$verdict$SANITIZED" = bufferingyes ] && verdict=deadlock
	[ ! -e "$out.json" ] || text=$(<"$out.json")
	# No string of JSON has either.
	text=${text//[$'\n\t']/ }
	printf '%s\t%s\t%s\t%s\t%s\n' "$out" "$verdict of $culprits" "$status" \
		"${lines[$name]-}" "$text" >"$out.case"
}

# What the verdicts that were held lack: OUT and what, a line each.
lacking() {
	cat "$scratch"/*.case | jq -Rr 'split("\t") as [$out, $wanted, $status,
		$places, $text] | (if $text == "" then "no verdict" else
		try ($text | fromjson |
		(.verdict + " of " + (.culprits | join(" "))) as $said |
		[(.sites[], (.ranks[].waited_at // empty)) |
			"\(.file):\(.line)"] as $named |
		(select($said != $wanted) | "\($said), not \($wanted)"),
		(select(.exit_status != ($status | tonumber)) |
			"status \($status) is not that of the verdict"),
		((($places | split(" ")) - $named)[] | "\(.) not named"))
		catch "no JSON: \(.)" end) | "\($out) \(.)"'
}

# run OUT WORDS... - lockstep with these words; its status in $status.
run() {
	local out=$1
	shift
	timeout 250 "$LOCKSTEP" "$@" >"$out" 2>&1 </dev/null
	status=$?
}

# check OUT WORLD RANKS TIMEOUT DEBUG WORDS... - checks the program in that
# world. For real, ranks need time to meet and to call on a machine that is busy.
check() {
	local out=$1 world=$2 ranks=$3 limit=$4 debug=$5
	local options=(--backend "$world" --patience 0.5)

	[ "$world" != sim ] ||
		options=(--backend sim --platform star-8 --patience 5)
	shift 5
	run "$out" check "${options[@]}" --timeout "$limit" --debug "$debug" \
		--json "$out.json" --nproc-per-node "$ranks" "$program" "$@"
}

# check_program NAME RANKS VERDICT CULPRITS WORLD DEBUG - prints what is wrong.
check_program() {
	local name=$1 ranks=$2 verdict=$3 culprits=$4 world=$5 debug=$6
	local out="$scratch/$1.$5" status limit=20

	[ "$world" != sim ] || limit=2
	check "$out" "$world" "$ranks" $limit detail "$name" correct
	if [ "$status" -ne 0 ] || [ -s "$out" ]; then
		echo "$name correct on $world: status $status"
		cat "$out"
	fi
	if [ "$world" = sim ]; then
		run "$out" explore --platform star-8 --nproc-per-node "$ranks" \
			--skew 6 "$program" "$name" correct
		[ "$status" -eq 0 ] || {
			echo "$name correct explored: status $status"
			cat "$out"
		}
	fi
	case $verdict in
	fine) return ;;
	timeout | rendezvous) limit=2 ;;
	esac
	ASAN_OPTIONS=$holds check "$out" "$world" "$ranks" $limit "$debug" "$name"
	hold_verdict "$out" "$name" "$verdict" "$culprits" "$status"
}

# check_explored NAME RANKS VERDICT CULPRITS - the same for a program that ends
# well as it is usually run, and not in every way in which it can: so does its
# twin.
check_explored() {
	local name=$1 ranks=$2 verdict=$3 culprits=$4
	local out="$scratch/$1.explore" status
	local words=(--platform star-8 --nproc-per-node "$2" "$program" "$1")

	run "$out" run --backend sim "${words[@]}"
	[ "$status" -eq 0 ] || echo "$name: wrong as it is usually run"
	ASAN_OPTIONS=$holds run "$out" explore --json "$out.json" "${words[@]}"
	hold_verdict "$out" "$name" "$verdict" "$culprits" "$status"
	out+=.correct
	run "$out" explore --json "$out.json" "${words[@]}" correct
	[ "$status" -eq 0 ] && jq -e '.verdict == "fine" and
		(.explored | length == 2 and all(.all and .states > 0))' \
		"$out.json" >/dev/null && return
	echo "$name correct explored: status $status"
	cat "$out"
}

"$program" list >"$scratch/list" || fail "no list"
count=$(wc -l <"$scratch/list")
[ "$count" -ge 170 ] || fail "only $count programs"
declare -A lines
while read -r name line; do
	lines[$name]+="${lines[$name]:+ }$line"
done < <(marked)
num=0 started=0
while IFS='|' read -r name ranks verdict culprits where; do
	# Under the sanitizers, in which only where the ranks part differs: some.
	if [ "$SANITIZED" = yes ]; then
		case $verdict in
		mismatch | deadlock | fine) ((num++ % 4 == 0)) || continue ;;
		esac
		[[ $where != *copy ]] || continue
	fi
	debug=info
	[[ $where != *detail* ]] || debug=detail
	for world in $where; do
		[[ $world != @(detail|copy|apart) ]] || continue
		case $world in
		explore) check_explored "$name" "$ranks" "$verdict" "$culprits" ;;
		*) check_program "$name" "$ranks" "$verdict" "$culprits" \
			"$world" $debug ;;
		esac >"$scratch/$name.$world.said" &
		((++started < 4)) || wait -n
	done
done < <(grep -E "${ONLY:-.}" "$scratch/list")
wait
for said in "$scratch"/*.said; do
	[ ! -s "$said" ] || fail "$(cat "$said")"
done
while read -r out said; do
	fail "${out##*/}: $said"
	cat "$out"
done < <(lacking)
[ -z "${ONLY:-}" ] || finish
for world in sim tcp; do
	# Who took the message is said in words.
	taken="^  rank 1's message was taken by the receive from any source at $folder/races.c:[0-9]+; run lockstep explore$"
	out=$scratch/taken.$world
	ASAN_OPTIONS=$holds check "$out" "$world" 3 20 info any_and_then_the_first
	grep -qE "$taken" "$out" || fail "no taker: $(cat "$out")"
	# What was refused and did no harm is a warning.
	out=$scratch/warned.$world
	check "$out" "$world" 3 20 info refused_to_all_and_ignored
	[ "$status" -eq 0 ] || fail "ended by a warning"
	warned="ranks 0-2 \\(3\\) called broadcast at $folder/refused.c:[0-9]+, which was refused, and went on: src is -1: "
	grep -qE "^lockstep: warning: $warned" "$out" || fail "no warning: $(cat "$out")"
	forms="rank 1 called all_gather at $folder/refused.c:[0-9]+, and ranks 0,2 \\(2\\) called all_gather_single at $folder/refused.c:[0-9]+ \\(#0 of group default\\)"
	grep -qE "^lockstep: warning: $forms" "$out" || fail "no warning: $(cat "$out")"
	jq -e --arg text "^$warned" '.verdict == "fine" and (.warnings | length == 2) and
		(.warnings[0] | test($text))' "$out.json" >/dev/null || fail "no warning in the JSON"
done
echo "$count programs"

finish
