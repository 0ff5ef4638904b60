/*
 * own_share.c - who gets what of the links: weighted max-min fairness by
 * progressive filling, over the classes that a change has an effect on
 * (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).
 *
 * All rates grow together, each by its weight, until a link is full: who
 * crosses it keeps its rate, the others grow on. The level of a link is the
 * common growth at which it will be full. It never falls as others stop, so a
 * heap of levels needs no more than a second look at what comes up. A class
 * that reaches its cap before the link with the lowest level is full stops
 * there, before that link is looked at again.
 *
 * Rates are those of max-min if and only if each class has its cap, or crosses
 * a full link on which no other has more (the same book): that link holds it.
 * So after a change those are solved that have changed or that a changed link
 * holds, in what the others leave. Then each link of theirs is looked at: who
 * is not held rightly any more is solved with them, until all are.
 */
#include "sim/engine/own_net.h"

/* Levels so close are one, of links that are full at the same time. */
#define SAME_LEVEL (1 + 1e-12)

/* A link is full that has less than this part of its rate left: above what
 * rounding leaves. */
#define SLACK 1e-11

/* After so many rounds all that can be reached is solved. */
#define MOST_ROUNDS 8

/* ---- what is solved again --------------------------------------------------
 */

static double load_of(const struct own_use *use)
{
	const struct own_class *class = use->of;

	return class->weight * class->parts[use->part].times * class->count;
}

/* What a class has of a link. */
static double taken_by(const struct own_use *use)
{
	const struct own_class *class = use->of;

	return class->rate * class->parts[use->part].times * class->count;
}

static bool is_free(const struct own_net *net, const struct own_class *class)
{
	return class->mark == net->stamp;
}

/* Adds up what those leave of a link that keep their rates. */
static void reach(struct own_net *net, uint32_t number)
{
	struct own_link *link = &net->links[number];

	link->mark = net->stamp;
	link->room = link->Bps;
	link->free_load = 0;
	link->num_free = 0;
	for (uint32_t i = 0; i < link->classes.count; i++) {
		const struct own_use *use = &link->classes.all[i];

		if (is_free(net, use->of)) {
			link->free_load += load_of(use);
			link->num_free++;
		} else {
			link->room -= taken_by(use);
		}
	}
	net->reached[net->num_reached++] = number;
}

/* Has a class solved again. */
static void release(struct own_net *net, struct own_class *class)
{
	if (is_free(net, class))
		return;
	class->mark = net->stamp;
	*net->last_again = class;
	net->last_again = &class->again;
	class->again = NULL;
	for (uint32_t i = 0; i < class->num_parts; i++) {
		const struct own_use use = {class, i};
		struct own_link *link = &net->links[class->parts[i].link];

		if (link->mark != net->stamp) {
			reach(net, class->parts[i].link);
			continue;
		}
		link->room += taken_by(&use);
		link->free_load += load_of(&use);
		link->num_free++;
	}
}

static void forget_empty(struct own_net *net, const struct own_link *link)
{
	for (uint32_t i = 0; i < link->classes.count;) {
		struct own_class *class = link->classes.all[i].of;

		if (class->count == 0)
			dist__own_class_forget(net, class);
		else
			i++;
	}
}

/* Begins with the classes that have changed, and with those that the links
 * hold on which something has. */
static void begin(struct own_net *net)
{
	net->stamp++;
	net->num_reached = 0;
	net->again = NULL;
	net->last_again = &net->again;
	for (uint32_t i = 0; i < net->num_dirty; i++)
		forget_empty(net, &net->links[net->dirty[i]]);
	for (uint32_t i = 0; i < net->num_dirty; i++) {
		struct own_link *link = &net->links[net->dirty[i]];

		link->is_dirty = false;
		for (uint32_t j = 0; j < link->classes.count; j++) {
			struct own_class *class = link->classes.all[j].of;

			if (class->is_changed || class->held_by == link ||
			    net->all_again)
				release(net, class);
		}
	}
	net->num_dirty = 0;
}

/* All that can be reached from what is solved again is, too. */
static void release_all(struct own_net *net)
{
	for (uint32_t i = 0; i < net->num_reached; i++) {
		const struct own_link *link = &net->links[net->reached[i]];

		for (uint32_t j = 0; j < link->classes.count; j++)
			release(net, link->classes.all[j].of);
	}
}

/* ---- levels ---------------------------------------------------------------
 */

