/*
 * own_class.c - transfers that always have the same rate, as one.
 *
 * A class is found by its contended links, how often they are crossed, the cap
 * that the links make that are not contended, and the weight. Of its members it
 * keeps what it will have carried when each is through, in a heap; so when its
 * rate changes no member is touched.
 */
#include "sim/engine/own_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- links -----------------------------------------------------------------
 */

void dist__own_uses_free(struct own_uses *uses)
{
	if (uses->all != uses->few)
		free(uses->all);
}

bool dist__own_uses_add(struct own_uses *uses, void *of, uint32_t part)
{
	uint32_t space = 4 * uses->space;
	struct own_use *all;

	if (uses->count == uses->space) {
		all = malloc(space * sizeof *all);
		if (!all)
			return false;
		memcpy(all, uses->all, uses->count * sizeof *all);
		dist__own_uses_free(uses);
		uses->all = all;
		uses->space = space;
	}
	uses->all[uses->count++] = (struct own_use){of, part};
	return true;
}

static void mark_dirty(struct own_net *net, uint32_t number)
{
	struct own_link *link = &net->links[number];

	if (link->is_dirty)
		return;
	link->is_dirty = true;
	net->dirty[net->num_dirty++] = number;
}

/* ---- finding --------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof bits);
	hash = (hash ^ bits) * DIST__HASH_FACTOR;
	return hash ^ (hash >> 29);
}

static uint64_t hash_of(const struct own_net *net, const struct own_flow *flow,
			double cap)
{
	const struct own_route *route = flow->route;
	uint64_t hash = mix(mix(0, cap), flow->penalty);

	for (uint32_t i = 0; i < route->count; i++) {
		const struct own_part *part = &route->parts[i];

		if (own_is_contended(&net->links[part->link]))
			hash = mix(hash + part->link, part->times);
	}
	return hash ^ (hash >> 32);
}

static bool fits(const struct own_net *net, const struct own_class *class,
		 const struct own_flow *flow, double cap)
{
	const struct own_route *route = flow->route;
	uint32_t n = 0;

	if (class->cap != cap || class->weight != 1 / flow->penalty)
		return false;
	for (uint32_t i = 0; i < route->count; i++) {
		const struct own_part *part = &route->parts[i];

		if (!own_is_contended(&net->links[part->link]))
			continue;
		if (n == class->num_parts ||
		    class->parts[n].link != part->link ||
		    class->parts[n].times != part->times)
			return false;
		n++;
	}
	return n == class->num_parts;
}

static bool grow_index(struct own_net *net)
{
	uint32_t size = 2 * net->index_size;
	struct own_class **index = calloc(size, sizeof(struct own_class *));
	struct own_class *class, *next;

	if (!index)
		return false;
	for (uint32_t i = 0; i < net->index_size; i++)
		for (class = net->index[i]; class; class = next) {
			next = class->next;
			class->next = index[class->hash & (size - 1)];
			index[class->hash & (size - 1)] = class;
		}
	free(net->index);
	net->index = index;
	net->index_size = size;
	return true;
}

/* ---- making ---------------------------------------------------------------
 */

static void free_all(struct own_class *class)
{
	struct own_class *next;

	for (; class; class = next) {
		next = class->next;
		if (class->parts != class->few)
			free(class->parts);
		free(class->members);
		free(class);
	}
}

void dist__own_classes_free(struct own_net *net)
{
	for (uint32_t i = 0; i < net->index_size; i++)
		free_all(net->index[i]);
	free_all(net->free_classes);
}

static struct own_class *blank(struct own_net *net, uint32_t num_parts)
{
	struct own_class *class = net->free_classes;
	struct own_class_part *parts;

	if (class) {
		net->free_classes = class->next;
	} else {
		class = calloc(1, sizeof *class);
		if (!class)
			return NULL;
		class->parts = class->few;
		class->part_space = OWN_FEW;
		class->event.kind = OWN_CLASS;
	}
	if (num_parts <= class->part_space)
		return class;
	parts = malloc(num_parts * sizeof *parts);
	if (!parts) {
		class->next = net->free_classes;
		net->free_classes = class;
		return NULL;
	}
	if (class->parts != class->few)
		free(class->parts);
	class->parts = parts;
	class->part_space = num_parts;
	return class;
}

static void take_off_link(struct own_net *net,
			  const struct own_class_part *part)
{
	struct own_uses *classes = &net->links[part->link].classes;
	struct own_use last = classes->all[--classes->count];
	struct own_class *moved = last.of;

	if (part->at == classes->count)
		return;
	classes->all[part->at] = last;
	moved->parts[last.part].at = part->at;
}

