/*
 * flow_timetable.c - when the ranks of a flow would be through if nobody else
 * used the links.
 *
 * A message starts when its sender has issued it and its receiver waits for it,
 * and takes latency and bytes / bandwidth; the bandwidth is what is left of
 * every link by the messages of the same step. Each rank has a clock, and a
 * step turns the clocks of sender and receiver on: that is how the messages
 * would run one by one, so that ranks that come late, slow links and slow hosts
 * hold up just those that wait for them.
 *
 * Once all clocks go on by the same time from a step to the next like it, they
 * will until the last such step: the time of a ring on equal links grows with
 * its ranks, not with their square.
 */
#include "sim/flow.h"

#include <math.h>
#include <stdlib.h>

#include "sim/progress.h"

/* Clocks that differ by less go on together. */
#define SAME_S 1e-13

/* Steps that are like one step. By rank: */
struct pattern {
	int step;                   /* the first of them; -1: none */
	int uses;                   /* steps so far */
	struct dist__sim_way **way; /* of what it sends; NULL: nothing */
	double *bytes;              /* of that */
	int *to;                    /* group ranks; -1: nobody */
	int *from;                  /* likewise */
	double *pass_s;             /* how long what it sends is under way */
	double *reduce_s;           /* how long it reduces what came */
};

/* A pipeline of two trees has two kinds of steps in turn. */
#define PATTERNS 2

struct timetable {
	struct dist__sim_ways *ways;
	const struct dist__flow *flow;
	const struct dist__sim_guest *guests;
	int ranks;        /* guests: all parts of the flow's ranks */
	double latency_s; /* longest so far */
	struct pattern patterns[PATTERNS];
	int oldest;                         /* of them */
	double *clock_s, *later_s, *sent_s; /* by rank */
	void *memory;
};

/* ---- memory ------------------------------------------------------------- */

static double *take_doubles(void **memory, size_t count)
{
	double *first = *memory;

	*memory = first + count;
	return first;
}

static int *take_ints(void **memory, size_t count)
{
	int *first = *memory;

	*memory = first + count;
	return first;
}

/* One piece of memory for all: pointers and doubles first. */
static bool open_memory(struct timetable *table)
{
	size_t p = (size_t)table->ranks;
	size_t doubles = (3 + PATTERNS * 3) * p;
	size_t pointers = PATTERNS * p, ints = PATTERNS * 2 * p;
	void *rest =
		calloc(1, doubles * sizeof(double) + pointers * sizeof(void *) +
				  ints * sizeof(int));

	table->memory = rest;
	if (!rest)
		return false;
	table->clock_s = take_doubles(&rest, p);
	table->later_s = take_doubles(&rest, p);
	table->sent_s = take_doubles(&rest, p);
	for (int i = 0; i < PATTERNS; i++) {
		struct pattern *pattern = &table->patterns[i];

		pattern->step = -1;
		pattern->bytes = take_doubles(&rest, p);
		pattern->pass_s = take_doubles(&rest, p);
		pattern->reduce_s = take_doubles(&rest, p);
	}
	for (int i = 0; i < PATTERNS; i++) {
		table->patterns[i].way = rest;
		rest = table->patterns[i].way + p;
	}
	for (int i = 0; i < PATTERNS; i++) {
		table->patterns[i].to = take_ints(&rest, p);
		table->patterns[i].from = take_ints(&rest, p);
	}
	return true;
}

/* ---- patterns ------------------------------------------------------------ */

/* Ends the use of a pattern: the links have carried what was sent. */
static void close_pattern(struct timetable *table, struct pattern *pattern)
{
	int p = table->ranks;

	for (int rank = 0; rank < p && pattern->step >= 0; rank++) {
		struct dist__sim_way *way = pattern->way[rank];

		if (!way)
			continue;
		if (!table->ways->world->may_part)
			dist__sim_way_carry(table->ways, way,
					    pattern->bytes[rank] *
						    pattern->uses);
		dist__sim_way_release(way);
		pattern->way[rank] = NULL;
	}
	pattern->step = -1;
	pattern->uses = 0;
}

/* Reads what rank, of the part that begins at first, sends in the pattern's
 * step; false: there is no way. */
static bool read_hop(struct timetable *table, struct pattern *pattern,
		     int first, int rank)
{
	const struct dist__flow *flow = table->flow;
	struct dist__hop hop =
		flow->ops->hop(flow, rank - first, pattern->step);
	const struct dist__sim_rank *peer;

	pattern->to[rank] = hop.to;
	if (hop.to < 0)
		return true;
	pattern->to[rank] = hop.to += first;
	peer = table->guests[hop.to].rank;
	pattern->from[hop.to] = rank;
	pattern->bytes[rank] = (double)hop.bytes;
	if (hop.reduced)
		pattern->reduce_s[hop.to] = (double)hop.bytes *
					    peer->world->reduce_s_per_byte /
					    peer->pace;
	pattern->way[rank] = dist__sim_way_find(
		table->ways, table->guests[rank].rank->rank, peer->rank);
	return pattern->way[rank];
}

