#include "core/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/record.h"

/* Memory of the caller that operations hold. */
struct dist__holding {
	struct dist__holding *next; /* of the rank's */
	char *user;
	size_t bytes;
	char *work;  /* what operations work on instead */
	char *saved; /* user's bytes at the call; NULL: nobody writes work */
	struct dist__watch *newest; /* of those who share it; NULL: ended */
	size_t sharers;
};

/* A tensor of the op, as the caller gave it. */
struct region {
	struct dist_tensor tensor;
	const char *name;
	int part; /* of a list; -1: none */
	struct dist__holding *holding;
};

struct dist__watch {
	struct dist__watch *next; /* of the rank's */
	struct dist_group *group;
	struct dist__op *op;
	bool blocks;
	bool released; /* its handle */
	bool heard;    /* anything, since then */
	bool ended;
	struct region *regions;
	size_t num_regions;
	struct dist_tensor *lists; /* of the op's parts and bundle, moved */
	size_t num_listed;
};

static size_t bytes_of(const struct dist_tensor *tensor)
{
	return tensor->data ? tensor->numel * dist_dtype_size(tensor->dtype)
			    : 0;
}

static bool overlap(const struct dist_tensor *a, const struct dist_tensor *b)
{
	uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;

	return x < y + bytes_of(b) && y < x + bytes_of(a);
}

static bool is_collective(const struct dist__op *op)
{
	return !dist__op_is_p2p(op->kind);
}

/* ---- hazards ------------------------------------------------------------ */

static void print_name(char *text, size_t size, const struct region *region)
{
	if (region->part < 0)
		snprintf(text, size, "%s", region->name);
	else
		snprintf(text, size, "%s[%d]", region->name, region->part);
}

/* Writes into the hazard which of region's elements lies at address. */
static void locate(struct check_hazard *hazard, const struct region *region,
		   const char *address)
{
	print_name(hazard->buffer, sizeof hazard->buffer, region);
	hazard->element = (size_t)(address - (char *)region->tensor.data) /
			  dist_dtype_size(region->tensor.dtype);
	hazard->numel = region->tensor.numel;
}

static enum dist_error accuse_write(struct dist__watch *watch,
				    const struct region *region,
				    const char *address,
				    const struct dist__site *seen)
{
	struct check_hazard hazard = {.kind = CHECK_HAZARD_WRITTEN};
	uint32_t number = watch->op->call;

	locate(&hazard, region, address);
	if (seen)
		check_site_set(&hazard.other.site, seen->file, seen->line);
	check_touch(watch->group->place.slot, &hazard, number, 0);
	return dist__fail(watch->group, DIST_ERR_HAZARD,
			  "%s: element %llu of %s was written before the wait",
			  dist__op_called(watch->op),
			  (unsigned long long)hazard.element, hazard.buffer);
}

/* The op of watch was given memory that another still holds. */
static enum dist_error accuse_sharing(const struct dist__watch *watch,
				      const struct region *given,
				      const struct dist__holding *held)
{
	const struct dist__watch *owner = held->newest;
	struct check_hazard hazard = {.kind = CHECK_HAZARD_SHARED};
	const struct region *region = owner->regions;
	uintptr_t address = (uintptr_t)given->tensor.data;

	while (!overlap(&region->tensor, &given->tensor) &&
	       region + 1 < owner->regions + owner->num_regions)
		region++;
	locate(&hazard, region,
	       address > (uintptr_t)region->tensor.data ? given->tensor.data
							: region->tensor.data);
	print_name(hazard.given, sizeof hazard.given, given);
	check_touch(watch->group->place.slot, &hazard, owner->op->call,
		    watch->op->call);
	return dist__fail(watch->group, DIST_ERR_HAZARD,
			  "%s: %s is memory that %s still holds",
			  dist__op_called(watch->op), hazard.given,
			  dist__op_called(owner->op));
}

/* ---- holding memory ----------------------------------------------------- */

static char *duplicate(const char *from, size_t bytes)
{
	char *copy = malloc(bytes);

	return copy ? memcpy(copy, from, bytes) : NULL;
}

static void holding_free(struct dist__holding *holding)
{
	free(holding->work);
	free(holding->saved);
	free(holding);
}

static void holding_drop(struct dist_group *root, struct dist__holding *held)
{
	struct dist__holding **link = &root->holdings;

	if (--held->sharers > 0)
		return;
	while (*link != held)
		link = &(*link)->next;
	*link = held->next;
	holding_free(held);
}

static struct dist__holding *holding_new(struct dist_group *root,
					 const struct dist_tensor *tensor,
					 bool writes)
{
	struct dist__holding *held = calloc(1, sizeof *held);

	if (!held)
		return NULL;
	held->user = tensor->data;
	held->bytes = bytes_of(tensor);
	held->work = duplicate(held->user, held->bytes);
	if (held->work && writes)
		held->saved = duplicate(held->user, held->bytes);
	if (!held->work || (writes && !held->saved)) {
		holding_free(held);
		return NULL;
	}
	held->next = root->holdings;
	root->holdings = held;
	return held;
}

static bool meets(const struct dist__holding *held,
		  const struct dist_tensor *tensor)
{
	uintptr_t a = (uintptr_t)held->user, b = (uintptr_t)tensor->data;

	return a < b + bytes_of(tensor) && b < a + held->bytes;
}

static bool covers(const struct dist__holding *held,
		   const struct dist_tensor *tensor)
{
	uintptr_t a = (uintptr_t)held->user, b = (uintptr_t)tensor->data;

	return a <= b && b + bytes_of(tensor) <= a + held->bytes;
}