static bool put_on_links(struct own_net *net, struct own_class *class)
{
	for (uint32_t i = 0; i < class->num_parts; i++) {
		struct own_class_part *part = &class->parts[i];
		struct own_uses *classes = &net->links[part->link].classes;

		part->at = classes->count;
		if (dist__own_uses_add(classes, class, i))
			continue;
		while (i-- > 0)
			take_off_link(net, &class->parts[i]);
		return false;
	}
	return true;
}

static struct own_class *make(struct own_net *net, const struct own_flow *flow,
			      double cap, uint64_t hash)
{
	const struct own_route *route = flow->route;
	struct own_class *class = blank(net, route->count), **bucket;

	if (!class)
		return NULL;
	class->hash = hash;
	class->cap = cap;
	class->weight = 1 / flow->penalty;
	class->rate = class->carried = 0;
	class->since_s = net->now_s;
	class->is_changed = false;
	class->held_by = NULL;
	class->num_parts = 0;
	for (uint32_t i = 0; i < route->count; i++)
		if (own_is_contended(&net->links[route->parts[i].link]))
			class->parts[class->num_parts++] =
				(struct own_class_part){
					.link = route->parts[i].link,
					.times = route->parts[i].times};
	if (!put_on_links(net, class)) {
		class->next = net->free_classes;
		net->free_classes = class;
		return NULL;
	}
	bucket = &net->index[hash & (net->index_size - 1)];
	class->next = *bucket;
	*bucket = class;
	net->num_classes++;
	return class;
}

struct own_class *dist__own_class_of(struct own_net *net,
				     const struct own_flow *flow, double cap)
{
	uint64_t hash = hash_of(net, flow, cap);
	struct own_class *class;

	if (net->num_classes >= net->index_size && !grow_index(net))
		return NULL;
	class = net->index[hash & (net->index_size - 1)];
	while (class && (class->hash != hash || !fits(net, class, flow, cap)))
		class = class->next;
	return class ? class : make(net, flow, cap, hash);
}

void dist__own_class_forget(struct own_net *net, struct own_class *class)
{
	struct own_class **link =
		&net->index[class->hash & (net->index_size - 1)];

	while (*link != class)
		link = &(*link)->next;
	*link = class->next;
	for (uint32_t i = 0; i < class->num_parts; i++)
		take_off_link(net, &class->parts[i]);
	class->next = net->free_classes;
	net->free_classes = class;
	net->num_classes--;
}

/* ---- members --------------------------------------------------------------
 */

double dist__own_class_carried(const struct own_net *net,
			       const struct own_class *class)
{
	return class->carried + class->rate * (net->now_s - class->since_s);
}

static void put(struct own_member *members, size_t place,
		struct own_member member)
{
	members[place] = member;
	member.flow->in_class = (uint32_t)place;
}

#define ENDS_SOONER(a, b) ((a).at < (b).at)

DIST__HEAP(members, struct own_member, 2, ENDS_SOONER, put)

/* What it has for its links has to be looked at again. */
static void change(struct own_net *net, struct own_class *class)
{
	if (class->is_changed)
		return;
	class->is_changed = true;
	for (uint32_t i = 0; i < class->num_parts; i++)
		mark_dirty(net, class->parts[i].link);
}

bool dist__own_class_join(struct own_net *net, struct own_class *class,
			  struct own_flow *flow, double left)
{
	uint32_t space = class->space ? 2 * class->space : 4;
	struct own_member *members;

	change(net, class);
	if (class->count == class->space) {
		members = realloc(class->members, space * sizeof *members);
		if (!members)
			return false;
		class->members = members;
		class->space = space;
	}
	flow->class = class;
	flow->left = dist__own_class_carried(net, class) + left;
	members_rise(class->members, class->count++,
		     (struct own_member){flow->left, flow});
	return true;
}

void dist__own_class_leave(struct own_net *net, struct own_flow *flow)
{
	struct own_class *class = flow->class;
	uint32_t place = flow->in_class;
	struct own_member last;

	flow->left -= dist__own_class_carried(net, class);
	if (flow->left < 0)
		flow->left = 0;
	flow->class = NULL;
	flow->rate = -1;
	change(net, class);
	last = class->members[--class->count];
	if (class->count == 0)
		own_events_drop(&net->events, &class->event);
	if (place == class->count)
		return;
	if (place > 0 && class->members[(place - 1) / 2].at > last.at)
		members_rise(class->members, place, last);
	else
		members_sink(class->members, class->count, place, last);
}
