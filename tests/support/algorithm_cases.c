#include "tests/support/algorithm_cases.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/element.h"
#include "base/hash.h"

#define MAX_WORLD 32
#define LARGE     1009 /* elements; prime, so that no chunk is even */
#define SEGMENT   100  /* bytes; so that a pipeline has many, and uneven ones */
#define GUARD     16   /* bytes behind the tensor that must not change */

/* What an element may hold and how it is combined. */
struct kind {
	enum dist_dtype dtype;
	enum dist_reduce_op op;
	bool exact; /* any order of summing up gives the same value */
};

static const struct kind kinds[] = {
	{DIST_FLOAT32, DIST_SUM, false},  {DIST_FLOAT32, DIST_SUM, true},
	{DIST_FLOAT64, DIST_AVG, false},  {DIST_FLOAT64, DIST_PRODUCT, false},
	{DIST_FLOAT32, DIST_MIN, true},   {DIST_FLOAT64, DIST_MAX, true},
	{DIST_INT32, DIST_SUM, true},     {DIST_INT32, DIST_MIN, true},
	{DIST_INT64, DIST_PRODUCT, true}, {DIST_INT64, DIST_MAX, true},
	{DIST_FLOAT16, DIST_SUM, false},  {DIST_BFLOAT16, DIST_AVG, false},
	{DIST_BFLOAT16, DIST_SUM, true},  {DIST_INT8, DIST_SUM, true},
	{DIST_UINT8, DIST_BXOR, true},    {DIST_BOOL, DIST_SUM, true},
};

#define NUM_KINDS (sizeof kinds / sizeof kinds[0])

struct walk {
	int world_size;
	struct algorithm_outcome outcome;
	int entered; /* ranks that came to the barriers so far, all together */
	/* Of the case being run, by rank; ranks meet between the cases. */
	uint64_t digests[MAX_WORLD];
};

/* One rank on its way through the table. */
struct walker {
	struct walk *walk;
	struct dist__transport *transport;
	int rank;
	uint32_t seq;
	unsigned char data[LARGE * 8 + GUARD];
};

size_t algorithm_case_shape(struct algorithm_case *c, int rank, size_t numel,
			    enum dist_dtype dtype,
			    const struct algorithm_memory *memory)
{
	enum dist__op_kind kind = c->algorithm->op;
	size_t all = numel * (size_t)c->world_size;
	struct dist__parts in = {.count = c->world_size,
				 .whole = dist_tensor(memory->in, all, dtype)};
	struct dist__parts out = {.count = c->world_size,
				  .whole =
					  dist_tensor(memory->out, all, dtype)};
	bool is_root = rank == c->root;

	c->tensor = dist_tensor(memory->one, numel, dtype);
	if (kind == DIST__BARRIER)
		c->tensor = dist_tensor(NULL, 0, dtype);
	if (kind < DIST__ALL_GATHER || kind > DIST__SCATTER)
		return numel;
	if (kind == DIST__ALL_TO_ALL)
		c->tensor = dist_tensor(NULL, 0, dtype);
	if (kind == DIST__REDUCE_SCATTER || kind == DIST__ALL_TO_ALL ||
	    (kind == DIST__SCATTER && is_root))
		c->in = in;
	if (kind == DIST__ALL_GATHER || kind == DIST__ALL_TO_ALL ||
	    (kind == DIST__GATHER && is_root))
		c->out = out;
	return all;
}

static bool is_phantom(struct dist_tensor tensor)
{
	return tensor.numel > 0 && !tensor.data;
}

/* Ranks of one layout share a node if they have the same number. */
static int node_number(uint32_t layout, int rank)
{
	switch (layout) {
	case 0:
		return rank;
	case 1:
		return rank / 3;
	case 2:
		return rank % 3;
	case 3:
		return 0;
	default:
		return rank * rank % 7;
	}
}

static void set_nodes(uint32_t layout, int world_size, int *nodes)
{
	for (int rank = 0; rank < world_size; rank++) {
		nodes[rank] = 0;
		while (node_number(layout, nodes[rank]) !=
		       node_number(layout, rank))
			nodes[rank]++;
	}
}

