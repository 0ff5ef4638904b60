#!/bin/bash
# peers.sh COMMAND PEERS DIR - time lockstep bench and the programs in PEERS
# (gloo, openmpi, mpich, ucc; those that are there) in turns: in every round all
# of them at each point, in random order, so that a slow spell of the machine
# meets everyone. DIR gets runs.tsv (every run, with its conditions), ratios.tsv (how
# many times faster ours is than each peer), log (what runs said) and a figure
# for each collective.
#
# PEERS_WORLDS, PEERS_SIZES (bytes), PEERS_COLLECTIVES, PEERS_ROUNDS,
# PEERS_TRANSPORTS (tcp, shm) say what, PEERS_SECONDS how long a peer may go on
# with its iterations (those that spin take their processors from each other
# where ranks outnumber them: fewer iterations, which the table tells), and
# PEERS_LIMIT how many seconds a run may take; one that takes longer or fails is
# left out from there on, with a word. Over TCP every peer has the congestion
# control that ours takes (PEERS_CONGESTION=ours), or, as users have it, the
# system's (system).
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8

lockstep=$1 peers=$2 dir=$3
: "${PEERS_WORLDS:=2 4}" "${PEERS_ROUNDS:=5}" "${PEERS_LIMIT:=30}"
: "${PEERS_SECONDS:=4}"
: "${PEERS_SIZES:=8 1024 32768 262144 4194304 33554432}"
: "${PEERS_COLLECTIVES:=all_reduce}" "${PEERS_TRANSPORTS:=tcp shm}"
: "${PEERS_CONGESTION:=ours}"
for name in PEERS_WORLDS PEERS_ROUNDS PEERS_LIMIT PEERS_SECONDS PEERS_SIZES; do
	for word in ${!name}; do
		[[ $word =~ ^[1-9][0-9]*$ ]] && continue
		echo "peers.sh: $name: expected a number from 1 on, not" \
			"\"$word\"" >&2
		exit 2
	done
done
case $PEERS_CONGESTION in
ours | system) ;;
*)
	echo "peers.sh: PEERS_CONGESTION: expected ours or system, not" \
		"\"$PEERS_CONGESTION\"" >&2
	exit 2
	;;
esac
for name in gloo openmpi mpich ucc; do
	[ -x "$peers/$name" ] || echo "without $name, which is not built here" >&2
done
[ -x "$peers/ucc" ] ||
	echo "UCC_HOME=PATH make bench-peers takes the UCC installed in PATH" >&2
# Which congestion control ours takes, and which the system gives.
ours=$("$lockstep" list backends |
	sed -n 's/^tcp .* congestion control \([^ ]*\).*/\1/p')
[ "$ours" ] || {
	echo "peers.sh: $lockstep list backends: expected the congestion" \
		"control of tcp" >&2
	exit 2
}
congestion=$ours of_peers=()
if [ "$PEERS_CONGESTION" = system ]; then
	congestion=$(cat /proc/sys/net/ipv4/tcp_congestion_control)
elif [ -e "$peers/congestion.so" ]; then
	of_peers=(env "LD_PRELOAD=$(realpath "$peers/congestion.so")"
		"PEER_CONGESTION=$congestion")
else
	echo "peers.sh: no $peers/congestion.so; PEERS_CONGESTION=system does" \
		"without" >&2
	exit 2
