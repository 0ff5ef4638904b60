#include "tests/support/cases_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE 4099 /* elements of a part; prime */

enum call { ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, GATHER, SCATTER, CALLS };

/* How the parts lie: in one tensor, or in a list; the rank's own apart or in
 * place; of unequal lengths, some of them 0. */
enum form { SINGLE, IN_PLACE, LIST, LIST_IN_PLACE, UNEVEN, UNEVEN_LIST, FORMS };

struct one_case {
	enum call call;
	enum form form;
	enum dist_dtype dtype;
	enum dist_reduce_op op;
	size_t numel; /* of a part; about so many where they are unequal */
	int root;
	bool async;
	bool exact; /* integers; else fractions, only the digest is looked at */
};

/* Parts with their memory. */
struct side {
	bool here; /* this rank has one */
	bool is_list;
	struct dist_tensor whole;
	struct dist_tensor list[CASES_MAX_WORLD];
	size_t splits[CASES_MAX_WORLD];
};

struct walk {
	struct dist_group *group;
	struct cases_outcome *outcome;
	int rank, size;
	uint32_t *index;
};

/* ---- what is where ---------------------------------------------------- */

static bool is_list(const struct one_case *c)
{
	return c->form == LIST || c->form == LIST_IN_PLACE ||
	       c->form == UNEVEN_LIST;
}

static bool in_place(const struct one_case *c)
{
	return c->form == IN_PLACE || c->form == LIST_IN_PLACE;
}

static bool is_uneven(const struct one_case *c)
{
	return c->form == UNEVEN || c->form == UNEVEN_LIST;
}

/* The elements that pass from src to dst; but of an all-gather what src has,
 * of a reduce-scatter what dst gets. */
static size_t length(const struct one_case *c, int src, int dst)
{
	if (!is_uneven(c))
		return c->numel;
	if (c->call == ALL_GATHER)
		return c->numel * ((size_t)src % 3);
	if (c->call == REDUCE_SCATTER)
		return c->numel * ((size_t)(dst + 1) % 3);
	return c->numel * (size_t)((src + 2 * dst) % 4);
}

/* Element i of what src has for dst. */
static double value(const struct one_case *c, int src, int dst, size_t i)
{
	size_t seed = (size_t)src * 31 + (size_t)dst * 17 + i * 7;

	return c->exact ? (double)(seed % 23) - 11
			: 1 / (3.0 + (double)(seed % 101));
}

static void store(struct dist_tensor t, size_t i, double x)
{
	switch (t.dtype) {
	case DIST_FLOAT32:
		((float *)t.data)[i] = (float)x;
		break;
	case DIST_FLOAT64:
		((double *)t.data)[i] = x;
		break;
	case DIST_INT32:
		((int32_t *)t.data)[i] = (int32_t)x;
		break;
	default:
		((int64_t *)t.data)[i] = (int64_t)x;
	}
}

static double load(struct dist_tensor t, size_t i)
{
	switch (t.dtype) {
	case DIST_FLOAT32:
		return (double)((const float *)t.data)[i];
	case DIST_FLOAT64:
		return ((const double *)t.data)[i];
	case DIST_INT32:
		return ((const int32_t *)t.data)[i];
	default:
		return (double)((const int64_t *)t.data)[i];
	}
}

static struct dist_tensor tensor_new(const struct one_case *c, size_t numel)
{
	return dist_tensor(malloc(numel * dist_dtype_size(c->dtype) + 1), numel,
			   c->dtype);
}

static struct dist_tensor part_of(const struct side *side, int rank)
{
	struct dist_tensor part = side->whole;
	size_t before = 0;

	if (side->is_list)
		return side->list[rank];
	for (int i = 0; i < rank; i++)
		before += side->splits[i];
	part.numel = side->splits[rank];
	part.data = (char *)part.data + before * dist_dtype_size(part.dtype);
	return part;
}

static void side_init(struct side *side, const struct walk *w,
		      const struct one_case *c, bool sends)
{
	size_t numel = 0;

	side->here = true;
	side->is_list = is_list(c);
	for (int i = 0; i < w->size; i++) {
		side->splits[i] =
			sends ? length(c, w->rank, i) : length(c, i, w->rank);
		numel += side->splits[i];
		if (side->is_list)
			side->list[i] = tensor_new(c, side->splits[i]);
	}
	if (!side->is_list)
		side->whole = tensor_new(c, numel);
	for (int i = 0; i < w->size; i++)
		for (size_t k = 0; k < side->splits[i]; k++)
			store(part_of(side, i), k,
			      sends ? value(c, w->rank, i, k) : 99);
}