enum dist_error algorithm_case_run(const struct algorithm_case *c,
				   struct dist__transport *transport, int rank)
{
	bool missing[MAX_WORLD] = {false};
	int ranks[MAX_WORLD], nodes[MAX_WORLD];
	struct dist__members members = {.group_id = 3,
					.rank = rank,
					.world_size = c->world_size,
					.ranks = ranks,
					.nodes = nodes};
	struct dist__sides sides = {.in = c->in, .out = c->out};
	struct dist__op op = {.kind = c->algorithm->op,
			      .reduce_op = c->reduce_op,
			      .tensor = c->tensor,
			      .sides = &sides,
			      .phantom = is_phantom(c->tensor) ||
					 is_phantom(c->in.whole),
			      .missing = missing,
			      .peer = c->root,
			      .tag = -1,
			      .seq = c->seq,
			      .fingerprint = c->seq ^ 0x5eedU,
			      .deadline_ns = DIST_TIMEOUT_NEVER};
	struct dist__coll coll = {.transport = transport,
				  .members = &members,
				  .op = &op,
				  .rank = rank,
				  .world_size = c->world_size,
				  .segment_bytes = c->segment_bytes};

	assert(c->world_size <= MAX_WORLD);
	for (int i = 0; i < c->world_size; i++)
		ranks[i] = c->world_size - 1 - i;
	set_nodes(c->seq % ALGORITHM_LAYOUTS, c->world_size, nodes);
	return c->algorithm->run(&coll);
}

/* ---- values ----------------------------------------------------------- */

/* Element i of rank's input. Integers are small; a product of 32 of them is
 * exact. The others have no finite binary expansion. */
static double input(const struct kind *kind, int rank, size_t i)
{
	double small = (double)((i * 7 + (size_t)rank * 5) % 11) - 5;

	if (!kind->exact)
		return 1 +
		       1 / (3.0 + (double)((i * 13 + (size_t)rank * 29) % 101));
	if (kind->op == DIST_PRODUCT)
		return (i + (size_t)rank) % 3 == 2 ? 2 : 1;
	return element_round(kind->dtype, small);
}

/* What all ranks together make of element i; AVG is a sum down here. */
static double combined(const struct kind *kind, int world_size, size_t i)
{
	enum dist_dtype dtype = kind->exact ? kind->dtype : DIST_FLOAT64;
	double value = input(kind, 0, i);

	for (int rank = 1; rank < world_size; rank++)
		value = element_combine(dtype, kind->op, value,
					input(kind, rank, i));
	return value;
}

/* Inputs are rounded once and every step once more, each by half a unit. */
static double tolerance(const struct kind *kind, int world_size, double value)
{
	static const double units[] = {[DIST_FLOAT16] = 0x1p-10,
				       [DIST_BFLOAT16] = 0x1p-7,
				       [DIST_FLOAT32] = 0x1p-23,
				       [DIST_FLOAT64] = 0x1p-52};

	if (kind->exact)
		return 0;
	return 2 * world_size * units[kind->dtype] * fabs(value);
}

/* ---- one case --------------------------------------------------------- */

static void fail(struct walker *w, const struct algorithm_case *c,
		 const struct kind *kind, const char *what, double detail)
{
	struct algorithm_outcome *outcome = &w->walk->outcome;

	if (outcome->failures++ == 0)
		snprintf(outcome->first, sizeof outcome->first,
			 "%s %s, rank %d of %d, layout %u, numel %zu, %s %s, "
			 "root %d: %s (%.17g)",
			 dist__op_name(c->algorithm->op), c->algorithm->name,
			 w->rank, c->world_size, c->seq % ALGORITHM_LAYOUTS,
			 c->tensor.numel, dist_dtype_name(kind->dtype),
			 dist_reduce_op_name(kind->op), c->root, what, detail);
}

/* What this rank must hold afterwards in element i. */
static double expected(const struct algorithm_case *c, const struct kind *kind,
		       size_t i)
{
	if (c->algorithm->op != DIST__BROADCAST)
		return combined(kind, c->world_size, i);
	return element_round(kind->dtype, input(kind, c->root, i));
}

static void check(struct walker *w, const struct algorithm_case *c,
		  const struct kind *kind)
{
	bool mine = c->algorithm->op != DIST__REDUCE || w->rank == c->root;

	for (size_t i = 0; i < c->tensor.numel && mine; i++) {
		double got = element_load(kind->dtype, w->data, i);
		double want = expected(c, kind, i);

		if (!(fabs(got - want) <=
		      tolerance(kind, c->world_size, want))) {
			fail(w, c, kind, "wrong element", got - want);
			return;
		}
	}
}

static void check_guard(struct walker *w, const struct algorithm_case *c,
			const struct kind *kind)
{
	size_t bytes = c->tensor.numel * dist_dtype_size(kind->dtype);

	for (size_t i = bytes; i < bytes + GUARD; i++)
		if (w->data[i] != 0xa5)
			fail(w, c, kind, "wrote behind the tensor", (double)i);
}

