/*
 * Collectives of NCCL by their transfers, at fidelity flow: on links of their
 * own they take what the formula says; where links are narrower, or others use
 * them, as much longer as these allow, in closed forms.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "tests/support/described.h"
#include "tests/support/phantom_call.h"
#include "tests/support/simulate.h"
#include "tests/support/thin.h"

#define NCCL  "scenarios/profiles/nccl.yaml"
#define ERROR 1e-6
#define TICKS 4 /* ns */
#define SIZES 5

/* Of floats; the last two in one protocol. */
static const size_t sizes[SIZES] = {2, 4099, 1 << 20, 1 << 23, 1 << 26};

/* ---- platforms ----------------------------------------------------------- */

struct setup {
	int nodes, gpus;
	char gpu[16], intra[40], inter[24], topology[32], degrade[24];
};

/* ---- jobs ---------------------------------------------------------------- */

/* What the ranks do, and when the last one was through with each size. */
struct job {
	enum dist__op_kind op;
	int groups; /* rank r is in group r modulo so many; the others wait */
	int busy;   /* those of them that do something */
	int64_t start_ns[SIZES], end_ns[SIZES];
};

static int rank_main(void *arg)
{
	struct job *job = arg;
	struct dist_group *world, *group;
	enum dist_error error = dist_init_process_group(NULL, &world);
	int rank = dist_get_rank(world), p = dist_get_world_size(world);
	int mine[1024], n = 0;

	group = world;
	for (int g = 0; g < job->groups && job->groups > 1 && !error; g++) {
		struct dist_group *made = NULL;

		n = 0;
		for (int r = g; r < p; r += job->groups)
			mine[n++] = r;
		error = dist_new_group(world, mine, n, NULL, &made);
		if (rank % job->groups == g)
			group = made;
	}
	for (int i = 0; i < SIZES && !error; i++) {
		int64_t now_ns;

		error = dist_barrier(world, NULL);
		job->start_ns[i] = dist_now_ns(world);
		if (!error && rank % job->groups < job->busy)
			error = phantom_call(group, job->op, sizes[i], sizes[i],
					     1, DIST_SUM);
		now_ns = dist_now_ns(world);
		if (now_ns > job->end_ns[i])
			job->end_ns[i] = now_ns;
	}
	return dist_destroy_process_group(world) || error;
}

static void run(const struct setup *setup, const char *fidelity,
		struct job *job)
{
	char path[] = "/tmp/lockstep-model-XXXXXX";
	const struct simulation s = {dist__op_name(job->op), NULL, path, NCCL,
				     setup->nodes * setup->gpus};
	const struct described described = {
		.nodes = setup->nodes,
		.gpus = setup->gpus,
		.gpu = setup->gpu,
		.intra = setup->intra,
		.inter = setup->inter,
		.topology = setup->topology,
		.degrade = setup->degrade,
	};

	described_write(&described, path);
	(void)simulate(&s, fidelity, rank_main, job);
	unlink(path);
}

static double took_ns(const struct job *job, int i)
{
	return (double)(job->end_ns[i] - job->start_ns[i]);
}

/* What each more byte takes. */
static double slope_ns(const struct job *job)
{
	return (took_ns(job, SIZES - 1) - took_ns(job, SIZES - 2)) /
	       (double)(sizes[SIZES - 1] - sizes[SIZES - 2]);
}

static struct job *job_new(enum dist__op_kind op, int groups, int busy)
{
	struct job *job = simulate_memory(sizeof *job);

	*job = (struct job){.op = op, .groups = groups, .busy = busy};
	return job;
}

/* ---- links of one's own -------------------------------------------------- */

ParameterizedTestParameters(transfers, alone_as_the_formula)
{
	static struct setup setups[] = {
		{1, 8, "H100 80GB", "nvswitch:450GB/s", "", "star", ""},
		{2, 8, "H100 80GB", "nvswitch:450GB/s", "ib:8x400G", "star",
		 ""},
		{5, 4, "H100 80GB", "nvswitch:450GB/s", "ib:4x200G", "star",
		 ""},
		{8, 8, "A100 40GB", "nvswitch:300GB/s", "ib:8x200G,bonded",
		 "star", ""},
		{3, 8, "A100 40GB", "nvswitch:300GB/s", "efa:4x100G,lat=15us",
		 "star", ""},
		{2, 8, "V100", "cube-mesh:25GB/s", "ib:4x100G", "star", ""},
		{4, 4, "RTX 2080 Ti", "pcie:12GB/s", "tcp:10G", "star", ""},
		{2, 4, "A100", "pcie:24GB/s,sockets=2,socket=20GB/s",
		 "roce:2x100G", "star", ""},
		{6, 1, "A100", "", "ib:200G", "star", ""},
		{8, 4, "A100 40GB", "nvswitch:300GB/s", "ib:4x200G",
		 "fat-tree:2x4", ""},
	};

	return cr_make_param_array(struct setup, setups,
				   sizeof setups / sizeof *setups);
}