static bool read_hops(struct timetable *table, struct pattern *pattern)
{
	int p = table->ranks, size = table->flow->world_size;
	bool well = true;

	for (int rank = 0; rank < p; rank++) {
		pattern->from[rank] = -1;
		pattern->reduce_s[rank] = 0;
	}
	for (int rank = 0; rank < p && well; rank++)
		well = read_hop(table, pattern, rank - rank % size, rank);
	return well;
}

static void load(struct timetable *table, const struct pattern *pattern,
		 double messages)
{
	for (int rank = 0; rank < table->ranks; rank++)
		if (pattern->way[rank])
			dist__sim_way_load(table->ways, pattern->way[rank],
					   messages);
}

/* Returns the pattern of step, made when missing; NULL: there is no way. */
static struct pattern *pattern_of(struct timetable *table, int step)
{
	int like = dist__flow_like(table->flow, step);
	struct pattern *pattern;

	for (int i = 0; i < PATTERNS; i++)
		if (table->patterns[i].step == like)
			return &table->patterns[i];
	pattern = &table->patterns[table->oldest];
	table->oldest = (table->oldest + 1) % PATTERNS;
	close_pattern(table, pattern);
	pattern->step = like;
	if (!read_hops(table, pattern))
		return NULL;
	load(table, pattern, 1);
	for (int rank = 0; rank < table->ranks; rank++) {
		const struct dist__sim_way *way = pattern->way[rank];

		if (!way)
			continue;
		pattern->pass_s[rank] =
			way->latency_s +
			pattern->bytes[rank] /
				dist__sim_way_Bps(table->ways, way);
		table->latency_s = fmax(table->latency_s, way->latency_s);
	}
	load(table, pattern, -1);
	return pattern;
}

/* ---- clocks ---------------------------------------------------------------
 */

/* Turns the clocks on by one step. */
static void pass_step(struct timetable *table, const struct pattern *pattern)
{
	double overhead_s = table->ways->world->overhead_s;
	const double *clock_s = table->clock_s;
	double *sent_s = table->sent_s;
	int p = table->ranks;

	for (int rank = 0; rank < p; rank++) {
		int to = pattern->to[rank];

		sent_s[rank] = clock_s[rank];
		if (to >= 0)
			sent_s[rank] =
				fmax(clock_s[rank] + overhead_s, clock_s[to]) +
				pattern->pass_s[rank];
	}
	for (int rank = 0; rank < p; rank++) {
		int from = pattern->from[rank];

		table->later_s[rank] = sent_s[rank];
		if (from >= 0)
			table->later_s[rank] =
				fmax(sent_s[rank], sent_s[from]) +
				pattern->reduce_s[rank];
	}
}

/* Returns the time by which all clocks have gone on; 0: not by the same. */
static double common_step_s(const struct timetable *table)
{
	double step_s = table->later_s[0] - table->clock_s[0];

	for (int rank = 1; rank < table->ranks; rank++)
		if (fabs(table->later_s[rank] - table->clock_s[rank] - step_s) >
		    SAME_S)
			return 0;
	return step_s;
}

static bool goes_on(const struct dist__flow *flow, int step, int like)
{
	return step + 1 < flow->steps &&
	       dist__flow_like(flow, step + 1) == like;
}

/* Passes step, and those behind that take as long for all; returns how many. */
static int pass_steps(struct timetable *table, struct pattern *pattern,
		      int step)
{
	const struct dist__flow *flow = table->flow;
	int p = table->ranks, more = 0;
	double *clock_s = table->clock_s, step_s = 0;

	pass_step(table, pattern);
	if (goes_on(flow, step, pattern->step))
		step_s = common_step_s(table);
	while (step_s > 0 && goes_on(flow, step + more, pattern->step))
		more++;
	table->clock_s = table->later_s;
	table->later_s = clock_s;
	for (int rank = 0; rank < p && more > 0; rank++)
		table->clock_s[rank] += more * step_s;
	pattern->uses += 1 + more;
	return 1 + more;
}

static bool pass_all(struct timetable *table)
{
	for (int step = 0; step < table->flow->steps;) {
		struct pattern *pattern = pattern_of(table, step);

		if (!pattern)
			return false;
		step += pass_steps(table, pattern, step);
	}
	return true;
}

/* ---- the whole ------------------------------------------------------------
 */

