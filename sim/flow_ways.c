/*
 * flow_ways.c - which links the messages of a flow go over, and who gets what
 * of them.
 *
 * A link that n messages are on at the same time gives each one an nth; the
 * most loaded one sets the pace of all. Where another one is narrower for some
 * of the messages, the others could have more; but in the steps of a collective
 * they would only wait for those.
 */
#include "sim/flow.h"

#include <math.h>
#include <stdlib.h>

#include "sim/channel.h"

#define MOST_LINKS 256 /* of a way, either direction */

static bool number_cables(struct dist__sim_ways *ways)
{
	ways->num_cables = dist__engine_num_links();
	ways->shares = calloc(ways->num_cables + 1, sizeof ways->shares[0]);
	ways->cables = calloc(ways->num_cables + 1, sizeof ways->cables[0]);
	ways->used = calloc(ways->num_cables + 1, sizeof ways->used[0]);
	if (!ways->shares || !ways->cables || !ways->used)
		return false;
	for (size_t i = 0; i < ways->num_cables; i++) {
		struct dist__graph_link link = dist__engine->link((uint32_t)i);

		ways->shares[i] = (struct dist__sim_share){
			.Bps = link.bandwidth_Bps,
			.load = link.is_shared ? 0 : -INFINITY,
		};
		ways->cables[i] = (struct dist__sim_cable){
			.Bps = link.bandwidth_Bps,
			.is_shared = link.is_shared,
		};
	}
	return true;
}

struct dist__sim_ways *dist__sim_ways_new(struct dist__sim_world *world)
{
	const struct dist__graph_factors network =
		dist__graph_read_factors(world->platform->graph);
	size_t size = (size_t)world->world_size;
	struct dist__sim_ways *ways = NULL;

	if (network.is_linear)
		ways = calloc(1, sizeof *ways);
	if (!ways)
		return NULL;
	ways->world = world;
	ways->latency_factor = network.latency_factor;
	ways->bandwidth_factor = network.bandwidth_factor;
	ways->back_load = network.back_load;
	ways->kept = calloc(size, sizeof ways->kept[0]);
	if (ways->kept && number_cables(ways))
		return ways;
	dist__sim_ways_free(ways);
	return NULL;
}

void dist__sim_ways_free(struct dist__sim_ways *ways)
{
	if (!ways)
		return;
	for (int rank = 0; ways->kept && rank < ways->world->world_size; rank++)
		for (int i = 0; i < ways->kept[rank].num; i++)
			free(ways->kept[rank].ways[i]);
	free(ways->kept);
	free(ways->shares);
	free(ways->cables);
	free(ways->used);
	free(ways);
}

/* ---- finding ----------------------------------------------------------- */

static struct dist__sim_way *look_up(struct dist__sim_ways *ways, int from,
				     int to)
{
	const struct dist__platform *platform = ways->world->platform;
	uint32_t src = dist__platform_seat(platform, from);
	uint32_t dst = dist__platform_seat(platform, to);
	uint32_t links[2 * MOST_LINKS];
	double latency_s = 0;
	size_t count, back_count = 0;
	struct dist__sim_way *way;

	count = dist__engine_way(src, dst, links, MOST_LINKS, &latency_s);
	if (count == 0 || count > MOST_LINKS) {
		(void)dist__sim_has_route(ways->world, from, to);
		return NULL;
	}
	if (ways->back_load > 0)
		back_count = dist__engine_way(dst, src, links + count,
					      MOST_LINKS, NULL);
	if (back_count > MOST_LINKS)
		back_count = 0;
	way = malloc(sizeof *way +
		     (count + back_count) * sizeof way->cables[0]);
	if (!way)
		return NULL;
	*way = (struct dist__sim_way){
		.latency_s = latency_s * ways->latency_factor,
		.count = count,
		.back_count = back_count,
	};
	for (size_t i = 0; i < count + back_count; i++)
		way->cables[i] = links[i];
	return way;
}

struct dist__sim_way *dist__sim_way_find(struct dist__sim_ways *ways, int from,
					 int to)
{
	struct dist__sim_kept *kept = &ways->kept[from];
	struct dist__sim_way *way;

	for (int i = 0; i < kept->num; i++)
		if (kept->to[i] == to)
			return kept->ways[i];
	way = look_up(ways, from, to);
	if (way && kept->num < DIST__SIM_KEPT) {
		way->is_kept = true;
		kept->to[kept->num] = to;
		kept->ways[kept->num++] = way;
	}
	return way;
}

void dist__sim_way_release(struct dist__sim_way *way)
{
	if (way && !way->is_kept)
		free(way);
}

/* ---- load --------------------------------------------------------------- */

void dist__sim_way_load(struct dist__sim_ways *ways,
			const struct dist__sim_way *way, double messages)
{
	for (size_t i = 0; i < way->count; i++)
		ways->shares[way->cables[i]].load += messages;
	for (size_t i = way->count; i < way->count + way->back_count; i++)
		ways->shares[way->cables[i]].load += messages * ways->back_load;
}

double dist__sim_way_Bps(const struct dist__sim_ways *ways,
			 const struct dist__sim_way *way)
{
	double least_Bps = ways->shares[way->cables[0]].Bps;

	for (size_t i = 0; i < way->count; i++) {
		const struct dist__sim_share *share =
			&ways->shares[way->cables[i]];
		double Bps = share->Bps;

		if (share->load > 1)
			Bps /= share->load;
		if (Bps < least_Bps)
			least_Bps = Bps;
	}
	return least_Bps * ways->bandwidth_factor;
}

void dist__sim_way_carry(struct dist__sim_ways *ways,
			 const struct dist__sim_way *way, double bytes)
{
	if (bytes <= 0)
		return;
	for (size_t i = 0; i < way->count; i++) {
		uint32_t number = way->cables[i];

		if (ways->cables[number].bytes == 0)
			ways->used[ways->num_used++] = number;
		ways->cables[number].bytes += bytes;
	}
}

void dist__sim_ways_clear(struct dist__sim_ways *ways)
{
	for (size_t i = 0; i < ways->num_used; i++)
		ways->cables[ways->used[i]].bytes = 0;
	ways->num_used = 0;
}
