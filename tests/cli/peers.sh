#!/bin/bash
# Ours is held against peers in turns: on runs whose ratios are known, and with
# peers that answer at once, run out of time, hang, or fail.
. tests/cli/support.bash

# Ours takes 10, 20, 40; fast 20, 20, 20; slow 100, 400, 100 and, in the first
# round alone, an operation of another size that fast lacks. The shortest calls
# of a round r take an r-th of that. Slow makes r of 3 iterations.
{
	echo "# conditions"
	printf 'round\ttransport\tcollective\tranks\tsize_bytes\tlibrary\t'
	printf 'time_us\tmin_us\tmax_us\titerations\tasked\n'
	for run in 1:lockstep:10 1:fast:20 1:slow:100 2:slow:400 2:fast:20 \
		2:lockstep:20 3:lockstep:40 3:slow:100 3:fast:20; do
		IFS=: read -r round library time <<<"$run"
		made=3
		[ "$library" != slow ] || made=$round
		printf '%s\ttcp\treduce\t4\t8\t%s\t%s\t%s\t%s\t%s\t3\n' \
			"$round" "$library" "$time" $((time / round)) "$time" \
			"$made"
	done
	printf '1\tshm\treduce\t4\t64\tlockstep\t30\t20\t30\t3\t3\n'
	printf '1\tshm\treduce\t4\t64\tslow\t15\t9\t15\t2\t3\n'
} >"$scratch/runs.tsv"
awk -f bench/peers/ratios.awk "$scratch/runs.tsv" >"$scratch/ratios.tsv"
cat >"$scratch/wanted" <<'END'
tcp reduce 4 8 fast 20.00 20.00 1.000 0.500 2.000 0.600 1 3 3
tcp reduce 4 8 slow 20.00 100.00 10.000 2.500 20.000 3.300 0 1 3
shm reduce 4 64 slow 30.00 15.00 0.500 0.500 0.500 0.450 1 2 3
END
sed 1d "$scratch/ratios.tsv" | tr '\t' ' ' | diff "$scratch/wanted" - ||
	fail "ratios.awk: not the known ratios"
awk -f bench/peers/table.awk "$scratch/ratios.tsv" >"$scratch/out"
expect_out '^tcp +reduce +4 +8 +20.0 fast +20.0 +0.60 +1.00 \(0.50 to 2.00\)$'
expect_out '^as fast as the best peer, or faster, at 1 of 2 points; worst 0.50: '
expect_out '^shm .* 0.50 \(0.50 to 0.50\), 2 iterations of 3$'
expect_out '^geometric mean over tcp against slow: 10.00 \(1 points\)$'
expect_out '^slow over tcp ran out of time at 1 of them, after as few as 1 it'

# A peer is an executable of its name, started by a launcher on the path.
mkdir "$scratch/bin" "$scratch/peers"
printf '#!/bin/sh\n' >"$scratch/peers/openmpi"
cp "$scratch/peers/openmpi" "$scratch/peers/mpich"
chmod +x "$scratch/peers"/*
# What gives peers our congestion control.
gcc -std=c17 -shared -fPIC -o "$scratch/peers/congestion.so" \
	bench/peers/congestion.c || fail "congestion.c does not compile"
starts() { # launcher, commands
	printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
	chmod +x "$scratch/bin/$1"
}
peers() {
	PATH=$scratch/bin:$PATH PEERS_WORLDS=2 PEERS_SIZES=64 PEERS_ROUNDS=2 \
		PEERS_TRANSPORTS="tcp shm" PEERS_LIMIT="$1" \
		PEERS_COLLECTIVES="${2-all_reduce}" tools/peers.sh \
		"$LOCKSTEP" "$scratch/peers" "$scratch/results" \
		>"$scratch/out" 2>"$scratch/err" ||
		fail "peers.sh: status $?: $(tail -n 3 "$scratch/err")"
}
starts mpirun.openmpi "echo \"\${PEER_CONGESTION-none}\" >>'$scratch/given'
printf '1e6\t1e6\t1e6\t10\n'"
starts mpirun.mpich 'echo "no such link" >&2; exit 3'
peers 30
expect_out '^tcp +all_reduce +2 +64 .* openmpi +1000000.0 +[0-9.]+ +[0-9.]+ \('
expect_out '^as fast as the best peer, or faster, at 2 of 2 points;'
[ "$(grep -c 'left out: mpich, .*: status 3, no such link' \
	"$scratch/results/runs.tsv")" -eq 2 ] ||
	fail "a peer that fails: not left out once for each transport"
[ "$(grep -c '	openmpi	' "$scratch/results/runs.tsv")" -eq 4 ] ||
	fail "not one run for each round and transport"
# Over TCP all have ours, and it is said which.
ours=$("$LOCKSTEP" list backends |
	sed -n 's/^tcp .* congestion control \([a-z]*\).*/\1/p')
