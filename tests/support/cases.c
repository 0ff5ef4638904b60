#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/support/cases.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lockstep/dist.h"
#include "scenarios/element.h"
#include "tests/support/cases_parts.h"

#define LARGE 20011 /* elements; prime, so that no chunk is even */

enum call { ALL_REDUCE, REDUCE, BROADCAST, BARRIER, NEIGHBOURS, TAGS };

struct one_case {
	enum call call;
	enum dist_dtype dtype;
	enum dist_reduce_op op;
	size_t numel;
	int root;
	bool async;
	bool exact; /* small integers, checked against arithmetic */
};

/* Walking the table: the rank's place and what it found. */
struct walk {
	struct dist_group *group;
	int rank, size;
	uint32_t index;
	void *data; /* LARGE elements of 8 bytes */
	struct cases_outcome *outcome;
};

static uint64_t scramble(uint64_t x)
{
	/* splitmix64: Steele, Lea and Flood, OOPSLA 2014. */
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Which pairs dist.h calls legal. */
static bool is_legal(const struct one_case *c)
{
	if (c->op >= DIST_BAND)
		return c->dtype >= DIST_INT8;
	return c->op != DIST_AVG || c->dtype != DIST_BOOL;
}

/* Bits for op, such that what many ranks make of them is neither all zeros nor
 * all ones. Of bool: 1 or 0. */
static double bits(uint64_t seed, enum dist_dtype dtype, enum dist_reduce_op op)
{
	uint64_t rare = seed & scramble(seed);
	bool is_and = op == DIST_BAND || op == DIST_PRODUCT || op == DIST_MIN;

	rare &= scramble(rare ^ seed);
	rare &= scramble(rare + seed);
	if (op == DIST_BXOR)
		rare = seed;
	if (is_and)
		rare = ~rare;
	if (dtype == DIST_BOOL)
		return (double)(rare & 1);
	return (double)(int32_t)(rare & 0x7fffffff) - 0x40000000;
}

/* Element i of rank's input. Sums stay below 256 and products at 128 on 16
 * ranks, so that both are exact in every float type; int8 and uint8 wrap. */
static double input(const struct walk *w, const struct one_case *c, int rank,
		    size_t i)
{
	uint64_t seed = scramble(w->index * UINT64_C(1000003) + i * 31 +
				 (uint64_t)rank);
	double value = (double)(seed % 19) - 9;

	if (!c->exact)
		value = ((double)(seed >> 11) / 9007199254740992.0 - 0.5) * 1e3;
	else if (c->dtype == DIST_BOOL || c->op >= DIST_BAND)
		value = bits(seed, c->dtype, c->op);
	else if (c->op == DIST_PRODUCT)
		value = ((size_t)rank + i + w->index) % 16 < 7
				? 2
				: (double)(seed % 2) * 2 - 1;
	return element_round(c->dtype, value);
}

/* What a reduction over all ranks must give; exact inputs only. */
static double reduced(const struct walk *w, const struct one_case *c, size_t i)
{
	double value = input(w, c, 0, i);

	for (int rank = 1; rank < w->size; rank++)
		value = element_combine(c->dtype, c->op, value,
					input(w, c, rank, i));
	return c->op == DIST_AVG ? element_divide(c->dtype, value, w->size)
				 : value;
}

static const char *call_name(enum call call)
{
	static const char *const names[] = {"all_reduce", "reduce",
					    "broadcast",  "barrier",
					    "neighbours", "tags"};

	return names[call];
}

static void fail(struct walk *w, const struct one_case *c, const char *what,
		 size_t i, double want, double got)
{
	struct cases_outcome *o = w->outcome;

	if (o->failures[w->rank]++ == 0)
		snprintf(o->first[w->rank], sizeof o->first[w->rank],
			 "case %u on rank %d: %s(%s, %s, numel %zu, root %d%s):"
			 " %s at %zu: expected %.9g, got %.9g",
			 w->index, w->rank, call_name(c->call),
			 dist_dtype_name(c->dtype), dist_reduce_op_name(c->op),
			 c->numel, c->root, c->async ? ", async" : "", what, i,
			 want, got);
}

static void expect(struct walk *w, const struct one_case *c, size_t i,
		   double want)
{
	double got = element_load(c->dtype, w->data, i);

	if (got != want)
		fail(w, c, "element", i, want, got);
}

static enum dist_error finish(struct dist_work *work)
{
	enum dist_error error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);

	dist_work_free(work);
	return error;
}

/* Every rank sends to the next and receives from the previous at once. */
static enum dist_error neighbours(struct walk *w, const struct one_case *c)
{
	struct dist_tensor in = dist_tensor(w->data, c->numel, c->dtype);
	struct dist_work *works[2] = {NULL, NULL};
	void *copy = malloc(LARGE * 8);
	enum dist_error error, late;

