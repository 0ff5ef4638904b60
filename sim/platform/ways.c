/*
 * ways.c - the ways of a plain platform, the same as SimGrid finds them
 * (src/kernel/routing/ of its release 3.32), to the order of their links: in a
 * zone of hosts the fewest links, of ways alike the one over the points that
 * routes name first; between zones the one route there is, from gate to gate.
 */
#include "sim/platform/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"

#define MOST_POINTS 4096 /* of a full zone */

/* ---- steps of routes --------------------------------------------------- */

static bool is_inside(const struct dist__plain *plain, uint32_t point,
		      uint32_t zone)
{
	uint32_t at = plain->points[point].zone;

	if (plain->points[point].kind == DIST__ZONE)
		return false;
	while (at != zone && at != 0)
		at = plain->zones[at].parent;
	return at == zone;
}

/* Whether SimGrid takes the route. */
static bool is_sound(const struct dist__plain *plain,
		     const struct dist__route *route)
{
	const struct dist__zone *zone = &plain->zones[route->zone];
	const struct dist__point *from = &plain->points[route->from];
	const struct dist__point *to = &plain->points[route->to];
	bool of_zones = zone->has_zones;

	if (from->zone != route->zone || to->zone != route->zone ||
	    route->from == zone->point || route->to == zone->point ||
	    (from->kind == DIST__ZONE) != of_zones ||
	    (to->kind == DIST__ZONE) != of_zones)
		return false;
	return of_zones
		       ? route->gate_from != route->gate_to &&
				 is_inside(plain, route->gate_from, from->is) &&
				 is_inside(plain, route->gate_to, to->is)
		       : !route->gate_from && !route->gate_to;
}

static void note_rank(struct dist__plain *plain, uint32_t point,
		      uint32_t *ranks)
{
	if (plain->points[point].rank)
		return;
	plain->points[point].rank = ++*ranks;
	plain->by_rank[*ranks] = point;
}

static bool count_steps(struct dist__plain *plain)
{
	uint32_t ranks = 0, steps = 0;

	for (size_t i = 0; i < plain->num_routes; i++) {
		const struct dist__route *route = &plain->routes[i];

		if (!is_sound(plain, route))
			return false;
		note_rank(plain, route->from, &ranks);
		note_rank(plain, route->to, &ranks);
		plain->points[route->from].num_steps++;
		plain->points[route->to].num_steps += !route->is_one_way;
		plain->points[route->gate_from].is_gate = true;
		plain->points[route->gate_to].is_gate = true;
	}
	for (size_t i = 0; i < plain->num_points; i++) {
		plain->points[i].first_step = steps;
		steps += plain->points[i].num_steps;
		plain->points[i].num_steps = 0;
	}
	return true;
}

/* The step from a point to another, or its number + 1 of a full zone: 0 is
 * none. */
static uint32_t *pair_of(const struct dist__plain *plain, uint32_t zone,
			 uint32_t from, uint32_t to)
{
	const struct dist__zone *z = &plain->zones[zone];

	return &z->table[(size_t)plain->points[from].number * z->num_points +
			 plain->points[to].number];
}

static bool has_step(const struct dist__plain *plain, uint32_t from,
		     uint32_t to)
{
	const struct dist__point *a = &plain->points[from];
	const struct dist__point *b = &plain->points[to];
	const struct dist__point *few = a->num_steps < b->num_steps ? a : b;

	for (uint32_t i = 0; i < few->num_steps; i++)
		if (plain->steps[few->first_step + i].to ==
		    (few == a ? to : from))
			return true;
	return false;
}

static uint32_t *step_links(const struct dist__plain *plain,
			    const struct dist__step *step)
{
	return plain->step_links + step->first_link;
}

