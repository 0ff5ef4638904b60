#!/bin/bash
# Over Open MPI and over MPICH, where they are installed: the conformance table,
# what lockstep list backends has, verdicts as over TCP, ranks that mpirun
# started, a program that calls MPI itself, traces.
. tests/cli/support.bash

[ "$SANITIZED" = no ] || {
	echo "an MPI is not built with sanitizers"
	exit 77
}
every_call=$(dirname "$LOCKSTEP")/tests/cli/every_call
# Open MPI asks twice before root may use it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LOCKSTEP_MPI

# mpirun NUMBER WORDS... - starts so many ranks by the MPI's own mpirun, with
# output and status as lockstep's.
mpirun() {
	local words=("mpirun.$LOCKSTEP_MPI" -n "$1")
	[ "$LOCKSTEP_MPI" = mpich ] || words+=(--oversubscribe)
	shift
	free_port
	MASTER_PORT=$port timeout 60 "${words[@]}" "$@" >"$scratch/out" \
		2>"$scratch/err" </dev/null
	status=$?
}

# expect_well WHAT - the last command's status is 0.
expect_well() {
	[ "$status" -eq 0 ] && return
	fail "$LOCKSTEP_MPI: $1: status $status"
	head -n 20 "$scratch/out" "$scratch/err"
}

# Prints what the verdict on a program of the catalogue is about.
verdict() { # back end, program, ranks
	local seconds=600 level=info

	[[ $2 != @(impatient|late*|two_are_late) ]] || seconds=2
	[[ $2 != written_before_wait ]] || level=detail
	rm -f "$scratch/json"
	lockstep check --backend "$1" --debug $level --patience 0.5 \
		--timeout $seconds \
		--json "$scratch/json" --nproc-per-node "$3" "$wrong" "$2"
	jq -c '[.verdict, .culprits, .exit_status], (.sites[] |
		select(.role == "culprit") | [.ranks, .file, .line])' \
		"$scratch/json" ||
		cat "$scratch/err"
	echo "status $status"
}

# Ranks disagree, one does not come, none can move, one is killed, crashes,
# leaves or is late; a call is refused; an operation is left; one misses a call
# in which it would only be handed something, or was to hand something on;
# memory is touched too early.
zoo='branches_on_a_reduce shard_not_padded shard_of_another_length
	message_too_long barrier_in_a_branch ring_receives_first
	two_groups_crossed crashes is_killed exits_with_3 leaves_the_job_early
	late_for_the_sum bits_of_floats never_waited_for polls_in_vain
	skips_the_last_gather skips_the_last_broadcast
	made_without_one written_before_wait forwarded_before_wait
	waited_for_another'

hold_verdicts() {
	local name ranks

	for name in $zoo; do
		ranks=$("$wrong" list | awk -F '|' -v name="$name" \
			'$1 == name { print $2 }')
		[ -s "$scratch/tcp.$name" ] ||
			verdict tcp "$name" "$ranks" >"$scratch/tcp.$name"
		! grep -q '"fine"' "$scratch/tcp.$name" ||
			fail "$name: TCP says that it is fine"
		verdict mpi "$name" "$ranks" >"$scratch/mpi.$name"
		diff "$scratch/tcp.$name" "$scratch/mpi.$name" ||
			fail "$LOCKSTEP_MPI: $name: not TCP's verdict"
	done
}

hold_mpirun() {
	# Ranks by mpirun alone, told of the back end or asking for it.
	LOCKSTEP_BACKEND=mpi mpirun 2 "$every_call"
	expect_well 'mpirun, every call'
	LOCKSTEP_BACKEND=mpi mpirun 4 "$wrong" rows_and_columns correct
	expect_well 'mpirun, groups'
	mpirun 3 "$LOCKSTEP" run --backend mpi "$wrong" each_as_it_likes correct
	expect_well 'lockstep run by mpirun'
	# Nobody of ours is there to tell: the ranks leave their records.
	LOCKSTEP_DUMP=$scratch/dump LOCKSTEP_BACKEND=mpi \
		mpirun 3 "$wrong" branches_on_a_reduce
	[ "$status" -ne 0 ] || fail "$LOCKSTEP_MPI: mpirun: no mismatch"
	expect 10 diagnose "$scratch/dump"
	rm -r "$scratch/dump"
}

# build NAME - $scratch/NAME.c, with the MPI.
build() {
	local library=libmpi.so.40

	[ "$LOCKSTEP_MPI" = openmpi ] || library=libmpich.so.12
	# shellcheck disable=SC2086 # may be of several words
	${CC:-cc} -std=c17 -D"${LOCKSTEP_MPI^^}" -I include "$scratch/$1.c" \
		-o "$scratch/$1" -L "$(dirname "$LOCKSTEP")" -llockstep \
		"-l:$library" -Wl,-rpath,"$(dirname "$LOCKSTEP")" ||
		fail "$1.c"
}

