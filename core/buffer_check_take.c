/* buffer_check_take.c - gives an operation copies of its memory to work on, and
 * names them as the caller named its tensors. */
#include <string.h>

#include "core/shadow_copy.h"
#include "core/buffer_check_state.h"

bool dist__buffer_check_is_guarded(const struct dist__buffer_check *watch)
{
	return watch->group->place.debug >= DIST__DEBUG_DETAIL;
}

void dist__region_lift(const struct dist__buffer_check *watch,
		       const struct dist__region *region, bool lifted)
{
	const void *memory = region->tensor.data;
	size_t bytes = dist__tensor_bytes(&region->tensor);

	if (!dist__buffer_check_is_guarded(watch))
		return;
	dist__guard_lift(memory, bytes, lifted);
	dist__points_lift(memory, bytes, lifted);
}

/* ---- holding memory ----------------------------------------------------- */

/* Whether both are collectives of one group, which run in order. */
static bool in_order(const struct dist__buffer_check *a,
		     const struct dist__buffer_check *b)
{
	return a->group == b->group && !dist__op_is_p2p(a->op->kind) &&
	       !dist__op_is_p2p(b->op->kind);
}

/* Whether that holds for the op of watch and all whose memory is held. */
static bool are_all_in_order(const struct dist__buffer_check *watch)
{
	const struct dist__region_index *held = &watch->group->root->regions;

	return held->order == watch->group && !dist__op_is_p2p(watch->op->kind);
}

/* Notes whose memory is held, before a region of watch is. */
static void note_order(const struct dist__buffer_check *watch)
{
	struct dist__region_index *held = &watch->group->root->regions;

	if (dist__op_is_p2p(watch->op->kind) ||
	    (held->root && held->order != watch->group))
		held->order = NULL;
	else
		held->order = watch->group;
}

/* The region behind last, of that age or newer, that shares memory with region;
 * NULL: none. */
static const struct dist__region *
next_near(const struct dist__buffer_check *watch,
	  const struct dist__region *region, const struct dist__region *last,
	  uint64_t age)
{
	const char *begin = region->tensor.data;

	return dist__region_next(watch, begin,
				 begin + dist__tensor_bytes(&region->tensor),
				 last, age);
}

/* Whether nobody waits for the op of watch any more, which is done. */
static bool is_over(const struct dist__buffer_check *watch)
{
	return !watch->list && dist__op_is_done(watch->op);
}

/* Whether an earlier op has to do with the region: either writes it. Errors:
 * HAZARD, unless they run in order. */
static enum dist_error find_earlier(const struct dist__buffer_check *watch,
				    const struct dist__region *region,
				    bool *found)
{
	const struct dist__region *near = NULL, *oldest = NULL;

	*found = false;
	while ((near = next_near(watch, region, near, 0))) {
		if (near->watch == watch || is_over(near->watch) ||
		    !(near->writes || region->writes))
			continue;
		*found = true;
		if (are_all_in_order(watch))
			break;
		if (!in_order(near->watch, watch) &&
		    (!oldest || near->node.age < oldest->node.age))
			oldest = near;
	}
	return oldest ? dist__accuse_sharing(watch, region, oldest->watch,
					     oldest)
		      : DIST_OK;
}

static bool covers(const struct dist__region *outer,
		   const struct dist__region *inner)
{
	const char *begin = inner->tensor.data;

	return outer->node.begin <= (uintptr_t)begin &&
	       outer->node.end >=
		       (uintptr_t)begin + dist__tensor_bytes(&inner->tensor);
}

/* Lets holding, of region, go on with what the earlier ops leave: with all of
 * the newest that writes it whole, and with what newer ones than that write. */
static bool follow(const struct dist__buffer_check *watch,
		   const struct dist__region *region,
		   struct dist__shadow_copy *holding)
{
	const char *begin = region->tensor.data;
	const struct dist__region_node *same =
		dist__region_index_newest(&watch->group->root->regions, begin);
	const struct dist__region *near = NULL;
	uint64_t oldest = 0;
	bool good = true;

	/* Of many on one buffer the newest one is found at once. */
	for (; same && same->begin == (uintptr_t)begin && !oldest;
	     same = same->before) {
		near = (const struct dist__region *)same;
		if (near->watch != watch && near->writes &&
		    covers(near, region))
			oldest = near->node.age;
	}
	near = NULL;
	while ((near = next_near(watch, region, near, oldest + 1)))
		if (near->watch != watch && near->writes &&
		    covers(near, region))
			oldest = near->node.age;
	while ((near = next_near(watch, region, near, oldest)))
		if (near->watch != watch && near->writes)
			good &= dist__shadow_copy_follow(
				holding, near->holding, near->node.age,
				near->tensor.data,
				dist__tensor_bytes(&near->tensor));
	return good;
}

static struct dist__shadow_copy *hold_more(struct dist__buffer_check *watch,
					   const struct dist__region *region)
{
	struct dist__shadow_copy *holding;

	dist__region_lift(watch, region, true);
	holding = dist__shadow_copy_new(&watch->group->root->pool,
					region->tensor.data,
					dist__tensor_bytes(&region->tensor));
	dist__region_lift(watch, region, false);
	if (!holding)
		return NULL;
	holding->next = watch->holdings;
	watch->holdings = holding;
	return follow(watch, region, holding) ? holding : NULL;
}

/* Gives region its place in one of watch's holdings, or in none: a blocking
 * op without an earlier one needs none. */
static enum dist_error hold(struct dist__buffer_check *watch,
			    struct dist__region *region)
{
	struct dist__shadow_copy *holding = watch->holdings;
	bool found;
	enum dist_error error = find_earlier(watch, region, &found);

