/*
 * Collectives as flows against the same message by message: when each rank is
 * through, of all algorithms that have a timetable, and of those made of them,
 * on platforms of every kind; ranks that come late; groups that share links.
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
#include "tests/support/thin.h"

#define MOST_RANKS 64
#define CASES      4

/* Of the time of the last rank. The teams of a hierarchical collective share
 * links with each other. */
#define ALONE  0.005
#define SHARED 0.03

static const size_t sizes[CASES] = {1, 4099, 1 << 18, 1 << 22};

struct setup {
	char op[24], algorithm[32], platform[64], profile[32];
	int world_size;

	/* A group whose ranks sit so many places apart; 0: the default one. */
	int stride;
	/* How late one rank comes, in percent of the time without that. */
	int late_percent;
	/* Even and odd ranks are groups of their own, these with half as much
	 * to do. */
	bool two_groups;
	/* Rank 0 sends the last one a message of so many bytes besides. */
	size_t letter_bytes;
};

/* When every rank was through, from the common start on. */
struct times {
	const struct setup *setup;
	int64_t late_ns[CASES];
	int64_t ns[CASES][MOST_RANKS];
};

/* numel elements altogether, in parts where the collective has them. */
static enum dist_error call(struct dist_group *group, const char *op,
			    size_t numel)
{
	size_t p = (size_t)dist_get_world_size(group);
	size_t each = numel / p + 1;
	struct dist_tensor vector = dist_tensor(NULL, numel, DIST_FLOAT32);
	struct dist_tensor part = dist_tensor(NULL, each, DIST_FLOAT32);
	struct dist_tensor parts = dist_tensor(NULL, each * p, DIST_FLOAT32);

	switch (dist__op_from_name(op)) {
	case DIST__ALL_REDUCE:
		return dist_all_reduce(group, vector, DIST_SUM, NULL);
	case DIST__REDUCE:
		return dist_reduce(group, vector, 1, DIST_SUM, NULL);
	case DIST__BROADCAST:
		return dist_broadcast(group, vector, 1, NULL);
	case DIST__ALL_GATHER:
		return dist_all_gather_single(group, parts, part, NULL);
	case DIST__REDUCE_SCATTER:
		return dist_reduce_scatter_single(group, part, parts, DIST_AVG,
						  NULL);
	default:
		return dist_all_to_all_single(group, parts, parts, NULL, NULL,
					      NULL);
	}
}

static enum dist_error start_together(struct dist_group *group)
{
	const int64_t second_ns = 1000000000;
	enum dist_error error = dist_barrier(group, NULL);

	return error ? error
		     : dist_compute(group,
				    second_ns - dist_now_ns(group) % second_ns,
				    NULL);
}

/* Stores the group of even ranks, or of odd ones, that the rank is in. */
static enum dist_error join_half(struct dist_group *world,
				 struct dist_group **half)
{
	int p = dist_get_world_size(world), ranks[2][MOST_RANKS];
	struct dist_rank_list lists[2] = {{ranks[0], 0}, {ranks[1], 0}};

	for (int i = 0; i < p; i++)
		ranks[i % 2][lists[i % 2].n++] = i;
	return dist_split_group(world, lists, 2, NULL, half);
}

/* Stores the group that the rank calls in. */
static enum dist_error join(struct dist_group *world, const struct setup *setup,
			    struct dist_group **group)
{
	const struct dist_group_options options = {.keep_order = true};
	int p = setup->world_size, ranks[MOST_RANKS];

	*group = world;
	if (setup->two_groups)
		return join_half(world, group);
	for (int i = 0; i < p; i++)
		ranks[i] = i * setup->stride % p;
	return setup->stride ? dist_new_group(world, ranks, p, &options, group)
			     : DIST_OK;
}

static enum dist_error letter(struct dist_group *world,
			      const struct setup *setup,
			      struct dist_work **work)
{
	struct dist_tensor bytes =
		dist_tensor(NULL, setup->letter_bytes, DIST_UINT8);
	int last = setup->world_size - 1;

	*work = NULL;
	if (setup->letter_bytes && dist_get_rank(world) == 0)
		return dist_isend(world, bytes, last, 0, work);
	if (setup->letter_bytes && dist_get_rank(world) == last)
		return dist_irecv(world, bytes, 0, 0, work);
	return DIST_OK;
}

/* Stores when the rank is through with one call. */
static enum dist_error time_call(struct dist_group *world,
				 struct dist_group *group, struct times *times,
				 int number)
{
	const struct setup *setup = times->setup;
	int rank = dist_get_rank(world);
	size_t numel = sizes[number];
	struct dist_work *work = NULL;
	enum dist_error error = start_together(world);
	int64_t start_ns = dist_now_ns(world);

	if (setup->two_groups && rank % 2 == 1)
		numel = numel / 2 + 1;
	if (!error && rank == setup->world_size / 3)
		error = dist_compute(world, times->late_ns[number], NULL);
	if (!error)
		error = letter(world, setup, &work);
	if (!error)
		error = call(group, setup->op, numel);
	times->ns[number][rank] = dist_now_ns(world) - start_ns;
	if (!error && work)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error;
}

