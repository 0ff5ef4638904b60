/* Libraries whose processors exchange messages: what they choose, what a
 * message takes, what others call an algorithm. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "coll/profile.h"
#include "model/library/library.h"
#include "model/library/spelling.h"
#include "tests/support/okay.h"
#include "tests/support/thin.h"

/* 8 nodes of one processor, cards of 10 GB/s, 2 us. */
static const struct fabric cluster = {
	.nodes = 8,
	.node_ranks = 1,
	.transport = "ib",
	.cards = 1,
	.card_Bps = 10e9,
	.inter_latency_ns = 2000,
};

/* What is asked. At first it is of openmpi's model and knows no constants. */
static struct dist__profile profile;

static void start(void)
{
	dist__profile_init(&profile);
	strcpy(profile.library, "openmpi");
}

static void finish(void)
{
	dist__profile_release(&profile);
}

TestSuite(messages, .init = start, .fini = finish);

/* Makes it the library's own. */
static void load(const char *name)
{
	struct dist_message message = {""};
	char path[256];

	finish();
	snprintf(path, sizeof path, "scenarios/profiles/%s.yaml", name);
	okay_or(dist__profile_load(&profile, path, &message), message);
	okay_or(library_check(&profile, &message), message);
}

static void set(const char *name, double value)
{
	okay(dist__profile_set(&profile, name, value));
}

static struct library_estimate ask(const struct fabric *fabric,
				   enum dist__op_kind op, size_t numel,
				   const char *algorithm)
{
	const struct library_call call = {
		.op = op,
		.numel = numel,
		.element_bytes = 4,
		.ranks = fabric_ranks(fabric),
		.algorithm = algorithm,
	};
	struct library_estimate estimate;
	struct dist_message message = {""};

	okay_or(library_estimate(&profile, fabric, &call, &estimate, &message),
		message);
	return estimate;
}

static void expect_near(double got, double wanted)
{
	cr_expect(fabs(got - wanted) <= 1e-6 * wanted, "%g, not %g", got,
		  wanted);
}

/* ---- by hand ---------------------------------------------------------- */

Test(messages, a_ring_by_hand)
{
	struct library_estimate e;

	profile.message_overhead_ns = 500;
	profile.reduce_Bps = 5e9;
	set("ring_latency", 0.5);
	set("card_share", 0.8);
	set("copy_GBps", 4);
	/* 14 messages of 64 B, half the latency, 8 GB/s; 7 x 64 B summed. */
	e = ask(&cluster, DIST__ALL_REDUCE, 128, "ring_chunked");
	expect_near(e.latency_ns, 14 * 0.5 * 2500);
	expect_near(e.transfer_ns, 14 * 64 / 8. + 7 * 64 / 5. + 512 / 4.);
	cr_expect_str_eq(e.algorithm, "ring_chunked");
	cr_expect_str_eq(e.ours->name, "ring");
	cr_expect_eq(e.shape, LIBRARY_STEPS);
	/* Announced messages know no neighbour. */
	e = ask(&cluster, DIST__ALL_REDUCE, 1 << 20, "ring");
	expect_near(e.latency_ns, 14 * (2.8 * 2000 + 500));
}

Test(messages, sums_out_of_cache_by_hand)
{
	const double bytes = 64 << 20;
	struct library_estimate e;

	profile.reduce_Bps = 5e9;
	set("uncached", 2);
	set("fresh_GBps", 8);
	e = ask(&cluster, DIST__ALL_REDUCE, 16 << 20, "recursive_doubling");
	expect_near(e.transfer_ns,
		    3 * bytes / 10 + 3 * 2 * bytes / 5 + bytes / 8);
	/* A ring needs no memory as large as the vector. */
	e = ask(&cluster, DIST__ALL_REDUCE, 16 << 20, "ring");
	expect_near(e.transfer_ns,
		    14. / 8 * bytes / 10 + 7. / 8 * 2 * bytes / 5);
	/* Nothing is summed here. */
	e = ask(&cluster, DIST__BROADCAST, 16 << 20, "binomial");
	expect_near(e.transfer_ns, 3 * bytes / 10);
}

Test(messages, trees_by_hand)
{
	const double bytes = 1 << 20;

	set("at_once", 1);
	expect_near(ask(&cluster, DIST__BROADCAST, 1 << 18, "binomial_over")
			    .transfer_ns,
		    6 * bytes / 10);
	expect_near(
		ask(&cluster, DIST__BROADCAST, 1 << 18, "binary").transfer_ns,
		5 * bytes / 10);
	expect_near(ask(&cluster, DIST__BROADCAST, 1 << 18, "split_binary")
			    .transfer_ns,
		    3 * bytes / 10);
	/* Short ones wait for nobody's bytes. */
	expect_near(ask(&cluster, DIST__BROADCAST, 64, "binomial").transfer_ns,
		    3 * 256 / 10.);
}