ParameterizedTest(struct setup *setup, transfers, alone_as_the_formula)
{
	static const enum dist__op_kind ops[] = {
		DIST__ALL_REDUCE, DIST__REDUCE,         DIST__BROADCAST,
		DIST__ALL_GATHER, DIST__REDUCE_SCATTER, DIST__ALL_TO_ALL};

	for (size_t k = 0; k < sizeof ops / sizeof *ops;
	     k += (size_t)thin_step(3)) {
		struct job *formula = job_new(ops[k], 1, 1);
		struct job *flow = job_new(ops[k], 1, 1);

		run(setup, "formula", formula);
		run(setup, "flow", flow);
		for (int i = 0; i < SIZES; i++)
			cr_expect(
				fabs(took_ns(flow, i) - took_ns(formula, i)) <=
					ERROR * took_ns(formula, i) + TICKS,
				"%d x %d %s %s, %s of %zu: formula %.0f ns, "
				"flow %.0f",
				setup->nodes, setup->gpus, setup->gpu,
				setup->inter, dist__op_name(ops[k]), sizes[i],
				took_ns(formula, i), took_ns(flow, i));
	}
}

/* ---- narrower links ------------------------------------------------------ */

/* Against a star, of 8 nodes of 4 GPUs whose cards set the pace. */
struct narrow {
	char topology[32], degrade[24];
	enum dist__op_kind op;
	double times;
};

ParameterizedTestParameters(transfers, as_much_longer_as_links_are_narrow)
{
	static struct narrow cases[] = {
		/* Of what a node sends to 28 ranks, that for 24 or 16 leaves
		 * the switch of 2 or 4 nodes. */
		{"fat-tree:2x4,taper=2", "", DIST__ALL_TO_ALL, 2 * 24 / 28.},
		{"fat-tree:2x4,taper=4", "", DIST__ALL_TO_ALL, 4 * 24 / 28.},
		{"fat-tree:4x2,taper=2", "", DIST__ALL_TO_ALL, 2 * 16 / 28.},
		{"leaf-spine:4x1,uplink=25G", "", DIST__ALL_TO_ALL,
		 16 * 24 / 28.},
		{"fat-tree:2x4", "", DIST__ALL_TO_ALL, 1},
		/* A ring leaves a switch once. */
		{"fat-tree:2x4,taper=2", "", DIST__ALL_GATHER, 1},
		{"fat-tree:2x4,taper=4", "", DIST__ALL_GATHER, 2},
		{"fat-tree:4x2,taper=4", "", DIST__ALL_GATHER, 1},
		{"leaf-spine:4x1,uplink=25G", "", DIST__ALL_GATHER, 8},
		{"leaf-spine:4x1,uplink=25G", "", DIST__REDUCE_SCATTER, 8},
		{"leaf-spine:4x1,uplink=25G", "", DIST__BROADCAST, 8},
		/* A slow card holds all up. */
		{"star", "node5.nic2:0.25", DIST__ALL_GATHER, 4},
		{"star", "node5.nic2:0.25", DIST__ALL_TO_ALL, 4},
	};

	return cr_make_param_array(struct narrow, cases,
				   sizeof cases / sizeof *cases);
}

static struct setup cards(const char *topology, const char *degrade)
{
	struct setup setup = {.nodes = 8,
			      .gpus = 4,
			      .gpu = "A100 40GB",
			      .intra = "nvswitch:300GB/s",
			      .inter = "ib:4x50G"};

	snprintf(setup.topology, sizeof setup.topology, "%s", topology);
	snprintf(setup.degrade, sizeof setup.degrade, "%s", degrade);
	return setup;
}

ParameterizedTest(struct narrow *narrow, transfers,
		  as_much_longer_as_links_are_narrow)
{
	struct setup star = cards("star", "");
	struct setup other = cards(narrow->topology, narrow->degrade);
	struct job *alone = job_new(narrow->op, 1, 1);
	struct job *job = job_new(narrow->op, 1, 1);

	run(&star, "flow", alone);
	run(&other, "flow", job);
	cr_expect_float_eq(slope_ns(job) / slope_ns(alone), narrow->times, 1e-4,
			   "%s %s %s: %g times as long",
			   dist__op_name(narrow->op), narrow->topology,
			   narrow->degrade, slope_ns(job) / slope_ns(alone));
}

/* ---- others ---------------------------------------------------------------
 */

/* Two GPUs of a node that share its card, a job on each: as long as both take
 * one after the other, whatever their collective is. */
Test(transfers, two_jobs_share_their_cards)
{
	static const struct setup setup = {
		8, 2, "A100 40GB", "nvswitch:300GB/s", "ib:1x50G", "star", ""};
	static const enum dist__op_kind ops[] = {
		DIST__ALL_REDUCE, DIST__ALL_GATHER, DIST__ALL_TO_ALL};

	for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
		struct job *one = job_new(ops[k], 2, 1);
		struct job *both = job_new(ops[k], 2, 2);

		run(&setup, "flow", one);
		run(&setup, "flow", both);
		cr_expect_float_eq(slope_ns(both) / slope_ns(one), 2, 1e-3,
				   "%s: %g times as long",
				   dist__op_name(ops[k]),
				   slope_ns(both) / slope_ns(one));
	}
}
