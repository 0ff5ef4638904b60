/* What ranks send to whom in NCCL's collectives. */
#include <math.h>
#include <string.h>

#include "model/library/transfers.h"
#include "tests/support/okay.h"

#define MOST  64
#define BYTES (1 << 28)

/* Nodes with so many ranks each. */
struct cluster {
	struct fabric fabric;
	int ranks, nodes[MOST];
};

static struct cluster cluster(int nodes, const int *node_ranks,
			      enum fabric_intra intra)
{
	struct cluster c = {
		.fabric = {.nodes = nodes,
			   .gpu = "H100 80GB",
			   .intra = intra,
			   .intra_Bps = 450e9,
			   .transport = "ib",
			   .cards = 4,
			   .card_Bps = 50e9},
	};

	for (int node = 0; node < nodes; node++) {
		for (int i = 0; i < node_ranks[node]; i++)
			c.nodes[c.ranks++] = 7 * node;
		if (node_ranks[node] > c.fabric.node_ranks)
			c.fabric.node_ranks = node_ranks[node];
	}
	return c;
}

static void make(const struct cluster *c, enum dist__op_kind op,
		 const char *algorithm, struct library_call *call,
		 struct library_estimate *estimate,
		 struct library_transfers *transfers)
{
	struct dist__profile profile;
	struct dist_message message = {""};

	dist__profile_init(&profile);
	strcpy(profile.library, "nccl");
	*call = (struct library_call){.op = op,
				      .numel = BYTES / 4,
				      .element_bytes = 4,
				      .ranks = c->ranks,
				      .root = 1,
				      .algorithm = algorithm};
	okay_or(library_estimate(&profile, &c->fabric, call, estimate,
				 &message),
		message);
	okay_or(library_transfers_make(&c->fabric, call, estimate, c->nodes,
				       transfers, &message),
		message);
	dist__profile_release(&profile);
}

/* Of the call's bytes, all that is sent inside nodes, or between them. */
static double sum(const struct library_transfers *t, bool leaves)
{
	double share = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->list[i].leaves == leaves)
			share += t->list[i].share;
	return share;
}

static const int four_of_four[] = {4, 4, 4, 4};
static const int seven_of_four[] = {4, 4, 4, 4, 4, 4, 4};
static const int uneven[] = {4, 1, 3};

Test(transfers, are_as_many_bytes_as_the_estimate_says)
{
	static const struct {
		enum dist__op_kind op;
		const char *algorithm;
	} calls[] = {{DIST__ALL_REDUCE, "ring"},
		     {DIST__ALL_REDUCE, "tree"},
		     {DIST__ALL_REDUCE, "nvlstree"},
		     {DIST__ALL_GATHER, NULL},
		     {DIST__REDUCE_SCATTER, NULL}};
	const struct cluster clusters[] = {
		cluster(4, four_of_four, FABRIC_NVSWITCH),
		cluster(7, seven_of_four, FABRIC_NVSWITCH),
		cluster(1, four_of_four, FABRIC_NVSWITCH),
		cluster(4, four_of_four, FABRIC_NVLINK)};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		for (size_t k = 0; k < sizeof clusters / sizeof *clusters;
		     k++) {
			const struct cluster *c = &clusters[k];
			struct library_transfers t;
			struct library_estimate e;
			struct library_call call;

			make(c, calls[i].op, calls[i].algorithm, &call, &e, &t);
			cr_expect_float_eq(sum(&t, false) * BYTES,
					   e.local_bytes * c->ranks,
					   1e-6 * BYTES, "case %zu of %zu", i,
					   k);
			cr_expect_float_eq(sum(&t, true) * BYTES,
					   e.remote_bytes * c->ranks,
					   1e-6 * BYTES, "case %zu of %zu", i,
					   k);
			library_transfers_release(&t);
		}
}

/* Each node gives a half of its bytes to its parent in either tree and gets as
 * much back: no node has more than two children, none is inner in both. */
Test(transfers, of_trees_load_no_card_more_than_twice)
{
	for (int nodes = 2; nodes <= 13; nodes++) {
		static const int ones[] = {1, 1, 1, 1, 1, 1, 1,
					   1, 1, 1, 1, 1, 1};
		struct cluster c = cluster(nodes, ones, FABRIC_ALONE);
		struct library_transfers t;
		struct library_estimate e;
		struct library_call call;

		c.fabric.cards = 1;
		make(&c, DIST__ALL_REDUCE, "tree", &call, &e, &t);
		cr_expect_eq(t.count, 4 * (size_t)(nodes - 1));
		cr_expect_leq(t.card_share, 2 + 1e-9, "%d nodes: %g", nodes,
			      t.card_share);
		library_transfers_release(&t);
	}
}