/* Adds the step there, or, as SimGrid does, with all turned round, back. */
static bool add_step(struct dist__plain *plain, const struct dist__route *route,
		     bool back)
{
	struct dist__step step = {
		.from = back ? route->to : route->from,
		.to = back ? route->from : route->to,
		.first_link = (uint32_t)plain->num_step_links,
		.num_links = route->num_links,
		.gate_from = back ? route->gate_to : route->gate_from,
		.gate_to = back ? route->gate_from : route->gate_to};
	const uint32_t *ctns = plain->ctns + route->first_link;
	struct dist__point *from = &plain->points[step.from];
	uint32_t number = from->first_step + from->num_steps++;

	for (uint32_t i = 0; i < step.num_links; i++) {
		uint32_t link = ctns[back ? step.num_links - 1 - i : i];

		plain->step_links[plain->num_step_links++] =
			back ? plain->wires[link].other : link;
	}
	plain->steps[number] = step;
	if (plain->zones[route->zone].kind == DIST__ZONE_FULL) {
		uint32_t *pair =
			pair_of(plain, route->zone, step.from, step.to);

		if (*pair)
			return false;
		*pair = number + 1;
	}
	return true;
}

static bool add_steps(struct dist__plain *plain)
{
	for (size_t i = 0; i < plain->graph.num_zones; i++) {
		struct dist__zone *zone = &plain->zones[i];
		size_t num = zone->num_points;

		if (zone->kind != DIST__ZONE_FULL)
			continue;
		zone->table = num <= MOST_POINTS
				      ? calloc(num * num + 1, sizeof(uint32_t))
				      : NULL;
		if (!zone->table)
			return false;
	}
	for (size_t i = 0; i < plain->num_routes; i++) {
		const struct dist__route *route = &plain->routes[i];
		bool is_full =
			plain->zones[route->zone].kind == DIST__ZONE_FULL;

		/* Of a full zone, add_step() finds it. */
		if ((!is_full && (route->is_one_way ||
				  has_step(plain, route->from, route->to))) ||
		    !add_step(plain, route, false) ||
		    (!route->is_one_way && !add_step(plain, route, true)))
			return false;
	}
	return true;
}

/* ---- whether all hosts are joined ------------------------------------- */

static uint32_t find_set(uint32_t *sets, uint32_t point)
{
	while (sets[point] != point)
		point = sets[point] = sets[sets[point]];
	return point;
}

/* Whether a point of a full zone has a step to each other needed one. */
static bool has_all_steps(const struct dist__plain *plain, uint32_t number,
			  const bool *is_needed, const uint32_t *num_needed)
{
	const struct dist__point *point = &plain->points[number];
	uint32_t count = 1;

	if (plain->zones[point->zone].kind != DIST__ZONE_FULL)
		return true;
	for (uint32_t i = 0; i < point->num_steps; i++)
		count += is_needed[plain->steps[point->first_step + i].to];
	return count == num_needed[point->zone];
}

/* Marks hosts, gates and the zones around them. */
static void mark_needed(const struct dist__plain *plain, bool *is_needed)
{
	for (size_t i = 0; i < plain->num_points; i++) {
		const struct dist__point *point = &plain->points[i];
		uint32_t zone = point->zone;

		if (point->kind == DIST__ZONE ||
		    (point->kind == DIST__ROUTER && !point->is_gate))
			continue;
		is_needed[i] = true;
		while (!is_needed[plain->zones[zone].point]) {
			is_needed[plain->zones[zone].point] = true;
			zone = plain->zones[zone].parent;
		}
	}
}

static bool is_joined(const struct dist__plain *plain, uint32_t *sets,
		      uint32_t *first, uint32_t *num_needed, bool *is_needed)
{
	uint32_t root = plain->zones[0].point;
	bool is_all = true;

	mark_needed(plain, is_needed);
	for (uint32_t i = 0; i < plain->num_points; i++)
		sets[i] = i;
	for (size_t i = 0; i < plain->num_routes; i++)
		sets[find_set(sets, plain->routes[i].from)] =
			find_set(sets, plain->routes[i].to);
	/* The first needed point of a zone, + 1. */
	for (uint32_t i = 0; i < plain->num_points && is_all; i++) {
		uint32_t zone = plain->points[i].zone;
		uint32_t *other = &first[zone];

		if (!is_needed[i] || i == root ||
		    plain->zones[zone].kind == DIST__ZONE_STAR)
			continue;
		if (!*other)
			*other = i + 1;
		is_all = find_set(sets, *other - 1) == find_set(sets, i);
		num_needed[zone]++;
	}
	for (uint32_t i = 0; i < plain->num_points && is_all; i++)
		is_all = !is_needed[i] || i == root ||
			 has_all_steps(plain, i, is_needed, num_needed);
	return is_all;
}