static void side_release(struct side *side, int size)
{
	for (int i = 0; side->here && side->is_list && i < size; i++)
		free(side->list[i].data);
	if (side->here && !side->is_list)
		free(side->whole.data);
}

/* ---- one case --------------------------------------------------------- */

static void fail(struct walk *w, const struct one_case *c, const char *what,
		 double want, double got)
{
	static const char *const calls[] = {"all_gather", "reduce_scatter",
					    "all_to_all", "gather", "scatter"};
	struct cases_outcome *o = w->outcome;

	if (o->failures[w->rank]++ == 0)
		snprintf(o->first[w->rank], sizeof o->first[w->rank],
			 "case %u on rank %d: %s(form %d, %s, %s, numel %zu, "
			 "root %d%s): %s: expected %.9g, got %.9g",
			 *w->index, w->rank, calls[c->call], (int)c->form,
			 dist_dtype_name(c->dtype), dist_reduce_op_name(c->op),
			 c->numel, c->root, c->async ? ", async" : "", what,
			 want, got);
}

static enum dist_error perform(struct walk *w, const struct one_case *c,
			       struct dist_tensor one, struct side *in,
			       struct side *out)
{
	struct dist_work *work = NULL, **handle = c->async ? &work : NULL;
	bool uneven = is_uneven(c);
	enum dist_error error;

	if (c->call == ALL_GATHER)
		error = out->is_list
				? dist_all_gather(w->group, out->list, one,
						  handle)
				: dist_all_gather_single(w->group, out->whole,
							 one, handle);
	else if (c->call == REDUCE_SCATTER)
		error = in->is_list
				? dist_reduce_scatter(w->group, one, in->list,
						      c->op, handle)
				: dist_reduce_scatter_single(w->group, one,
							     in->whole, c->op,
							     handle);
	else if (c->call == ALL_TO_ALL && in->is_list)
		error = dist_all_to_all(w->group, out->list, in->list, handle);
	else if (c->call == ALL_TO_ALL)
		error = dist_all_to_all_single(w->group, out->whole, in->whole,
					       uneven ? out->splits : NULL,
					       uneven ? in->splits : NULL,
					       handle);
	else if (c->call == GATHER)
		error = dist_gather(w->group, one, out->here ? out->list : NULL,
				    c->root, handle);
	else
		error = dist_scatter(w->group, one, in->here ? in->list : NULL,
				     c->root, handle);
	if (!error && work)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error;
}

static double reduced(const struct walk *w, const struct one_case *c, size_t i)
{
	double x = value(c, 0, w->rank, i);

	for (int src = 1; src < w->size; src++) {
		double y = value(c, src, w->rank, i);

		if (c->op == DIST_MAX)
			x = x > y ? x : y;
		else
			x += y;
	}
	if (c->op != DIST_AVG)
		return x;
	if (c->dtype == DIST_INT32 || c->dtype == DIST_INT64)
		return trunc(x / w->size);
	return c->dtype == DIST_FLOAT32 ? (double)((float)x / (float)w->size)
					: x / w->size;
}

/* Element i that this rank gets from src. */
static double wanted(const struct walk *w, const struct one_case *c, int src,
		     size_t i)
{
	switch (c->call) {
	case REDUCE_SCATTER:
		return reduced(w, c, i);
	case ALL_TO_ALL:
		return value(c, src, w->rank, i);
	case SCATTER:
		return value(c, c->root, w->rank, i);
	default:
		return value(c, src, src, i);
	}
}

/* Compares what came from src, and goes on with the digest. */
static uint64_t look_at(struct walk *w, const struct one_case *c,
			struct dist_tensor got, int src, uint64_t digest)
{
	size_t bytes = got.numel * dist_dtype_size(got.dtype);
	const unsigned char *byte = got.data;

	for (size_t i = 0; c->exact && i < got.numel; i++)
		if (load(got, i) != wanted(w, c, src, i))
			fail(w, c, "element", wanted(w, c, src, i),
			     load(got, i));
	for (size_t i = 0; i < bytes; i++)
		digest = (digest ^ byte[i]) * UINT64_C(1099511628211);
	return digest;
}

static bool has_in(const struct walk *w, const struct one_case *c)
{
	return c->call == REDUCE_SCATTER || c->call == ALL_TO_ALL ||
	       (c->call == SCATTER && c->root == w->rank);
}

