#!/bin/bash
# Every labelled program gets the verdict of its label, with the ranks and the
# marked lines named; its correct twin, and every right one, gets none. ONLY, a
# pattern of names, chooses some of them.
. tests/cli/support.bash

folder=tests/programs
program=$(dirname "$LOCKSTEP")/tests/programs/programs

# Built with sanitizers it is slow: no more than is seen in the simulation. There
# ranks are threads then, of which a copy of the process has but one, so that
# nobody knows what buffers would change.
is_run() {
	[ "$SANITIZED" = no ] || { [ "$2" = sim ] && [ "$1" != buffering ]; }
}

# The lines that program NAME marks, as FILE:LINE: in its function, or anywhere
# in a comment with its name.
marked() {
	awk -v name="$1" '
	FNR == 1 { inside = 0 }
	$0 ~ "^static .*[ *]" name "\\(struct job" { inside = 1 }
	/^}/ { inside = 0 }
	mark && !named { print FILENAME ":" FNR; mark = 0 }
	/\/\* (culprit|partner) \*\// { mark = inside }
	/\/\* (culprit|partner): / { named = 1 }
	named && index($0 " ", " " name " ") { mark = 1 }
	/\*\// { named = 0 }
	' "$folder"/*.[ch]
}

# check_verdict NAME VERDICT CULPRITS JSON - what the verdict lacks.
check_verdict() {
	local name=$1 verdict=$2 culprits=$3 json=$4 said place

	[ -s "$json" ] || { echo "no verdict" && return; }
	said=$(jq -r '.verdict + " of " + (.culprits | join(" "))' "$json")
	[ "$said" = "$verdict of $culprits" ] ||
		echo "$said, not $verdict of $culprits"
	for place in $(marked "$name"); do
		jq -e --arg place "$place" \
			'any(.sites[], (.ranks[].waited_at // empty);
				"\(.file):\(.line)" == $place)' \
			"$json" >/dev/null || echo "$place not named"
	done
}

# run OUT WORLD RANKS WORDS... - runs the program in that world.
run() {
	local out=$1 world=$2 ranks=$3 options=(--backend tcp)

	shift 3
	[ "$world" = sim ] && options=(--backend sim --platform star-8)
	timeout 30 "$LOCKSTEP" check "${options[@]}" --timeout 2 \
		--patience 0.2 --json "$out.json" --nproc-per-node "$ranks" "$program" "$@" >"$out" 2>&1 </dev/null
}

# check_program NAME RANKS VERDICT CULPRITS WORLD - prints what is wrong.
check_program() {
	local name=$1 ranks=$2 verdict=$3 culprits=$4 world=$5
	local out="$scratch/$1.$5" said status

	run "$out" "$world" "$ranks" "$name" correct
	status=$?
	if [ $status -ne 0 ] || [ -s "$out" ]; then
		echo "$name correct on $world: status $status"
		cat "$out"
	fi
	[ "$verdict" = fine ] && return
	run "$out" "$world" "$ranks" "$name"
	said=$(check_verdict "$name" "$verdict" "$culprits" "$out.json")
	[ -z "$said" ] && return
	echo "$name on $world: $said"
	cat "$out"
}

"$program" list >"$scratch/list" || fail "no list"
count=$(wc -l <"$scratch/list")
[ "$count" -ge 60 ] || fail "only $count programs"
while IFS='|' read -r name ranks verdict culprits worlds; do
	for world in $worlds; do
		is_run "$verdict" "$world" || continue
		check_program "$name" "$ranks" "$verdict" "$culprits" "$world" \
			>"$scratch/$name.$world.said" &
		[ "$(jobs -rp | wc -l)" -lt 4 ] || wait -n
	done
done < <(grep -E "${ONLY:-.}" "$scratch/list")
wait
for said in "$scratch"/*.said; do
	[ ! -s "$said" ] || fail "$(cat "$said")"
done
echo "$count programs"

finish