static bool check_joined(const struct dist__plain *plain)
{
	uint32_t *sets = calloc(plain->num_points, sizeof *sets);
	size_t room = plain->graph.num_zones + 1; /* never 0 */
	uint32_t *first = calloc(room, sizeof *first);
	uint32_t *num_needed = calloc(room, sizeof *num_needed);
	bool *is_needed = calloc(plain->num_points, sizeof *is_needed);
	bool is_well = sets && first && num_needed && is_needed &&
		       is_joined(plain, sets, first, num_needed, is_needed);

	free(sets);
	free(first);
	free(num_needed);
	free(is_needed);
	return is_well;
}

bool dist__plain_join(struct dist__plain *plain)
{
	struct dist__search *search = &plain->search;
	size_t num_points = plain->num_points;

	plain->by_rank = calloc(num_points + 1, sizeof *plain->by_rank);
	plain->steps = calloc(2 * plain->num_routes + 1, sizeof *plain->steps);
	plain->step_links =
		calloc(2 * plain->num_ctns + 1, sizeof *plain->step_links);
	search->at = calloc(num_points, sizeof *search->at);
	search->room = 2 * plain->num_routes + 1;
	search->heap = calloc(search->room, sizeof *search->heap);
	search->pushed_from = calloc(num_points, sizeof *search->pushed_from);
	search->trees = calloc(num_points, sizeof(uint32_t *));
	return plain->by_rank && plain->steps && plain->step_links &&
	       search->at && search->heap && search->pushed_from &&
	       search->trees && count_steps(plain) && add_steps(plain) &&
	       check_joined(plain);
}

/* ---- the shortest way in a zone ---------------------------------------- */

#define IS_LESS(a, b) ((a) < (b))

DIST__HEAP(keys, uint64_t, 2, IS_LESS, DIST__HEAP_PUT)

#define NOWHERE UINT32_MAX

/* Goes to a point over a step, if that is shorter, and the end is not known to
 * be as near; a cost only falls, so that no step is taken twice and the heap
 * has room. */
static void relax(struct dist__plain *plain, uint32_t cost, uint32_t step,
		  uint32_t end)
{
	struct dist__search *search = &plain->search;
	uint32_t to = plain->steps[step].to;

	if ((cost >= search->most && to != end) ||
	    (search->at[to].seen == search->stamp &&
	     search->at[to].cost <= cost))
		return;
	search->at[to].seen = search->stamp;
	search->at[to].cost = cost;
	search->at[to].before = step;
	if (to == end)
		search->most = cost;
	keys_rise(search->heap, search->num++,
		  (uint64_t)cost << 32 | plain->points[to].rank);
	search->pushed++;
}

/* Whether the end is one step from a point, and how far it is then. A step back
 * has as many links. */
static void look_for(struct dist__plain *plain, uint32_t cost, uint32_t at,
		     uint32_t end)
{
	const struct dist__point *point = &plain->points[end];
	const struct dist__step *steps = plain->steps + point->first_step;

	for (uint32_t i = 0; i < point->num_steps; i++)
		if (steps[i].to == at &&
		    cost + steps[i].num_links < plain->search.most)
			plain->search.most = cost + steps[i].num_links;
}

/* Goes from a point until it is at another, or (NOWHERE) has been at all of the
 * zone, and stores in tree (NULL allowed), by their numbers, the last step to
 * each. */
