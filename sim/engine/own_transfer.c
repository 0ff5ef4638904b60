/*
 * own_transfer.c - transfers between two ends, with one, or with none but a
 * call when they are over.
 *
 * The caller matches the ends of a path, so all that is here is the record that
 * both have: who waits at which end, and how it ended. Routes are asked of the
 * platform once for each pair of hosts.
 */
#include "sim/engine/own_transfer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

#define MOST_LINKS 256 /* of a way */

enum phase { POSTED, RUNS, WELL, FAILED };

struct transfer {
	struct own_task task; /* first: over() is to be called */
	struct own_flow *flow;
	struct dist__engine_end *ends[2]; /* receives, sends; NULL: has left */
	struct own_actor *waiters[2];
	struct own_route *own_route; /* of links that it names itself */
	uint64_t bytes;
	void (*over)(void *arg, bool well);
	void *arg;
	enum phase phase;
};

/* The routes of so many hosts that follow each other, to hosts that do too: in
 * a step of most collectives all hosts send as far. */
#define NEXT 8

struct routes {
	uint64_t key;                 /* of the hosts; 0: the place is free */
	struct own_route *from[NEXT]; /* NULL: not looked up */
};

static struct dist__graph *platform;
static const uint32_t *hosts; /* of the platform */
static struct dist__graph_factors network;
static struct routes *routes; /* hash table */
static size_t num_routes, route_space;
static uint32_t
	*last_part; /* by link: where it stands in the last route of it */
static struct transfer *free_transfers;

/* ---- routes ---------------------------------------------------------------
 */

static void add_part(struct own_route *route, uint32_t link, double times)
{
	uint32_t i = last_part[link];

	if (i >= route->count || route->parts[i].link != link) {
		last_part[link] = route->count;
		route->parts[route->count++] = (struct own_part){link, times};
	} else if (dist__own.net->links[link].is_shared) {
		route->parts[i].times += times;
	} else {
		route->parts[i].times = fmax(route->parts[i].times, times);
	}
}

static struct own_route *make_route(const uint32_t *links, size_t count,
				    const uint32_t *back, size_t num_back,
				    double latency_s)
{
	struct own_route *route = malloc(
		sizeof *route + (count + num_back) * sizeof route->parts[0]);

	if (!route)
		dist__own_out_of_memory();
	*route = (struct own_route){
		.wait_s = latency_s * network.latency_factor,
		/* SimGrid's, of what has none. */
		.penalty = latency_s > 0 ? latency_s : 1,
	};
	for (size_t i = 0; i < count; i++)
		add_part(route, links[i], 1);
	for (size_t i = 0; i < num_back; i++)
		add_part(route, back[i], network.back_load);
	return route;
}

static struct own_route *find_route(uint32_t from, uint32_t to)
{
	uint32_t links[MOST_LINKS], back[MOST_LINKS];
	size_t count, num_back = 0;
	double latency_s = 0;

	from = hosts[from];
	to = hosts[to];
	count = platform->find_way(platform, from, to, links, MOST_LINKS,
				   &latency_s);
	if (network.back_load > 0)
		num_back = platform->find_way(platform, to, from, back,
					      MOST_LINKS, NULL);
	if (count > MOST_LINKS || num_back > MOST_LINKS) {
		fprintf(stderr,
			"lockstep: a route of %zu links: expected %d or less\n",
			count > num_back ? count : num_back, MOST_LINKS);
		abort();
	}
	return make_route(links, count, back, num_back, latency_s);
}

static struct routes *place_of(uint64_t key)
{
	size_t mask = route_space - 1;
	size_t i = (size_t)((key * DIST__HASH_FACTOR) >> 32) & mask;

	while (routes[i].key && routes[i].key != key)
		i = (i + 1) & mask;
	return &routes[i];
}

static const struct own_route *route_of(uint32_t from, uint32_t to)
{
	uint64_t key = ((uint64_t)(to - from) << 32 | from / NEXT) + 1;
	struct own_route **route;
	struct routes *place;

	if (2 * num_routes >= route_space) {
		struct routes *before = routes;
		size_t space = route_space;

		route_space = space ? 2 * space : 1024;
		routes = calloc(route_space, sizeof *routes);
		if (!routes)
			dist__own_out_of_memory();
		for (size_t i = 0; i < space; i++)
			if (before[i].key)
				*place_of(before[i].key) = before[i];
		free(before);
	}
	place = place_of(key);
	num_routes += !place->key;
	place->key = key;
	route = &place->from[from % NEXT];
	if (!*route)
		*route = find_route(from, to);
	else if (from % NEXT + 1 < NEXT)
		__builtin_prefetch(route[1]);
	return *route;
}

