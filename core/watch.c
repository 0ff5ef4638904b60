#include "core/watch.h"

#include <stdlib.h>

#include "core/holding.h"
#include "core/watch_state.h"

static bool is_collective(const struct dist__op *op)
{
	return !dist__op_is_p2p(op->kind);
}

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
	return !blocks || is_any_held(group);
}

static struct dist__watch *watch_new(struct dist_group *group,
				     struct dist__op *op, bool blocks)
{
	struct dist__watch *watch = calloc(1, sizeof *watch);
	struct dist__watch **link = &group->root->watches;
	size_t most = dist__watch_most(group, op);

	if (!watch)
		return NULL;
	watch->group = group;
	watch->op = op;
	watch->blocks = blocks;
	watch->regions = calloc(most, sizeof *watch->regions);
	watch->lists = calloc(most, sizeof *watch->lists);
	watch->heads = calloc(1 + dist__op_sides(op)->bundle.num,
			      sizeof *watch->heads);
	while (*link)
		link = &(*link)->next;
	*link = watch;
	if (watch->regions && watch->lists && watch->heads)
		return watch;
	dist__watch_free(watch);
	return NULL;
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

void dist__op_begin(struct dist__op *op)
{
	struct dist__holding *h = op->watch ? op->watch->holdings : NULL;

	for (; h; h = h->next)
		dist__holding_begin(h);
}

enum dist_error dist__watch_begin(struct dist_group *group, struct dist__op *op,
				  bool blocks)
{
	struct dist__watch *fresh;
	enum dist_error error;

	if (!is_needed(group, op, blocks))
		return DIST_OK;
	fresh = watch_new(group, op, blocks);
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	error = dist__watch_take(fresh);
	if (error || (fresh->num_regions == 0 && fresh->num_listed == 0)) {
		dist__watch_free(fresh);
		return error;
	}
	if (dist__watch_is_guarded(fresh))
		guard_all(fresh);
	op->watch = fresh;
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
			w->ended ? NULL : dist__region_conflict(w, &part);
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

static void unguard(struct dist__watch *watch)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		dist__guard_free(watch->regions[i].guard);
		watch->regions[i].guard = NULL;
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
	unguard(watch);
	watch->num_regions = 0;
	watch->ended = true;
}

static enum dist_error end(struct dist__watch *watch,
			   const struct dist__site *seen, bool compares)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < watch->num_regions; i++)
		dist__region_lift(watch, &watch->regions[i]);
	if (compares && !watch->op->error)
		error = inspect(watch, seen);
	if (!error && !watch->op->error)
		deliver_all(watch);
	for (size_t i = 0; i < watch->num_regions; i++)
		dist__region_lower(watch, &watch->regions[i]);
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
		else if (w->heard)
			unguard(w);
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
	free(watch->heads);
	free(watch);
}