fi
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
declare -A left_out
# Open MPI asks twice before root may use it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# The name of a collective, by that name, nccl-tests' or torch's.
name_of() { # word
	local name word=${1,,}

	word=${word%_perf} word=${word%_single} word=${word%_into_tensor}
	word=${word%_tensor} word=${word//[_-]/}
	for name in all_reduce broadcast reduce all_gather reduce_scatter \
		alltoall gather scatter sendrecv; do
		[ "${name//_/}" != "$word" ] || echo "$name"
	done
}

# What there is to run over a transport. Gloo knows TCP alone, and two
# algorithms of one collective.
libraries_of() { # transport, collective
	echo lockstep
	[ ! -x "$peers/openmpi" ] || echo openmpi
	[ ! -x "$peers/mpich" ] || echo mpich
	[ ! -x "$peers/ucc" ] || echo ucc
	if [ ! -x "$peers/gloo" ] || [ "$1" != tcp ]; then
		return
	fi
	if [ "$2" = all_reduce ]; then
		echo gloo-ring gloo-bcube
	else
		echo gloo
	fi
}

# iterations, calls and warm-up: more of what is short, so that the kernel has
# spread the ranks over the processors before they are timed: that takes it tens
# of milliseconds.
effort_of() { # ranks, bytes
	local calls=$((400 / $1))

	if [ "$2" -le 65536 ]; then
		echo 15 $((calls > 5 ? calls : 5)) 60
	elif [ "$2" -le 1048576 ]; then
		echo 15 5 20
	elif [ "$2" -le 8388608 ]; then
		echo 20 1 20
	elif [ "$2" -le 33554432 ]; then
		echo 10 1 2
	else
		echo 5 1 1
	fi
}

# Sets the words that run a library, without what all peers take.
set_command() { # library, transport, ranks
	case $1:$2 in
	openmpi:*)
		command=(mpirun.openmpi --oversubscribe -n "$3")
		[ "$2" = shm ] || command+=(--mca pml ob1 --mca btl "tcp,self"
			--mca btl_tcp_if_include lo)
		command+=("$peers/openmpi")
		;;
	ucc:*)
		command=(mpirun.openmpi --oversubscribe -n "$3"
			--mca pml ob1 --mca btl "tcp,self"
			--mca btl_tcp_if_include lo)
		if [ "$2" = shm ]; then
			command+=(-x UCX_TLS="shm,self")
		else
			command+=(-x UCX_TLS="tcp,self" -x UCX_NET_DEVICES=lo)
		fi
		command+=("$peers/ucc")
		;;
	mpich:*)
		command=(mpirun.mpich -n "$3")
		[ "$bind" = none ] || command+=(-bind-to core)
		[ "$2" = shm ] || command+=(-genv MPIR_CVAR_NOLOCAL 1
			-genv UCX_TLS "tcp,self" -genv UCX_NET_DEVICES lo)
		command+=("$peers/mpich")
		;;
	gloo*)
		command=(env "PEER_STORE=$(mktemp -d -p "$scratch")"
			"PEER_ALGORITHM=${1#gloo-}" "$lockstep" run
			--nproc-per-node "$3" "$peers/gloo")
		;;
	esac
}

# Prints the median, smallest and largest time of one run, and the number of its
# iterations. Open MPI binds two ranks, not more, to processors; so do we, and
# so does MPICH when it is told to.
run() { # library, transport, collective, ranks, bytes
	local command bind=none

	[ "$4" -gt 2 ] || [ "$(nproc)" -lt 2 ] || bind=core
	if [ "$1" = lockstep ]; then
		timeout -k 5 "$PEERS_LIMIT" "$lockstep" bench "$3" \
			--backend tcp --intra "$2" --nproc-per-node "$4" \
			--bind-to $bind \
			-b "$5" -e "$5" -n "$iterations" -m "$calls" \
			-w "$warmup" --tsv "$scratch/row" >/dev/null &&
			sed 1,2d "$scratch/row" | cut -f 3-5 |
			sed "s/\$/\t$iterations/"
	else
		set_command "$1" "$2" "$4"
		[ "$2" = shm ] || command=("${of_peers[@]}" "${command[@]}")
		timeout -k 5 "$PEERS_LIMIT" "${command[@]}" "$3" "$5" \
			"$iterations" "$calls" "$warmup" "$PEERS_SECONDS"
	fi
}

