#!/bin/bash
# nccl.sh - what NCCL's collectives take on this machine's GPUs, from one GPU,
# where only the launch counts, to all of them, and from NCCL 2.30 on with $SHARE
# (4) times as many ranks, which share them: as TSV with its conditions, in $OUT
# (build/bench/nccl.tsv). Without a GPU: exit 77, saying why.
set -eu
: "${LOCKSTEP:=build/default/lockstep}" "${OUT:=build/bench/nccl.tsv}"

found=$("$LOCKSTEP" list backends | sed -n 's/^nccl *//p')
case $found in
yes*) ;;
*)
	echo "skipped: nccl: ${found##*  }"
	exit 77
	;;
esac
devices=${found% device*}
devices=${devices##* }
most=$devices
version=$(sed -n 's/.*NCCL \([0-9]*\)\.\([0-9]*\)\..*/\1 \2/p' <<<"$found")
((${version% *} * 100 + ${version#* } < 230)) || most=$((devices * ${SHARE:-4}))
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
mkdir -p "$(dirname "$OUT")"

# Conditions: what was measured, on what, when.
{
	echo "# ${found##*NCCL  }"
	echo "# $(uname -srm), $(nproc) cores"
	nvidia-smi --query-gpu=index,name,driver_version,clocks.max.sm \
		--format=csv,noheader 2>/dev/null | sed 's/^/# GPU /' || true
	echo "# $("$LOCKSTEP" --version), $(date -u +%Y-%m-%d)"
	pgrep -f nvidia-cuda-mps-control >/dev/null && mps=runs || mps='does not run'
	echo "# CUDA MPS $mps: without it ranks that share a GPU take turns on it"
	echo "# device tensors; the median over the iterations of the slowest" \
		"rank's time, which includes agreeing beside NCCL"
} >"$scratch/out"

for ((world = 1; world <= most; world *= 2)); do
	gpus=$((world < devices ? world : devices))
	for collective in all_reduce broadcast reduce all_gather reduce_scatter \
		alltoall gather scatter sendrecv; do
		[ "$collective$world" != sendrecv1 ] || continue
		"$LOCKSTEP" bench "$collective" --backend nccl \
			--nproc-per-node "$world" -b 8 -e "${MAX:-256M}" -f 4 \
			--tsv "$scratch/one" >/dev/null 2>"$scratch/err" ||
			{ cat "$scratch/err" && exit 1; }
		grep -q '^ranks' "$scratch/out" ||
			sed -n '/^[^#]/{s/^/ranks\tgpus\tcollective\t/p;q}' \
				"$scratch/one" >>"$scratch/out"
		sed "1,/^[^#]/d; s/^/$world\t$gpus\t$collective\t/" "$scratch/one" \
			>>"$scratch/out"
	done
done
mv "$scratch/out" "$OUT"
echo "$OUT: $(grep -vc '^#' "$OUT") lines"
