/*
 * graph.h - a platform by index: what SimGrid is told of a platform that we
 * read ourselves, instead of its XML.
 *
 * All strings and arrays are the platform's and live as long as the engine.
 */
#ifndef LOCKSTEP_SIM_ENGINE_GRAPH_H
#define LOCKSTEP_SIM_ENGINE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIST__GRAPH_WAY 256 /* most links of a way */

struct dist__graph_property {
	const char *name, *value;
};

struct dist__graph_host {
	const char *name;
	double speed; /* flop/s */
	uint32_t first_property, num_properties;
	uint32_t point; /* the reader's own number of it */
	uint32_t zone;
};

enum dist__graph_sharing {
	DIST__GRAPH_SHARED,
	DIST__GRAPH_FATPIPE,
	DIST__GRAPH_SPLIT, /* one link each way, NAME_UP and NAME_DOWN */
};

struct dist__graph_link {
	const char *name;
	double bandwidth_Bps, latency_s;
	enum dist__graph_sharing sharing;
};

/* Zone 0 is the outermost, its own parent. */
struct dist__graph_zone {
	const char *name;
	uint32_t parent;
};

/*
 * A way from host to host. A link's number is twice its index, and one more
 * for the second of a split one, down. SimGrid adds up latencies in another
 * order than that of the links; `added` has them in that one, so that sums come
 * out alike to the last bit.
 */
struct dist__graph_way {
	uint32_t links[DIST__GRAPH_WAY], added[DIST__GRAPH_WAY];
	size_t num, num_added;
};

struct dist__graph {
	struct dist__graph_property *settings; /* of SimGrid; by name */
	size_t num_settings;
	struct dist__graph_property *properties; /* of the outermost zone and
						    of hosts */
	size_t num_zone_properties; /* the first of them, the zone's */
	struct dist__graph_zone *zones;
	size_t num_zones;
	struct dist__graph_host *hosts;
	size_t num_hosts;
	struct dist__graph_link *links;
	size_t num_links;

	/* Finds the way between two hosts; false: there is none, or none that
	 * has room. */
	bool (*find_way)(struct dist__graph *graph, uint32_t from, uint32_t to,
			 struct dist__graph_way *way);
};

#endif
