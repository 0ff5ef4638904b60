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
 *
 * Where the outermost zone has the property "queues" with the value "fifo",
 * links let messages pass in the order they come, packet by packet, as the
 * ports of a network that TCP goes over (queues.c), instead of sharing
 * themselves out among all that are under way; "none", as without it, leaves
 * that to the network model. A simulation then takes time by the bytes that it
 * sends.
 *
 * Where the outermost zone has the property "nodes" with the value "any", the
 * platform is one node, or two that stand for any number of them: ranks beyond
 * sit on nodes like the second, and rank 0 alone runs, for all.
 */
#ifndef LOCKSTEP_SIM_PLATFORM_PLATFORM_H
#define LOCKSTEP_SIM_PLATFORM_PLATFORM_H

#include <stdio.h>

#include "base/rows.h"
#include "core/backend.h"
#include "model/library/fabric.h"

struct dist__platform;

/* What replaces a value of the platform file: another value, or a factor; value
 * 0: nothing does. */
struct dist__change {
	double value;
	bool is_factor;
};

static inline bool dist__change_is_any(const struct dist__change *change)
{
	return change->value > 0 && !(change->is_factor && change->value == 1);
}

/* Changes of the links between nodes, or of those within nodes (rewire.c), in
 * B/s and seconds. */
struct dist__rewiring {
	struct dist__change bandwidth, latency;
};

/* Changes that are made to a platform when it is opened. */
struct dist__link_overrides {
	char name[128]; /* in traces; "": as it was asked for */
	struct dist__rewiring inter, intra;
};

/* Size of the text of all of them, with its terminating zero. */
#define DIST__LINKS_SIZE 256

/* dist__link_overrides_set reads text, a quantity or "xFACTOR", as the change
 * called name, such as "inter-bandwidth". Errors: INVALID_ARGUMENT (message:
 * what was expected). */
DIST_MUST_CHECK enum dist_error
dist__link_overrides_set(struct dist__link_overrides *overrides,
			 const char *name, const char *text,
			 struct dist_message *message);

/* dist__link_overrides_read reads a list of them, "inter-bandwidth 100G,
 * intra-latency x2". Errors: those of dist__link_overrides_set. */
DIST_MUST_CHECK enum dist_error
dist__link_overrides_read(struct dist__link_overrides *overrides,
			  const char *text, struct dist_message *message);

/*
 * dist__platform_open starts the simulation engine with the platform file at
 * path, with room for `ranks` ranks and with overrides (NULL: none), and stores
 * it in *platform. SimGrid reads the file if needs_simgrid, if it is not plain
 * (read.h), or if our own engine cannot run it. Once per process. Errors:
 * INVALID_ARGUMENT (message: "file:line: reason" in one line; also: a second
 * platform in this process, or overrides that do not fit), NO_MEMORY, IO (no
 * child process), UNAVAILABLE (no simulation engine is found; message: why).
 */
enum dist_error
dist__platform_open(const char *path, int ranks,
		    const struct dist__link_overrides *overrides,
		    bool needs_simgrid, struct dist__platform **platform,
		    struct dist_message *message);

/* dist__platform_look opens a platform of which only facts about so many ranks
 * are asked, as often as one likes. path is borrowed. Errors: as
 * dist__platform_open, and UNAVAILABLE (without a message) where only SimGrid
 * can read it. */
enum dist_error dist__platform_look(const char *path, int ranks,
				    struct dist__platform **platform,
				    struct dist_message *message);

/* dist__platform_close frees platform; the engine goes at exit. NULL allowed.
 */
void dist__platform_close(struct dist__platform *platform);

/* dist__platform_is_any returns whether its nodes stand for any number. */
bool dist__platform_is_any(const struct dist__platform *platform);

/* dist__platform_can_copy returns whether fork() copies a running simulation;
 * not where ranks are threads, as under the sanitizers. */
bool dist__platform_can_copy(void);

/* Guard bytes below the stack of every actor: so many that a large array does
 * not reach beyond them. */
#define DIST__STACK_GUARD ((size_t)256 * 4096)

/* dist__platform_drop_guards gives actors that start from now on stacks without
 * guard bytes: these need few mappings of the system, instead of two each. */
void dist__platform_drop_guards(const struct dist__platform *platform);

/*
 * dist__platform_facts returns a table of *n facts, the file's own values for
 * the head of a trace; they live as long as platform.
 */
const struct dist__fact *
dist__platform_facts(const struct dist__platform *platform, size_t *n);

/*
 * dist__platform_fabric describes what joins the n ranks (NULL: the first n of
 * the platform): the number of nodes, and of the ranks of the fullest one; rate
 * and latency inside one of the first nodes, and from there to the next: the
 * fastest of them, so that no worn card or link of one counts. Cards are the
 * links that limit a node's ranks when all of them send to other nodes at once,
 * times the property "cards_per_link" of the outermost zone. The texts are the
 * properties "gpu", "intra" ("nvswitch", "nvlink", "pcie") and "transport". It
 * reads a few routes, whatever n is. Errors: NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
dist__platform_fabric(const struct dist__platform *platform, const int *ranks,
		      int n, struct fabric *fabric);

/*
 * dist__platform_hosts stores in *hosts how many hosts the platform file at
 * path has, and in *ranks (NULL allowed) how many ranks they hold. It has
 * SimGrid look in a child process, so it may be called for many files, but not
 * once SimGrid runs in this process. Errors: as dist__platform_open.
 */
enum dist_error dist__platform_hosts(const char *path, int *hosts, int *ranks,
				     struct dist_message *message);

/* dist__platform_gpu does the same with overrides (NULL: none), and stores in
 * gpu the property "gpu" of the outermost zone, a kind of GPU; "": there is
 * none. */
enum dist_error dist__platform_gpu(const char *path,
				   const struct dist__link_overrides *overrides,
				   int *hosts, int *ranks, char gpu[64],
				   struct dist_message *message);

/* The bottleneck of a ring, in which each rank sends to the next one and the
 * last to the first, all at the same time. */
struct dist__narrowest {
	char name[64]; /* of the link; the first in order of names */
	double bandwidth_Bps;
	double hop_Bps; /* rate of each hop over it */
	int hops;       /* hops of the ring that cross it */
	int links;      /* links that are as narrow; 0: the ring crosses none */
};

/* dist__platform_narrowest finds the link that leaves the least to a hop of a
 * ring over the first `ranks` ranks. Errors: NO_MEMORY. */
enum dist_error dist__platform_narrowest(const struct dist__platform *platform,
					 int ranks,
					 struct dist__narrowest *narrowest);

/* dist__platform_check_alike refuses fidelity formula for the first ranks
 * ranks, whose fabric was read, if the ways of some node to the next, or inside
 * it, are narrower than those of others, or than a card. Errors:
 * INVALID_ARGUMENT (message), NO_MEMORY. */
enum dist_error
dist__platform_check_alike(const struct dist__platform *platform, int ranks,
			   const struct fabric *fabric,
			   struct dist_message *message);

/*
 * dist__platform_show writes the platform file at path in any form but TSV:
 * hosts, network model and its factors; zones, nodes and hosts as a tree;
 * links; the routes between the first two hosts, the first two nodes and the
 * most distant hosts (of all pairs up to 64 hosts; above, of the pairs with the
 * first host); and what one half of the hosts can send to the other. Once per
 * process, as dist__platform_open. Errors: as dist__platform_open.
 */
enum dist_error dist__platform_show(const char *path, enum dist__form form,
				    FILE *out, struct dist_message *message);

#endif
