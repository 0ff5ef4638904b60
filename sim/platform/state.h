/*
 * state.h - a loaded platform, seen from inside sim/.
 */
#ifndef LOCKSTEP_SIM_PLATFORM_STATE_H
#define LOCKSTEP_SIM_PLATFORM_STATE_H

#include "sim/engine/graph.h"
#include "sim/platform/platform.h"

#define DIST__PLATFORM_FACTS 16

/* Of a host that is slow, or fast; and of a link, in seconds: longer than any
 * takes, so that what is above is a slip. */
#define DIST__LEAST_PACE     1e-6
#define DIST__MOST_PACE      1e6
#define DIST__MOST_LATENCY_S 1000.0

/* One host and the ranks it holds. */
struct dist__seat {
	uint32_t host;
	const char *name, *node; /* of the host; property "node" or the name */
	long order;              /* property "rank"; -1: none */
	int first;               /* first rank on it */
	int ranks;               /* property "ranks" */
	double pace;             /* property "pace" */
};

struct dist__platform {
	const char *path; /* borrowed from the caller of open */
	struct dist__graph *graph;
	struct dist__plain *plain; /* whose graph that is, NULL: SimGrid's */
	struct dist__seat *seats;  /* in the order of ranks */
	size_t num_seats;          /* hosts that ranks may sit on */
	size_t num_hosts;
	int num_ranks; /* as many as there is room for */

	/* Of any number of nodes, alike: the ranks of each; else 0. */
	int any_node_ranks;

	bool has_queues; /* links let pass in order; else they are shared */
	struct dist__fact facts[DIST__PLATFORM_FACTS];
	char values[DIST__PLATFORM_FACTS][64];
	size_t num_facts;

	/* Properties of the outermost zone, as its machine's file had them. */
	struct calibration calibrations[CALIBRATIONS];
	size_t num_calibrations;
};

struct dist__plain;

/* dist__platform_load is dist__platform_open() without the child process that
 * tries the file first: SimGrid may end the caller. plain is the file as we
 * read it (read.h), the platform's from now on, errors or not; NULL: SimGrid
 * reads it, once a process. */
enum dist_error
dist__platform_load(const char *path, struct dist__plain *plain, int ranks,
		    const struct dist__link_overrides *overrides,
		    struct dist__platform **platform,
		    struct dist_message *message);

/* dist__platform_compare_names orders names as people do: numbers inside them
 * count as numbers. Negative, 0 (equal) or positive. */
int dist__platform_compare_names(const char *a, const char *b);

/* dist__platform_start makes our own engine, or SimGrid, ready to run on the
 * platform; false: no memory. Its hosts are the platform's seats. What was read
 * is the engine's from now on, and stays. */
bool dist__platform_start(struct dist__platform *platform, bool own);

/* dist__platform_seat returns the number of the seat that has rank on it,
 * dist__platform_host its host, dist__platform_host_name the name of that, and
 * dist__platform_pace how fast it computes, 1 as declared. */
uint32_t dist__platform_seat(const struct dist__platform *platform, int rank);
uint32_t dist__platform_host(const struct dist__platform *platform, int rank);
const char *dist__platform_host_name(const struct dist__platform *platform,
				     int rank);
double dist__platform_pace(const struct dist__platform *platform, int rank);

/* dist__platform_way stores the links of the way from one host to another and
 * returns how many; 0 when there is no way, or one of more than `most`. */
size_t dist__platform_way(const struct dist__platform *platform, uint32_t from,
			  uint32_t to, uint32_t *links, size_t most);

/* dist__platform_nodes stores in nodes, for each of the first `ranks` ranks,
 * the lowest of them on the same node, and returns the number of those nodes,
 * -1 when there is no memory. */
int dist__platform_nodes(const struct dist__platform *platform, int ranks,
			 int *nodes);

/* ---- parts of dist__platform_load() --------------------------------- */

/* dist__platform_read_simgrid has SimGrid read the file, once per process.
 * Errors: INVALID_ARGUMENT (message: what it says). */
enum dist_error dist__platform_read_simgrid(const char *path,
					    struct dist__graph **graph,
					    struct dist_message *message);

/* dist__platform_check_model looks at what the platform states about its
 * network. Errors: INVALID_ARGUMENT (something is left to default). */
enum dist_error
dist__platform_check_model(const struct dist__platform *platform,
			   struct dist_message *message);

/* dist__link_overrides_any returns whether they change anything; NULL: not. */
bool dist__link_overrides_any(const struct dist__link_overrides *overrides);

/* dist__platform_rewire changes the links as overrides say; NULL: not. Errors:
 * INVALID_ARGUMENT (there are no such links, or no latency to change),
 * NO_MEMORY. */
enum dist_error
dist__platform_rewire(const struct dist__platform *platform,
		      const struct dist__link_overrides *overrides,
		      struct dist_message *message);

/* dist__platform_collect_facts fills platform's facts, once the rest stands. */
void dist__platform_collect_facts(struct dist__platform *platform,
				  const struct dist__link_overrides *overrides);

/* dist__platform_seat_ranks fills platform's seats from its hosts.
 * Errors: INVALID_ARGUMENT (no host, a bad property), NO_MEMORY. */
enum dist_error dist__platform_seat_ranks(struct dist__platform *platform,
					  struct dist_message *message);

/* dist__platform_refuse_property says which value of a property of the
 * outermost zone was expected, with its line where that is known. Returns
 * INVALID_ARGUMENT. */
enum dist_error
dist__platform_refuse_property(const struct dist__platform *platform,
			       const char *name, const char *expected,
			       struct dist_message *message);

/* dist__platform_read_any looks whether seats stand for any number of nodes, as
 * the property "nodes" of the outermost zone says, and makes the room. Errors:
 * INVALID_ARGUMENT (the nodes are not one or two, alike), NO_MEMORY. */
enum dist_error dist__platform_read_any(struct dist__platform *platform,
					struct dist_message *message);

/* dist__platform_read_properties reads the properties "calibration0" and so
 * on of the outermost zone, and checks "intra". Errors: INVALID_ARGUMENT (one
 * is none). */
enum dist_error dist__platform_read_properties(struct dist__platform *platform,
					       struct dist_message *message);

/* dist__platform_any_seat returns the rank with a seat that stands for rank. */
int dist__platform_any_seat(const struct dist__platform *platform, int rank);

/* ---- what there is to know without a simulation ---------------------- */

struct dist__trial {
	int hosts;
	int ranks;
	char gpu[64]; /* property of the outermost zone; "": there is none */
};

/* dist__platform_summarize stores in *found what is asked of platforms. */
void dist__platform_summarize(const struct dist__platform *platform,
			      struct dist__trial *found);

/*
 * dist__platform_try has SimGrid load the platform in a child, because it
 * answers some faults by abort(), exit() or a crash, and stores what the child
 * found. Errors: as dist__platform_open.
 */
enum dist_error dist__platform_try(const char *path, int ranks,
				   const struct dist__link_overrides *overrides,
				   struct dist__trial *found,
				   struct dist_message *message);

#endif
