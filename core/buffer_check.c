#include "core/buffer_check.h"

#include <stdlib.h>

#include "core/shadow_copy.h"
#include "core/buffer_check_state.h"

/* What one call looks at, at most. */
#define MOST_REGIONS 16
#define MOST_BYTES   ((size_t)1 << 20)

/* Whether any operation of the rank holds memory. */
static bool is_any_held(const struct dist_group *group)
{
	const struct dist__buffer_check *w = group->root->watches;

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

static struct dist__buffer_check *watch_new(struct dist_group *group,
					    struct dist__op *op, bool blocks)
{
	struct dist__buffer_check *watch = calloc(1, sizeof *watch);
	struct dist_group *root = group->root;
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
	watch->before = root->last_watch;
	if (watch->before)
		watch->before->next = watch;
	else
		root->watches = watch;
	root->last_watch = watch;
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
	if (watch->ended || watch->released || watch->blocks ||
	    watch->group->poison)
		return false;
	return !dist__op_is_done(watch->op) || !watch->op->error;
}

void dist__buffer_check_look(const struct dist_group *group,
			     const struct dist__site *site)
{
	struct dist__buffer_check *w = group->root->last_watch;
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

/* Gives the caller the results of region, or a part of it, but for what the
 * ops of w and newer ones write as well: it comes from them. */
static void deliver(const struct dist__region *region, char *begin, char *end,
		    struct dist__buffer_check *w)
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
	dist__shadow_copy_deliver(region->holding, begin, bytes);
}

/* Gives the caller the results. */
static void deliver_all(struct dist__buffer_check *watch)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		const struct dist__region *region = &watch->regions[i];
		char *begin = region->tensor.data;
		size_t bytes = dist__tensor_bytes(&region->tensor);

		if (!region->writes)
			continue;
		deliver(region, begin, begin + bytes, watch->next);
		for (struct dist__buffer_check *w = watch->next; w; w = w->next)
			for (struct dist__shadow_copy *h = w->holdings; h;
			     h = h->next)
				dist__shadow_copy_expect(h, begin, bytes);
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
	watch->num_regions = 0;
	watch->ended = true;
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
	if (!watch || watch->ended)
		return DIST_OK;
	return end(watch, seen, !watch->released);
}

void dist__buffer_check_release(struct dist__buffer_check *watch)
{
	if (!watch || watch->released)
		return;
	watch->released = true;
	watch->group->root->num_let_go++;
}

enum dist_error dist__buffer_check_sweep(struct dist_group *group,
					 const struct dist__op *op)
{
	struct dist_group *root = group->root;
	enum dist_error error = DIST_OK;

	/* A message shows of no other operation that it has ended. */
	if (root->num_let_go == 0 && dist__op_is_p2p(op->kind))
		return DIST_OK;
	for (struct dist__buffer_check *w = root->watches; w && !error;
	     w = w->next) {
		bool before = w->group == group && !dist__op_is_p2p(op->kind) &&
			      !dist__op_is_p2p(w->op->kind) &&
			      w->op->seq < op->seq;
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

void dist__buffer_check_free(struct dist__buffer_check *watch)
{
	struct dist_group *root;

	if (!watch)
		return;
	root = watch->group->root;
	root->num_let_go -= watch->released;
	if (watch->before)
		watch->before->next = watch->next;
	else
		root->watches = watch->next;
	if (watch->next)
		watch->next->before = watch->before;
	else
		root->last_watch = watch->before;
	let_go(watch);
	free(watch->regions);
	free(watch->lists);
	free(watch->heads);
	free(watch);
}
