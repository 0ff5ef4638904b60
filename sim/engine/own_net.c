/*
 * own_net.c - transfers from their start to their end: latency, then bytes.
 *
 * What begins and ends in one instant is only noted; the class of a transfer is
 * looked for when all that has happened (dist__own_net_next), so that a step of
 * a collective, in which all ranks' transfers end and begin together, costs
 * each of them one look.
 */
#include "sim/engine/own_net.h"

#include <math.h>
#include <stdlib.h>

#define NEVER (-1.0) /* of a rate that is not known yet */

/* ---- making ------------------------------------------------------------- */

struct own_net *dist__own_net_new(uint32_t num_links)
{
	struct own_net *net = calloc(1, sizeof *net);

	if (!net)
		return NULL;
	net->num_links = num_links;
	net->index_size = 256;
	net->links = aligned_alloc(alignof(struct own_link),
				   (num_links + 1) * sizeof *net->links);
	net->dirty = calloc(num_links + 1, sizeof *net->dirty);
	net->reached = calloc(num_links + 1, sizeof *net->reached);
	net->levels = calloc(num_links + 1, sizeof *net->levels);
	net->index = calloc(net->index_size, sizeof(struct own_class *));
	if (!net->links || !net->dirty || !net->reached || !net->levels ||
	    !net->index) {
		free(net->links);
		net->links = NULL;
		dist__own_net_free(net);
		return NULL;
	}
	for (uint32_t i = 0; i < num_links; i++) {
		struct own_link *link = &net->links[i];

		*link = (struct own_link){.is_shared = true, .is_on = true};
		link->flows.all = link->flows.few;
		link->classes.all = link->classes.few;
		link->flows.space = link->classes.space = 2;
	}
	return net;
}

static void free_flows(struct own_flow *flow)
{
	struct own_flow *next;

	for (; flow; flow = next) {
		next = flow->next;
		if (flow->at != flow->few)
			free(flow->at);
		free(flow);
	}
}

void dist__own_net_free(struct own_net *net)
{
	if (!net)
		return;
	free_flows(net->flows);
	free_flows(net->free_flows);
	if (net->index)
		dist__own_classes_free(net);
	for (uint32_t i = 0; net->links && i < net->num_links; i++) {
		dist__own_uses_free(&net->links[i].flows);
		dist__own_uses_free(&net->links[i].classes);
	}
	free(net->links);
	free(net->dirty);
	free(net->reached);
	free(net->levels);
	free(net->stale);
	free(net->index);
	free(net->events.heap);
	free(net);
}

/* ---- what is to be looked at --------------------------------------------- */

/* There is room, as for every transfer that has started. */
static void make_stale(struct own_net *net, struct own_flow *flow)
{
	if (flow->is_stale)
		return;
	flow->is_stale = true;
	net->stale[net->num_stale++] = flow;
}

static void make_all_stale(struct own_net *net, const struct own_link *link)
{
	for (uint32_t i = 0; i < link->flows.count; i++)
		make_stale(net, link->flows.all[i].of);
}

/* ---- on links -------------------------------------------------------------
 */

static void take_off_link(struct own_net *net, struct own_flow *flow,
			  uint32_t part)
{
	struct own_link *link = &net->links[flow->route->parts[part].link];
	struct own_use last = link->flows.all[--link->flows.count];
	uint32_t place = flow->at[part];

	if (place < link->flows.count) {
		struct own_flow *moved = last.of;

		link->flows.all[place] = last;
		moved->at[last.part] = place;
	}
	if (link->flows.count == 1 && link->is_shared)
		make_all_stale(net, link);
}

/* False: no memory; then it is on none of its links. */
static bool put_on_links(struct own_net *net, struct own_flow *flow)
{
	const struct own_route *route = flow->route;

	for (uint32_t i = 0; i < route->count; i++) {
		struct own_link *link = &net->links[route->parts[i].link];

		flow->at[i] = link->flows.count;
		if (!dist__own_uses_add(&link->flows, flow, i)) {
			while (i-- > 0)
				take_off_link(net, flow, i);
			return false;
		}
		if (link->is_shared && link->flows.count == 2)
			make_all_stale(net, link);
	}
	return true;
}

