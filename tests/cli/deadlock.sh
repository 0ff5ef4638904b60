#!/bin/bash
# The seeded deadlock: status 11 in simulation, the same sentences on TCP.
. tests/cli/support.bash

platform=star-8
waits() {
	grep -E 'rank.*(waits|blocked|stuck|in )' "$scratch/err" |
		sed -E 's/[0-9.]+ ?(s|ms|us|ns)\b/TIME/g' | sort
}

expect 11 run --backend sim --platform "$platform" --world-size 2 deadlock
waits >"$scratch/sim"
grep -qE 'deadlock\.c:[0-9]+' "$scratch/err" || fail "no source line"
[ -s "$scratch/sim" ] || fail "no rank named: $(cat "$scratch/err")"

for fidelity in flow formula; do
	expect 11 run --backend sim --platform "$platform" --world-size 2 \
		--fidelity "$fidelity" deadlock
	waits >"$scratch/$fidelity"
	diff "$scratch/sim" "$scratch/$fidelity" ||
		fail "fidelity $fidelity: other words"
done

lockstep run --backend tcp --world-size 2 --timeout 1 deadlock
case $status in
11 | 12) ;;
*) fail "tcp: status $status, neither deadlock nor timeout" ;;
esac
waits >"$scratch/tcp"
diff "$scratch/sim" "$scratch/tcp" || fail "the worlds differ in words"

# Nobody waits for the timeout of half an hour when the records are enough.
lockstep run --backend tcp --world-size 2 --patience 0.3 deadlock
[ "$status" -eq 11 ] || fail "tcp: status $status after the patience"
waits >"$scratch/proved"
diff "$scratch/sim" "$scratch/proved" || fail "other words after the patience"
expect 10 run --backend tcp --world-size 3 --patience 0.3 mismatch
# A round that cannot move has failed as any other, and its dumps tell why.
expect 11 run --backend tcp --world-size 2 --patience 0.3 --max-restarts 1 \
	--dump "$scratch/dump" deadlock
expect_err 'rank [01] cannot move; restart 1 of 1'
expect 11 diagnose "$scratch"/dump*
waits >"$scratch/diagnosed"
diff "$scratch/sim" "$scratch/diagnosed" || fail "other words from the dumps"
expect 12 run --backend tcp --world-size 3 --patience 0.3 --timeout 1 \
	"$wrong" late_for_the_sum

# The same call, but of another group with the same ranks.
for world in "--backend tcp --patience 0.3" "--backend sim --platform star-8"; do
	# shellcheck disable=SC2086 # words
	expect 11 run $world --world-size 3 "$wrong" group_of_another_layer
	expect_err 'rank 2 waits in all_reduce.* of group mlp at .*; rank 0 waits in the same call, but of group attention, which has the same ranks$'
done

# A rank that asks for a key in a loop may have an end in mind: no verdict, but a
# line says so.
"$LOCKSTEP" run --patience 0.02 --nproc-per-node 3 "$wrong" polls_for_a_key \
	>"$scratch/out" 2>"$scratch/err" </dev/null &
id=$!
place='tests/programs/keys.c:[0-9]+, and [12] more do$'
wait_for grep -qE "rank [0-2] asks for key \"ready\" again and again at $place" \
	"$scratch/err" || fail "not said of ranks that poll: $(cat "$scratch/err")"
kill $id
wait $id
status=$?
[ "$status" -eq 143 ] || fail "ranks that poll: status $status"

finish