/* Rank 0 looks whether all ranks have the same bytes. */
static void check_equal(struct walker *w, const struct algorithm_case *c,
			const struct kind *kind)
{
	struct walk *walk = w->walk;

	if (w->rank != 0 || c->algorithm->op == DIST__REDUCE)
		return;
	for (int rank = 1; rank < walk->world_size; rank++)
		if (walk->digests[rank] != walk->digests[0])
			fail(w, c, kind, "not the bytes of rank", rank);
}

static void run_case(struct walker *w, const struct dist__algorithm *algorithm,
		     const struct kind *kind, size_t numel, int root)
{
	struct algorithm_case c = {
		.algorithm = algorithm,
		.world_size = w->walk->world_size,
		.tensor =
			dist_tensor(numel ? w->data : NULL, numel, kind->dtype),
		.reduce_op = kind->op,
		.root = root,
		.seq = w->seq++,
		.segment_bytes = SEGMENT,
	};
	size_t bytes = numel * dist_dtype_size(kind->dtype);
	enum dist_error error;

	memset(w->data, 0xa5, sizeof w->data);
	for (size_t i = 0; i < numel; i++)
		element_store(kind->dtype, w->data, i,
			      algorithm->op == DIST__BROADCAST &&
					      w->rank != root
				      ? 77
				      : input(kind, w->rank, i));
	error = algorithm_case_run(&c, w->transport, w->rank);
	if (error)
		fail(w, &c, kind, dist_error_string(error), error);
	check_guard(w, &c, kind);
	w->walk->digests[w->rank] =
		dist__hash_bytes(DIST__HASH_BEGIN, w->data, bytes);
	check(w, &c, kind);
	loop_meet(w->transport);
	check_equal(w, &c, kind);
	if (w->rank == 0)
		w->walk->outcome.cases++;
	loop_meet(w->transport);
}

/* ---- the table -------------------------------------------------------- */

static void walk_counts(struct walker *w,
			const struct dist__algorithm *algorithm,
			const struct kind *kind, int root)
{
	size_t p = (size_t)w->walk->world_size;
	size_t counts[] = {0, 1, p - 1, p, 3 * p + 1, LARGE};

	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		run_case(w, algorithm, kind, counts[i], root);
}

/* No rank may leave a barrier before all have come to it. */
static void walk_barriers(struct walker *w,
			  const struct dist__algorithm *algorithm)
{
	struct walk *walk = w->walk;
	struct algorithm_case c = {.algorithm = algorithm,
				   .world_size = walk->world_size,
				   .root = -1};

	for (int i = 1; i <= 20; i++) {
		c.seq = w->seq++;
		walk->entered++;
		if (algorithm_case_run(&c, w->transport, w->rank))
			fail(w, &c, &kinds[0], "error", 0);
		if (walk->entered < i * walk->world_size)
			fail(w, &c, &kinds[0], "left early", walk->entered);
	}
}

static void walk_algorithm(struct walker *w,
			   const struct dist__algorithm *algorithm)
{
	int p = w->walk->world_size;

	if (algorithm->op == DIST__BARRIER ||
	    algorithm->op == DIST__MONITORED_BARRIER) {
		walk_barriers(w, algorithm);
		return;
	}
	for (size_t i = 0; i < NUM_KINDS; i++) {
		walk_counts(w, algorithm, &kinds[i], 0);
		if (algorithm->op == DIST__ALL_REDUCE || p == 1)
			continue;
		walk_counts(w, algorithm, &kinds[i], p / 2);
		walk_counts(w, algorithm, &kinds[i], p - 1);
	}
}

static void walk_rank(struct dist__transport *transport, int rank, void *arg)
{
	const struct dist__algorithm *const *all = dist__algorithms();
	struct walk *walk = arg;
	struct walker *w = malloc(sizeof *w);

	assert(w);
	w->walk = walk;
	w->transport = transport;
	w->rank = algorithm_cases_group_rank(rank, walk->world_size);
	w->seq = 0;
	for (; *all; all++)
		if ((*all)->op < DIST__ALL_GATHER)
			walk_algorithm(w, *all);
	free(w);
}

struct algorithm_outcome algorithm_cases_walk(int world_size)
{
	struct loop_options options = {.world_size = world_size};
	struct walk walk = {.world_size = world_size};
	struct loop_report report;

	report = loop_run(&options, walk_rank, &walk);
	if (report.left_over && walk.outcome.failures++ == 0)
		snprintf(walk.outcome.first, sizeof walk.outcome.first,
			 "%zu requests left over", report.left_over);
	return walk.outcome;
}