static enum dist_error run(struct dist__sim_ways *ways,
			   struct dist__flow_meeting *meeting, double now_s,
			   double *latency_s)
{
	struct dist__flow *flow = &meeting->flow;
	struct dist__sim_guest *guests = meeting->guests;
	struct timetable table = {.ways = ways,
				  .flow = flow,
				  .guests = guests,
				  .ranks = meeting->size};
	enum dist_error error = flow->ops->open(flow);

	/* Lengths that differ by an element, step by step at other ranks, would
	 * keep the clocks from ever going on together. */
	flow->is_exact = false;
	if (!error && !open_memory(&table))
		error = DIST_ERR_NO_MEMORY;
	if (!error) {
		for (int i = 0; i < table.ranks; i++)
			table.clock_s[i] = guests[i].time_s - now_s;
		if (!pass_all(&table))
			error = ways->world->ended ? ways->world->end_error
						   : DIST_ERR_NO_MEMORY;
		for (int i = 0; i < PATTERNS; i++)
			close_pattern(&table, &table.patterns[i]);
	}
	if (!error) {
		for (int i = 0; i < table.ranks; i++) {
			const struct dist__sim_rank *rank = guests[i].rank;
			double pass_s = (double)guests[i].last_pass_bytes *
					rank->world->reduce_s_per_byte /
					rank->pace;

			guests[i].time_s = table.clock_s[i] + pass_s;
		}
	}
	*latency_s = table.latency_s;
	free(table.memory);
	if (flow->ops->close)
		flow->ops->close(flow);
	return error;
}

/* ---- what is known --------------------------------------------------------
 */

/* What a flow takes and carries whose ranks come together. */
struct dist__sim_timing {
	size_t segment_bytes; /* of the flow */
	double latency_s;
	size_t num_used; /* links, with their bytes behind the times */
	double *bytes;
	uint32_t *used;
	double time_s[]; /* by guest */
};

/* Whether all have come now, and have as much to do in the end: nothing. */
static bool are_together(const struct dist__flow_meeting *meeting, double now_s)
{
	const struct dist__sim_guest *guests = meeting->guests;

	for (int i = 0; i < meeting->size; i++)
		if ((!guests[i].seat && !meeting->world->may_part) ||
		    guests[i].time_s != now_s || guests[i].last_pass_bytes > 0)
			return false;
	return true;
}

/* Whether all end together, as rank 0 does that stands for them. */
static bool end_together(const struct dist__flow_meeting *meeting)
{
	const struct dist__sim_guest *guests = meeting->guests;

	for (int i = 1; i < meeting->size; i++)
		if (fabs(guests[i].time_s - guests[0].time_s) > SAME_S)
			return false;
	return true;
}

/* Returns NULL if there is no memory: then it is not known. */
static struct dist__sim_timing *note(const struct dist__sim_ways *ways,
				     const struct dist__flow_meeting *meeting,
				     double latency_s)
{
	size_t p = (size_t)meeting->size, n = ways->num_used;
	struct dist__sim_timing *timing =
		malloc(sizeof *timing + (p + n) * sizeof(double) +
		       n * sizeof(uint32_t));

	if (!timing)
		return NULL;
	timing->segment_bytes = meeting->flow.segment_bytes;
	timing->latency_s = latency_s;
	timing->num_used = n;
	timing->bytes = &timing->time_s[p];
	timing->used = (uint32_t *)&timing->bytes[n];
	for (size_t i = 0; i < p; i++)
		timing->time_s[i] = meeting->guests[i].time_s;
	for (size_t i = 0; i < n; i++) {
		timing->used[i] = ways->used[i];
		timing->bytes[i] = ways->cables[ways->used[i]].bytes;
	}
	return timing;
}

static void recall(struct dist__sim_ways *ways,
		   const struct dist__sim_timing *timing,
		   struct dist__sim_guest *guests, int p)
{
	for (int i = 0; i < p; i++)
		guests[i].time_s = timing->time_s[i];
	ways->num_used = timing->num_used;
	for (size_t i = 0; i < timing->num_used; i++) {
		ways->used[i] = timing->used[i];
		ways->cables[timing->used[i]].bytes = timing->bytes[i];
	}
}

enum dist_error dist__sim_timetable_run(struct dist__sim_ways *ways,
					struct dist__flow_meeting *meeting,
					double now_s, double *latency_s)
{
	struct dist__flow *flow = &meeting->flow;
	struct dist__sim_guest *guests = meeting->guests;
	struct dist__sim_timing **known = meeting->timing;
	enum dist_error error;

	if (!are_together(meeting, now_s))
		known = NULL;
	if (known && *known && (*known)->segment_bytes == flow->segment_bytes) {
		recall(ways, *known, guests, meeting->size);
		*latency_s = (*known)->latency_s;
		return DIST_OK;
	}
	error = run(ways, meeting, now_s, latency_s);
	if (!error && meeting->world->may_part && !end_together(meeting)) {
		dist__sim_part(meeting->world);
		error = meeting->world->end_error;
	}
	if (!error && known && !*known)
		*known = note(ways, meeting, *latency_s);
	return error;
}