	if (w->size == 1 || !copy) {
		free(copy);
		return copy ? DIST_OK : DIST_ERR_NO_MEMORY;
	}
	memcpy(copy, w->data, c->numel * dist_dtype_size(c->dtype));
	error = dist_irecv(w->group, in, (w->rank + w->size - 1) % w->size, 7,
			   &works[0]);
	if (!error)
		error = dist_isend(w->group,
				   dist_tensor(copy, c->numel, c->dtype),
				   (w->rank + 1) % w->size, 7, &works[1]);
	for (int i = 0; i < 2; i++) {
		late = works[i] ? finish(works[i]) : DIST_OK;
		error = error ? error : late;
	}
	free(copy);
	return error;
}

/* Rank 0 sends three tags to the last rank, which takes them in reverse. */
static enum dist_error tags(struct walk *w, const struct one_case *c)
{
	struct dist_work *works[3] = {NULL, NULL, NULL};
	struct dist_tensor part;
	enum dist_error error = DIST_OK, late;
	size_t third = c->numel / 3, element = dist_dtype_size(c->dtype);

	if (w->size == 1 || (w->rank != 0 && w->rank != w->size - 1))
		return DIST_OK;
	for (int i = 0; i < 3 && !error; i++) {
		int tag = w->rank == 0 ? i : 2 - i;

		part = dist_tensor((char *)w->data +
					   (size_t)tag * third * element,
				   third, c->dtype);
		if (w->rank == 0)
			error = dist_isend(w->group, part, w->size - 1, tag,
					   &works[i]);
		else
			error = dist_recv(w->group, part, 0, tag);
	}
	for (int i = 0; i < 3; i++) {
		late = works[i] ? finish(works[i]) : DIST_OK;
		error = error ? error : late;
	}
	return error;
}

static enum dist_error perform(struct walk *w, const struct one_case *c)
{
	struct dist_tensor t = dist_tensor(w->data, c->numel, c->dtype);
	struct dist_work *work = NULL, **handle = c->async ? &work : NULL;
	enum dist_error error = DIST_OK;

	switch (c->call) {
	case ALL_REDUCE:
		error = dist_all_reduce(w->group, t, c->op, handle);
		break;
	case REDUCE:
		error = dist_reduce(w->group, t, c->root, c->op, handle);
		break;
	case BROADCAST:
		error = dist_broadcast(w->group, t, c->root, handle);
		break;
	case BARRIER:
		error = dist_barrier(w->group, handle);
		break;
	case NEIGHBOURS:
		return neighbours(w, c);
	case TAGS:
		return tags(w, c);
	}
	return error || !work ? error : finish(work);
}

/* The value that element i must have now on this rank. */
static double wanted(const struct walk *w, const struct one_case *c, size_t i)
{
	int previous = (w->rank + w->size - 1) % w->size;

	if (!is_legal(c))
		return input(w, c, w->rank, i);
	switch (c->call) {
	case ALL_REDUCE:
	case REDUCE:
		return reduced(w, c, i);
	case BROADCAST:
		return input(w, c, c->root, i);
	case NEIGHBOURS:
		return input(w, c, previous, i);
	case TAGS:
		if (w->rank == w->size - 1 && i < c->numel / 3 * 3)
			return input(w, c, 0, i);
		return input(w, c, w->rank, i);
	case BARRIER:
		break;
	}
	return input(w, c, w->rank, i);
}

static bool has_result(const struct walk *w, const struct one_case *c)
{
	return c->call != REDUCE || c->root == w->rank || !is_legal(c);
}

/* An illegal pair must be refused in words, on every rank alike. */
static enum dist_error refused(struct walk *w, const struct one_case *c)
{
	const char *legal = c->op == DIST_AVG
				    ? "float16, bfloat16, float32, float64, "
				      "int8, uint8, int32 or int64"
				    : "int8, uint8, int32, int64 or bool";
	enum dist_error error = perform(w, c);
	char text[sizeof(struct dist_message)];

	snprintf(text, sizeof text, "%s: %s of %s: expected %s",
		 call_name(c->call), dist_reduce_op_name(c->op),
		 dist_dtype_name(c->dtype), legal);
	if (error != DIST_ERR_INVALID_ARGUMENT)
		return error ? error : DIST_ERR_MISMATCH;
	return strcmp(text, dist_error_message(w->group))
		       ? DIST_ERR_INVALID_ARGUMENT
		       : DIST_OK;
}

