#include "core/buffer_check.h"

#include <stdlib.h>

#include "core/shadow_copy.h"
#include "core/buffer_check_state.h"

/* What one call looks at, at most. */
#define MOST_REGIONS 16
#define MOST_BYTES   ((size_t)1 << 20)

static void take_out(struct dist__buffer_check *watch)
{
	struct dist__buffer_checks *list = watch->list;

	if (!list)
		return;
	*(watch->before ? &watch->before->next : &list->oldest) = watch->next;
	*(watch->next ? &watch->next->before : &list->newest) = watch->before;
	watch->list = NULL;
}

static void put_in(struct dist__buffer_checks *list,
		   struct dist__buffer_check *watch)
{
	struct dist__buffer_check *before = list->newest;

	while (before && before->age > watch->age)
		before = before->before;
	watch->list = list;
	watch->before = before;
	watch->next = before ? before->next : list->oldest;
	*(before ? &before->next : &list->oldest) = watch;
	*(watch->next ? &watch->next->before : &list->newest) = watch;
}

static bool is_released(const struct dist__buffer_check *watch)
{
	return watch->list == &watch->group->root->released;
}

static bool is_needed(const struct dist_group *group, const struct dist__op *op,
		      bool blocks)
{
	if (group->place.debug < DIST__DEBUG_INFO || op->phantom)
		return false;
	return !blocks || group->root->regions.root;
}

static struct dist__buffer_check *watch_new(struct dist_group *group,
					    struct dist__op *op, bool blocks)
{
	struct dist__buffer_check *watch = calloc(1, sizeof *watch);
	size_t most = dist__buffer_check_most(group, op);

	if (!watch)
		return NULL;
	watch->group = group;
	watch->op = op;
	watch->blocks = blocks;
	watch->regions = calloc(most, sizeof *watch->regions);
	watch->lists = calloc(most, sizeof *watch->lists);
	watch->heads = calloc(1 + dist__op_sides(op)->bundle.num,
			      sizeof *watch->heads);
	watch->age = ++group->root->num_checks;
	put_in(&group->root->checks, watch);
	if (watch->regions && watch->lists && watch->heads)
		return watch;
	dist__buffer_check_free(watch);
	return NULL;
}

/* While a call blocks the program touches nothing. */
static void guard_all(struct dist__buffer_check *watch)
{
	for (size_t i = 0; i < watch->num_regions && !watch->blocks; i++) {
		struct dist__region *region = &watch->regions[i];
		enum dist__guard_level level =
			region->writes ? DIST__GUARD_ALL : DIST__GUARD_WRITES;
		const void *memory = region->tensor.data;
		size_t bytes = dist__tensor_bytes(&region->tensor);

		region->guard = dist__guard_new(memory, bytes, level);
		if (!region->guard)
			region->points = dist__points_new(
				memory, bytes,
				dist_dtype_size(region->tensor.dtype), level);
		region->calm = watch->op->site;
	}
}

void dist__op_begin(struct dist__op *op)
{
	struct dist__shadow_copy *h = op->watch ? op->watch->holdings : NULL;

	for (; h; h = h->next)
		dist__shadow_copy_begin(h);
}

/* ---- looking at each call ----------------------------------------------- */

static const char *change_now(const struct dist__region *region)
{
	return dist__shadow_copy_change(region->holding, region->tensor.data,
					dist__tensor_bytes(&region->tensor));
}

/* The first byte of region that differs from its value at the call, now or at
 * an earlier look. NULL: none. */
static const char *change_of(const struct dist__region *region)
{
	return region->changed ? region->changed : change_now(region);
}

/* Whether the memory of watch must be what it was: nobody aborted it. */
static bool is_held(const struct dist__buffer_check *watch)
{
	if (watch->blocks || watch->group->poison)
		return false;
	return !dist__op_is_done(watch->op) || !watch->op->error;
}

