/*
 * traffic.c - a library's transfers on links.
 *
 * All transfers of a collective go on at one pace, that of the slowest. Links
 * on which there are as many of them with as many bytes are loaded by one flow
 * of the engine together; it is no faster than the library is on links of its
 * own, or its most loaded link lets it be, and shares each link with what else
 * is there as if it were its transfers one by one.
 */
#include "sim/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/flow.h"
#include "sim/platform/state.h"

/* Links of one flow, and how often one stands there at most. */
#define MOST_LINKS 128
#define MOST_TIMES 16

/* Neighbours of a rank that are looked at. */
#define MOST_NEIGHBOURS 256

/* Instants closer than this are one; shares that differ by less are equal. */
#define INSTANT_S 2e-9
#define SAME      1e-9

/* One link. */
struct loaded {
	uint32_t cable;
	double transfers;     /* so many */
	double local, remote; /* shares of a call's bytes */
};

/* Links that one flow loads, all alike. */
struct dist__sim_parcel {
	struct dist__sim_carriage *carriage;
	size_t first, num; /* of the traffic's links */
};

struct dist__sim_traffic {
	struct dist__sim_traffic *next;
	struct dist__sim_ways *ways;
	enum dist__op_kind op;
	char algorithm[sizeof((struct library_estimate *)0)->algorithm];
	int root;
	struct library_transfers most; /* without the list */
	double latency_s;              /* of the longest way */
	struct loaded *links;          /* alike ones beside each other */
	size_t num_links;
};

static int node_of(const struct dist__sim_sitting *sitting, int rank)
{
	const int *nodes = sitting->world->nodes;

	return nodes ? nodes[sitting->ranks[rank]] : sitting->ranks[rank];
}

/* ---- loads ----------------------------------------------------------------
 */

struct loading {
	const struct dist__sim_sitting *sitting;
	struct dist__sim_traffic *traffic;
	struct loaded *by_cable; /* all of the platform */
};

static void put(struct loading *l, const struct dist__sim_way *way, bool leaves,
		double share)
{
	for (size_t i = 0; i < way->count; i++) {
		struct loaded *loaded = &l->by_cable[way->cables[i]];

		loaded->transfers++;
		*(leaves ? &loaded->remote : &loaded->local) += share;
	}
	l->traffic->latency_s = fmax(l->traffic->latency_s, way->latency_s);
}

static bool is_here(const struct loading *l, int from, int to)
{
	const struct dist__platform *p = l->sitting->world->platform;
	const int *ranks = l->sitting->ranks;

	return dist__platform_seat(p, ranks[from]) ==
	       dist__platform_seat(p, ranks[to]);
}

static struct dist__sim_way *find(const struct loading *l, int from, int to)
{
	const int *ranks = l->sitting->ranks;

	return dist__sim_way_find(l->traffic->ways, ranks[from], ranks[to]);
}

/* The ways by which a rank leaves for its neighbours, one for each first link:
 * the shortest. Returns how many; -1: one could not be found. */
static int find_neighbours(const struct loading *l, int from, int ranks,
			   struct dist__sim_way **ways)
{
	int count = 0;

	for (int to = 0; to < ranks && count < MOST_NEIGHBOURS; to++) {
		struct dist__sim_way *way;
		int i = 0;

		if (node_of(l->sitting, to) != node_of(l->sitting, from) ||
		    is_here(l, from, to))
			continue;
		way = find(l, from, to);
		if (!way)
			return -1;
		while (i < count && ways[i]->cables[0] != way->cables[0])
			i++;
		if (i == count) {
			ways[count++] = way;
		} else if (way->count < ways[i]->count) {
			dist__sim_way_release(ways[i]);
			ways[i] = way;
		} else {
			dist__sim_way_release(way);
		}
	}
	return count;
}

static bool put_around(struct loading *l, int from, int ranks, double share)
{
	struct dist__sim_way *ways[MOST_NEIGHBOURS];
	int count = find_neighbours(l, from, ranks, ways);
	double Bps = 0;

	for (int i = 0; i < count; i++)
		Bps += l->traffic->ways->cables[ways[i]->cables[0]].Bps;
	for (int i = 0; i < count; i++) {
		put(l, ways[i], false,
		    share * l->traffic->ways->cables[ways[i]->cables[0]].Bps /
			    Bps);
		dist__sim_way_release(ways[i]);
	}
	return count >= 0;
}

