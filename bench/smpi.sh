#!/bin/bash
# smpi.sh - what it costs to simulate a ring all-reduce message by message: ours
# and SMPI, SimGrid's own simulation of MPI programs, on one platform, by one
# model of its links: processor seconds, and the simulated time. (SMPI copies what it
# sends, here out of one memory that all ranks share.) Without smpicc it is left out,
# with a word. RANKS, BYTES.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8
: "${LOCKSTEP:=build/default/lockstep}" "${RANKS:=64 256}" "${BYTES:=104857600}"
command -v smpicc smpirun >/dev/null || {
	echo "smpi: no smpicc and smpirun here (Debian: libsimgrid-dev)"
	exit 77
}
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
smpicc -O2 bench/peers/smpi.c -o "$scratch/all_reduce"

# star RANKS - hosts around a switch, as bench/sim_scale.c has them.
star() {
	cat <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
    <prop id="network/model" value="CM02"/>
    <prop id="network/crosstraffic" value="0"/>
    <prop id="network/TCP-gamma" value="0"/>
    <prop id="network/weight-S" value="0"/>
  </config>
  <cluster id="star" prefix="host-" suffix="" radical="0-$(($1 - 1))"
           speed="1Gf" bw="25GBps" lat="1us" sharing_policy="SPLITDUPLEX"/>
</platform>
END
}

# cost COMMAND... - its processor seconds; its output is in out.
cost() {
	command time -f '%U %S' -o "$scratch/cost" "$@" \
		>"$scratch/out" 2>"$scratch/said" || {
		tail -n 3 "$scratch/said" >&2
		return 1
	}
	awk '{ printf "%.2f", $1 + $2 }' "$scratch/cost"
}

line() { # what, ranks, processor seconds, simulated us
	printf '%-8s %6s %12s %14s\n' "$@"
}

line what ranks 'processor s' 'simulated us'
for ranks in $RANKS; do
	star "$ranks" >"$scratch/star.xml"
	for ((i = 0; i < ranks; i++)); do
		echo "host-$i"
	done >"$scratch/hosts"
	seconds=$(cost "$LOCKSTEP" bench all_reduce --backend sim --platform \
		"$scratch/star.xml" --world-size "$ranks" --fidelity message \
		--algorithm ring -b "$BYTES" -e "$BYTES" --tsv "$scratch/row")
	line ours "$ranks" "$seconds" "$(sed 1,2d "$scratch/row" | cut -f 3)"
	seconds=$(cost smpirun -np "$ranks" -platform "$scratch/star.xml" \
		-hostfile "$scratch/hosts" --cfg=network/model:CM02 \
		--cfg=smpi/allreduce:lr --cfg=smpi/simulate-computation:no \
		"$scratch/all_reduce" $((BYTES / 4)))
	line SMPI "$ranks" "$seconds" \
		"$(awk '/^[0-9.]+$/ { print $1 * 1e6 }' "$scratch/out")"
done