void dist__buffer_check_look(const struct dist_group *group,
			     const struct dist__site *site)
{
	struct dist__buffer_check *w = group->root->checks.newest;
	size_t regions = 0, bytes = 0;

	if (group->place.debug < DIST__DEBUG_DETAIL || !site->file)
		return;
	for (; w && regions < MOST_REGIONS; w = w->before) {
		if (!is_held(w))
			continue;
		for (size_t i = 0; i < w->num_regions; i++) {
			struct dist__region *region = &w->regions[i];

			if (region->guard || region->changed)
				continue;
			regions++;
			bytes += dist__tensor_bytes(&region->tensor);
			if (regions > MOST_REGIONS || bytes > MOST_BYTES)
				return;
			dist__region_lift(w, region, true);
			region->changed = change_now(region);
			dist__region_lift(w, region, false);
			if (region->changed)
				region->until = *site;
			else
				region->calm = *site;
		}
	}
}

/* ---- beginning and ending ----------------------------------------------- */

enum dist_error dist__buffer_check_begin(struct dist_group *group,
					 struct dist__op *op, bool blocks)
{
	struct dist__buffer_check *fresh;
	enum dist_error error;

	dist__buffer_check_look(group, &op->site);
	if (!is_needed(group, op, blocks))
		return DIST_OK;
	fresh = watch_new(group, op, blocks);
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	error = dist__buffer_check_take(fresh);
	if (error || (fresh->num_regions == 0 && fresh->num_listed == 0)) {
		dist__buffer_check_free(fresh);
		return error;
	}
	if (dist__buffer_check_is_guarded(fresh))
		guard_all(fresh);
	op->watch = fresh;
	return DIST_OK;
}

/* Looks at all before any is delivered: parts of one list may overlap. */
static enum dist_error inspect(const struct dist__buffer_check *watch,
			       const struct dist__site *seen)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		const struct dist__region *region = &watch->regions[i];
		const char *address = change_of(region);
		struct dist__access access =
			dist__region_access(region, address);

		if (access.level || address)
			return dist__accuse_touch(watch, region, &access,
						  address, seen);
	}
	return DIST_OK;
}

/* The region behind last that shares memory from begin to end with region, and
 * whose op is newer; NULL: none. */
static const struct dist__region *next_newer(const struct dist__region *region,
					     const char *begin, const char *end,
					     const struct dist__region *last)
{
	do
		last = dist__region_next(region->watch, begin, end, last,
					 region->node.age);
	while (last && last->watch == region->watch);
	return last;
}

/* Whether a newer op with memory from there on writes all of region: one does
 * if many work on one buffer. */
static bool is_overwritten(const struct dist__region *region)
{
	const struct dist__region_node *node = region->node.after;

	for (; node && node->begin == region->node.begin; node = node->after) {
		const struct dist__region *newer =
			(const struct dist__region *)node;

		if (newer->writes && newer->watch != region->watch &&
		    node->end >= region->node.end)
			return true;
	}
	return false;
}

/* Gives the caller the results of region, or a part of it, but for what newer
 * ops write as well: it comes from them. Returns whether there was any. */
static bool deliver(const struct dist__region *region, char *begin, char *end)
{
	const struct dist__region *later = NULL, *newer = NULL;
	bool any = false;
	char *from, *to;

	while ((newer = next_newer(region, begin, end, newer)))
		if (newer->writes &&
		    (!later || newer->node.age < later->node.age))
			later = newer;
	if (!later) {
		dist__shadow_copy_deliver(region->holding, begin,
					  (size_t)(end - begin));
		return true;
	}
	from = later->tensor.data;
	to = from + dist__tensor_bytes(&later->tensor);
	if (begin < from)
		any = deliver(region, begin, from);
	if (to < end)
		any |= deliver(region, to, end);
	return any;
}

