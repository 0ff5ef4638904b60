#!/bin/bash
# Ranks over each MPI that is installed: started by our launcher, under mpirun,
# and by mpirun alone.
. tests/cli/support.bash

export LOCKSTEP_TIMEOUT=60

# under LIBRARY RANKS WORDS... - the words under that library's mpirun.
under() {
	local options=()
	[ "$1" = mpich ] || options=(--oversubscribe --allow-run-as-root)
	free_port
	MASTER_PORT=$port timeout 600 "mpirun.$1" "${options[@]}" -n "$2" "${@:3}" \
		>"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
}

# well WHAT [PATTERN] - the last job ended well and said so.
well() {
	[ "$status" -eq 0 ] && grep -q "${2:-^}" <(cat "$scratch/out"; echo) &&
		return
	fail "$1: status $status"
	head -n 20 "$scratch/out" "$scratch/err"
}

by_our_launcher() {
	local threads i

	expect 0 run --backend mpi --nproc-per-node 3 hello
	expect_out '^3 ranks over mpi: the sum of ones is 3$'
	for threads in funneled serialized; do
		LOCKSTEP_MPI_THREADS=$threads expect 0 run --backend mpi \
			--nproc-per-node 3 --trace "$scratch/$threads.json" \
			tutorial_collectives
		expect 0 trace show "$scratch/$threads.json"
		expect_out "mpi threads: $threads"
	done
	# A rank ends while its own process manager may still answer MPI.
	for ((i = 0; i < 10; i++)); do
		expect 0 run --backend mpi --nproc-per-node 4 hello
	done
	expect 10 run --backend mpi --nproc-per-node 3 mismatch
	grep -q 'rank 2 called reduce(sum, dst 1, .* at .*mismatch.c:' \
		"$scratch/err" || fail "$library: no verdict on a mismatch"
	expect 11 run --backend mpi --nproc-per-node 2 deadlock
	expect 13 run --backend mpi --nproc-per-node 4 "$wrong" is_killed
	grep -q 'killed by signal 9' "$scratch/err" ||
		fail "$library: no verdict on a lost rank"
	expect 19 run --backend mpi --nproc-per-node 3 "$wrong" stale_file
	expect_err "ranks 0-2 \\(3\\) called init_process_group at tests/programs/rendezvous.c:[0-9]+, which was refused"
	expect 1 run --backend mpi --algorithm ring hello
	grep -q "MPI chooses its own" "$scratch/err" || fail "an algorithm"
}

by_mpirun() {
	local other i

	if ! command -v "mpirun.$library" >/dev/null; then
		echo "no mpirun.$library here"
		return
	fi
	under "$library" 3 "$LOCKSTEP" run --backend mpi hello
	well "$library: lockstep run under mpirun" '^3 ranks over mpi'
	LOCKSTEP_BACKEND=mpi under "$library" 2 "$wrong" ring_sends_first correct
	well "$library: mpirun alone"
	other=$([ "$library" = mpich ] && echo openmpi || echo mpich)
	# MPICH's mpirun itself dies now and then, by SIGPIPE, where its ranks
	# end at once; what they said is lost then.
	for ((i = 0; i < 5; i++)); do
		LOCKSTEP_MPI=$other under "$library" 2 "$LOCKSTEP" run \
			--backend mpi hello
		[ "$status" -eq 141 ] || break
	done
	if [ "$status" -eq 0 ] ||
		! grep -q "LOCKSTEP_MPI is $other, but the mpirun" "$scratch/err"; then
		fail "$library: under another's mpirun: status $status"
		head -n 20 "$scratch/out" "$scratch/err"
	fi
}

tried=0
for library in openmpi mpich; do
	export LOCKSTEP_MPI=$library
	lockstep run --backend mpi hello
	if [ "$status" -ne 77 ]; then
		by_our_launcher
	else
		cat "$scratch/err"
		# Open MPI 5
		grep -q 'under its own mpirun alone' "$scratch/err" || continue
	fi
	by_mpirun
	tried=$((tried + 1))
done

# What killed ranks left is gone once a later job has begun; those of another
# test may be killed meanwhile.
left() {
	local folder

	for folder in /dev/shm/lockstep-mpi-*; do
		[ ! -O "$folder" ] || ! flock -n "$folder" true || return 0
	done
	return 1
}
for ((i = 0; i < 10; i++)); do
	LOCKSTEP_MPI=openmpi lockstep run --backend mpi hello
	left || break
done
[ "$status" -eq 77 ] || ! left || fail "a folder in /dev/shm is left"

LOCKSTEP_MPI=mine expect 2 run --backend mpi hello
expect_err '^lockstep run: mpi: LOCKSTEP_MPI is "mine": expected openmpi or mpich$'
LOCKSTEP_MPI=mine expect 2 check --conformance --backend mpi
LOCKSTEP_MPI=mine expect 0 list backends
expect_out '^mpi  *no .* LOCKSTEP_MPI is "mine": expected'
LOCKSTEP_MPI_THREADS=two expect 2 run --backend mpi hello
expect_err 'LOCKSTEP_MPI_THREADS is "two": expected serialized or funneled$'
[ "$tried" -gt 0 ] || {
	echo "no MPI here"
	exit 77
}
finish
