#!/bin/bash
# The benches time every collective in both worlds, with right results.
. tests/cli/support.bash

sim=(--backend sim --platform star-8)

for collective in all_reduce broadcast reduce; do
	for world in sim tcp; do
		options=(--backend tcp -n 3 -w 1)
		[ $world = sim ] && options=("${sim[@]}" -c 1)
		expect 0 bench "$collective" "${options[@]}" \
			--nproc-per-node 3 -b 0 -e 64K -f 64
		expect_out '^# Out of bounds values : 0 OK$'
		expect_out '^ +65536 |^ +16384 '
		expect_out '^# Avg bus bandwidth'
	done
done

# nccl-tests' columns, in its order.
expect 0 bench all_reduce "${sim[@]}" -b 1K -e 1K --tsv "$scratch/tsv"
expect_out '^# +size +count +type +redop +root +time +algbw +busbw +#wrong'
expect_out '^ +1024 +256 +float +sum +-1 +[0-9.]+ +[0-9.]+ +[0-9.]+ +N/A '
[ "$(grep -c '^1024' "$scratch/tsv")" -eq 1 ] || fail "TSV without the row"

# busbw is algbw times 2 (n - 1) / n.
expect 0 bench all_reduce "${sim[@]}" --nproc-per-node 4 -b 1M -e 1M --json
awk '/algbw/ { a = $2 + 0 } /"busbw_GBps/ { b = $2 + 0 }
	END { exit !(a > 0 && b / a > 1.4999 && b / a < 1.5001) }' \
	"$scratch/out" || fail "busbw is not 1.5 algbw: $(cat "$scratch/out")"

for type in float double half bfloat16 int8 uint8 int32 int64; do
	for op in sum prod min max avg; do
		expect 0 bench all_reduce "${sim[@]}" --nproc-per-node 5 \
			-b 1000 -e 1000 -d $type -o $op -c 1
	done
done

expect_refusal 'which collective' bench
expect_refusal 'which collective' bench all_gather
expect_refusal 'one collective' bench all_reduce reduce
expect_refusal '-b' bench all_reduce -b many
expect_refusal '-e' bench all_reduce -b 8 -e 4
expect_refusal '-f' bench all_reduce -f 1
expect_refusal '-n' bench all_reduce -n 0
expect_refusal '-d' bench all_reduce -d short
expect_refusal '-o' bench all_reduce -o xor
expect_refusal '-r' bench broadcast "${sim[@]}" -r 4
expect_refusal 'nproc' bench all_reduce --nproc-per-node -1
expect_refusal 'platform' bench all_reduce --backend sim

finish
