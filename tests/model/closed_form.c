/*
 * Simulated time, message by message, against each algorithm's cost formula:
 * within 0.1 %, on a star without contention; and of the hierarchical ones also
 * on nodes whose ranks share a link.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/algorithm.h"
#include "lockstep/dist.h"

#define STAR       "tests/support/star16.xml" /* 1 GB/s, 2 links of 5 us */
#define NODES      "tests/support/nodes4x4.xml"
#define COSTLY     "tests/support/costly.yaml"
#define ERROR      1e-3
#define SIZES      7
#define MOST_RANKS 16

static const size_t sizes[SIZES] = {0, 1, 4, 7, 16, 4099, 1 << 20};

struct setup {
	char op[24], algorithm[32], profile[32];
	int world_size;
	bool nodes;
};

/* Times of one collective, shared between the simulated ranks. */
struct stopwatch {
	const struct dist__algorithm *algorithm;
	int64_t start_ns[SIZES]; /* of all ranks */
	int64_t end_ns[SIZES];   /* the latest of all ranks */
};

/* numel elements, or numel for each rank where the collective has parts. */
static enum dist_error call(struct dist_group *group, enum dist__op_kind kind,
			    size_t numel)
{
	struct dist_tensor phantom = dist_tensor(NULL, numel, DIST_FLOAT32);
	int p = dist_get_world_size(group), rank = dist_get_rank(group);
	struct dist_tensor whole =
		dist_tensor(NULL, numel * (size_t)p, DIST_FLOAT32);
	struct dist_tensor list[MOST_RANKS];

	for (int i = 0; i < p; i++)
		list[i] = phantom;
	switch (kind) {
	case DIST__ALL_REDUCE:
		return dist_all_reduce(group, phantom, DIST_SUM, NULL);
	case DIST__REDUCE:
		return dist_reduce(group, phantom, 0, DIST_SUM, NULL);
	case DIST__BROADCAST:
		return dist_broadcast(group, phantom, 0, NULL);
	case DIST__ALL_GATHER:
		return dist_all_gather_single(group, whole, phantom, NULL);
	case DIST__REDUCE_SCATTER:
		return dist_reduce_scatter_single(group, phantom, whole,
						  DIST_SUM, NULL);
	case DIST__ALL_TO_ALL:
		return dist_all_to_all_single(group, whole, whole, NULL, NULL,
					      NULL);
	case DIST__GATHER:
		return dist_gather(group, phantom, rank == 0 ? list : NULL, 0,
				   NULL);
	case DIST__SCATTER:
		return dist_scatter(group, phantom, rank == 0 ? list : NULL, 0,
				    NULL);
	case DIST__MONITORED_BARRIER:
		return dist_monitored_barrier(group, DIST_TIMEOUT_OF_GROUP,
					      false);
	default:
		return dist_barrier(group, NULL);
	}
}

/* Ranks leave a barrier at different times where their ways differ; they all go
 * on with the next second. */
static enum dist_error start_together(struct dist_group *group)
{
	const int64_t second_ns = 1000000000;
	enum dist_error error = dist_barrier(group, NULL);

	return error ? error
		     : dist_compute(group,
				    second_ns - dist_now_ns(group) % second_ns,
				    NULL);
}

static int rank_main(void *arg)
{
	struct stopwatch *watch = arg;
	struct dist_group *group;
	enum dist_error error = DIST_OK;

	if (dist_init_process_group(NULL, &group))
		return 1;
	for (int i = 0; i < SIZES && !error; i++) {
		int64_t now_ns;

		error = start_together(group);
		watch->start_ns[i] = dist_now_ns(group);
		if (!error)
			error = call(group, watch->algorithm->op, sizes[i]);
		now_ns = dist_now_ns(group);
		if (now_ns > watch->end_ns[i])
			watch->end_ns[i] = now_ns;
	}
	return dist_destroy_process_group(group) || error;
}

static void expect_formula(const struct stopwatch *watch,
			   const struct setup *setup)
{
	bool costly = setup->profile[0] != '\0';
	struct dist__cost cost = {
		.overhead_ns = costly ? 3000 : 0,
		.alpha_ns = 10000,
		.beta_ns_per_byte = 1,
		.gamma_ns_per_byte = costly ? 0.5 : 0,
		.segment_bytes = costly ? 40000 : 0,
		.node_ranks = setup->nodes ? 4 : 1,
		.node_alpha_ns = 2000,
		.node_beta_ns_per_byte = 0.1,
	};

	for (int i = 0; i < SIZES; i++) {
		bool parts = watch->algorithm->op >= DIST__ALL_GATHER;
		size_t numel =
			sizes[i] * (parts ? (size_t)setup->world_size : 1);
		double want = watch->algorithm->cost_ns(
			&cost, setup->world_size, numel, 4);
		double got = (double)(watch->end_ns[i] - watch->start_ns[i]);

		cr_expect(fabs(got - want) <= ERROR * want,
			  "%s %s%s%s, %d ranks, %zu elements: formula %.0f ns, "
			  "simulated %.0f ns",
			  setup->op, setup->algorithm, costly ? ", costly" : "",
			  setup->nodes ? ", nodes" : "", setup->world_size,
			  sizes[i], want, got);
	}
}

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

ParameterizedTestParameters(model, closed_form)
{
	static const int worlds[] = {1, 2, 3, 4, 5, 7, 8, 12, 16};
	static struct setup setups[1024];
	size_t n = 0;

	for (const struct dist__algorithm *const *a = dist__algorithms(); *a;
	     a++) {
		bool nodes = strcmp((*a)->name, "hierarchical") == 0;

		for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
			for (int costly = 0; costly < 2; costly++)
				add_setup(&setups[n++], *a, worlds[w], false,
					  costly);
		for (int p = 4; nodes && p <= MOST_RANKS; p += 4)
			for (int costly = 0; costly < 2; costly++)
				add_setup(&setups[n++], *a, p, true, costly);
	}
	return cr_make_param_array(struct setup, setups, n);
}

ParameterizedTest(struct setup *setup, model, closed_form, .timeout = 60)
{
	char words[64];
	struct stopwatch watch = {
		.algorithm = dist__algorithm_find(dist__op_from_name(setup->op),
						  setup->algorithm)};
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = setup->nodes ? NODES : STAR,
		.profile = setup->profile[0] ? setup->profile : NULL,
		.world_size = setup->world_size,
		.algorithm = words,
	};

	cr_assert(watch.algorithm);
	snprintf(words, sizeof words, "%s=%s", setup->op, setup->algorithm);
	cr_assert_eq(dist_launch(&options, rank_main, &watch), 0);
	expect_formula(&watch, setup);
}