# One run, as a line of runs.tsv. Once it has told its times it may end as it
# likes.
try() { # library, transport, collective, ranks, bytes
	local point="$2 $3 $4 $5" status=0 iterations calls warmup

	[ -z "${left_out[$1 $point]-}" ] || return 0
	read -r iterations calls warmup <<<"$(effort_of "$4" "$5")"
	run "$@" >"$scratch/out" 2>"$scratch/error" </dev/null || status=$?
	if [ $status -eq 0 ] || [ -s "$scratch/out" ]; then
		printf '%s\t%s\t%s\t%s\n' "$round" \
			"${point// /$'\t'}"$'\t'"$1" \
			"$(head -n 1 "$scratch/out")" "$iterations" \
			>>"$scratch/runs"
		return 0
	fi
	left_out[$1 $point]=1
	[ $status -ne 124 ] || echo "took over $PEERS_LIMIT s" >"$scratch/why"
	[ $status -eq 124 ] || cp "$scratch/error" "$scratch/why"
	printf '# left out: %s, %s: status %s, %s\n' "$1" "$point" $status \
		"$(grep -m 1 . "$scratch/why" || echo "no word")" |
		tee -a "$scratch/runs" >&2
	cat "$scratch/error" >>"$dir/log"
}

version() { # package
	dpkg-query -W -f "\${Package} \${Version}" "$1" 2>/dev/null || true
}

collectives=
for word in $PEERS_COLLECTIVES; do
	name=$(name_of "$word")
	[ "$name" ] || {
		echo "peers.sh: PEERS_COLLECTIVES: no collective \"$word\"" >&2
		exit 2
	}
	collectives+=" $name"
done
mkdir -p "$dir"
: >"$dir/log"
{
	echo "# $(uname -srm), $(nproc) cores, load $(cut -d ' ' -f 1-3 \
		/proc/loadavg), $(date -u +%Y-%m-%d)"
	echo "# $("$lockstep" --version); $(version libgloo0);" \
		"$(version openmpi-bin); $(version mpich); $(version libucc1)"
	echo "# congestion control over tcp: $ours of ours, $congestion of" \
		"the peers; user $(id -un)"
	echo "# times by call in microseconds, of the slowest rank"
	printf 'round\ttransport\tcollective\tranks\tsize_bytes\tlibrary\t'
	printf 'time_us\tmin_us\tmax_us\titerations\tasked\n'
} >"$scratch/runs"
for ((round = 1; round <= PEERS_ROUNDS; round++)); do
	echo "round $round of $PEERS_ROUNDS" >&2
	for collective in $collectives; do
		for ranks in $PEERS_WORLDS; do
			for size in $PEERS_SIZES; do
				for transport in $PEERS_TRANSPORTS; do
					libraries=$(libraries_of "$transport" \
						"$collective" | xargs -n 1 | shuf)
					for library in $libraries; do
						try "$library" "$transport" \
							"$collective" \
							"$ranks" "$size"
					done
				done
			done
		done
	done
done
mv "$scratch/runs" "$dir/runs.tsv"
awk -f bench/peers/ratios.awk "$dir/runs.tsv" >"$scratch/ratios"
mv "$scratch/ratios" "$dir/ratios.tsv"

awk -f bench/peers/table.awk "$dir/ratios.tsv"
sed -n 's/^# left out/left out/p' "$dir/runs.tsv"
for collective in $collectives; do
	awk -v c="$collective" 'NR == 1 || $2 == c' "$dir/ratios.tsv" \
		>"$scratch/figure"
	[ "$(wc -l <"$scratch/figure")" -gt 1 ] || continue
	for kind in svg png; do
		gnuplot -e "input='$scratch/figure'" \
			-e "output='$dir/$collective.$kind'" \
			-e "title='$collective: how many times faster ours is'" \
			-e "transports='$PEERS_TRANSPORTS'" \
			-e "worlds='$PEERS_WORLDS'" plots/peers.gp
	done
	printf '  %-40s %s\n' "$dir/$collective.{svg,png}" \
		"ours against each peer, by size"
done
printf '  %-40s %s\n' "$dir/runs.tsv" "every run" "$dir/ratios.tsv" "the ratios"