Test(messages, of_gpus_and_by_tcp)
{
	struct fabric fabric = cluster;
	struct library_call call = {.op = DIST__ALL_TO_ALL,
				    .numel = 16,
				    .element_bytes = 4,
				    .ranks = 8,
				    .algorithm = "linear"};
	struct library_estimate e;
	struct dist_message message;

	load("openmpi");
	strcpy(fabric.transport, "tcp-10gbe");
	strcpy(fabric.gpu, "V100");
	okay(library_estimate(&profile, &fabric, &call, &e, &message));
	expect_near(e.start_ns, 8000);
	expect_near(e.latency_ns, 2000 + 7 * (16000 + 5400));
	call.host = true;
	okay(library_estimate(&profile, &fabric, &call, &e, &message));
	/* And no way over PCIe. */
	expect_near(e.start_ns, 0);
	expect_near(e.latency_ns, 1000 + 7 * 16000);
}

/* 7 messages at once: each is as long as it is, not as they are together. */
Test(messages, of_an_all_to_all_by_hand)
{
	struct fabric fabric = cluster;
	struct library_estimate e;

	set("tcp_message_us", 10);
	set("tcp_announced_us", 20);
	set("tcp_node_GBps", 4);
	set("tcp_eager_GBps", 0.5);
	strcpy(fabric.transport, "tcp");
	e = ask(&fabric, DIST__ALL_TO_ALL, 1024, "linear");
	expect_near(e.latency_ns, 2000 + 7 * 10000);
	expect_near(e.transfer_ns, 7 * 512 / 0.5);
	e = ask(&fabric, DIST__ALL_TO_ALL, 1 << 18, "linear");
	expect_near(e.latency_ns, 6 * 2000 + 7 * 30000);
	expect_near(e.transfer_ns, 7 * 131072 / 4.);
}

/* One thread sends as much as it gets meanwhile. */
Test(messages, of_one_thread_by_hand)
{
	const double bytes = 1 << 20;
	struct library_estimate e;

	set("stream_GBps", 4);
	e = ask(&cluster, DIST__ALL_REDUCE, 1 << 18, "ring");
	expect_near(e.transfer_ns, 14. / 8 * bytes / 4);
	set("one_thread", 1);
	e = ask(&cluster, DIST__ALL_REDUCE, 1 << 18, "ring");
	expect_near(e.transfer_ns, 14. / 8 * bytes / 2);
}

/* 4 nodes of 4 processors with a card: what stays inside, what they share. */
Test(messages, several_ranks_a_node_by_hand)
{
	const double bytes = 1 << 20;
	struct fabric fabric = cluster;
	struct library_estimate e;

	fabric.nodes = 4;
	fabric.node_ranks = 4;
	fabric.intra = FABRIC_HOST;
	fabric.intra_Bps = 20e9;
	/* Two steps inside, of 0.5 us, two out, of four ranks at once. */
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "recursive_doubling");
	expect_near(e.latency_ns, 2.8 * (2 * 500 + 2 * 2000));
	expect_near(e.transfer_ns, 2 * bytes / 20 + 2 * 4 * bytes / 10);
	/* 3/4 of 15/16 goes to the nearest two partners. */
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "rabenseifner");
	expect_near(e.transfer_ns,
		    2 * (3. / 4 * bytes / 20 + 3. / 16 * 4 * bytes / 10));
	/* Of a gathered vector 3/16 came from inside, 12/16 from outside. */
	e = ask(&fabric, DIST__ALL_GATHER, 1 << 18, "recursive_doubling");
	expect_near(e.transfer_ns,
		    3. / 16 * bytes / 20 + 12. / 16 * 4 * bytes / 10);
	/* 3 of 15 parts stay inside, while the others go out. */
	e = ask(&fabric, DIST__ALL_TO_ALL, 1 << 18, "linear");
	expect_near(e.transfer_ns, 12. / 16 * 4 * bytes / 10);
	/* Of a ring one rank sends out, while others send inside. */
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "ring");
	expect_near(e.transfer_ns, 30. / 16 * bytes / 10);
	/* Memory of 16 GB/s: each byte there is moved four times, by four. */
	set("memory_GBps", 16);
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "ring");
	expect_near(e.transfer_ns, 30. / 16 * bytes);
}

