/*
 * own_share.c - who gets what of the links: weighted max-min fairness by
 * progressive filling, over the classes that a change can have reached
 * (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).
 *
 * All rates grow together, each by its weight, until a link is full: who
 * crosses it keeps its rate, the others grow on. The level of a link is the
 * common growth at which it will be full. It never falls as others stop, so a
 * heap of levels needs no more than a second look at what comes up. A class
 * that reaches its cap before the link with the lowest level is full stops
 * there, before that link is looked at again.
 */
#include "sim/engine/own_net.h"

/* Levels so close are one, of links that are full at the same time. */
#define SAME_LEVEL (1 + 1e-12)

/* ---- what is reached ------------------------------------------------------
 */

static void reach(struct own_net *net, uint32_t *count, uint32_t number)
{
	struct own_link *link = &net->links[number];

	if (link->mark == net->stamp)
		return;
	link->mark = net->stamp;
	net->reached[(*count)++] = number;
}

/* Adds up what loads a link, of classes that have not stopped. */
static void weigh(struct own_link *link)
{
	link->load = 0;
	link->unfixed = 0;
	for (uint32_t i = 0; i < link->classes.count; i++) {
		const struct own_use *use = &link->classes.all[i];
		const struct own_class *class = use->of;
		double load = class->weight * class->parts[use->part].times;

		if (class->is_fixed)
			continue;
		link->unfixed++;
		if (link->is_shared)
			link->load += load * class->count;
		else if (load > link->load)
			link->load = load;
	}
}

/* Goes from the links that something has changed on to all that this can
 * reach. Empty classes go. Returns how many links there are. */
static uint32_t spread(struct own_net *net)
{
	uint32_t num_links = 0;

	net->stamp++;
	for (uint32_t i = 0; i < net->num_dirty; i++) {
		net->links[net->dirty[i]].is_dirty = false;
		reach(net, &num_links, net->dirty[i]);
	}
	net->num_dirty = 0;
	for (uint32_t i = 0; i < num_links; i++) {
		struct own_link *link = &net->links[net->reached[i]];

		for (uint32_t j = 0; j < link->classes.count;) {
			struct own_class *class = link->classes.all[j].of;

			if (class->count == 0) {
				dist__own_class_forget(net, class);
				continue;
			}
			j++;
			if (class->mark == net->stamp)
				continue;
			class->mark = net->stamp;
			class->is_fixed = false;
			net->solved++;
			for (uint32_t k = 0; k < class->num_parts; k++)
				reach(net, &num_links, class->parts[k].link);
		}
	}
	return num_links;
}

/* ---- levels ---------------------------------------------------------------
 */

static double level_of(const struct own_link *link)
{
	return (link->left > 0 ? link->left : 0) / link->load;
}

/* The heap of levels: the events of it are links. */
static void push(struct own_net *net, struct own_link *link, double level)
{
	struct own_entry *heap = net->levels;
	uint32_t place = net->num_levels++;

	while (place > 0 && heap[(place - 1) / 2].at_s > level) {
		heap[place] = heap[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	heap[place] = (struct own_entry){level, (struct own_event *)link};
}

static struct own_link *pop(struct own_net *net)
{
	struct own_entry *heap = net->levels;
	struct own_link *link = (struct own_link *)heap[0].event;
	struct own_entry last = heap[--net->num_levels];
	uint32_t place = 0;

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= net->num_levels)
			break;
		if (child + 1 < net->num_levels &&
		    heap[child + 1].at_s < heap[child].at_s)
			child++;
		if (heap[child].at_s >= last.at_s)
			break;
		heap[place] = heap[child];
		place = child;
	}
	heap[place] = last;
	return link;
}

/* ---- rates ----------------------------------------------------------------
 */

static void set_rate(struct own_net *net, struct own_class *class, double rate)
{
	double left;

	if (class->rate == rate && !class->is_changed)
		return;
	class->is_changed = false;
	class->carried = dist__own_class_carried(net, class);
	class->since_s = net->now_s;
	class->rate = rate;
	left = class->members[0].at - class->carried;
	own_events_set(&net->events, &class->event,
		       left > 0 ? net->now_s + left / rate : net->now_s);
}

static void stop(struct own_net *net, struct own_class *class, double rate)
{
	class->is_fixed = true;
	for (uint32_t i = 0; i < class->num_parts; i++) {
		const struct own_class_part *part = &class->parts[i];
		struct own_link *link = &net->links[part->link];

		link->unfixed--;
		if (!link->is_shared)
			continue;
		link->left -= rate * part->times * class->count;
		link->load -= class->weight * part->times * class->count;
	}
	set_rate(net, class, rate);
}

/* The lowest level below that of its link at which a class there has its cap.
 */
static double lowest_cap(const struct own_link *link, double level)
{
	for (uint32_t i = 0; i < link->classes.count; i++) {
		const struct own_class *class = link->classes.all[i].of;

		if (!class->is_fixed && class->cap < level * class->weight)
			level = class->cap / class->weight;
	}
	return level;
}

/* Stops the classes of a link: those with that cap, or all. */
static void stop_at(struct own_net *net, struct own_link *link, double level,
		    bool is_cap)
{
	for (uint32_t i = 0; i < link->classes.count; i++) {
		struct own_class *class = link->classes.all[i].of;

		if (class->is_fixed)
			continue;
		if (!is_cap)
			stop(net, class, level * class->weight);
		else if (class->cap <= level * class->weight * SAME_LEVEL)
			stop(net, class, class->cap);
	}
}

static void fill(struct own_net *net)
{
	while (net->num_levels > 0) {
		struct own_link *link = pop(net);
		double level, cap;

		if (link->unfixed == 0)
			continue;
		if (!link->is_shared)
			weigh(link);
		level = level_of(link);
		if (net->num_levels > 0 &&
		    level > net->levels[0].at_s * SAME_LEVEL) {
			push(net, link, level);
			continue;
		}
		cap = lowest_cap(link, level);
		stop_at(net, link, cap, cap < level);
		if (link->unfixed > 0)
			push(net, link, cap);
	}
}

void dist__own_share(struct own_net *net)
{
	uint32_t num_links = spread(net);

	net->num_levels = 0;
	for (uint32_t i = 0; i < num_links; i++) {
		struct own_link *link = &net->links[net->reached[i]];

		link->left = link->Bps;
		weigh(link);
		if (link->unfixed > 0)
			push(net, link, level_of(link));
	}
	fill(net);
}