/* ---- the life of a transfer -----------------------------------------------
 */

static struct transfer *blank(void)
{
	struct transfer *transfer = free_transfers;

	if (transfer)
		free_transfers = (struct transfer *)transfer->task.next;
	else
		transfer = malloc(sizeof *transfer);
	if (!transfer)
		dist__own_out_of_memory();
	*transfer = (struct transfer){.phase = POSTED};
	return transfer;
}

/* Lets a transfer go that nobody looks at any more. */
static void let_go(struct transfer *transfer)
{
	if (transfer->ends[0] || transfer->ends[1] || transfer->over ||
	    transfer->phase == RUNS)
		return;
	free(transfer->own_route);
	transfer->task.next = (struct own_task *)free_transfers;
	free_transfers = transfer;
}

static void wake_waiters(struct transfer *transfer, bool by_clock)
{
	for (int i = 0; i < 2; i++) {
		struct own_actor *actor = transfer->waiters[i];

		transfer->waiters[i] = NULL;
		/* Its time is up in this very instant. */
		if (!actor || !actor->waits)
			continue;
		actor->waits = false;
		if (by_clock)
			dist__own_woken(&actor->task);
		else
			dist__own_ready(&actor->task);
	}
}

static void call_over(struct own_task *task)
{
	struct transfer *transfer = (struct transfer *)task;
	void (*over)(void *arg, bool well) = transfer->over;
	void *arg = transfer->arg;
	bool well = transfer->phase == WELL;
	struct dist__engine_end *end = transfer->ends[1];

	transfer->over = NULL;
	transfer->ends[1] = NULL;
	if (end)
		end->transfer = NULL;
	let_go(transfer);
	over(arg, well);
}

static void flow_over(struct own_net *net, struct own_flow *flow)
{
	struct transfer *transfer = flow->owner;

	(void)net;
	transfer->flow = NULL;
	transfer->phase = flow->failed ? FAILED : WELL;
	wake_waiters(transfer, true);
	if (transfer->over)
		dist__own_woken(&transfer->task);
	else
		let_go(transfer);
}

static void set_out(struct transfer *transfer, const struct own_route *route,
		    double most_Bps)
{
	transfer->phase = RUNS;
	transfer->flow = dist__own_net_start(
		dist__own.net, route, (double)transfer->bytes,
		most_Bps > 0 ? most_Bps : INFINITY, transfer);
	if (!transfer->flow)
		dist__own_out_of_memory();
}

/* ---- two ends -------------------------------------------------------------
 */

void dist__own_open_path(struct dist__engine_path *path)
{
	const struct own_route *route = route_of(path->from, path->to);

	path->state = route->count > 0 ? (void *)route : NULL;
}

void dist__own_post(struct dist__engine_path *path, bool sends, uint64_t bytes,
		    struct dist__engine_end *end,
		    struct dist__engine_end *other)
{
	struct transfer *transfer = other ? other->transfer : blank();

	transfer->ends[sends] = end;
	end->transfer = transfer;
	if (sends)
		transfer->bytes = bytes;
	if (other)
		set_out(transfer, path->state, 0);
}

void dist__own_fail(struct dist__engine_path *path, bool sends,
		    struct dist__engine_end *ends)
{
	(void)path;
	(void)sends;
	for (; ends; ends = ends->next) {
		struct transfer *transfer = ends->transfer;

		transfer->phase = FAILED;
		wake_waiters(transfer, false);
	}
}

void dist__own_pass(struct dist__engine_path *path, uint64_t bytes,
		    struct dist__engine_end *end,
		    void (*over)(void *arg, bool well), void *arg)
{
	struct transfer *transfer = blank();

	transfer->task.run = call_over;
	transfer->over = over;
	transfer->arg = arg;
	transfer->bytes = bytes;
	transfer->ends[1] = end;
	end->transfer = transfer;
	set_out(transfer, path->state, 0);
}

