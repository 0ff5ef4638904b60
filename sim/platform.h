/*
 * platform.h - a simulated machine room: hosts, links, routes, and the network
 * model, read from a SimGrid platform file.
 *
 * A platform states its own physics. Its <config> element must set
 * network/model, network/crosstraffic and network/TCP-gamma, and, for any
 * model but CM02 (which has no correction factors), network/latency-factor and
 * network/bandwidth-factor; a platform that leaves one to SimGrid's default is
 * refused.
 *
 * Where ranks sit: rank r on the r-th host, hosts ordered by name with numbers
 * taken as numbers (host-2 before host-10); or, when hosts have the property
 * "rank", by that number, and hosts without it stay empty. The property "ranks"
 * is the number of ranks a host holds, 1 if it has none. The ranks of a host,
 * and of all hosts that have the same text as property "node", share a node,
 * which is what hierarchical algorithms go by. The property "pace" is how fast
 * a host computes: at 0.8 what a rank declares takes 1/0.8 of the time.
 */
#ifndef LOCKSTEP_SIM_PLATFORM_H
#define LOCKSTEP_SIM_PLATFORM_H

#include <stdio.h>

#include "core/backend.h"

struct dist__platform;

/*
 * dist__platform_open starts the simulation engine with the platform file at
 * path, able to hold `ranks` ranks, and stores it in *platform. Once per
 * process. Errors: INVALID_ARGUMENT (message: "file:line: reason" in one line;
 * also: a second platform in this process), NO_MEMORY, IO (no child process).
 */
enum dist_error dist__platform_open(const char *path, int ranks,
				    struct dist__platform **platform,
				    struct dist_message *message);

/* dist__platform_close frees platform; the engine goes at exit. NULL allowed.
 */
void dist__platform_close(struct dist__platform *platform);

/* dist__platform_can_copy returns whether fork() copies a running simulation;
 * not where ranks are threads, as under the sanitizers. */
bool dist__platform_can_copy(void);

/*
 * dist__platform_facts returns a table of *n facts, the file's own values for
 * the head of a trace; they live as long as platform.
 */
const struct dist__fact *
dist__platform_facts(const struct dist__platform *platform, size_t *n);

/*
 * dist__platform_hosts stores in *hosts how many hosts the platform file at
 * path has, and in *ranks (NULL allowed) how many ranks they hold. It looks in
 * a child process, so it may be called for many files, but not once an engine
 * runs in this process. Errors: as dist__platform_open.
 */
enum dist_error dist__platform_hosts(const char *path, int *hosts, int *ranks,
				     struct dist_message *message);

/* dist__platform_count_nodes stores in *nodes on how many nodes the first
 * `ranks` ranks sit. Otherwise as dist__platform_hosts(). */
enum dist_error dist__platform_count_nodes(const char *path, int ranks,
					   int *nodes,
					   struct dist_message *message);

/*
 * dist__platform_show writes the platform file at path for people: hosts,
 * network model and its factors; zones, nodes and hosts as a tree; links; the
 * routes between the first two hosts, the first two nodes and the most distant
 * hosts (of all pairs up to 64 hosts; above, of the pairs with the first host);
 * and what one half of the hosts can send to the other. Once per process, as
 * dist__platform_open. Errors: as dist__platform_open.
 */
enum dist_error dist__platform_show(const char *path, FILE *out,
				    struct dist_message *message);

#endif
