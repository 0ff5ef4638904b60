#include "tests/support/part_cases.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORLD 32

/* How the parts of a case lie. */
enum form { SINGLE, IN_PLACE, LIST, LIST_IN_PLACE, UNEVEN, FORMS };

struct shape {
	const struct dist__algorithm *algorithm;
	enum dist_dtype dtype;
	enum dist_reduce_op op;
	enum form form;
	size_t numel;
	int root;
};

struct walk {
	int p;
	struct algorithm_outcome outcome;
};

/* One rank on its way through the table. */
struct walker {
	struct walk *walk;
	struct dist__transport *transport;
	struct shape shape;
	int p, rank;
	uint32_t seq;
};

/* Parts with their memory: a whole, or a tensor for each rank. */
struct side {
	struct dist__parts parts;
	struct dist_tensor list[MAX_WORLD];
	size_t splits[MAX_WORLD];
};

/* ---- what is where ---------------------------------------------------- */

static bool is_list(const struct shape *shape)
{
	return shape->form == LIST || shape->form == LIST_IN_PLACE ||
	       (shape->form == UNEVEN &&
		shape->algorithm->op != DIST__ALL_TO_ALL);
}

static bool in_place(const struct shape *shape)
{
	return shape->form == IN_PLACE || shape->form == LIST_IN_PLACE;
}

/* The elements that pass from rank src to rank dst; but of an all-gather what
 * src has, of a reduce-scatter what dst gets. */
static size_t length(const struct shape *shape, int src, int dst)
{
	if (shape->form != UNEVEN)
		return shape->numel;
	switch (shape->algorithm->op) {
	case DIST__ALL_GATHER:
		return (shape->numel + (size_t)src) % 4;
	case DIST__REDUCE_SCATTER:
		return (shape->numel + (size_t)dst) % 4;
	default:
		return (shape->numel + (size_t)src + 2 * (size_t)dst) % 5;
	}
}

/* Element i of what src has for dst, or for all. */
static double value(int src, int dst, size_t i)
{
	return (double)((size_t)src * 31 + (size_t)dst * 17 + i * 7) -
	       (double)(i % 5) * 40;
}

static double load(struct dist_tensor t, size_t i)
{
	return t.dtype == DIST_FLOAT32 ? (double)((const float *)t.data)[i]
				       : (double)((const int64_t *)t.data)[i];
}

static void store(struct dist_tensor t, size_t i, double x)
{
	if (t.dtype == DIST_FLOAT32)
		((float *)t.data)[i] = (float)x;
	else
		((int64_t *)t.data)[i] = (int64_t)x;
}

static struct dist_tensor tensor_new(const struct shape *shape, size_t numel)
{
	size_t bytes = numel * dist_dtype_size(shape->dtype);
	void *data = bytes ? malloc(bytes) : NULL;

	assert(data || !bytes);
	return dist_tensor(data, numel, shape->dtype);
}

/* Makes the parts that a rank sends (rank is src) or receives. */
static void side_init(struct side *side, const struct walker *w, bool sends)
{
	const struct shape *shape = &w->shape;
	size_t numel = 0;

	side->parts = (struct dist__parts){.count = w->p};
	for (int i = 0; i < w->p; i++) {
		side->splits[i] = sends ? length(shape, w->rank, i)
					: length(shape, i, w->rank);
		numel += side->splits[i];
		if (is_list(shape))
			side->list[i] = tensor_new(shape, side->splits[i]);
	}
	if (is_list(shape))
		side->parts.list = side->list;
	else
		side->parts.whole = tensor_new(shape, numel);
	if (!is_list(shape) && shape->form == UNEVEN)
		side->parts.splits = side->splits;
	for (int i = 0; i < w->p; i++)
		for (size_t k = 0; k < side->splits[i]; k++)
			store(dist__part(&side->parts, i), k,
			      sends ? value(w->rank, i, k) : -77);
}

static void side_release(struct side *side)
{
	free(side->parts.whole.data);
	for (int i = 0; side->parts.list && i < side->parts.count; i++)
		free(side->list[i].data);
}

/* ---- one case --------------------------------------------------------- */

static void fail(struct walker *w, const char *what, double want, double got)
{
	const struct shape *s = &w->shape;
	struct algorithm_outcome *outcome = &w->walk->outcome;

	if (outcome->failures++ == 0)
		snprintf(outcome->first, sizeof outcome->first,
			 "%s %s, rank %d of %d, numel %zu, %s %s, form %d, "
			 "root %d: %s: expected %g, got %g",
			 dist__op_name(s->algorithm->op), s->algorithm->name,
			 w->rank, w->p, s->numel, dist_dtype_name(s->dtype),
			 dist_reduce_op_name(s->op), (int)s->form, s->root,
			 what, want, got);
}

static double reduced(const struct walker *w, size_t i)
{
	double x = value(0, w->rank, i);

	for (int src = 1; src < w->p; src++) {
		double y = value(src, w->rank, i);

		if (w->shape.op == DIST_MAX)
			x = x > y ? x : y;
		else
			x += y;
	}
	return x;
}

/* Element i that the rank gets from src. */
static double wanted(const struct walker *w, int src, size_t i)
{
	switch (w->shape.algorithm->op) {
	case DIST__REDUCE_SCATTER:
		return reduced(w, i);
	case DIST__SCATTER:
		return value(w->shape.root, w->rank, i);
	case DIST__ALL_TO_ALL:
		return value(src, w->rank, i);
	default:
		return value(src, src, i);
	}
}