/* ---- one, or none ----------------------------------------------------------
 */

static void begin(struct transfer *transfer,
		  const struct dist__engine_transfer *load)
{
	const struct own_route *route;

	transfer->bytes = load->bytes;
	if (load->links) {
		transfer->own_route = make_route(load->links, load->num_links,
						 NULL, 0, load->latency_s);
		route = transfer->own_route;
	} else {
		route = route_of(load->from, load->to);
	}
	set_out(transfer, route, load->most_Bps);
}

void dist__own_start(const struct dist__engine_transfer *load,
		     struct dist__engine_end *end)
{
	struct transfer *transfer = blank();

	transfer->ends[1] = end;
	end->transfer = transfer;
	begin(transfer, load);
}

void dist__own_carry(const struct dist__engine_transfer *load,
		     void (*over)(void *arg, bool well), void *arg)
{
	struct transfer *transfer = blank();

	transfer->task.run = call_over;
	transfer->over = over;
	transfer->arg = arg;
	begin(transfer, load);
}

/* ---- waiting --------------------------------------------------------------
 */

static int side_of(const struct transfer *transfer,
		   const struct dist__engine_end *end)
{
	return transfer->ends[1] == end;
}

static void leave(struct transfer *transfer, struct dist__engine_end *end)
{
	transfer->ends[side_of(transfer, end)] = NULL;
	end->transfer = NULL;
	let_go(transfer);
}

bool dist__own_has_ended(const struct dist__engine_end *end)
{
	const struct transfer *transfer = end->transfer;

	return transfer->phase == WELL || transfer->phase == FAILED;
}

enum dist__engine_outcome dist__own_wait_for(struct dist__engine_end *end,
					     double seconds)
{
	struct transfer *transfer = end->transfer;
	int side = side_of(transfer, end);
	bool well;

	if (!dist__own_has_ended(end)) {
		transfer->waiters[side] = dist__own.running;
		if (!dist__own_wait(seconds)) {
			transfer->waiters[side] = NULL;
			return DIST__ENGINE_LATE;
		}
	}
	well = transfer->phase == WELL;
	leave(transfer, end);
	return well ? DIST__ENGINE_DONE : DIST__ENGINE_FAILED;
}

/* Of one that is over already and about to tell. */
static void forget(void *arg, bool well)
{
	(void)arg;
	(void)well;
}

bool dist__own_cancel(struct dist__engine_end *end)
{
	struct transfer *transfer = end->transfer;
	bool well = transfer->phase == WELL;

	if (transfer->over)
		transfer->over = transfer->phase == RUNS ? NULL : forget;
	if (transfer->phase == RUNS) {
		dist__own_net_cancel(dist__own.net, transfer->flow);
		transfer->flow = NULL;
		transfer->phase = FAILED;
		wake_waiters(transfer, false);
	}
	leave(transfer, end);
	return well;
}

double dist__own_bytes_left(const struct dist__engine_end *end)
{
	const struct transfer *transfer = end->transfer;

	if (transfer->phase == POSTED)
		return (double)transfer->bytes;
	return transfer->flow
		       ? dist__own_net_left(dist__own.net, transfer->flow)
		       : 0;
}

/* ---- links ----------------------------------------------------------------
 */

struct dist__graph_link dist__own_link(uint32_t number)
{
	struct dist__graph_link link = platform->links[number];

	link.is_on = dist__own.net->links[number].is_on;
	return link;
}

bool dist__own_transfers_begin(struct dist__graph *graph, const uint32_t *list)
{
	struct own_net *net = dist__own_net_new((uint32_t)graph->num_links);

	free(last_part);
	last_part = calloc(graph->num_links + 1, sizeof *last_part);
	if (!net || !last_part) {
		dist__own_net_free(net);
		return false;
	}
	platform = graph;
	hosts = list;
	network = dist__graph_read_factors(graph);
	for (size_t i = 0; i < graph->num_links; i++) {
		const struct dist__graph_link *link = &graph->links[i];

		net->links[i].Bps =
			link->bandwidth_Bps * network.bandwidth_factor;
		net->links[i].is_shared = link->is_shared;
		net->links[i].is_on = link->is_on;
	}
	net->over = flow_over;
	dist__own.net = net;
	return true;
}