/* ---- bytes ----------------------------------------------------------------
 */

static double left_alone(const struct own_net *net, const struct own_flow *flow)
{
	double left = flow->left;

	if (flow->rate > 0)
		left -= flow->rate * (net->now_s - flow->since_s);
	return left > 0 ? left : 0;
}

double dist__own_net_left(const struct own_net *net,
			  const struct own_flow *flow)
{
	double left;

	if (flow->state == OWN_OVER)
		return 0;
	if (!flow->class)
		return left_alone(net, flow);
	left = flow->left - dist__own_class_carried(net, flow->class);
	return left > 0 ? left : 0;
}

/* Finds what becomes of a transfer after something has changed on its links. */
static bool classify(struct own_net *net, struct own_flow *flow)
{
	const struct own_route *route = flow->route;
	struct own_class *class;
	bool contended = false;
	double cap = flow->cap, left;

	for (uint32_t i = 0; i < route->count; i++) {
		const struct own_link *link = &net->links[route->parts[i].link];

		if (own_is_contended(link))
			contended = true;
		else if (link->Bps / route->parts[i].times < cap)
			cap = link->Bps / route->parts[i].times;
	}
	if (!contended) {
		if (!flow->class && flow->rate == cap)
			return true;
		left = dist__own_net_left(net, flow);
		if (flow->class)
			dist__own_class_leave(net, flow);
		flow->left = left;
		flow->rate = cap;
		flow->since_s = net->now_s;
		own_events_set(&net->events, &flow->event,
			       left > 0 ? net->now_s + left / cap : net->now_s);
		return true;
	}
	class = dist__own_class_of(net, flow, cap);
	if (!class)
		return false;
	if (flow->class == class)
		return true;
	left = dist__own_net_left(net, flow);
	if (flow->class)
		dist__own_class_leave(net, flow);
	else
		own_events_drop(&net->events, &flow->event);
	return dist__own_class_join(net, class, flow, left);
}

/* ---- the life of a transfer ------------------------------------------------
 */

/* Makes room for num events: a transfer has one, and one of its class. */
static bool reserve(struct own_net *net, uint32_t num)
{
	return own_events_reserve(&net->events, num) &&
	       dist__array_room(&net->stale, &net->stale_space, num,
				sizeof(struct own_flow *));
}

static struct own_flow *new_flow(struct own_net *net, uint32_t num_links)
{
	struct own_flow *flow = net->free_flows;

	if (flow) {
		net->free_flows = flow->next;
	} else {
		flow = malloc(sizeof *flow);
		if (!flow)
			return NULL;
		flow->at = flow->few;
	}
	if (flow->at != flow->few) {
		free(flow->at);
		flow->at = flow->few;
	}
	if (num_links <= OWN_FEW)
		return flow;
	flow->at = malloc(num_links * sizeof *flow->at);
	if (flow->at)
		return flow;
	flow->at = flow->few;
	flow->next = net->free_flows;
	net->free_flows = flow;
	return NULL;
}

static void unlist_flow(struct own_net *net, struct own_flow *flow)
{
	if (flow->before)
		flow->before->next = flow->next;
	else
		net->flows = flow->next;
	if (flow->next)
		flow->next->before = flow->before;
	flow->next = net->free_flows;
	net->free_flows = flow;
	net->num_events -= 2;
}

static bool is_cut(const struct own_net *net, const struct own_route *route)
{
	for (uint32_t i = 0; i < route->count; i++)
		if (!net->links[route->parts[i].link].is_on)
			return true;
	return false;
}

struct own_flow *dist__own_net_start(struct own_net *net,
				     const struct own_route *route,
				     double bytes, double cap, void *owner)
{
	struct own_flow *flow;

	if (!reserve(net, net->num_events + 2))
		return NULL;
	flow = new_flow(net, route->count);
	if (!flow)
		return NULL;
	net->num_events += 2;
	flow->event = (struct own_event){.kind = OWN_FLOW};
	flow->class = NULL;
	flow->route = route;
	flow->owner = owner;
	flow->cap = cap;
	flow->penalty = route->penalty;
	flow->left = bytes;
	flow->rate = NEVER;
	flow->state = OWN_WAITS;
	flow->is_stale = false;
	flow->failed = is_cut(net, route);
	flow->before = NULL;
	flow->next = net->flows;
	if (net->flows)
		net->flows->before = flow;
	net->flows = flow;
	own_events_set(&net->events, &flow->event,
		       flow->failed ? net->now_s : net->now_s + route->wait_s);
	return flow;
}