static bool has_out(const struct walk *w, const struct one_case *c)
{
	return c->call == ALL_GATHER || c->call == ALL_TO_ALL ||
	       (c->call == GATHER && c->root == w->rank);
}

static int do_case(struct walk *w, const struct one_case *c)
{
	struct side in = {.here = false}, out = {.here = false};
	uint64_t digest = UINT64_C(14695981039346656037);
	struct dist_tensor one = {NULL, 0, c->dtype};
	enum dist_error error;
	bool own;

	if (has_in(w, c))
		side_init(&in, w, c, true);
	if (has_out(w, c))
		side_init(&out, w, c, false);
	own = c->call != ALL_TO_ALL && !(in_place(c) && (in.here || out.here));
	if (own)
		one = tensor_new(c, length(c, w->rank, w->rank));
	else if (c->call != ALL_TO_ALL)
		one = part_of(in.here ? &in : &out, w->rank);
	for (size_t i = 0; i < one.numel; i++)
		if (c->call == ALL_GATHER || c->call == GATHER)
			store(one, i, value(c, w->rank, w->rank, i));
	error = perform(w, c, one, &in, &out);
	if (error)
		fail(w, c, dist_error_message(w->group), 0, error);
	for (int src = 0; out.here && src < w->size && !error; src++)
		digest = look_at(w, c, part_of(&out, src), src, digest);
	if (!error && (c->call == REDUCE_SCATTER || c->call == SCATTER))
		digest = look_at(w, c, one, w->rank, digest);
	if (own)
		free(one.data);
	side_release(&in, w->size);
	side_release(&out, w->size);
	if (*w->index < CASES_MAX)
		w->outcome->digest[w->rank][*w->index] = digest;
	(*w->index)++;
	return error != DIST_OK;
}

/* ---- the table -------------------------------------------------------- */

static bool fits(const struct one_case *c)
{
	switch (c->call) {
	case ALL_TO_ALL:
		return !in_place(c);
	case GATHER:
	case SCATTER:
		return c->form == LIST || c->form == LIST_IN_PLACE;
	default:
		return c->form != UNEVEN;
	}
}

static int do_variants(struct walk *w, struct one_case c)
{
	bool rooted = c.call == GATHER || c.call == SCATTER;
	int roots[] = {0, w->size - 1};

	for (int i = 0; i < (rooted && w->size > 1 ? 2 : 1); i++) {
		c.root = rooted ? roots[i] : -1;
		c.async = false;
		if (do_case(w, &c))
			return 1;
		c.async = true;
		if (do_case(w, &c))
			return 1;
	}
	return 0;
}

static int do_forms(struct walk *w, struct one_case c)
{
	size_t p = (size_t)w->size;
	size_t counts[] = {0, 1, p - 1, p, 101};
	int form;

	for (form = 0; form < FORMS; form++) {
		c.form = (enum form)form;
		if (!fits(&c))
			continue;
		for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
			c.numel = counts[i];
			if (do_variants(w, c))
				return 1;
		}
		c.numel = LARGE;
		if (c.dtype == DIST_FLOAT32 && c.op == DIST_SUM &&
		    do_variants(w, c))
			return 1;
	}
	return 0;
}

int cases_parts_walk(struct dist_group *group, struct cases_outcome *outcome,
		     uint32_t *index)
{
	static const struct one_case kinds[] = {
		{.dtype = DIST_FLOAT32, .op = DIST_SUM, .exact = true},
		{.dtype = DIST_INT64, .op = DIST_SUM, .exact = true},
		{.dtype = DIST_FLOAT32, .op = DIST_SUM, .exact = false},
		{.dtype = DIST_FLOAT32, .op = DIST_AVG, .exact = true},
		{.dtype = DIST_FLOAT64, .op = DIST_AVG, .exact = false},
		{.dtype = DIST_INT32, .op = DIST_AVG, .exact = true},
		{.dtype = DIST_FLOAT64, .op = DIST_MAX, .exact = true},
	};
	struct walk w = {.group = group,
			 .outcome = outcome,
			 .rank = dist_get_rank(group),
			 .size = dist_get_world_size(group),
			 .index = index};
	int call;

	for (call = 0; call < CALLS; call++)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
			struct one_case c = kinds[i];

			c.call = (enum call)call;
			if (call != REDUCE_SCATTER && i > 1)
				break;
			if (do_forms(&w, c))
				return 1;
		}
	return 0;
}