static bool put_all(struct loading *l,
		    const struct library_transfers *transfers, int ranks)
{
	bool well = true;

	for (size_t i = 0; i < transfers->count && well; i++) {
		const struct library_transfer *t = &transfers->list[i];
		struct dist__sim_way *way;

		if (t->to == LIBRARY_NEIGHBOURS) {
			well = put_around(l, t->from, ranks, t->share);
			continue;
		}
		if (is_here(l, t->from, t->to))
			continue;
		way = find(l, t->from, t->to);
		well = way;
		if (way)
			put(l, way, t->leaves, t->share);
		dist__sim_way_release(way);
	}
	return well;
}

/* ---- alike ----------------------------------------------------------------
 */

static int compare(double x, double y)
{
	if (fabs(x - y) <= SAME * fmax(fabs(x), fabs(y)))
		return 0;
	return x < y ? -1 : 1;
}

static int compare_loads(const struct loaded *x, const struct loaded *y)
{
	int order = compare(x->transfers, y->transfers);

	if (order == 0)
		order = compare(x->remote, y->remote);
	return order ? order : compare(x->local, y->local);
}

static int by_load(const void *a, const void *b)
{
	const struct loaded *x = a, *y = b;
	int order = compare_loads(x, y);

	return order ? order : (x->cable > y->cable) - (x->cable < y->cable);
}

static bool keep_loaded(struct loading *l)
{
	struct dist__sim_traffic *t = l->traffic;
	size_t count = 0;

	for (size_t i = 0; i < t->ways->num_cables; i++)
		count += l->by_cable[i].transfers > 0;
	t->links = malloc((count + 1) * sizeof t->links[0]);
	for (size_t i = 0; t->links && i < t->ways->num_cables; i++)
		if (l->by_cable[i].transfers > 0) {
			t->links[t->num_links] = l->by_cable[i];
			t->links[t->num_links++].cable = (uint32_t)i;
		}
	if (t->links)
		qsort(t->links, t->num_links, sizeof t->links[0], by_load);
	return t->links;
}

/* ---- kinds of calls --------------------------------------------------------
 */

