/*
 * The hierarchical algorithms on nodes of different sizes, whose ranks are in
 * no order: the results, and the bytes of sim held against those of tcp. On one
 * machine the launcher's word is what parts its ranks.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "base/hash.h"

#define PLATFORM "tests/support/nodes7.xml"
#define PROFILE  "tests/support/segments.yaml"
#define ALGORITHMS                                                             \
	"all_reduce=hierarchical,reduce=hierarchical,broadcast=hierarchical,"  \
	"all_gather=hierarchical,barrier=hierarchical"
#define MOST_RANKS 7
#define LARGE      5003

/* The node of each rank, as the platform has it. */
static const char *const nodes[MOST_RANKS] = {"0", "1", "2", "0",
					      "2", "0", "2"};

/* What all ranks write; lies in memory shared between processes. */
struct outcome {
	bool is_tcp;
	int wrong[MOST_RANKS];
	uint64_t digest[MOST_RANKS];
};

struct walker {
	struct dist_group *group;
	struct outcome *outcome;
	int self;       /* in the whole world */
	int rank, size; /* in the group */
	float data[MOST_RANKS * LARGE];
};

static float value(int rank, size_t i)
{
	return 1 / (3.0F + (float)((i * 13 + (size_t)rank * 29) % 101));
}

/* Takes numel elements into the digest (FNV-1a) and holds them against want,
 * up to rounding. */
static void take(struct walker *w, size_t numel, float (*want)(int, size_t),
		 int arg)
{
	uint64_t *digest = &w->outcome->digest[w->self];

	for (size_t i = 0; i < numel; i++) {
		float error = w->data[i] - want(arg, i);
		uint32_t bits;

		memcpy(&bits, &w->data[i], sizeof bits);
		*digest = dist__hash_word(*digest, bits);
		w->outcome->wrong[w->self] +=
			!(error < 1e-5F && error > -1e-5F);
	}
}

static float sum(int size, size_t i)
{
	float total = 0;

	for (int rank = 0; rank < size; rank++)
		total += value(rank, i);
	return total;
}

static void fill(struct walker *w, size_t numel)
{
	for (size_t i = 0; i < numel; i++)
		w->data[i] = value(w->rank, i);
}

static bool walk_rooted(struct walker *w, size_t numel, int root)
{
	struct dist_tensor tensor = dist_tensor(w->data, numel, DIST_FLOAT32);

	fill(w, numel);
	if (dist_reduce(w->group, tensor, root, DIST_SUM, NULL))
		return false;
	if (w->rank == root)
		take(w, numel, sum, w->size);
	fill(w, numel);
	if (dist_broadcast(w->group, tensor, root, NULL))
		return false;
	take(w, numel, value, root);
	return true;
}

static bool walk_count(struct walker *w, size_t numel)
{
	struct dist_tensor tensor = dist_tensor(w->data, numel, DIST_FLOAT32);
	struct dist_tensor parts[MOST_RANKS], mine;

	fill(w, numel);
	if (dist_all_reduce(w->group, tensor, DIST_SUM, NULL))
		return false;
	take(w, numel, sum, w->size);
	for (int root = 0; root < w->size; root++)
		if (!walk_rooted(w, numel, root))
			return false;
	for (int rank = 0; rank < w->size; rank++)
		parts[rank] = dist_tensor(w->data + rank * LARGE, numel,
					  DIST_FLOAT32);
	mine = parts[w->rank];
	for (size_t i = 0; i < numel; i++)
		((float *)mine.data)[i] = value(w->rank, i);
	if (dist_all_gather(w->group, parts, mine, NULL))
		return false;
	for (int rank = 0; rank < w->size; rank++) {
		memmove(w->data, parts[rank].data, numel * sizeof(float));
		take(w, numel, value, rank);
	}
	return !dist_barrier(w->group, NULL);
}

static bool walk_group(struct walker *w, struct dist_group *group)
{
	static const size_t counts[] = {0, 1, 2, 3, 40, LARGE};
	bool good = true;

	w->group = group;
	w->rank = dist_get_rank(group);
	w->size = dist_get_world_size(group);
	for (size_t i = 0; i < sizeof counts / sizeof *counts && good; i++)
		good = walk_count(w, counts[i]);
	return good;
}

/* The group of all ranks but rank 1, from the last to the first. */
static bool walk_backwards(struct walker *w, struct dist_group *world)
{
	const struct dist_group_options options = {.keep_order = true};
	int size = dist_get_world_size(world), ranks[MOST_RANKS], n = 0;
	struct dist_group *group = NULL;
	bool good;

	for (int rank = size - 1; rank >= 0; rank--)
		if (rank != 1)
			ranks[n++] = rank;
	good = !dist_new_group(world, ranks, n, &options, &group);
	return good && (!group || walk_group(w, group));
}

static int rank_main(void *arg)
{
	struct walker *w = calloc(1, sizeof *w);
	const char *rank = getenv("RANK");
	struct dist_group *group;
	bool good;

	if (!w)
		return 1;
	w->outcome = arg;
	if (w->outcome->is_tcp)
		setenv("GROUP_RANK", nodes[atoi(rank)], 1);
	good = !dist_init_process_group(NULL, &group);
	w->self = dist_get_rank(group);
	good = good && walk_group(w, group) && walk_backwards(w, group);
	good = !dist_destroy_process_group(group) && good;
	free(w);
	return !good;
}

/* One simulation a process: each world in a child of its own. */
static struct outcome *run(const char *backend, int world_size)
{
	struct dist_launch_options options = {.backend = backend,
					      .platform = PLATFORM,
					      .profile = PROFILE,
					      .algorithm = ALGORITHMS,
					      .world_size = world_size};
	struct outcome *outcome =
		mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t child;

	cr_assert(outcome != MAP_FAILED);
	outcome->is_tcp = strcmp(backend, "tcp") == 0;
	fflush(NULL);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0)
		_exit(dist_launch(&options, rank_main, outcome));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: %#x",
		  backend, (unsigned)status);
	return outcome;
}

ParameterizedTestParameters(nodes, sim_and_tcp_agree)
{
	static int worlds[] = {1, 2, 3, 4, 5, 6, 7};

	return cr_make_param_array(int, worlds, MOST_RANKS);
}

ParameterizedTest(int *world_size, nodes, sim_and_tcp_agree)
{
	struct outcome *sim = run("sim", *world_size);
	struct outcome *tcp = run("tcp", *world_size);

	for (int rank = 0; rank < *world_size; rank++) {
		cr_expect_eq(sim->wrong[rank], 0);
		cr_expect_eq(tcp->wrong[rank], 0);
		cr_expect_eq(sim->digest[rank], tcp->digest[rank],
			     "rank %d of %d", rank, *world_size);
	}
	munmap(sim, sizeof *sim);
	munmap(tcp, sizeof *tcp);
}