/* Whether both are collectives of one group, which run in order. */
static bool in_order(const struct dist__watch *a, const struct dist__watch *b)
{
	return a->group == b->group && is_collective(a->op) &&
	       is_collective(b->op);
}

/*
 * Returns the holding that the region, which watch's op reads or writes, has
 * to do with: one that somebody writes, or would. Two that only read do not
 * mind each other; of the tensors of one op overlap only those that may.
 */
static struct dist__holding *find(const struct dist__watch *watch,
				  const struct dist_tensor *tensor, bool writes)
{
	struct dist__holding *held = watch->group->root->holdings;

	for (; held; held = held->next) {
		if (!held->newest || !meets(held, tensor))
			continue;
		if (held->newest == watch ? covers(held, tensor)
					  : held->saved || writes)
			return held;
	}
	return NULL;
}

/* The holder's op continues with a part of the memory, or with more of it:
 * waits for it, so that the caller's memory is what the next op finds. */
static enum dist_error outwait(struct dist__watch *holder)
{
	struct dist__backend *backend = holder->group->backend;
	enum dist_error error = backend->ops->wait(backend, holder->op,
						   holder->op->deadline_ns);

	return error ? error : dist__watch_end(holder, NULL);
}

static enum dist_error hold(struct dist__watch *watch, struct region *region,
			    bool writes)
{
	struct dist__holding *held = find(watch, &region->tensor, writes);
	enum dist_error error = DIST_OK;

	while (held && held->newest != watch && !error) {
		if (!in_order(held->newest, watch))
			return accuse_sharing(watch, region, held);
		if (covers(held, &region->tensor))
			break;
		error = outwait(held->newest);
		held = find(watch, &region->tensor, writes);
	}
	if (error || (!held && watch->blocks))
		return error;
	if (held && writes && !held->saved)
		held->saved = duplicate(held->work, held->bytes);
	else if (!held)
		held = holding_new(watch->group->root, &region->tensor, writes);
	if (!held || (writes && !held->saved))
		return DIST_ERR_NO_MEMORY;
	held->newest = watch;
	held->sharers++;
	region->holding = held;
	return DIST_OK;
}

/* ---- the tensors of an op ------------------------------------------------ */

/* Takes hold of *tensor, and moves it to the copy. */
static enum dist_error take(struct dist__watch *watch,
			    struct dist_tensor *tensor,
			    const struct region *like, bool writes)
{
	struct region *region = &watch->regions[watch->num_regions];
	enum dist_error error;

	if (bytes_of(tensor) == 0)
		return DIST_OK;
	*region = *like;
	region->tensor = *tensor;
	error = hold(watch, region, writes);
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
	struct region like = {.name = name};
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
	struct region like = {.name = name, .part = -1};

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
	struct region like = {.name = use.name, .part = -1};
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

static bool is_needed(const struct dist_group *group, const struct dist__op *op,
		      bool blocks)
{
	if (group->place.debug < DIST__DEBUG_INFO || op->phantom)
		return false;
	/* Lists of lists are let alone. */
	if (op->bundle.in_lists || op->bundle.out_lists)
		return false;
	return !blocks || group->root->holdings;
}

static struct dist__watch *watch_new(struct dist_group *group,
				     struct dist__op *op, bool blocks)
{
	struct dist__watch *watch = calloc(1, sizeof *watch);
	size_t most = 1 + (size_t)op->in.count + (size_t)op->out.count +
		      2 * op->bundle.num;

	if (!watch)
		return NULL;
	watch->group = group;
	watch->op = op;
	watch->blocks = blocks;
	watch->regions = calloc(most, sizeof *watch->regions);
	watch->lists = calloc(most, sizeof *watch->lists);
	watch->next = group->root->watches;
	group->root->watches = watch;
	if (watch->regions && watch->lists)
		return watch;
	dist__watch_free(watch);
	return NULL;
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
	*watch = fresh;
	return DIST_OK;
}

/* The first byte of region that is not what it was; NULL: none. */
static const char *first_change(const struct region *region)
{
	const struct dist__holding *held = region->holding;
	const char *was = held->saved ? held->saved : held->work;
	const char *is = region->tensor.data;

	was += is - held->user;
	if (!held->newest || memcmp(was, is, bytes_of(&region->tensor)) == 0)
		return NULL;
	while (*was == *is) {
		was++;
		is++;
	}
	return is;
}

/* Compares all before it delivers any: parts of one list may overlap. */
static enum dist_error compare(struct dist__watch *watch,
			       const struct dist__site *seen)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		const struct region *region = &watch->regions[i];
		const char *address = first_change(region);

		if (address)
			return accuse_write(watch, region, address, seen);
	}
	return DIST_OK;
}

/* Gives up what watch holds. */
static void let_go(struct dist__watch *watch)
{
	for (size_t i = 0; i < watch->num_regions; i++) {
		struct dist__holding *held = watch->regions[i].holding;

		if (held->newest == watch)
			held->newest = NULL;
		holding_drop(watch->group->root, held);
	}
	watch->num_regions = 0;
	watch->ended = true;
}

static enum dist_error end(struct dist__watch *watch,
			   const struct dist__site *seen, bool compares)
{
	enum dist_error error = DIST_OK;

	if (compares && !watch->op->error)
		error = compare(watch, seen);
	for (size_t i = 0; i < watch->num_regions; i++) {
		const struct dist__holding *held = watch->regions[i].holding;

		/* Who shares it after watch may be at work there. */
		if (!error && !watch->op->error && held->saved &&
		    held->newest == watch)
			memcpy(held->user, held->work, held->bytes);
	}
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