static enum dist_error
load(struct loading *l, const struct library_transfers *transfers, int ranks)
{
	const struct dist__sim_world *world = l->sitting->world;

	l->by_cable =
		calloc(l->traffic->ways->num_cables + 1, sizeof l->by_cable[0]);
	if (!l->by_cable)
		return DIST_ERR_NO_MEMORY;
	if (!put_all(l, transfers, ranks))
		return world->ended ? world->end_error : DIST_ERR_NO_MEMORY;
	return keep_loaded(l) ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static enum dist_error fill(struct dist__sim_traffic *traffic,
			    const struct dist__sim_sitting *sitting,
			    const struct library_call *call,
			    const struct library_estimate *estimate,
			    struct dist_message *message)
{
	struct loading l = {.sitting = sitting, .traffic = traffic};
	struct library_transfers transfers = {.list = NULL};
	enum dist_error error = DIST_ERR_NO_MEMORY;
	int *nodes = malloc((size_t)call->ranks * sizeof *nodes);

	for (int i = 0; nodes && i < call->ranks; i++)
		nodes[i] = node_of(sitting, i);
	if (nodes)
		error = library_transfers_make(sitting->fabric, call, estimate,
					       nodes, &transfers, message);
	if (!error)
		error = load(&l, &transfers, call->ranks);
	free(nodes);
	free(l.by_cable);
	library_transfers_release(&transfers);
	traffic->most = transfers;
	return error;
}

static enum dist_error find_traffic(struct dist__sim_sitting *sitting,
				    const struct library_call *call,
				    const struct library_estimate *estimate,
				    struct dist__sim_traffic **found,
				    struct dist_message *message)
{
	struct dist__sim_traffic *traffic = sitting->known;
	enum dist_error error;

	while (traffic &&
	       (traffic->op != call->op || traffic->root != call->root ||
		strcmp(traffic->algorithm, estimate->algorithm) != 0))
		traffic = traffic->next;
	*found = traffic;
	if (traffic)
		return DIST_OK;
	traffic = calloc(1, sizeof *traffic);
	if (!traffic)
		return DIST_ERR_NO_MEMORY;
	traffic->ways = sitting->world->flows->ways;
	traffic->op = call->op;
	traffic->root = call->root;
	memcpy(traffic->algorithm, estimate->algorithm,
	       sizeof traffic->algorithm);
	error = fill(traffic, sitting, call, estimate, message);
	if (error) {
		dist__sim_traffic_free(traffic);
		return error;
	}
	traffic->next = sitting->known;
	*found = sitting->known = traffic;
	return DIST_OK;
}

void dist__sim_traffic_free(struct dist__sim_traffic *known)
{
	while (known) {
		struct dist__sim_traffic *next = known->next;

		free(known->links);
		free(known);
		known = next;
	}
}

/* ---- a call ---------------------------------------------------------------
 */

static double bytes_on(const struct dist__sim_carriage *carriage,
		       const struct loaded *loaded)
{
	return loaded->local * carriage->load.local +
	       loaded->remote * carriage->load.remote;
}

/* What a link carries, now, of everything together. */
static double rate_Bps(const struct dist__sim_ways *ways,
		       const struct loaded *loaded)
{
	struct dist__graph_link link = dist__engine->link(loaded->cable);
	double Bps = link.bandwidth_Bps * ways->bandwidth_factor;

	return link.is_shared ? Bps : Bps * loaded->transfers;
}

/* Whether the link called name, busy for s, takes the place of the busiest one
 * so far (most_s; narrow, NULL: none). Of links that are busy alike the first
 * by name counts, however the engine numbers them. */
static bool is_busier(double s, const char *name, double most_s,
		      const char *narrow)
{
	if (s > most_s * (1 + SAME))
		return true;
	return narrow && s >= most_s * (1 - SAME) &&
	       dist__platform_compare_names(name, narrow) < 0;
}

enum dist_error dist__sim_carriage_make(struct dist__sim_sitting *sitting,
					const struct library_call *call,
					const struct library_estimate *estimate,
					struct dist__sim_carriage *carriage,
					struct dist_message *message)
{
	double bytes = (double)call->numel * (double)call->element_bytes;
	struct dist__sim_traffic *traffic = NULL;
	enum dist_error error = DIST_OK;

	*carriage = (struct dist__sim_carriage){
		.start_s = (estimate->start_ns + estimate->latency_ns) * 1e-9,
		.transfer_s = estimate->transfer_ns * 1e-9,
	};
	if (bytes > 0)
		error = find_traffic(sitting, call, estimate, &traffic,
				     message);
	if (error || !traffic)
		return error;
	carriage->traffic = traffic;
	carriage->load = library_transfers_load(sitting->fabric, call, estimate,
						&traffic->most);
	carriage->load.local *= bytes;
	carriage->load.remote *= bytes;
	for (size_t i = 0; i < traffic->num_links; i++) {
		const struct loaded *loaded = &traffic->links[i];
		const char *name = dist__engine->link(loaded->cable).name;
		double s = bytes_on(carriage, loaded) /
			   rate_Bps(traffic->ways, loaded);

		if (!is_busier(s, name, carriage->transfer_s, carriage->narrow))
			continue;
		carriage->transfer_s = fmax(carriage->transfer_s, s);
		carriage->narrow = name;
	}
	return DIST_OK;
}

/* ---- flows ----------------------------------------------------------------
 */

/* Fills a flow with links that are loaded alike, from the first on; returns how
 * many they are. */
static size_t fill_flow(const struct dist__sim_traffic *traffic, size_t first,
			size_t times, uint32_t *links, size_t *count)
{
	const struct loaded *loaded = &traffic->links[first];
	size_t n = 0;

	*count = 0;
	while (first + n < traffic->num_links && *count + times <= MOST_LINKS &&
	       compare_loads(loaded, &loaded[n]) == 0) {
		for (size_t i = 0; i < times; i++)
			links[(*count)++] = loaded[n].cable;
		n++;
	}
	return n;
}

static size_t times_of(const struct dist__sim_traffic *traffic, size_t number)
{
	const struct loaded *loaded = &traffic->links[number];

	if (!traffic->ways->cables[loaded->cable].is_shared)
		return 1;
	return (size_t)fmin(MOST_TIMES, loaded->transfers);
}

static void end(void *arg)
{
	struct dist__sim_carriage *carriage = arg;

	carriage->end_s = fmax(carriage->end_s, dist__engine->now_s());
	if (carriage->traffic) {
		for (size_t i = 0; i < carriage->traffic->num_links; i++) {
			struct dist__sim_cable *cable =
				&carriage->traffic->ways->cables
					 [carriage->traffic->links[i].cable];

			if (cable->calls-- > 1)
				cable->shared_s = dist__engine->now_s();
		}
	}
	free(carriage->parcels);
	carriage->over(carriage->arg, !carriage->failed);
}

/* Calls on a link, those that left in this instant included. */
static int calls_on(const struct dist__sim_cable *cable)
{
	bool shared = cable->shared_s > 0 &&
		      cable->shared_s + INSTANT_S >= dist__engine->now_s();

	return cable->calls + shared;
}

/* The link of a parcel that is the most in demand. */
static const char *busiest(const struct dist__sim_parcel *parcel)
{
	const struct dist__sim_carriage *carriage = parcel->carriage;
	const struct dist__sim_traffic *traffic = carriage->traffic;
	const char *busy = NULL;
	double most_s = 0;

	for (size_t i = 0; i < parcel->num; i++) {
		const struct loaded *loaded =
			&traffic->links[parcel->first + i];
		const char *name = dist__engine->link(loaded->cable).name;
		double s = calls_on(&traffic->ways->cables[loaded->cable]) *
			   bytes_on(carriage, loaded) /
			   rate_Bps(traffic->ways, loaded);

		if (busy && !is_busier(s, name, most_s, busy))
			continue;
		busy = name;
		most_s = fmax(most_s, s);
	}
	return busy;
}

static void end_flow(void *arg, bool well)
{
	struct dist__sim_parcel *parcel = arg;
	struct dist__sim_carriage *carriage = parcel->carriage;
	double early_s = carriage->end_s - dist__engine->now_s();

	if (!well)
		carriage->failed = true;
	if (--carriage->under_way > 0)
		return;
	if (early_s < -INSTANT_S)
		carriage->narrow = busiest(parcel);
	if (well && early_s > INSTANT_S)
		dist__engine->at(carriage->end_s, end, carriage);
	else
		end(carriage);
}

static double latency_s(const struct dist__sim_carriage *carriage)
{
	return fmin(carriage->traffic->latency_s, carriage->start_s);
}

/* Starts all flows. */
static void begin(void *arg)
{
	struct dist__sim_carriage *carriage = arg;
	const struct dist__sim_traffic *traffic = carriage->traffic;
	struct dist__engine_transfer flow = {
		.latency_s =
			latency_s(carriage) / traffic->ways->latency_factor,
	};
	uint32_t links[MOST_LINKS];

	flow.links = links;
	for (size_t i = 0; i < traffic->num_links; i++)
		traffic->ways->cables[traffic->links[i].cable].calls++;
	carriage->parcels =
		malloc(traffic->num_links * sizeof carriage->parcels[0]);
	if (!carriage->parcels) {
		carriage->failed = true;
		end(carriage);
		return;
	}
	carriage->under_way = traffic->num_links;
	for (size_t first = 0; first < traffic->num_links;) {
		struct dist__sim_parcel *parcel = &carriage->parcels[first];
		size_t times = times_of(traffic, first);
		double bytes = bytes_on(carriage, &traffic->links[first]);

		*parcel = (struct dist__sim_parcel){carriage, first, 0};
		parcel->num = fill_flow(traffic, first, times, links,
					&flow.num_links);
		first += parcel->num;
		flow.bytes = (uint64_t)fmax(1, round(bytes / (double)times));
		flow.most_Bps = (double)flow.bytes / carriage->transfer_s;
		carriage->under_way -= parcel->num - 1;
		dist__engine->carry(&flow, end_flow, parcel);
	}
}

void dist__sim_carry(struct dist__sim_carriage *carriage,
		     void (*over)(void *arg, bool well), void *arg)
{
	double now_s = dist__engine->now_s();
	double begin_s = now_s + carriage->start_s;

	carriage->over = over;
	carriage->arg = arg;
	carriage->end_s = begin_s + carriage->transfer_s;
	if (carriage->traffic && carriage->traffic->num_links > 0)
		dist__engine->at(begin_s - latency_s(carriage), begin,
				 carriage);
	else
		dist__engine->at(carriage->end_s, end, carriage);
}
