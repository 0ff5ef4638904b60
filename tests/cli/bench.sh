#!/bin/bash
# The benches time every collective in both worlds, with right results.
. tests/cli/support.bash

sim=(--backend sim --platform star-8)

collectives="all_reduce broadcast reduce all_gather reduce_scatter alltoall
	gather scatter sendrecv"
for collective in $collectives; do
	for world in sim tcp; do
		options=(--backend tcp -n 3 -w 1)
		[ $world = sim ] && options=("${sim[@]}" -c 1)
		expect 0 bench "$collective" "${options[@]}" \
			--nproc-per-node 3 -b 0 -e 64K -f 64
		expect_out '^# Out of bounds values : 0 OK$'
		expect_out '^ +65532 |^ +65536 |^ +16384 |^ +16380 '
		expect_out '^# Avg bus bandwidth'
	done
done

# nccl-tests' columns, in its order.
expect 0 bench all_reduce "${sim[@]}" -b 1K -e 1K --tsv "$scratch/tsv"
expect_out '^# +size +count +type +redop +root +time +algbw +busbw +#wrong'
expect_out '^ +1024 +256 +float +sum +-1 +[0-9.]+ +[0-9.]+ +[0-9.]+ +N/A '
[ "$(grep -c '^1024' "$scratch/tsv")" -eq 1 ] || fail "TSV without the row"

# busbw is algbw times the factor in nccl-tests' PERFORMANCE.md; n is 4 here:
# 2 (n - 1) / n, (n - 1) / n, 1.
expect_factor() { # collective, factor
	expect 0 bench "$1" "${sim[@]}" --nproc-per-node 4 -b 1M -e 1M --json
	awk -v f="$2" '/algbw/ { a = $2 + 0 } /"busbw_GBps/ { b = $2 + 0 }
		END { exit !(a > 0 && (b / a - f) ^ 2 < 1e-8) }' \
		"$scratch/out" || fail "$1: busbw is not $2 algbw"
}
expect_factor all_reduce 1.5
for collective in all_gather reduce_scatter alltoall gather scatter; do
	expect_factor $collective 0.75
done
for collective in broadcast reduce sendrecv; do
	expect_factor $collective 1
done

# Every legal type and operation, whose results are known.
for type in float double half bfloat16 int8 uint8 int32 int64 bool; do
	for op in sum prod min max avg band bor bxor; do
		case $type:$op in
		bool:avg | float:b* | double:b* | half:b* | bfloat16:b*)
			expect_refusal '-o' bench all_reduce -d $type -o $op
			continue
			;;
		esac
		for collective in all_reduce reduce_scatter; do
			expect 0 bench $collective "${sim[@]}" \
				--nproc-per-node 5 -b 1000 -e 1000 -d $type \
				-o $op -c 1
			expect_out '^# Out of bounds values : 0 OK$'
		done
	done
done

# One name with and without underscores.
expect 0 bench all_to_all "${sim[@]}" -b 1K -e 1K
expect_out '^# collective: alltoall '

expect_refusal 'which collective' bench
expect_refusal 'which collective' bench all_gatherer
expect_refusal 'which collective' bench all
expect_refusal 'one collective' bench all_reduce reduce
expect_refusal '-b' bench all_reduce -b many
expect_refusal '-e' bench all_reduce -b 8 -e 4
expect_refusal '-f' bench all_reduce -f 1
expect_refusal '-n' bench all_reduce -n 0
expect_refusal '-d' bench all_reduce -d short
expect_refusal '-o' bench all_reduce -o xor
expect_refusal 'sendrecv' bench sendrecv --nproc-per-node 1
expect_refusal '-r' bench broadcast "${sim[@]}" -r 4
expect_refusal 'nproc' bench all_reduce --nproc-per-node -1
expect_refusal 'platform' bench all_reduce --backend sim

finish