static bool search_way(struct dist__plain *plain, uint32_t from, uint32_t to,
		       uint32_t *tree)
{
	struct dist__search *search = &plain->search;

	search->num = search->pushed = 0;
	search->most = UINT32_MAX;
	if (++search->stamp == 0) {
		memset(search->at, 0, plain->num_points * sizeof *search->at);
		search->stamp = 1;
	}
	search->at[from].seen = search->stamp;
	search->at[from].cost = 0;
	keys_rise(search->heap, search->num++, plain->points[from].rank);
	while (search->num > 0) {
		uint64_t key = keys_pop(search->heap, search->num--);
		uint32_t at = plain->by_rank[(uint32_t)key];
		uint32_t cost = (uint32_t)(key >> 32);
		const struct dist__point *point = &plain->points[at];

		/* No way over what is as far is shorter. */
		if (at == to || cost >= search->most)
			return true;
		if (cost > search->at[at].cost)
			continue;
		if (to != NOWHERE &&
		    plain->points[to].num_steps < point->num_steps)
			look_for(plain, cost, at, to);
		if (tree)
			tree[point->number] = search->at[at].before;
		for (uint32_t i = 0; i < point->num_steps; i++) {
			uint32_t step = point->first_step + i;

			relax(plain, cost + plain->steps[step].num_links, step,
			      to);
		}
	}
	return search->most < UINT32_MAX;
}

/* Points from which searches went to so many times as many points as there are
 * have all of their ways found at once, of so many steps together at most. */
#define OFTEN     2
#define MOST_KEPT ((size_t)1 << 22)

/* Returns the tree from a point; NULL: there is none yet, or no room. */
static const uint32_t *tree_of(struct dist__plain *plain, uint32_t from)
{
	struct dist__search *search = &plain->search;
	size_t size = plain->zones[plain->points[from].zone].num_points;
	uint32_t *tree = search->trees[from];

	if (tree || search->pushed_from[from] < OFTEN * size ||
	    search->kept + size > MOST_KEPT)
		return tree;
	search->pushed_from[from] = 0;
	tree = malloc(size * sizeof *tree);
	if (!tree)
		return NULL;
	for (size_t i = 0; i < size; i++)
		tree[i] = NOWHERE;
	(void)search_way(plain, from, NOWHERE, tree);
	search->trees[from] = tree;
	search->kept += size;
	return tree;
}

/* The last step on the way from a point to another, or NOWHERE. */
static uint32_t step_to(const struct dist__plain *plain, const uint32_t *tree,
			uint32_t to)
{
	return tree ? tree[plain->points[to].number]
		    : plain->search.at[to].before;
}

/* ---- ways -------------------------------------------------------------- */

#define MOST_LINKS 256 /* of a way */

/* SimGrid adds up latencies in another order than that of the links; `added`
 * has them in that one, so that sums come out alike to the last bit. */
struct way {
	uint32_t links[MOST_LINKS], added[MOST_LINKS];
	size_t num, num_added;
};

static bool append(uint32_t *links, size_t *num, const uint32_t *more,
		   size_t num_more)
{
	if (*num + num_more > MOST_LINKS)
		return false;
	memcpy(links + *num, more, num_more * sizeof *links);
	*num += num_more;
	return true;
}

static void turn_round(uint32_t *links, size_t num)
{
	for (size_t i = 0; i + 1 < num; i++) {
		uint32_t link = links[--num];

		links[num] = links[i];
		links[i] = link;
	}
}

/* SimGrid puts a shortest way in front of all that it has, each step of it
 * turned round. */
static bool add_shortest(struct dist__plain *plain, uint32_t from, uint32_t to,
			 struct way *way)
{
	size_t first = way->num;
	const uint32_t *tree = tree_of(plain, from);

	if (tree ? step_to(plain, tree, to) == NOWHERE
		 : !search_way(plain, from, to, NULL))
		return false;
	if (!tree)
		plain->search.pushed_from[from] += plain->search.pushed;
	for (uint32_t at = to; at != from;) {
		const struct dist__step *step =
			&plain->steps[step_to(plain, tree, at)];
		const uint32_t *links = step_links(plain, step);

		if (!append(way->links, &way->num, links, step->num_links) ||
		    !append(way->added, &way->num_added, links,
			    step->num_links))
			return false;
		at = step->from;
	}
	/* To the front: all turned round, and then what was there again. */
	turn_round(way->links, way->num);
	turn_round(way->links + way->num - first, first);
	return true;
}