/* 8 nodes, of which each two share a card: the nearest exchange by it alone. */
Test(messages, nodes_that_share_a_card_by_hand)
{
	const double bytes = 1 << 20;
	struct fabric fabric = cluster;
	struct library_estimate e;

	fabric.card_nodes = 2;
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "recursive_doubling");
	expect_near(e.transfer_ns, (1 + 2 * 2) * bytes / 10);
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "rabenseifner");
	expect_near(e.transfer_ns, 2 * (4 + 2 * 3) / 8. * bytes / 10);
	e = ask(&fabric, DIST__ALL_GATHER, 1 << 18, "recursive_doubling");
	expect_near(e.transfer_ns, (1 + 2 * 6) / 8. * bytes / 10);
	/* One of the two sends out at a time. */
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "ring");
	expect_near(e.transfer_ns, 14. / 8 * bytes / 10);
	e = ask(&fabric, DIST__BROADCAST, 1 << 18, "binomial");
	expect_near(e.transfer_ns, 3 * bytes / 10);
}

/* GPUs of a node reach each other by their links, or by its cards. */
Test(messages, gpus_of_a_node_by_hand)
{
	const double bytes = 1 << 20;
	struct fabric fabric = cluster;
	struct library_estimate e;

	fabric.nodes = 2;
	fabric.node_ranks = 4;
	fabric.cards = 4;
	strcpy(fabric.gpu, "V100");
	strcpy(fabric.transport, "slingshot");
	fabric.intra = FABRIC_NVLINK;
	fabric.intra_Bps = 50e9;
	set("gpu_links", 0.8);
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "recursive_doubling");
	expect_near(e.transfer_ns, (2 / 40. + 1 / 10.) * bytes);
	set("slingshot_loops", 1);
	e = ask(&fabric, DIST__ALL_REDUCE, 1 << 18, "recursive_doubling");
	expect_near(e.latency_ns, 3 * 2.8 * 2000);
	expect_near(e.transfer_ns, 3 * bytes / 10);
}

/* ---- the profiles ----------------------------------------------------- */

Test(messages, choices)
{
	static const struct {
		const char *profile;
		enum dist__op_kind op;
		size_t bytes;
		const char *algorithm;
	} points[] = {
		{"openmpi", DIST__ALL_REDUCE, 8188, "recursive_doubling"},
		{"openmpi", DIST__ALL_REDUCE, 8192, "halving_doubling"},
		{"openmpi", DIST__ALL_TO_ALL, 64, "linear"},
		{"mpich", DIST__ALL_REDUCE, 2048, "recursive_doubling"},
		{"mpich", DIST__ALL_REDUCE, 2052, "halving_doubling"},
		{"mpich", DIST__ALL_GATHER, 1 << 20, "ring"},
		{"gloo", DIST__ALL_REDUCE, 4, "ring"},
		{"gloo", DIST__BROADCAST, 1 << 20, "binomial"},
	};

	for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
		load(points[i].profile);
		cr_expect_str_eq(
			ask(&cluster, points[i].op, points[i].bytes / 4, NULL)
				.algorithm,
			points[i].algorithm, "point %zu", i);
	}
}

/* But where an algorithm changes by size: hierarchical ones are made of others.
 */
Test(messages, more_bytes_take_longer)
{
	static const char *const names[] = {"openmpi", "gloo"};
	const struct dist__algorithm *const *all;

	for (size_t i = 0; i < 2; i++) {
		load(names[i]);
		for (all = dist__algorithms(); *all; all++) {
			double last = 0;

			if (strcmp((*all)->name, "hierarchical") == 0)
				continue;
			for (size_t n = 64; n <= 1 << 26; n *= 2) {
				struct library_estimate e = ask(
					&cluster, (*all)->op, n, (*all)->name);

				cr_expect_geq(library_time_ns(&e), last,
					      "%s %s %zu", names[i],
					      (*all)->name, n);
				last = library_time_ns(&e);
			}
		}
	}
}

/* What a node sends or gets at least, of a call's bytes. */
static double least_bytes(enum dist__op_kind op, const struct fabric *fabric,
			  double bytes)
{
	double away = (fabric->nodes - 1.) / fabric->nodes;

	switch (op) {
	case DIST__ALL_REDUCE:
		return 2 * away * bytes;
	case DIST__ALL_TO_ALL:
		return away * bytes * fabric->node_ranks;
	case DIST__BROADCAST:
	case DIST__REDUCE:
		return fabric->nodes > 1 ? bytes : 0;
	default:
		return away * bytes;
	}
}