	if (error || (watch->blocks && !found))
		return error;
	while (holding &&
	       !dist__shadow_copy_covers(holding, region->tensor.data,
					 dist__tensor_bytes(&region->tensor)))
		holding = holding->next;
	if (!holding)
		holding = hold_more(watch, region);
	if (!holding || (region->writes && !dist__shadow_copy_keep(holding)))
		return DIST_ERR_NO_MEMORY;
	region->holding = holding;
	return DIST_OK;
}

/* The length of each list of a list of lists. */
static size_t parts_per_device(const struct dist_group *group,
			       const struct dist__bundle *bundle)
{
	return bundle->in_lists || bundle->out_lists
		       ? bundle->num * (size_t)group->members.world_size
		       : 0;
}

/* ---- the tensors of an op ------------------------------------------------ */

/* Takes hold of *tensor, and moves it to the copy. */
static enum dist_error take(struct dist__buffer_check *watch,
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
	region->watch = watch;
	error = hold(watch, region);
	if (error || !region->holding)
		return error;
	region->node.begin = (uintptr_t)region->tensor.data;
	region->node.end =
		region->node.begin + dist__tensor_bytes(&region->tensor);
	note_order(watch);
	dist__region_index_add(&watch->group->root->regions, &region->node);
	watch->num_regions++;
	tensor->data = region->holding->work +
		       ((char *)tensor->data - region->holding->user);
	return DIST_OK;
}

/* Whether the op may change the i-th tensor of a list that it changes. */
static bool may_change(const struct dist__buffer_check *watch, size_t i)
{
	const struct dist__op *op = watch->op;
	const struct dist__bundle *bundle = &dist__op_sides(op)->bundle;
	bool is_root = op->peer == watch->group->members.rank &&
		       bundle->chosen == (int)i;

	if (bundle->kind != DIST__DEVICES)
		return true;
	if (op->kind == DIST__BROADCAST)
		return !is_root;
	return op->kind != DIST__REDUCE || is_root;
}

/* The same of num tensors, of which it makes the list anew. */
static enum dist_error take_list(struct dist__buffer_check *watch,
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
		error = take(watch, &moved[i], &like,
			     writes && may_change(watch, i));
	}
	return error;
}

static enum dist_error take_parts(struct dist__buffer_check *watch,
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

static struct use use_of(const struct dist__buffer_check *watch)
{
	const struct dist__op *op = watch->op;
	enum dist__bundle_kind bundle = dist__op_sides(op)->bundle.kind;

	switch (op->kind) {
	case DIST__ALL_GATHER:
	case DIST__GATHER:
		return (struct use){"in", false};
	case DIST__REDUCE_SCATTER:
		return (struct use){"out", bundle == DIST__NO_BUNDLE};
	case DIST__SCATTER:
		return (struct use){"out", true};
	case DIST__BROADCAST:
		return (struct use){"tensor",
				    op->peer != watch->group->members.rank ||
					    bundle == DIST__DEVICES};
	case DIST__SEND:
		return (struct use){"tensor", false};
	default:
		return (struct use){"tensor", true};
	}
}

/* The same of a list for each device; an op has one such list at most. */
static enum dist_error take_lists(struct dist__buffer_check *watch,
				  const struct dist_tensor *const **lists,
				  const char *name, bool writes)
{
	size_t num = watch->op->sides->bundle.num;
	enum dist_error error = DIST_OK;

	if (!*lists)
		return DIST_OK;
	for (size_t device = 0; device < num && !error; device++) {
		watch->heads[device] = (*lists)[device];
		error = take_list(watch, &watch->heads[device],
				  parts_per_device(watch->group,
						   &watch->op->sides->bundle),
				  name, writes);
	}
	*lists = watch->heads;
	return error;
}

static enum dist_error take_bundle(struct dist__buffer_check *watch,
				   bool writes)
{
	struct dist__bundle *b = &watch->op->sides->bundle;
	bool is_one_sided = !b->out && !b->out_lists && !b->in_lists;
	const char *name = is_one_sided ? "tensors" : "in";
	bool gathers = watch->op->kind == DIST__ALL_GATHER;
	enum dist_error error = DIST_OK;

	/* The longer ones first: the others may lie in them. */
	if (gathers)
		error = take_list(watch, &b->out, b->num, "out", true);
	if (!error)
		error = take_lists(watch, &b->out_lists, "out_lists", true);
	if (!error)
		error = take_lists(watch, &b->in_lists, "in_lists", false);
	if (!error)
		error = take_list(watch, &b->in, b->num, name, writes);
	return error || gathers
		       ? error
		       : take_list(watch, &b->out, b->num, "out", true);
}

enum dist_error dist__buffer_check_take(struct dist__buffer_check *watch)
{
	struct dist__op *op = watch->op;
	struct dist__sides *sides = op->sides;
	struct use use = use_of(watch);
	struct dist__region like = {.name = use.name, .part = -1};
	enum dist_error error = DIST_OK;

	if (sides && sides->bundle.kind)
		return take_bundle(watch, use.writes);
	if (sides)
		error = take_parts(watch, &sides->in, "in", false);
	if (sides && !error)
		error = take_parts(watch, &sides->out, "out", true);
	/* The rank's own part may be its tensor. */
	return error ? error : take(watch, &op->tensor, &like, use.writes);
}

size_t dist__buffer_check_most(const struct dist_group *group,
			       const struct dist__op *op)
{
	const struct dist__sides *sides = dist__op_sides(op);

	return 1 + (size_t)sides->in.count + (size_t)sides->out.count +
	       sides->bundle.num *
		       (2 + parts_per_device(group, &sides->bundle));
}
