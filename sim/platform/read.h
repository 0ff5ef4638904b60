/*
 * read.h - our own reader of platform files, for those that are plain: zones
 * of hosts, routers, links and routes, as `lockstep platform new` writes them,
 * and clusters around one switch. Parts of read.c, names.c,
 * tags.c and ways.c.
 */
#ifndef LOCKSTEP_SIM_PLATFORM_READ_H
#define LOCKSTEP_SIM_PLATFORM_READ_H

#include "sim/engine/graph.h"

/* What a name stands for. */
enum dist__point_kind { DIST__HOST, DIST__ROUTER, DIST__ZONE };

struct dist__point {
	const char *name;
	enum dist__point_kind kind;
	uint32_t zone;   /* that it is in; of a zone, its parent */
	uint32_t number; /* among those of its zone */
	uint32_t first_step;
	uint32_t num_steps; /* from here */
	uint32_t is;        /* ZONE: which; HOST: which */
	uint32_t rank;      /* which came up first in routes; from 1 */
	bool is_gate;       /* of a route between zones */
	/* In a star: the link to the switch, and a host's own loopback, + 1; 0:
	 * none. */
	uint32_t up, loop;
};

/* A step of a shortest way, or a route of a full zone: from point to point over
 * links, in the order in which SimGrid stores them. */
struct dist__step {
	uint32_t from, to;
	uint32_t first_link, num_links;
	uint32_t gate_from, gate_to; /* of zones: the points where they join */
};

enum dist__zone_kind { DIST__ZONE_FULL, DIST__ZONE_DIJKSTRA, DIST__ZONE_STAR };

struct dist__zone {
	enum dist__zone_kind kind;
	uint32_t point;
	uint32_t parent;
	uint32_t depth;
	uint32_t num_points;
	bool has_zones, has_hosts;
	/* FULL: step of each pair, its number + 1; 0: none. */
	uint32_t *table;
	uint32_t backbone; /* STAR: link that all share, + 1; 0: none */
};

/* Of a link: what routes call it; and which one leads back, itself if it is not
 * split. */
struct dist__wire {
	const char *id;
	uint32_t other;
};

/* As a route stands in the file. */
struct dist__route {
	uint32_t zone, from, to, gate_from, gate_to;
	uint32_t first_link, num_links;
	bool is_one_way;
};

/* A name that does not stand in the file. */
struct dist__names_made {
	struct dist__names_made *next;
	char text[];
};

/* Open hashing; a slot is an index + 1, 0 where it is free. */
struct dist__names {
	uint32_t *slots;
	size_t num_slots, num;
};

/* A platform that was read. */
struct dist__plain {
	struct dist__graph graph; /* first: the same address */
	char *text;               /* the file */
	struct dist__names_made *made;
	struct dist__wire *wires; /* by link */
	struct dist__point *points;
	size_t num_points;
	struct dist__zone *zones;
	struct dist__route *routes;
	size_t num_routes;
	uint32_t *ctns; /* links of routes */
	size_t num_ctns;
	struct dist__step *steps;
	uint32_t *step_links;
	size_t num_steps, num_step_links;
	uint32_t *by_rank; /* points */
	struct dist__names point_names, link_names;

	/* Where a search is, and what whole ones have found. */
	struct dist__search {
		struct {
			uint32_t seen; /* the stamp of a search that came here;
					* then: */
			uint32_t cost, before; /* the last step */
		} * at;                        /* by point */
		uint32_t stamp;
		uint64_t *heap; /* cost, then rank */
		size_t num, room;
		uint32_t most;         /* the end is no farther */
		uint32_t pushed;       /* points, onto the heap */
		uint32_t *pushed_from; /* in all searches from a point */
		/* The last step on the way from a point to each other of its
		 * zone, by number there; NULL: not known. By point. */
		uint32_t **trees;
		size_t kept; /* steps in all trees */
	} search;
};

/*
 * dist__platform_read reads the file at path; NULL: it is not plain, or wrong,
 * or there is no memory, and SimGrid has to read it, and to say what is wrong.
 * Every two hosts of what is returned have a way.
 */
struct dist__plain *dist__platform_read(const char *path);

/* dist__plain_free frees what no engine runs on any more; NULL allowed. */
void dist__plain_free(struct dist__plain *plain);

/* ---- parts ----------------------------------------------------------- */

/* The name of what has that number. */
typedef const char *dist__name_of(const struct dist__plain *plain,
				  size_t number);

/* dist__names_add gives the number, which is that of the last, its name; false:
 * taken. dist__names_find stores the number that has a name (NULL allowed);
 * false: none has. */
bool dist__names_add(const struct dist__plain *plain, struct dist__names *names,
		     dist__name_of *get, size_t number);
bool dist__names_find(const struct dist__plain *plain,
		      const struct dist__names *names, dist__name_of *get,
		      const char *name, uint32_t *number);

/* dist__plain_name returns what the format says, kept as long as plain; NULL:
 * no memory. */
const char *dist__plain_name(struct dist__plain *plain, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* dist__plain_join makes steps of the routes; false: two for one pair, hosts
 * that have no way to each other, or no memory. */
bool dist__plain_join(struct dist__plain *plain);

/* dist__plain_find_way is what graph.h calls find_way. */
size_t dist__plain_find_way(struct dist__graph *graph, uint32_t from,
			    uint32_t to, uint32_t *links, size_t most,
			    double *latency_s);

/* ---- the scanner ------------------------------------------------------ */

#define DIST__MOST_ATTRIBUTES 16

enum dist__tag_kind { DIST__TAG_OPEN, DIST__TAG_EMPTY, DIST__TAG_CLOSE };

struct dist__tag {
	enum dist__tag_kind kind;
	const char *name;
	size_t num;
	const char *names[DIST__MOST_ATTRIBUTES];
	const char *values[DIST__MOST_ATTRIBUTES];
	int line; /* in which it ends */
};

/* What is still to be read, and the line it begins in. */
struct dist__tags {
	char *at;
	int line;
};

/* dist__tag_next reads the next tag of the text, which it changes; false at the
 * end, or at what is not plain. */
bool dist__tag_next(struct dist__tags *tags, struct dist__tag *tag);

/* dist__tag_value returns the value of an attribute; NULL: there is none. */
const char *dist__tag_value(const struct dist__tag *tag, const char *name);

/* dist__tag_has_only returns whether all attributes are of the list, words with
 * blanks between. */
bool dist__tag_has_only(const struct dist__tag *tag, const char *list);

#endif
