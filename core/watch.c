#include "core/watch.h"

#include <stdlib.h>
#include <string.h>

#include "core/holding.h"
#include "core/watch_state.h"

static bool overlap(const struct dist_tensor *a, const struct dist_tensor *b)
{
	uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;

	return x < y + dist__tensor_bytes(b) && y < x + dist__tensor_bytes(a);
}

/* Whether the order of a and b matters to what memory holds. */
static bool conflict(const struct dist__region *a, const struct dist__region *b)
{
	return (a->writes || b->writes) && overlap(&a->tensor, &b->tensor);
}

static bool is_collective(const struct dist__op *op)
{
	return !dist__op_is_p2p(op->kind);
}

/* ---- guarding memory ---------------------------------------------------- */

static bool is_guarded(const struct dist__watch *watch)
{
	return watch->group->place.debug >= DIST__DEBUG_DETAIL;
}

/* We touch the caller's memory, which other operations may guard. */
static void lift(const struct dist__watch *watch,
		 const struct dist__region *region)
{
	if (is_guarded(watch))
		dist__guard_lift(region->tensor.data,
				 dist__tensor_bytes(&region->tensor));
}

static void lower(const struct dist__watch *watch,
		  const struct dist__region *region)
{
	if (is_guarded(watch))
		dist__guard_lower(region->tensor.data,
				  dist__tensor_bytes(&region->tensor));
}

/* While a call blocks the program touches nothing. */
static void guard_all(struct dist__watch *watch)
{
	for (size_t i = 0; i < watch->num_regions && !watch->blocks; i++) {
		struct dist__region *region = &watch->regions[i];

		region->guard = dist__guard_new(
			region->tensor.data,
			dist__tensor_bytes(&region->tensor),
			region->writes ? DIST__GUARD_ALL : DIST__GUARD_WRITES);
	}
}

/* ---- holding memory ----------------------------------------------------- */

/* Whether both are collectives of one group, which run in order. */
static bool in_order(const struct dist__watch *a, const struct dist__watch *b)
{
	return a->group == b->group && is_collective(a->op) &&
	       is_collective(b->op);
}

/* Returns the first region of watch that conflicts with region; NULL: none. */
static const struct dist__region *
find_conflict(const struct dist__watch *watch,
	      const struct dist__region *region)
{
	for (size_t i = 0; i < watch->num_regions; i++)
		if (conflict(&watch->regions[i], region))
			return &watch->regions[i];
	return NULL;
}

/* Whether an earlier op has to do with the region. Errors: HAZARD, unless they
 * run in order. */
static enum dist_error find_earlier(const struct dist__watch *watch,
				    const struct dist__region *region,
				    bool *found)
{
	const struct dist__watch *w = watch->group->root->watches;

	*found = false;
	for (; w != watch; w = w->next) {
		const struct dist__region *held =
			w->ended ? NULL : find_conflict(w, region);

		if (held && !in_order(w, watch))
			return dist__accuse_sharing(watch, region, w, held);
		*found |= held != NULL;
	}
	return DIST_OK;
}

/* Lets holding go on with what the earlier ops leave. */
static bool follow(const struct dist__watch *watch,
		   struct dist__holding *holding)
{
	const struct dist__watch *w = watch->group->root->watches;
	bool good = true;

	for (; w != watch; w = w->next)
		for (size_t i = 0; i < w->num_regions; i++) {
			const struct dist__region *r = &w->regions[i];

			if (r->writes)
				good &= dist__holding_follow(
					holding, r->holding, r->tensor.data,
					dist__tensor_bytes(&r->tensor));
		}
	return good;
}

static struct dist__holding *hold_more(struct dist__watch *watch,
				       const struct dist__region *region)
{
	struct dist__holding *holding;

	lift(watch, region);
	holding = dist__holding_new(region->tensor.data,
				    dist__tensor_bytes(&region->tensor));
	lower(watch, region);
	if (!holding)
		return NULL;
	holding->next = watch->holdings;
	watch->holdings = holding;
	return follow(watch, holding) ? holding : NULL;
}

/* Gives region its place in one of watch's holdings, or in none: a blocking
 * op without an earlier one needs none. */
static enum dist_error hold(struct dist__watch *watch,
			    struct dist__region *region)
{
	struct dist__holding *holding = watch->holdings;
	bool found;
	enum dist_error error = find_earlier(watch, region, &found);

	if (error || (watch->blocks && !found))
		return error;
	while (holding &&
	       !dist__holding_covers(holding, region->tensor.data,
				     dist__tensor_bytes(&region->tensor)))
		holding = holding->next;
	if (!holding)
		holding = hold_more(watch, region);
	if (!holding || (region->writes && !dist__holding_keep(holding)))
		return DIST_ERR_NO_MEMORY;
	region->holding = holding;
	return DIST_OK;
}

/* ---- the tensors of an op ------------------------------------------------ */