/* Gives the caller the results. */
static void deliver_all(const struct dist__buffer_check *watch)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		const struct dist__region *region = &watch->regions[i];
		const struct dist__region *newer = NULL;
		size_t bytes = dist__tensor_bytes(&region->tensor);
		char *begin = region->tensor.data;

		if (!region->writes || is_overwritten(region) ||
		    !deliver(region, begin, begin + bytes))
			continue;
		while ((newer = next_newer(region, begin, begin + bytes,
					   newer)))
			dist__shadow_copy_expect(newer->holding, begin, bytes);
	}
}

static void unguard(struct dist__buffer_check *watch)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		struct dist__region *region = &watch->regions[i];

		dist__guard_free(region->guard);
		dist__points_free(region->points);
		region->guard = NULL;
		region->points = NULL;
	}
}

/* Gives up what watch holds. */
static void let_go(struct dist__buffer_check *watch)
{
	struct dist__shadow_copy *holding;

	while ((holding = watch->holdings)) {
		watch->holdings = holding->next;
		dist__shadow_copy_free(holding);
	}
	unguard(watch);
	for (size_t i = 0; i < watch->num_regions; i++)
		dist__region_index_remove(&watch->group->root->regions,
					  &watch->regions[i].node);
	watch->num_regions = 0;
	take_out(watch);
}

static enum dist_error end(struct dist__buffer_check *watch,
			   const struct dist__site *seen, bool compares)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < watch->num_regions; i++)
		dist__region_lift(watch, &watch->regions[i], true);
	if (compares && !watch->op->error)
		error = inspect(watch, seen);
	if (!error && !watch->op->error)
		deliver_all(watch);
	for (size_t i = 0; i < watch->num_regions; i++)
		dist__region_lift(watch, &watch->regions[i], false);
	let_go(watch);
	return error;
}

enum dist_error dist__buffer_check_end(struct dist__buffer_check *watch,
				       const struct dist__site *seen)
{
	if (!watch || !watch->list)
		return DIST_OK;
	return end(watch, seen, !is_released(watch));
}

void dist__buffer_check_release(struct dist__buffer_check *watch)
{
	if (!watch || !watch->list)
		return;
	take_out(watch);
	put_in(&watch->group->root->released, watch);
}

/* What a released op that may be complete does to its memory is no hazard any
 * more. A send leaves nothing to deliver. */
static void let_it_be(struct dist__buffer_check *watch)
{
	unguard(watch);
	if (watch->op->kind == DIST__SEND)
		take_out(watch);
}

/* The next check to look at, the oldest first, of two lists from here on. */
static struct dist__buffer_check *step(struct dist__buffer_check *here[2])
{
	int i = here[0] && (!here[1] || here[0]->age < here[1]->age) ? 0 : 1;
	struct dist__buffer_check *watch = here[i];

	if (watch)
		here[i] = watch->next;
	return watch;
}

enum dist_error dist__buffer_check_sweep(struct dist_group *group,
					 const struct dist__op *op)
{
	struct dist_group *root = group->root;
	bool alone = dist__op_is_p2p(op->kind); /* shows of no other that it
						   has ended */
	struct dist__buffer_check *w,
		*here[2] = {alone ? NULL : root->checks.oldest,
			    root->released.oldest};
	enum dist_error error = DIST_OK;

	while (!error && (w = step(here))) {
		bool released = is_released(w), first = !w->heard;
		bool before = w->group == group && !alone &&
			      !dist__op_is_p2p(w->op->kind) &&
			      w->op->seq < op->seq;

		/* What began later is no earlier one. */
		if (op->watch && w->age >= op->watch->age)
			here[0] = NULL;
		w->heard |= released;
		if ((released || before) && dist__op_is_done(w->op))
			error = end(w, &op->site, first);
		else if (w->heard)
			let_it_be(w);
	}
	return error;
}

void dist__buffer_check_free(struct dist__buffer_check *watch)
{
	if (!watch)
		return;
	let_go(watch);
	free(watch->regions);
	free(watch->lists);
	free(watch->heads);
	free(watch);
}