/* The most that one rank sends or gets inside its node, or over its card. */
static double busiest(const struct cluster *c,
		      const struct library_transfers *t, bool leaves)
{
	double most = 0;

	for (int rank = 0; rank < c->ranks; rank++) {
		double out = 0, in = 0;

		for (size_t i = 0; i < t->count; i++) {
			if (t->list[i].leaves != leaves)
				continue;
			out += t->list[i].from == rank ? t->list[i].share : 0;
			in += t->list[i].to == rank ? t->list[i].share : 0;
		}
		most = fmax(most, fmax(out, in));
	}
	return most;
}

/* A root gets all by its own card, and sends by the cards of all rails. */
Test(transfers, of_one_root_take_what_its_busiest_link_takes)
{
	static const enum dist__op_kind ops[] = {DIST__GATHER, DIST__SCATTER,
						 DIST__ALL_TO_ALL};
	const struct cluster c = cluster(4, four_of_four, FABRIC_NVSWITCH);

	for (int k = 0; k < 3; k++) {
		struct library_transfers t;
		struct library_estimate e;
		struct library_call call;
		double card_ns, links_ns;

		make(&c, ops[k], NULL, &call, &e, &t);
		card_ns = busiest(&c, &t, true) * BYTES /
			  (c.fabric.card_Bps * e.remote_reach) * 1e9;
		links_ns = busiest(&c, &t, false) * BYTES /
			   (c.fabric.intra_Bps * e.local_reach) * 1e9;
		cr_expect_float_eq(e.transfer_ns, fmax(card_ns, links_ns),
				   e.transfer_ns * 1e-6, "%s: %g, %g or %g",
				   dist__op_name(ops[k]), e.transfer_ns,
				   card_ns, links_ns);
		library_transfers_release(&t);
	}
}

Test(transfers, by_rails_never_cross_them)
{
	struct cluster c = cluster(4, four_of_four, FABRIC_NVSWITCH);
	struct library_transfers t;
	struct library_estimate e;
	struct library_call call;

	make(&c, DIST__ALL_TO_ALL, NULL, &call, &e, &t);
	for (size_t i = 0; i < t.count; i++)
		if (t.list[i].leaves)
			cr_expect_eq(t.list[i].from % 4, t.list[i].to % 4);
	cr_expect_float_eq(sum(&t, true), 16 * 12 / 16., 1e-9);
	library_transfers_release(&t);
	c = cluster(4, four_of_four, FABRIC_PCIE);
	make(&c, DIST__ALL_TO_ALL, NULL, &call, &e, &t);
	cr_expect_float_eq(sum(&t, true), 16 * 12 / 16., 1e-9);
	cr_expect_float_eq(sum(&t, false), 16 * 3 / 16., 1e-9);
	library_transfers_release(&t);
}

/* Nobody sends to the root of a broadcast; that of a reduction sends to nobody.
 */
Test(transfers, of_open_rings_begin_or_end_at_the_root)
{
	const struct cluster clusters[] = {
		cluster(4, four_of_four, FABRIC_NVSWITCH),
		cluster(1, four_of_four, FABRIC_PCIE)};

	for (size_t k = 0; k < sizeof clusters / sizeof *clusters; k++) {
		struct library_transfers t;
		struct library_estimate e;
		struct library_call call;

		make(&clusters[k], DIST__BROADCAST, NULL, &call, &e, &t);
		for (size_t i = 0; i < t.count; i++)
			cr_expect_neq(t.list[i].to, call.root);
		library_transfers_release(&t);
		make(&clusters[k], DIST__REDUCE, NULL, &call, &e, &t);
		for (size_t i = 0; i < t.count; i++)
			cr_expect_neq(t.list[i].from, call.root);
		library_transfers_release(&t);
	}
}

Test(transfers, uneven_nodes_send_all_they_have)
{
	const struct cluster c = cluster(3, uneven, FABRIC_NVSWITCH);
	struct library_transfers t;
	struct library_estimate e;
	struct library_call call;

	make(&c, DIST__ALL_TO_ALL, NULL, &call, &e, &t);
	/* 8 ranks; of each pair on two nodes a message either way. */
	cr_expect_float_eq(sum(&t, true), (4 * 4 + 1 * 7 + 3 * 5) / 8., 1e-9);
	library_transfers_release(&t);
	make(&c, DIST__ALL_GATHER, NULL, &call, &e, &t);
	for (size_t i = 0; i < t.count; i++)
		cr_expect(t.list[i].to >= 0 && t.list[i].to < c.ranks);
	library_transfers_release(&t);
}