/* The latency is over. */
static void begin(struct own_net *net, struct own_flow *flow)
{
	flow->state = OWN_FLOWS;
	flow->since_s = net->now_s;
	if (put_on_links(net, flow)) {
		make_stale(net, flow);
		return;
	}
	flow->state = OWN_WAITS;
	flow->failed = true;
	own_events_set(&net->events, &flow->event, net->now_s);
}

/* Takes a transfer from its links and its class; drop() lets it go. */
static void leave(struct own_net *net, struct own_flow *flow)
{
	own_events_drop(&net->events, &flow->event);
	if (flow->class)
		dist__own_class_leave(net, flow);
	if (flow->state == OWN_FLOWS)
		for (uint32_t i = 0; i < flow->route->count; i++)
			take_off_link(net, flow, i);
	flow->state = OWN_OVER;
}

/* One that waits to be looked at is let go then. */
static void drop(struct own_net *net, struct own_flow *flow)
{
	if (!flow->is_stale)
		unlist_flow(net, flow);
}

void dist__own_net_cancel(struct own_net *net, struct own_flow *flow)
{
	leave(net, flow);
	drop(net, flow);
}

static void end(struct own_net *net, struct own_flow *flow)
{
	leave(net, flow);
	net->over(net, flow);
	drop(net, flow);
}

/* ---- the clock ------------------------------------------------------------
 */

bool dist__own_net_sleep(struct own_net *net, struct own_event *event,
			 double at_s)
{
	if (!event->place) {
		if (!reserve(net, net->num_events + 1))
			return false;
		net->num_events++;
	}
	own_events_set(&net->events, event, at_s);
	return true;
}

void dist__own_net_unsleep(struct own_net *net, struct own_event *event)
{
	if (!event->place)
		return;
	own_events_drop(&net->events, event);
	net->num_events--;
}

double dist__own_net_next(struct own_net *net)
{
	for (uint32_t i = 0; i < net->num_stale; i++) {
		struct own_flow *flow = net->stale[i];

		flow->is_stale = false;
		if (flow->state == OWN_OVER) {
			unlist_flow(net, flow);
		} else if (flow->state == OWN_FLOWS && !flow->failed &&
			   !classify(net, flow)) {
			flow->failed = true;
			own_events_set(&net->events, &flow->event, net->now_s);
		}
	}
	net->num_stale = 0;
	if (net->num_dirty > 0)
		dist__own_share(net);
	return net->events.count > 0 ? net->events.heap[0].at_s : INFINITY;
}

/* Ends the members of a class that are through in this instant. Whose turn it
 * is by the clock is through, however numbers are rounded; unless another one
 * has left meanwhile, whose turn it was. */
static void end_members(struct own_net *net, struct own_class *class)
{
	double through = dist__own_class_carried(net, class) +
			 class->rate * OWN_INSTANT_S;

	if (!class->is_changed)
		end(net, class->members[0].flow);
	while (class->count > 0 && class->members[0].at < through)
		end(net, class->members[0].flow);
}

void dist__own_net_advance(struct own_net *net, double now_s)
{
	double end_s;

	if (now_s > net->now_s)
		net->now_s = now_s;
	end_s = own_instant_end(net->now_s);
	while (net->events.count > 0 && net->events.heap[0].at_s < end_s) {
		struct own_event *event = net->events.heap[0].event;
		struct own_flow *flow = (struct own_flow *)event;

		if (event->kind == OWN_SLEEPER) {
			dist__own_net_unsleep(net, event);
			net->awake(net, event);
		} else if (event->kind == OWN_CLASS) {
			own_events_drop(&net->events, event);
			end_members(net, (struct own_class *)event);
		} else if (flow->state == OWN_WAITS && !flow->failed) {
			own_events_drop(&net->events, event);
			begin(net, flow);
		} else {
			end(net, flow);
		}
	}
}