/* Takes hold of *tensor, and moves it to the copy. */
static enum dist_error take(struct dist__watch *watch,
			    struct dist_tensor *tensor,
			    const struct dist__region *like, bool writes)
{
	struct dist__region *region = &watch->regions[watch->num_regions];
	enum dist_error error;

	if (dist__tensor_bytes(tensor) == 0)
		return DIST_OK;
	*region = *like;
	region->tensor = *tensor;
	region->writes = writes;
	error = hold(watch, region);
	if (error || !region->holding)
		return error;
	watch->num_regions++;
	tensor->data = region->holding->work +
		       ((char *)tensor->data - region->holding->user);
	return DIST_OK;
}

/* The same of num tensors, of which it makes the list anew. */
static enum dist_error take_list(struct dist__watch *watch,
				 const struct dist_tensor **list, size_t num,
				 const char *name, bool writes)
{
	struct dist_tensor *moved = watch->lists + watch->num_listed;
	struct dist__region like = {.name = name};
	enum dist_error error = DIST_OK;

	if (!*list)
		return DIST_OK;
	memcpy(moved, *list, num * sizeof *moved);
	watch->num_listed += num;
	*list = moved;
	for (size_t i = 0; i < num && !error; i++) {
		like.part = (int)i;
		error = take(watch, &moved[i], &like, writes);
	}
	return error;
}

static enum dist_error take_parts(struct dist__watch *watch,
				  struct dist__parts *parts, const char *name,
				  bool writes)
{
	struct dist__region like = {.name = name, .part = -1};

	if (parts->count == 0)
		return DIST_OK;
	return parts->list ? take_list(watch, &parts->list,
				       (size_t)parts->count, name, writes)
			   : take(watch, &parts->whole, &like, writes);
}

/* What the op does with its memory, by the caller's names for it. */
struct use {
	const char *name; /* of the tensor */
	bool writes;      /* the tensor, or of a bundle what goes in */
};

static struct use use_of(const struct dist__watch *watch)
{
	const struct dist__op *op = watch->op;

	switch (op->kind) {
	case DIST__ALL_GATHER:
	case DIST__GATHER:
		return (struct use){"in", false};
	case DIST__REDUCE_SCATTER:
		return (struct use){"out", op->bundle.kind == DIST__NO_BUNDLE};
	case DIST__SCATTER:
		return (struct use){"out", true};
	case DIST__BROADCAST:
		return (struct use){"tensor",
				    op->peer != watch->group->members.rank ||
					    op->bundle.kind == DIST__DEVICES};
	case DIST__SEND:
		return (struct use){"tensor", false};
	default:
		return (struct use){"tensor", true};
	}
}

static enum dist_error take_bundle(struct dist__watch *watch, bool writes)
{
	struct dist__bundle *bundle = &watch->op->bundle;
	const char *name = bundle->out ? "in" : "tensors";
	enum dist_error error;

	/* The longer ones first: the others may lie in them. */
	if (watch->op->kind == DIST__ALL_GATHER) {
		error = take_list(watch, &bundle->out, bundle->num, "out",
				  true);
		return error ? error
			     : take_list(watch, &bundle->in, bundle->num, name,
					 writes);
	}
	error = take_list(watch, &bundle->in, bundle->num, name, writes);
	return error ? error
		     : take_list(watch, &bundle->out, bundle->num, "out", true);
}

static enum dist_error take_all(struct dist__watch *watch)
{
	struct dist__op *op = watch->op;
	struct use use = use_of(watch);
	struct dist__region like = {.name = use.name, .part = -1};
	enum dist_error error;

	if (op->bundle.kind)
		return take_bundle(watch, use.writes);
	error = take_parts(watch, &op->in, "in", false);
	if (!error)
		error = take_parts(watch, &op->out, "out", true);
	/* The rank's own part may be its tensor. */
	return error ? error : take(watch, &op->tensor, &like, use.writes);
}

/* ---- the watch ---------------------------------------------------------- */

/* Whether any operation of the rank holds memory. */
static bool is_any_held(const struct dist_group *group)
{
	const struct dist__watch *w = group->root->watches;

	while (w && w->ended)
		w = w->next;
	return w != NULL;
}

static bool is_needed(const struct dist_group *group, const struct dist__op *op,
		      bool blocks)
{
	if (group->place.debug < DIST__DEBUG_INFO || op->phantom)
		return false;
	/* Lists of lists are let alone. */
	if (op->bundle.in_lists || op->bundle.out_lists)
		return false;
	return !blocks || is_any_held(group);
}

static struct dist__watch *watch_new(struct dist_group *group,
				     struct dist__op *op, bool blocks)
{
	struct dist__watch *watch = calloc(1, sizeof *watch);
	struct dist__watch **link = &group->root->watches;
	size_t most = 1 + (size_t)op->in.count + (size_t)op->out.count +
		      2 * op->bundle.num;

	if (!watch)
		return NULL;
	watch->group = group;
	watch->op = op;
	watch->blocks = blocks;
	watch->regions = calloc(most, sizeof *watch->regions);
	watch->lists = calloc(most, sizeof *watch->lists);
	while (*link)
		link = &(*link)->next;
	*link = watch;
	if (watch->regions && watch->lists)
		return watch;
	dist__watch_free(watch);
	return NULL;
}