static int rank_main(void *arg)
{
	struct times *times = arg;
	struct dist_group *world, *group;
	enum dist_error error;

	if (dist_init_process_group(NULL, &world))
		return 1;
	error = join(world, times->setup, &group);
	for (int i = 0; i < CASES && !error; i++)
		error = time_call(world, group, times, i);
	return dist_destroy_process_group(world) || error;
}

/* Runs the setup in a process of its own. */
static void measure(const struct setup *setup, const char *fidelity,
		    struct times *times)
{
	char words[64];
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = setup->platform,
		.profile = setup->profile[0] ? setup->profile : NULL,
		.fidelity = fidelity,
		.world_size = setup->world_size,
		.algorithm = words,
		.timeout_ns = DIST_TIMEOUT_NEVER,
	};
	int status = -1;
	pid_t child;

	snprintf(words, sizeof words, "%s=%s", setup->op, setup->algorithm);
	times->setup = setup;
	child = fork();
	if (child == 0)
		_exit(dist_launch(&options, rank_main, times));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "%s %s, %s, %s", setup->op, setup->algorithm,
		     setup->platform, fidelity);
}

static struct times *shared_times(void)
{
	void *memory =
		mmap(NULL, 2 * sizeof(struct times), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	return memory;
}

static bool is_hierarchical(const char *algorithm)
{
	return strcmp(algorithm, "hierarchical") == 0;
}

static bool has_flows(const struct dist__algorithm *algorithm)
{
	return algorithm->flow || (is_hierarchical(algorithm->name) &&
				   algorithm->op <= DIST__ALL_GATHER &&
				   algorithm->op != DIST__BARRIER);
}

ParameterizedTestParameters(flows, alone)
{
	static const struct {
		const char *name;
		int world_size;
		const char *profile;
	} platforms[] = {
		{"tests/support/star16.xml", 5, "tests/support/costly.yaml"},
		{"tests/support/star16.xml", 16, ""},
		{"tests/support/nodes4x4.xml", 16, ""},
		{"tests/support/nodes4x4.xml", 13, "tests/support/costly.yaml"},
		{"star-64", 48, ""},
		{"nvswitch-8", 8, ""},
		{"dgx-a100-8x8", 24, ""},
		{"fat-tree-64", 64, ""},
		{"fat-tree-hdr-16x8", 32, ""},
		{"leaf-spine-roce-16x4", 32, ""},
		{"dragonfly-hdr-36x4", 36, ""},
		{"efa-p5-8x8", 16, ""},
		{"tcp-10g-8x4", 32, ""},
		{"v100-cube-mesh-8", 8, ""},
		{"pcie3-v100-4", 4, ""},
		{"v100-nvswitch-16", 16, ""},
	};
	static struct setup setups[512];
	size_t n = 0;

	for (const struct dist__algorithm *const *a = dist__algorithms(); *a;
	     a++)
		for (size_t i = 0; i < sizeof platforms / sizeof *platforms;
		     i++) {
			if (!has_flows(*a))
				continue;
			strcpy(setups[n].op, dist__op_name((*a)->op));
			strcpy(setups[n].algorithm, (*a)->name);
			strcpy(setups[n].platform, platforms[i].name);
			strcpy(setups[n].profile, platforms[i].profile);
			setups[n++].world_size = platforms[i].world_size;
		}
	return cr_make_param_array(struct setup, setups,
				   thin(setups, n, sizeof setups[0]));
}

/* Of those ranks that are `first` and every `step` behind. */
static int64_t last_among(const struct times *times, int number, int first,
			  int step)
{
	int64_t last_ns = 0;

	for (int r = first; r < times->setup->world_size; r += step)
		if (times->ns[number][r] > last_ns)
			last_ns = times->ns[number][r];
	return last_ns;
}

static int64_t last_of(const struct times *times, int number)
{
	return last_among(times, number, 0, 1);
}

/* Every rank is through when it is message by message, give or take a part of
 * the time of the last one. */
static void expect_same(const struct times *message, const struct times *flow,
			double part)
{
	const struct setup *setup = message->setup;

	for (int i = 0; i < CASES; i++) {
		double last_ns = (double)last_of(message, i);

		for (int rank = 0; rank < setup->world_size; rank++) {
			double want = (double)message->ns[i][rank];
			double got = (double)flow->ns[i][rank];

			cr_expect(fabs(got - want) <= part * last_ns + 2,
				  "%s %s, rank %d of %d, %s, %zu elements: "
				  "message %.0f ns, flow %.0f ns, last %.0f ns",
				  setup->op, setup->algorithm, rank,
				  setup->world_size, setup->platform, sizes[i],
				  want, got, last_ns);
		}
	}
}

ParameterizedTest(struct setup *setup, flows, alone, .timeout = 120)
{
	struct times *times = shared_times();

	measure(setup, "message", &times[0]);
	measure(setup, "flow", &times[1]);
	expect_same(&times[0], &times[1],
		    is_hierarchical(setup->algorithm) ? SHARED : ALONE);
}

#define UNEVEN "tests/support/uneven8x2.xml"

/* Slow links, cards and hosts, ranks that share links with each other; with a
 * rank that comes late. */
ParameterizedTestParameters(flows, late)
{
	static const struct setup rings[] = {
		{"all_reduce", "ring", "tests/support/nodes4x4.xml", "", 16, 0,
		 0, false, 0},
		{"all_reduce", "ring", "fat-tree-64", "", 64, 5, 0, false, 0},
		{"all_reduce", "ring", "leaf-spine-roce-16x4", "", 32, 5, 0,
		 false, 0},
		{"all_gather", "ring", "leaf-spine-roce-16x4", "", 64, 27, 0,
		 false, 0},
		{"all_reduce", "ring", "tcp-10g-8x4", "", 32, 7, 0, false, 0},
		{"reduce_scatter", "ring", "dragonfly-hdr-36x4", "", 64, 9, 0,
		 false, 0},
		{"all_reduce", "ring", UNEVEN, "", 16, 0, 0, false, 0},
		{"all_reduce", "ring", UNEVEN, "tests/support/costly.yaml", 16,
		 0, 0, false, 0},
		{"all_reduce", "ring", UNEVEN, "", 16, 5, 0, false, 0},
		{"all_reduce", "double_tree", "star-64", "", 48, 0, 0, false,
		 0},
		{"broadcast", "double_tree", "star-64", "", 33, 0, 0, false, 0},
		{"reduce", "double_tree", "star-64", "", 48, 0, 0, false, 0},
		{"reduce_scatter", "pairwise", "star-64", "", 48, 0, 0, false,
		 0},
	};
	static const int percents[] = {0, 1, 10, 100, 1000};
	const size_t num = sizeof percents / sizeof *percents;
	static struct setup setups[sizeof rings / sizeof *rings *
				   (sizeof percents / sizeof *percents)];
	size_t n = 0;

	for (; n < sizeof setups / sizeof *setups; n++) {
		setups[n] = rings[n / num];
		setups[n].late_percent = percents[n % num];
	}
	return cr_make_param_array(struct setup, setups,
				   thin(setups, n, sizeof setups[0]));
}

ParameterizedTest(struct setup *setup, flows, late, .timeout = 120)
{
	struct times *times = shared_times();

	measure(setup, "message", &times[2]);
	for (int i = 0; i < CASES; i++)
		times[0].late_ns[i] = times[1].late_ns[i] =
			last_of(&times[2], i) * setup->late_percent / 100;
	measure(setup, "message", &times[0]);
	measure(setup, "flow", &times[1]);
	expect_same(&times[0], &times[1], ALONE);
}

/* The last rank, or that of the half that begins with the rank `first`, is
 * through when it is message by message. Of the others a flow knows less: a
 * link that somebody else uses too holds up those that are near first. */
static void expect_same_end(const struct times *message,
			    const struct times *flow, int first)
{
	const struct setup *setup = message->setup;
	int step = setup->two_groups ? 2 : 1;

	for (int i = 0; i < CASES; i++) {
		double want = (double)last_among(message, i, first, step);
		double got = (double)last_among(flow, i, first, step);

		cr_expect(fabs(got - want) <= SHARED * want,
			  "%s %s, ranks from %d on of %d, %s, %zu elements: "
			  "message %.0f ns, flow %.0f ns",
			  setup->op, setup->algorithm, first, setup->world_size,
			  setup->platform, sizes[i], want, got);
	}
}

ParameterizedTestParameters(flows, shared)
{
	static struct setup setups[] = {
		{"all_reduce", "ring", "tests/support/nodes4x4.xml", "", 16, 0,
		 0, true, 0},
		{"all_reduce", "ring", "leaf-spine-roce-16x4", "", 32, 0, 0,
		 true, 0},
		{"all_gather", "ring", "tcp-10g-8x4", "", 32, 0, 0, true, 0},
		{"all_reduce", "ring", UNEVEN, "", 16, 0, 0, true, 0},
		{"all_reduce", "ring", "fat-tree-hdr-16x8", "", 32, 0, 0, true,
		 0},
		{"all_reduce", "ring", "tests/support/nodes4x4.xml", "", 16, 0,
		 0, false, 1 << 20},
		{"all_reduce", "ring", "star-64", "", 48, 0, 0, false, 1 << 22},
	};
	const size_t n = sizeof setups / sizeof *setups;

	return cr_make_param_array(struct setup, setups,
				   thin(setups, n, sizeof setups[0]));
}

ParameterizedTest(struct setup *setup, flows, shared, .timeout = 120)
{
	struct times *times = shared_times();

	measure(setup, "message", &times[0]);
	measure(setup, "flow", &times[1]);
	for (int first = 0; first < (setup->two_groups ? 2 : 1); first++)
		expect_same_end(&times[0], &times[1], first);
}