static void check_received(struct walker *w, struct dist_tensor got, int src)
{
	for (size_t i = 0; i < got.numel; i++)
		if (load(got, i) != wanted(w, src, i)) {
			fail(w, "element", wanted(w, src, i), load(got, i));
			return;
		}
}

/* own: the one part that may have changed; -1: none. */
static void check_inputs(struct walker *w, const struct dist__parts *parts,
			 int own)
{
	for (int dst = 0; dst < parts->count; dst++) {
		struct dist_tensor part = dist__part(parts, dst);

		for (size_t i = 0; i < part.numel && dst != own; i++)
			if (load(part, i) != value(w->rank, dst, i)) {
				fail(w, "input", value(w->rank, dst, i),
				     load(part, i));
				return;
			}
	}
}

/* What the rank has one of: its own part of a side, or memory of its own. */
static struct dist_tensor one_new(struct walker *w, const struct side *side)
{
	struct dist_tensor one;
	bool has_side = side->parts.count > 0;

	if (in_place(&w->shape) && has_side)
		one = dist__part(&side->parts, w->rank);
	else
		one = tensor_new(&w->shape,
				 length(&w->shape, w->rank, w->rank));
	/* The input of a gathering, which fills in its own place too. */
	for (size_t i = 0; i < one.numel; i++)
		if (w->shape.algorithm->op == DIST__ALL_GATHER ||
		    w->shape.algorithm->op == DIST__GATHER)
			store(one, i, value(w->rank, w->rank, i));
	return one;
}

static void run_case(struct walker *w)
{
	const struct shape *shape = &w->shape;
	enum dist__op_kind kind = shape->algorithm->op;
	bool root = w->rank == shape->root;
	bool has_in = kind == DIST__REDUCE_SCATTER ||
		      kind == DIST__ALL_TO_ALL ||
		      (kind == DIST__SCATTER && root);
	bool has_out = kind == DIST__ALL_GATHER || kind == DIST__ALL_TO_ALL ||
		       (kind == DIST__GATHER && root);
	struct side in = {.parts = {.count = 0}}, out = in;
	struct algorithm_case c = {.algorithm = shape->algorithm,
				   .world_size = w->p,
				   .reduce_op = shape->op,
				   .root = shape->root,
				   .seq = w->seq++};
	bool own_memory;

	if (has_in)
		side_init(&in, w, true);
	if (has_out)
		side_init(&out, w, false);
	c.tensor = dist_tensor(NULL, 0, shape->dtype);
	if (kind != DIST__ALL_TO_ALL)
		c.tensor = one_new(w, has_in ? &in : &out);
	own_memory = !(in_place(shape) && (has_in || has_out));
	c.in = in.parts;
	c.out = out.parts;
	if (algorithm_case_run(&c, w->transport, w->rank))
		fail(w, "error", 0, 1);
	for (int src = 0; src < out.parts.count; src++)
		check_received(w, dist__part(&out.parts, src), src);
	if (kind == DIST__REDUCE_SCATTER || kind == DIST__SCATTER)
		check_received(w, c.tensor, w->rank);
	check_inputs(w, &in.parts,
		     in_place(shape) && kind == DIST__REDUCE_SCATTER ? w->rank
								     : -1);
	if (own_memory)
		free(c.tensor.data);
	side_release(&in);
	side_release(&out);
	if (w->rank == 0)
		w->walk->outcome.cases++;
}

/* ---- the table -------------------------------------------------------- */

static bool fits(const struct shape *shape)
{
	switch (shape->algorithm->op) {
	case DIST__GATHER:
	case DIST__SCATTER:
		return shape->form != UNEVEN;
	case DIST__ALL_TO_ALL:
		return !in_place(shape);
	default:
		return true;
	}
}

static void walk_forms(struct walker *w)
{
	static const size_t counts[] = {0, 1, 2, 67};
	int form;

	for (form = 0; form < FORMS; form++)
		for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
			w->shape.form = (enum form)form;
			w->shape.numel = counts[i];
			if (fits(&w->shape))
				run_case(w);
		}
}

static void walk_algorithm(struct walker *w,
			   const struct dist__algorithm *algorithm)
{
	bool rooted =
		algorithm->op == DIST__GATHER || algorithm->op == DIST__SCATTER;
	int roots[] = {0, w->p / 2, w->p - 1};

	for (int i = 0; i < (rooted ? 3 : 1); i++) {
		w->shape = (struct shape){.algorithm = algorithm,
					  .dtype = DIST_FLOAT32,
					  .op = DIST_SUM,
					  .root = rooted ? roots[i] : -1};
		walk_forms(w);
		w->shape.dtype = DIST_INT64;
		w->shape.op = DIST_MAX;
		walk_forms(w);
	}
}

static void walk_rank(struct dist__transport *transport, int rank, void *arg)
{
	const struct dist__algorithm *const *all = dist__algorithms();
	struct walk *walk = arg;
	struct walker w = {
		.walk = walk,
		.transport = transport,
		.p = walk->p,
		.rank = algorithm_cases_group_rank(rank, walk->p),
	};

	for (; *all; all++)
		if ((*all)->op >= DIST__ALL_GATHER)
			walk_algorithm(&w, *all);
}

struct algorithm_outcome part_cases_walk(int world_size)
{
	struct loop_options options = {.world_size = world_size};
	struct walk walk = {.p = world_size};
	struct loop_report report;

	assert(world_size <= MAX_WORLD);
	report = loop_run(&options, walk_rank, &walk);
	if (report.left_over && walk.outcome.failures++ == 0)
		snprintf(walk.outcome.first, sizeof walk.outcome.first,
			 "%zu requests left over", report.left_over);
	return walk.outcome;
}