static int do_case(struct walk *w, const struct one_case *c)
{
	size_t bytes = c->numel * dist_dtype_size(c->dtype);
	uint64_t digest = UINT64_C(14695981039346656037);
	enum dist_error error;

	for (size_t i = 0; i < c->numel; i++)
		element_store(c->dtype, w->data, i, input(w, c, w->rank, i));
	error = is_legal(c) ? perform(w, c) : refused(w, c);
	if (error) {
		fail(w, c, dist_error_message(w->group), 0, 0, error);
		return 1;
	}
	if (has_result(w, c)) {
		for (size_t i = 0; c->exact && i < c->numel; i++)
			expect(w, c, i, wanted(w, c, i));
		for (size_t i = 0; i < bytes; i++)
			digest = (digest ^ ((unsigned char *)w->data)[i]) *
				 UINT64_C(1099511628211);
	}
	if (w->index < CASES_MAX)
		w->outcome->digest[w->rank][w->index] = digest;
	w->index++;
	return 0;
}

/* All roots, blocking and not, for one call, dtype, op and count. */
static int do_variants(struct walk *w, struct one_case c)
{
	int roots[2] = {0, w->size - 1};
	bool rooted = c.call == REDUCE || c.call == BROADCAST;
	bool handles = c.call != NEIGHBOURS && c.call != TAGS;

	for (int i = 0; i < (rooted && w->size > 1 ? 2 : 1); i++) {
		c.root = rooted ? roots[i] : -1;
		c.async = false;
		if (do_case(w, &c))
			return 1;
		c.async = true;
		if (handles && do_case(w, &c))
			return 1;
	}
	return 0;
}

static int do_counts(struct walk *w, struct one_case c)
{
	size_t p = (size_t)w->size;
	size_t counts[] = {0, 1, p - 1, p, 101};

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		c.numel = counts[i];
		if (do_variants(w, c))
			return 1;
	}
	if (c.op > DIST_AVG || c.dtype > DIST_FLOAT32 ||
	    (c.exact && c.dtype != DIST_FLOAT32))
		return 0;
	c.numel = LARGE;
	return do_variants(w, c);
}

/* A pair that is not legal, and that the group goes on after it. */
static int do_illegal(struct walk *w, struct one_case c)
{
	c.numel = 5;
	if (do_variants(w, c))
		return 1;
	c.op = DIST_MAX;
	return do_variants(w, c);
}

static int do_pair(struct walk *w, struct one_case c)
{
	if (!is_legal(&c))
		return do_illegal(w, c);
	if (do_counts(w, c))
		return 1;
	c.exact = false;
	return c.op <= DIST_AVG && c.dtype <= DIST_FLOAT64 && do_counts(w, c);
}

static int do_table(struct walk *w)
{
	static const enum call moves[] = {BROADCAST, BARRIER, NEIGHBOURS, TAGS};
	struct one_case c = {.exact = true};
	int dtype, op, call;

	for (call = ALL_REDUCE; call <= REDUCE; call++)
		for (dtype = 0; dtype < DIST_NUM_DTYPES; dtype++)
			for (op = 0; op < DIST_NUM_REDUCE_OPS; op++) {
				c.call = (enum call)call;
				c.dtype = (enum dist_dtype)dtype;
				c.op = (enum dist_reduce_op)op;
				if (do_pair(w, c))
					return 1;
			}
	c = (struct one_case){.exact = true};
	for (call = 0; call < 4; call++)
		for (dtype = 0; dtype < DIST_NUM_DTYPES; dtype++) {
			c.call = moves[call];
			c.dtype = (enum dist_dtype)dtype;
			if (do_counts(w, c))
				return 1;
		}
	return 0;
}

static int rank_main(void *arg)
{
	struct walk w = {.outcome = arg, .data = malloc(LARGE * 8)};
	int failed;

	if (!w.data || dist_init_process_group(NULL, &w.group)) {
		free(w.data);
		return 1;
	}
	w.rank = dist_get_rank(w.group);
	w.size = dist_get_world_size(w.group);
	failed = do_table(&w) || cases_parts_walk(w.group, w.outcome, &w.index);
	if (w.rank == 0)
		w.outcome->count = w.index;
	free(w.data);
	return dist_destroy_process_group(w.group) || failed;
}

int cases_run(const char *backend, const char *platform, const char *algorithms,
	      int world_size, struct cases_outcome *outcome)
{
	struct dist_launch_options options = {
		.backend = backend,
		.platform = platform,
		.algorithm = algorithms,
		.world_size = world_size,
		.timeout_ns = (int64_t)120 * 1000000000,
	};

	return dist_launch(&options, rank_main, outcome);
}

struct cases_outcome *cases_outcome_new(void)
{
	void *map =
		mmap(NULL, sizeof(struct cases_outcome), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

void cases_outcome_free(struct cases_outcome *outcome)
{
	if (outcome)
		munmap(outcome, sizeof *outcome);
}