/* Elements of a call: the steps of one are gone through one by one. */
#define MOST ((size_t)1 << 28)

static void expect_possible(const char *profile_name,
			    const struct fabric *fabric, enum dist__op_kind op)
{
	size_t ranks = (size_t)fabric_ranks(fabric);

	load(profile_name);
	for (size_t numel = 1; numel * ranks <= MOST; numel *= 4) {
		struct library_estimate e =
			ask(fabric, op, numel * ranks, NULL);
		double bytes = 4. * (double)numel * fabric_ranks(fabric);
		double ns = library_time_ns(&e);

		cr_expect(isfinite(ns) && ns > 0, "%s", e.algorithm);
		cr_expect_geq(1.0001 * ns * fabric->card_Bps / 1e9,
			      least_bytes(op, fabric, bytes),
			      "%s, %s %s of %g bytes, %d nodes of %d: %g ns",
			      profile_name, dist__op_name(op), e.algorithm,
			      bytes, fabric->nodes, fabric->node_ranks, ns);
	}
}

/* Whatever the number of nodes and ranks, no card sends more than it can. */
Test(messages, no_card_is_faster_than_it_is)
{
	static const char *const names[] = {"openmpi", "openmpi-4.0", "mpich",
					    "gloo", "nccl"};
	static const enum dist__op_kind ops[] = {
		DIST__ALL_REDUCE, DIST__ALL_GATHER, DIST__REDUCE_SCATTER,
		DIST__BROADCAST,  DIST__REDUCE,     DIST__ALL_TO_ALL};
	static const int nodes[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 64};
	struct fabric fabric = cluster;

	for (int i = 0; i < 5 * 10 * 6 * 4; i += thin_step(7)) {
		fabric.nodes = nodes[i / 5 % 10];
		fabric.node_ranks = i / 300 % 2 ? 4 : 1 + (fabric.nodes == 1);
		strcpy(fabric.transport, i / 600 ? "tcp" : "ib");
		expect_possible(names[i % 5], &fabric, ops[i / 50 % 6]);
	}
}

Test(messages, other_ways_to_call_choose_as_any)
{
	load("mpich");
	cr_expect_str_eq(
		ask(&cluster, DIST__ALL_REDUCE, 4, "non_blocking").algorithm,
		"recursive_doubling");
}

/* ---- names ------------------------------------------------------------ */

Test(messages, names_of_others)
{
	struct spelling s;

	cr_assert(library_spell(DIST__BROADCAST, "scatter_allgather", &s));
	cr_expect_str_eq(s.nearest->name, "scatter_all_gather");
	cr_expect_eq(s.parts[0]->op, DIST__SCATTER);
	cr_expect_eq(s.parts[1]->op, DIST__ALL_GATHER);
	cr_assert(library_spell(DIST__BROADCAST, "scatter_allgather_ring", &s));
	cr_expect_eq(s.parts[0], s.nearest);
	cr_expect_null(s.parts[1]);
	cr_assert(library_spell(DIST__ALL_REDUCE,
				"bine_bdw_remap_segmented_over_16384", &s));
	cr_expect_str_eq(s.nearest->name, "halving_doubling");
	cr_expect_eq(s.segment_bytes, 16384);
	cr_assert(
		library_spell(DIST__ALL_REDUCE, "recursive_doubling_over", &s));
	cr_expect_str_eq(s.nearest->name, "recursive_doubling");
	cr_expect_eq(s.segment_bytes, 0);
	cr_assert(library_spell(DIST__BROADCAST,
				"scatter_recursive_doubling_allgather", &s));
	cr_expect_not_null(s.parts[1]);
	cr_assert_not(library_spell(DIST__ALL_REDUCE, "frogs", &s));
}

Test(messages, what_is_refused)
{
	struct fabric fabric = cluster;
	struct library_call call = {.op = DIST__ALL_REDUCE,
				    .numel = 16,
				    .element_bytes = 4,
				    .ranks = 8,
				    .algorithm = "frogs"};
	struct library_estimate e;
	struct dist_message message;

	refused_with(library_estimate(&profile, &fabric, &call, &e, &message),
		     message, "\"frogs\": expected ring");
	call.algorithm = NULL;
	call.protocol = "LL";
	cr_expect_eq(library_estimate(&profile, &fabric, &call, &e, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	call.protocol = NULL;
	fabric.card_Bps = 0;
	refused_with(library_estimate(&profile, &fabric, &call, &e, &message),
		     message, "not known");
	set("launch_us", 1);
	cr_expect_eq(library_check(&profile, &message),
		     DIST_ERR_INVALID_ARGUMENT);
}