/* The zones below the one around both that the points are in. */
static void part(const struct dist__plain *plain, uint32_t *a, uint32_t *b)
{
	const struct dist__zone *zones = plain->zones;

	while (zones[*a].depth > zones[*b].depth)
		*a = zones[*a].parent;
	while (zones[*b].depth > zones[*a].depth)
		*b = zones[*b].parent;
	while (zones[*a].parent != zones[*b].parent) {
		*a = zones[*a].parent;
		*b = zones[*b].parent;
	}
}

/* Up to the switch and down again, which is at one end if that has no link. */
static bool add_star(const struct dist__plain *plain, uint32_t from,
		     uint32_t to, struct way *way)
{
	const struct dist__point *a = &plain->points[from];
	const struct dist__point *b = &plain->points[to];
	uint32_t backbone = plain->zones[a->zone].backbone, links[3];
	size_t num = 0;

	if (a->up)
		links[num++] = a->up - 1;
	if (backbone)
		links[num++] = backbone - 1;
	if (b->up)
		links[num++] = plain->wires[b->up - 1].other;
	return append(way->links, &way->num, links, num) &&
	       append(way->added, &way->num_added, links, num);
}

static bool append_way(struct dist__plain *plain, uint32_t from, uint32_t to,
		       struct way *way)
{
	uint32_t a = plain->points[from].zone, b = plain->points[to].zone;
	const struct dist__step *step;
	const uint32_t *links;
	uint32_t pair;

	if (a == b && plain->zones[a].kind == DIST__ZONE_DIJKSTRA)
		return add_shortest(plain, from, to, way);
	if (a == b && plain->zones[a].kind == DIST__ZONE_STAR)
		return add_star(plain, from, to, way);
	if (a == b) {
		pair = *pair_of(plain, a, from, to);
	} else {
		part(plain, &a, &b);
		pair = *pair_of(plain, plain->zones[a].parent,
				plain->zones[a].point, plain->zones[b].point);
	}
	if (!pair)
		return false;
	step = &plain->steps[pair - 1];
	links = step_links(plain, step);
	if (!append(way->added, &way->num_added, links, step->num_links))
		return false;
	if (a != b && from != step->gate_from &&
	    !append_way(plain, from, step->gate_from, way))
		return false;
	if (!append(way->links, &way->num, links, step->num_links))
		return false;
	return a == b || step->gate_to == to ||
	       append_way(plain, step->gate_to, to, way);
}

/* From a host to itself it is a loopback: its own, or up and down a star, or
 * the last link. */
static bool find_way(struct dist__plain *plain, uint32_t from, uint32_t to,
		     struct way *way)
{
	uint32_t loop = plain->points[from].loop;
	uint32_t zone = plain->points[from].zone;

	way->num = way->num_added = 0;
	if (from != to || (!loop && plain->zones[zone].kind == DIST__ZONE_STAR))
		return append_way(plain, from, to, way);
	way->num = way->num_added = 1;
	way->links[0] = loop ? loop - 1 : (uint32_t)plain->graph.num_links - 1;
	way->added[0] = way->links[0];
	return true;
}

size_t dist__plain_find_way(struct dist__graph *graph, uint32_t from,
			    uint32_t to, uint32_t *links, size_t most,
			    double *latency_s)
{
	double sum_s = 0;
	struct way way;

	if (!find_way((struct dist__plain *)graph, graph->hosts[from].point,
		      graph->hosts[to].point, &way))
		return 0;
	for (size_t i = 0; i < way.num_added; i++)
		sum_s += graph->links[way.added[i]].latency_s;
	if (latency_s)
		*latency_s = sum_s;
	if (way.num <= most && way.num > 0)
		memcpy(links, way.links, way.num * sizeof *links);
	return way.num;
}