grep -q "^# congestion control over tcp: $ours of ours, $ours of the peers; " \
	"$scratch/results/runs.tsv" || fail "does not say which control"
[ "$(sort "$scratch/given" | uniq -c | xargs)" = \
	"$(printf '2 %s\n2 none\n' "$ours" | sort -k 2 | xargs)" ] ||
	fail "peers were given $(xargs <"$scratch/given"), not $ours over TCP"
grep -q '^without ucc, ' "$scratch/err" || fail "does not say that UCC lacks"
for kind in svg png; do
	[ -s "$scratch/results/all_reduce.$kind" ] || fail "no $kind"
done

starts mpirun.mpich 'sleep 60'
peers 10
grep -q 'left out: mpich, tcp all_reduce 2 64: status 124, took over 10 s' \
	"$scratch/err" || fail "a peer that hangs: $(cat "$scratch/err")"

# A peer that has answered may hang, and a collective have any of its names.
starts mpirun.mpich "printf '1e6\t1e6\t1e6\t10\n'; exec sleep 60"
peers 8 all_to_all_single
[ "$(grep -c 'alltoall	2	64	mpich	1e6' "$scratch/results/runs.tsv")" \
	-eq 4 ] || fail "a peer that hangs after its answer: left out"
! PEERS_COLLECTIVES="all_reduce all_to_none" tools/peers.sh "$LOCKSTEP" \
	"$scratch/peers" "$scratch/refused" 2>"$scratch/err" ||
	fail "all_to_none: accepted"
grep -q 'no collective "all_to_none"' "$scratch/err" ||
	fail "all_to_none: $(cat "$scratch/err")"
! env PEERS_CONGESTION=fast tools/peers.sh "$LOCKSTEP" "$scratch/peers" \
	"$scratch/refused" 2>"$scratch/err" || fail "PEERS_CONGESTION=fast: accepted"
grep -q 'PEERS_CONGESTION: expected ours or system, not "fast"' "$scratch/err" ||
	fail "PEERS_CONGESTION=fast: $(cat "$scratch/err")"
! tools/peers.sh /bin/true "$scratch/peers" "$scratch/refused" \
	2>"$scratch/err" || fail "a command that names no control: accepted"
grep -q '/bin/true list backends: expected the congestion control of tcp' \
	"$scratch/err" || fail "/bin/true: $(cat "$scratch/err")"
for wrong in PEERS_SECONDS=-1 PEERS_SIZES=8K PEERS_ROUNDS=0; do
	! env "$wrong" tools/peers.sh "$LOCKSTEP" "$scratch/peers" \
		"$scratch/refused" 2>"$scratch/err" || fail "$wrong: accepted"
	grep -q "${wrong%=*}: expected a number from 1 on" "$scratch/err" ||
		fail "$wrong: $(cat "$scratch/err")"
done
[ ! -e "$scratch/refused" ] || fail "a folder made for nothing"

# Without a peer there is nothing to compare, and nothing to draw.
rm "$scratch/peers"/{openmpi,mpich}
peers 30
expect_out '^nothing to compare: no peer ran$'

finish
