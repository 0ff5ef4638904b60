/*
 * Fidelity formula against message, where a formula is exact: every algorithm
 * on a star, hierarchical ones also on nodes whose ranks share a link; ranks
 * that come late; collectives that overlap with computing.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/algorithm.h"
#include "lockstep/dist.h"
#include "tests/support/stopwatch.h"
#include "tests/support/thin.h"

#define STAR   "tests/support/star16.xml"
#define NODES  "tests/support/nodes4x4.xml"
#define COSTLY "tests/support/costly.yaml"
#define ERROR  1e-6
#define TICKS  2 /* ns: both ends of an interval are rounded */

struct setup {
	char op[24], algorithm[32], profile[32];
	int world_size;
	bool nodes;
};

static void add_setup(struct setup *setup,
		      const struct dist__algorithm *algorithm, int world_size,
		      bool nodes, bool costly)
{
	strcpy(setup->op, dist__op_name(algorithm->op));
	strcpy(setup->algorithm, algorithm->name);
	strcpy(setup->profile, costly ? COSTLY : "");
	setup->world_size = world_size;
	setup->nodes = nodes;
}

ParameterizedTestParameters(formula, as_message)
{
	static const int worlds[] = {1, 2, 3, 5, 8, 16};
	static struct setup setups[1024];
	size_t n = 0;

	for (const struct dist__algorithm *const *a = dist__algorithms(); *a;
	     a++) {
		bool nodes = strcmp((*a)->name, "hierarchical") == 0;

		for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
			for (int costly = 0; costly < 2; costly++)
				add_setup(&setups[n++], *a, worlds[w], false,
					  costly);
		for (int p = 8; nodes && p <= STOPWATCH_RANKS; p += 4)
			for (int costly = 0; costly < 2; costly++)
				add_setup(&setups[n++], *a, p, true, costly);
	}
	return cr_make_param_array(struct setup, setups,
				   thin(setups, n, sizeof setups[0]));
}

/* In a process of its own, as a process has one simulation. */
static void simulate(const struct setup *setup, const char *fidelity,
		     int (*rank_main)(void *arg), void *shared)
{
	char words[64];
	const struct dist_launch_options options = {
		.backend = "sim",
		.platform = setup->nodes ? NODES : STAR,
		.profile = setup->profile[0] ? setup->profile : NULL,
		.world_size = setup->world_size,
		.algorithm = words,
		.fidelity = fidelity,
	};
	pid_t pid;
	int status;

	snprintf(words, sizeof words, "%s=%s", setup->op, setup->algorithm);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(dist_launch(&options, rank_main, shared));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	return memory;
}

/* Where the parts of a node's ranks differ by an element, the hierarchical
 * formula takes all of them for the longest; closed_form.c holds that. */
static bool is_exact(const struct setup *setup, size_t numel)
{
	return !setup->nodes || numel % 4 == 0;
}

ParameterizedTest(struct setup *setup, formula, as_message, .timeout = 60)
{
	struct stopwatch *watches = share(2 * sizeof *watches);

	watches[0].kind = watches[1].kind = dist__op_from_name(setup->op);
	simulate(setup, "message", stopwatch_rank, &watches[0]);
	simulate(setup, "formula", stopwatch_rank, &watches[1]);
	for (int i = 0; i < STOPWATCH_SIZES; i++) {
		double want =
			(double)(watches[0].end_ns[i] - watches[0].start_ns[i]);
		double got =
			(double)(watches[1].end_ns[i] - watches[1].start_ns[i]);

		if (!is_exact(setup, stopwatch_sizes[i]))
			continue;
		cr_expect(fabs(got - want) <= ERROR * want + TICKS,
			  "%s %s%s%s, %d ranks, %zu elements: message %.0f ns, "
			  "formula %.0f ns",
			  setup->op, setup->algorithm,
			  setup->profile[0] ? ", costly" : "",
			  setup->nodes ? ", nodes" : "", setup->world_size,
			  stopwatch_sizes[i], want, got);
	}
}

/* ---- beside other things --------------------------------------------- */

#define CALLS 12

/* When rank 1's calls began to be waited for, and were over. */
struct overlap {
	int64_t over_ns[CALLS];
};

/* Asynchronous collectives, ranks that come late to some, computing meanwhile,
 * data in between, a message. */
static int overlap_rank(void *arg)
{
	struct overlap *overlap = arg;
	struct dist_work *works[CALLS];
	struct dist_group *group;
	float data[3] = {1, 2, 3}, word = 0;
	enum dist_error error = dist_init_process_group(NULL, &group);
	int rank = dist_get_rank(group), right;

	for (int i = 0; i < CALLS && !error; i++) {
		struct dist_tensor tensor =
			i % 5 == 3 ? dist_tensor(data, 3, DIST_FLOAT32)
				   : dist_tensor(NULL, (size_t)i * 5000,
						 DIST_FLOAT32);

		error = dist_compute(group, (rank * 7919 + i * 104729) % 60000,
				     NULL);
		if (!error)
			error = dist_all_reduce(group, tensor, DIST_MAX,
						&works[i]);
	}
	if (!error && rank == 0)
		error = dist_send(group, dist_tensor(&word, 1, DIST_FLOAT32), 1,
				  0);
	if (!error && rank == 1)
		error = dist_recv(group, dist_tensor(&word, 1, DIST_FLOAT32), 0,
				  0);
	for (int i = 0; i < CALLS && !error; i++) {
		error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
		if (rank == 1)
			overlap->over_ns[i] = dist_now_ns(group);
	}
	if (!error)
		error = dist_barrier(group, NULL);
	right = data[0] == 1 && data[1] == 2 && data[2] == 3;
	return dist_destroy_process_group(group) || error || !right;
}

/* A collective of few ranks that come together begins and ends on all of them
 * at once, also message by message: pairs. */
Test(formula, beside_others_as_message, .timeout = 60)
{
	const struct setup setup = {.op = "all_reduce",
				    .algorithm = "recursive_doubling",
				    .world_size = 2};
	struct overlap *overlaps = share(2 * sizeof *overlaps);

	simulate(&setup, "message", overlap_rank, &overlaps[0]);
	simulate(&setup, "formula", overlap_rank, &overlaps[1]);
	for (int i = 0; i < CALLS; i++)
		cr_expect(llabs(overlaps[0].over_ns[i] -
				overlaps[1].over_ns[i]) <= CALLS,
			  "call %d: over at %lld ns by message, %lld by "
			  "formula",
			  i, (long long)overlaps[0].over_ns[i],
			  (long long)overlaps[1].over_ns[i]);
}