/* Its op begins. */
static void begin(struct dist__op *op, void *arg)
{
	const struct dist__watch *watch = arg;

	(void)op;
	for (struct dist__holding *h = watch->holdings; h; h = h->next)
		dist__holding_begin(h);
}

enum dist_error dist__watch_begin(struct dist_group *group, struct dist__op *op,
				  bool blocks, struct dist__watch **watch)
{
	struct dist__watch *fresh;
	enum dist_error error;

	*watch = NULL;
	if (!is_needed(group, op, blocks))
		return DIST_OK;
	fresh = watch_new(group, op, blocks);
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	error = take_all(fresh);
	if (error || (fresh->num_regions == 0 && fresh->num_listed == 0)) {
		dist__watch_free(fresh);
		return error;
	}
	if (is_guarded(fresh))
		guard_all(fresh);
	op->on_begin = begin;
	op->on_begin_arg = fresh;
	*watch = fresh;
	return DIST_OK;
}

/* Looks at all before any is delivered: parts of one list may overlap. */
static enum dist_error inspect(const struct dist__watch *watch,
			       const struct dist__site *seen)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		const struct dist__region *region = &watch->regions[i];
		struct dist__access access = dist__guard_access(region->guard);
		const char *address = dist__holding_change(
			region->holding, region->tensor.data,
			dist__tensor_bytes(&region->tensor));

		if (access.level || address)
			return dist__accuse_touch(watch, region, &access,
						  address, seen);
	}
	return DIST_OK;
}

/* Gives the caller the results of region, or a part of it, but for what the
 * ops of w and newer ones write as well: it comes from them. */
static void deliver(const struct dist__region *region, char *begin, char *end,
		    struct dist__watch *w)
{
	size_t bytes = (size_t)(end - begin);
	const struct dist__region part = {
		.tensor = dist_tensor(begin, bytes, DIST_UINT8)};

	for (; w; w = w->next) {
		const struct dist__region *later =
			w->ended ? NULL : find_conflict(w, &part);
		char *from, *to;

		if (!later)
			continue;
		from = later->tensor.data;
		to = from + dist__tensor_bytes(&later->tensor);
		if (begin < from)
			deliver(region, begin, from, w);
		if (to < end)
			deliver(region, to, end, w);
		return;
	}
	dist__holding_deliver(region->holding, begin, bytes);
}

/* Gives the caller the results. */
static void deliver_all(struct dist__watch *watch)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		const struct dist__region *region = &watch->regions[i];
		char *begin = region->tensor.data;
		size_t bytes = dist__tensor_bytes(&region->tensor);

		if (!region->writes)
			continue;
		deliver(region, begin, begin + bytes, watch->next);
		for (struct dist__watch *w = watch->next; w; w = w->next)
			for (struct dist__holding *h = w->holdings; h;
			     h = h->next)
				dist__holding_expect(h, begin, bytes);
	}
}

/* Gives up what watch holds. */
static void let_go(struct dist__watch *watch)
{
	struct dist__holding *holding;

	while ((holding = watch->holdings)) {
		watch->holdings = holding->next;
		dist__holding_free(holding);
	}
	for (size_t i = 0; i < watch->num_regions; i++)
		dist__guard_free(watch->regions[i].guard);
	watch->num_regions = 0;
	watch->ended = true;
}

static enum dist_error end(struct dist__watch *watch,
			   const struct dist__site *seen, bool compares)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < watch->num_regions; i++)
		lift(watch, &watch->regions[i]);
	if (compares && !watch->op->error)
		error = inspect(watch, seen);
	if (!error && !watch->op->error)
		deliver_all(watch);
	for (size_t i = 0; i < watch->num_regions; i++)
		lower(watch, &watch->regions[i]);
	let_go(watch);
	return error;
}

enum dist_error dist__watch_end(struct dist__watch *watch,
				const struct dist__site *seen)
{
	if (!watch || watch->ended)
		return DIST_OK;
	return end(watch, seen, !watch->released);
}

void dist__watch_release(struct dist__watch *watch)
{
	if (watch)
		watch->released = true;
}

enum dist_error dist__watch_sweep(struct dist_group *group,
				  const struct dist__op *op)
{
	enum dist_error error = DIST_OK;

	for (struct dist__watch *w = group->root->watches; w && !error;
	     w = w->next) {
		bool before = w->group == group && is_collective(op) &&
			      is_collective(w->op) && w->op->seq < op->seq;
		bool first = !w->heard;

		w->heard |= w->released;
		if ((w->released || before) && !w->ended &&
		    dist__op_is_done(w->op))
			error = end(w, &op->site, first);
	}
	return error;
}

void dist__watch_free(struct dist__watch *watch)
{
	struct dist__watch **link;

	if (!watch)
		return;
	link = &watch->group->root->watches;
	while (*link != watch)
		link = &(*link)->next;
	*link = watch->next;
	let_go(watch);
	free(watch->regions);
	free(watch->lists);
	free(watch);
}