# A program that begins MPI, reduces, lets Lockstep do so, and reduces again.
hold_own_calls() {
	cat >"$scratch/own.c" <<-'END'
		#include <lockstep/dist.h>
		#ifdef OPENMPI
		extern char ompi_mpi_comm_world[], ompi_mpi_int[], ompi_mpi_op_sum[];
		typedef void *handle;
		#define WORLD (void *)ompi_mpi_comm_world
		#define INT (void *)ompi_mpi_int
		#define SUM (void *)ompi_mpi_op_sum
		#else
		typedef int handle;
		#define WORLD 0x44000000
		#define INT 0x4c000405
		#define SUM 0x58000003
		#endif
		int MPI_Init_thread(int *, char ***, int, int *);
		int MPI_Allreduce(const void *, void *, int, handle, handle, handle);
		int MPI_Finalize(void);

		int main(int argc, char **argv)
		{
			struct dist_message message = {""};
			struct dist_init_options options = {
				.backend = "mpi", .message = &message};
			struct dist_group *group;
			int one = 1, sum = 0, level, bad = 0;

			MPI_Init_thread(&argc, &argv, 2, &level);
			MPI_Allreduce(&one, &sum, 1, INT, SUM, WORLD);
			bad += sum != 3;
			if (dist_init_process_group(&options, &group))
				return 2;
			bad += dist_all_reduce(group, dist_tensor(&sum, 1, DIST_INT32),
					       DIST_SUM, NULL) != DIST_OK || sum != 9;
			bad += dist_destroy_process_group(group) != DIST_OK;
			MPI_Allreduce(&one, &sum, 1, INT, SUM, WORLD);
			bad += sum != 3;
			MPI_Finalize();
			return bad;
		}
	END
	build own
	mpirun 3 "$scratch/own"
	expect_well 'a program that calls MPI'
}

# Which of MPI's functions are called: the one that blocks where all ranks wait
# for a short call, the other elsewhere. A rank that dies when all have agreed,
# and the others are in MPI, which does not hear of it, is a verdict too.
hold_blocking() {
	[ "$(nproc)" -ge 2 ] || {
		echo 'no processor for each of 2 ranks: none blocks in MPI'
		return
	}
	cat >"$scratch/which.c" <<-'END'
		#include <lockstep/dist.h>
		#include <signal.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>

		/* The profiling interface of MPI: handles as wide as pointers, as
		 * Lockstep passes them. */
		int PMPI_Allreduce(const void *, void *, int, uintptr_t, uintptr_t,
				   uintptr_t);
		int PMPI_Iallreduce(const void *, void *, int, uintptr_t, uintptr_t,
				    uintptr_t, void *);
		int MPI_Init_thread(int *, char ***, int, int *);
		static int blocking, other, dies;

		int MPI_Allreduce(const void *in, void *out, int n, uintptr_t type,
				  uintptr_t op, uintptr_t comm)
		{
			blocking++;
			if (dies) {
				sleep(1);
				raise(SIGKILL);
			}
			return PMPI_Allreduce(in, out, n, type, op, comm);
		}

		int MPI_Iallreduce(const void *in, void *out, int n, uintptr_t type,
				   uintptr_t op, uintptr_t comm, void *request)
		{
			other++;
			return PMPI_Iallreduce(in, out, n, type, op, comm, request);
		}

		static float x[1 << 20];

		/* What was called for an all-reduce of n, async on the ranks below
		 * num_async. */
		static void report(struct dist_group *group, int n, int num_async)
		{
			struct dist_work *work = NULL;
			struct dist_tensor t = dist_tensor(x, n, DIST_FLOAT32);
			int rank = dist_get_rank(group);

			blocking = other = 0;
			if (dist_all_reduce(group, t, DIST_SUM,
					    rank < num_async ? &work : NULL) ||
			    (work &&
			     dist_work_wait(work, DIST_TIMEOUT_OF_GROUP)))
				exit(1);
			printf("%d %d: %d %d\n", n, num_async, blocking, other);
		}

		int main(int argc, char **argv)
		{
			struct dist_init_options options = {.backend = "mpi"};
			struct dist_group *group;

			if (!MPI_Init_thread ||
			    dist_init_process_group(&options, &group))
				return 1;
			if (argc > 1)
				dies = dist_get_rank(group) == atoi(argv[1]);
			report(group, 2, 0);
			report(group, 2, 1);
			report(group, 2, 2);
			report(group, 1 << 20, 0);
			if (dist_allow_threads(group))
				return 1;
			report(group, 2, 0);
			return dist_destroy_process_group(group) != DIST_OK;
		}
	END
	build which
	expect 0 run --backend mpi --nproc-per-node 2 "$scratch/which"
	sort -u "$scratch/out" | diff - <(printf '%s\n' '1048576 0: 0 1' \
		'2 0: 0 1' '2 0: 1 0' '2 1: 0 1' '2 2: 0 1') ||
		fail "$LOCKSTEP_MPI: which functions of MPI"
	expect 13 run --backend mpi --nproc-per-node 2 "$scratch/which" 1
	grep -q 'rank lost: rank 1 was killed by signal 9' "$scratch/err" ||
		fail "$LOCKSTEP_MPI: no verdict on a rank lost in MPI"
}

# The same calls as over TCP, and what library it was.
hold_traces() {
	local backend

	for backend in tcp mpi; do
		expect 0 run --backend $backend --nproc-per-node 4 \
			--trace "$scratch/$backend.json" ddp_step --model mnist
	done
	grep -qi "\"mpi\":\"\(open mpi\|mpich\)" "$scratch/mpi.json" ||
		fail "$LOCKSTEP_MPI: no library in the trace"
	expect 0 compare "$scratch/tcp.json" "$scratch/mpi.json"
	expect_out 'all_reduce'
}

tried=0
for LOCKSTEP_MPI in openmpi mpich; do
	expect 0 list backends --json
	found=$(jq -r '.[] | select(.name == "mpi") |
		"\(.available) \(.found)"' "$scratch/out")
	if [[ $found != yes* ]]; then
		echo "skipped: $LOCKSTEP_MPI: ${found#no }"
		continue
	fi
	tried=$((tried + 1))
	limit=250 expect 0 check --conformance --backend mpi \
		--world-size 2
	cat "$scratch/out"
	expect 0 run --backend mpi --nproc-per-node 2 "$every_call"
	hold_verdicts
	hold_mpirun
	hold_own_calls
	hold_blocking
	hold_traces
done
[ $tried -gt 0 ] || exit 77
finish
