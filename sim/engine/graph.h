/*
 * graph.h - a platform by index: what our own reader (sim/platform/read.c), or
 * SimGrid, has read. All else that asks what a platform is asks it here.
 *
 * All strings and arrays are the reader's, and live as long as what it read.
 * Hosts and links are numbers: their places in the arrays.
 */
#ifndef LOCKSTEP_SIM_ENGINE_GRAPH_H
#define LOCKSTEP_SIM_ENGINE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dist__graph_property {
	const char *name, *value;
	int line; /* of the file; 0: SimGrid read it, and does not say */
};

struct dist__graph_host {
	const char *name;
	double speed; /* flop/s */
	uint32_t first_property, num_properties;
	uint32_t zone;
	uint32_t point; /* our reader's own number of it */
};

struct dist__graph_link {
	const char *name;
	double bandwidth_Bps, latency_s;
	bool is_shared; /* else each transfer has all of it (FATPIPE) */
	bool is_on;
};

/* Zone 0 is the outermost, its own parent. */
struct dist__graph_zone {
	const char *name;
	uint32_t parent;
};

/* What a platform says of its network, as SimGrid calls it; seconds and B/s. */
enum dist__graph_setting {
	DIST__CROSSTRAFFIC, /* 0 or 1 */
	DIST__TCP_GAMMA,
	DIST__LATENCY_FACTOR,
	DIST__BANDWIDTH_FACTOR,
	DIST__WEIGHT_S,
	DIST__LOOPBACK_LATENCY,
	DIST__LOOPBACK_BANDWIDTH,
	DIST__GRAPH_SETTINGS
};

extern const char *const dist__graph_settings[DIST__GRAPH_SETTINGS];

struct dist__graph_network {
	const char *model;
	bool states_model;     /* else it is SimGrid's default */
	bool has_other_solver; /* network/optim or network/solver is stated */
	struct {
		double value; /* not a number: a factor that is none */
		bool is_stated;
	} settings[DIST__GRAPH_SETTINGS];
};

struct dist__graph {
	struct dist__graph_network network;
	struct dist__graph_property *properties; /* of the outermost zone and
						    of hosts */
	size_t num_zone_properties; /* the first of them, the zone's */
	struct dist__graph_zone *zones;
	size_t num_zones;
	struct dist__graph_host *hosts;
	size_t num_hosts;
	struct dist__graph_link *links;
	size_t num_links;
	bool is_simgrid; /* that has read it, and can run it */

	/*
	 * Stores the links of the way between two hosts, and in *latency_s
	 * (NULL allowed) the sum of their latencies, before the model's
	 * factors. Returns how many there are; 0: there is no way. No link is
	 * stored if there are more than `most`.
	 */
	size_t (*find_way)(struct dist__graph *graph, uint32_t from,
			   uint32_t to, uint32_t *links, size_t most,
			   double *latency_s);

	/* Notes a bandwidth and latency of a link that has been changed; NULL:
	 * that is not needed. */
	void (*change_link)(const struct dist__graph *graph, uint32_t link);
};

/* The network model's factors. */
struct dist__graph_factors {
	bool is_linear; /* bytes and latencies add up: no window bounds a
			   transfer, and all share alike, whatever their size */
	double latency_factor, bandwidth_factor;
	double back_load; /* what a transfer loads its way back with */
};

struct dist__graph_factors
dist__graph_read_factors(const struct dist__graph *graph);

/* dist__graph_zone_property returns what the outermost zone states by that
 * name, dist__graph_host_property what a host does; NULL: nothing.
 * dist__graph_zone_line returns in which line. */
const char *dist__graph_zone_property(const struct dist__graph *graph,
				      const char *name);
int dist__graph_zone_line(const struct dist__graph *graph, const char *name);
const char *dist__graph_host_property(const struct dist__graph *graph,
				      uint32_t host, const char *name);

/* dist__graph_route finds the way from one host to another: its latency, the
 * bandwidth of its narrowest link and the number of its links, as the platform
 * states them, before the model's factors. The outputs may be NULL. Returns
 * false when the platform has no such way. */
bool dist__graph_route(struct dist__graph *graph, uint32_t from, uint32_t to,
		       double *latency_s, double *bandwidth_Bps,
		       size_t *num_links);

/* dist__graph_zones stores the names of the zones that host is in, but for the
 * outermost, from there inwards, and returns how many; the innermost `most` if
 * there are more. */
size_t dist__graph_zones(const struct dist__graph *graph, uint32_t host,
			 const char **names, size_t most);

#ifdef __cplusplus
}
#endif

#endif