static double level_of(const struct own_link *link)
{
	return (link->left > 0 ? link->left : 0) / link->load;
}

/* The heap of levels: the events of it are links. */
DIST__HEAP(levels, struct own_entry, 2, OWN_IS_SOONER, DIST__HEAP_PUT)

static void push(struct own_net *net, struct own_link *link, double level)
{
	levels_rise(net->levels, net->num_levels++,
		    (struct own_entry){level, (struct own_event *)link});
}

static struct own_link *pop(struct own_net *net)
{
	return (struct own_link *)levels_pop(net->levels, net->num_levels--)
		.event;
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

static void stop(struct own_net *net, struct own_class *class, double rate,
		 const struct own_link *held_by)
{
	net->num_unfixed--;
	class->is_fixed = true;
	class->held_by = held_by;
	class->next_rate = rate;
	*net->last_stopped = class;
	net->last_stopped = &class->stopped;
	class->stopped = NULL;
	for (uint32_t i = 0; i < class->num_parts; i++) {
		const struct own_class_part *part = &class->parts[i];
		struct own_link *link = &net->links[part->link];

		link->unfixed--;
		link->left -= rate * part->times * class->count;
		link->load -= class->weight * part->times * class->count;
	}
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
			stop(net, class, level * class->weight, link);
		else if (class->cap <= level * class->weight * SAME_LEVEL)
			stop(net, class, class->cap, NULL);
	}
	if (!is_cap)
		link->level = level;
}

static void fill(struct own_net *net)
{
	while (net->num_unfixed > 0) {
		struct own_link *link = pop(net);
		double level, cap;

		if (link->unfixed == 0)
			continue;
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

/* Gives all that are solved again their next rates. */
static void solve(struct own_net *net)
{
	struct own_class *class;

	net->num_unfixed = 0;
	for (class = net->again; class; class = class->again) {
		class->is_fixed = false;
		net->num_unfixed++;
	}
	net->stopped = NULL;
	net->last_stopped = &net->stopped;
	net->num_levels = 0;
	for (uint32_t i = 0; i < net->num_reached; i++) {
		struct own_link *link = &net->links[net->reached[i]];

		link->left = link->room;
		link->load = link->free_load;
		link->unfixed = link->num_free;
		link->level = INFINITY;
		if (link->unfixed > 0)
			push(net, link, level_of(link));
	}
	fill(net);
}

/* ---- whether the others are right still ----------------------------------
 */

/* Whether someone who crosses a link and is solved again will have more than
 * level. */
static bool gives_more(const struct own_net *net, const struct own_link *link,
		       double level)
{
	for (uint32_t i = 0; i < link->classes.count; i++) {
		const struct own_class *class = link->classes.all[i].of;

		if (is_free(net, class) &&
		    class->next_rate > level * class->weight * SAME_LEVEL)
			return true;
	}
	return false;
}

/* Whether the rate of a class is wrong on a link beside the next ones of
 * others: if the link is full now, as more than who is held there has; if it
 * holds the class, as it has room now or gives others more. */
static bool is_wrong(const struct own_net *net, const struct own_link *link,
		     const struct own_class *class)
{
	double level = class->rate / class->weight;

	return level > link->level * SAME_LEVEL ||
	       (class->held_by == link && (link->left > link->Bps * SLACK ||
					   gives_more(net, link, level)));
}

/* Has those solved again, too, whose rates are wrong now. Returns whether there
 * are any. */
static bool widen(struct own_net *net)
{
	uint32_t num = net->num_reached;
	struct own_class **last = net->last_again;

	for (uint32_t i = 0; i < num; i++) {
		const struct own_link *link = &net->links[net->reached[i]];

		for (uint32_t j = 0; link->num_free < link->classes.count &&
				     j < link->classes.count;
		     j++) {
			struct own_class *class = link->classes.all[j].of;

			if (!is_free(net, class) && is_wrong(net, link, class))
				release(net, class);
		}
	}
	return last != net->last_again;
}

/* ---- all ----------------------------------------------------------------- */

void dist__own_share(struct own_net *net)
{
	struct own_class *class;

	begin(net);
	for (int rounds = 0;; rounds++) {
		if (rounds == MOST_ROUNDS || net->all_again)
			release_all(net);
		solve(net);
		if (!widen(net))
			break;
	}
	net->all_again = false;
	for (class = net->stopped; class; class = class->stopped)
		set_rate(net, class, class->next_rate);
}
