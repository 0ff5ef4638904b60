/*
 * flow_fit.c - which flows can be timed as a whole.
 *
 * Where messages of several ranks share a link, each is as fast as the others
 * let it be, and it depends on who is ahead of whom which of them meet there:
 * what cannot be said without simulating them is simulated, message by message.
 * But a link that messages of one sender only, or to one receiver only, go over
 * has them one by one; and one that carries all that its senders' own links can
 * bring, or its receivers' take, holds nobody up.
 */
#include "sim/flow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/progress.h"

/* Kinds of steps whose messages are all looked at: those of halving and
 * doubling, not those of an exchange with everybody, each with another. */
#define MOST_KINDS 64

/* Sums of rates come to more than they are by less. */
#define ROUNDED 1e-9

enum dist__sim_fitness {
	DIST__SIM_UNKNOWN,
	DIST__SIM_FITS,
	DIST__SIM_SHARES,
	DIST__SIM_EARLY
};

struct dist__sim_fit {
	struct dist__sim_fit *next;
	const struct dist__flow_ops *ops;
	uint32_t joined, group;
	int first, last, size, root;
	size_t numel, element_bytes;
	enum dist__sim_fitness fitness;
	struct dist__sim_timing *timing; /* NULL: not known yet */
};

static struct dist__sim_fit fit_of(const struct dist__sim_rank *rank,
				   const struct dist__flow *flow,
				   const struct dist__members *members,
				   size_t numel)
{
	return (struct dist__sim_fit){
		.ops = flow->ops,
		.joined = rank->joined,
		.group = members->group_id,
		.first = dist__global_rank(members, 0),
		.last = dist__global_rank(members, members->world_size - 1),
		.size = members->world_size,
		.root = flow->root,
		.numel = numel,
		.element_bytes = flow->element_bytes,
	};
}

static bool same(const struct dist__sim_fit *a, const struct dist__sim_fit *b)
{
	return a->ops == b->ops && a->joined == b->joined &&
	       a->group == b->group && a->first == b->first &&
	       a->last == b->last && a->size == b->size && a->root == b->root &&
	       a->numel == b->numel && a->element_bytes == b->element_bytes;
}

/* ---- finding out ----------------------------------------------------------
 */

/* Notes a user of a link; returns whether there are several. */
static bool add_user(int *users, int rank)
{
	if (*users == 0)
		*users = rank + 1;
	else if (*users != rank + 1)
		*users = -1;
	return *users < 0;
}

/* Returns a link as nobody has used it yet in the flow that is looked at. */
static struct dist__sim_cable *cable_of(struct dist__sim_ways *ways,
					uint32_t number)
{
	struct dist__sim_cable *cable = &ways->cables[number];

	if (cable->judged != ways->judged) {
		cable->senders = cable->receivers = 0;
		memset(cable->asked, 0, sizeof cable->asked);
	}
	cable->judged = ways->judged;
	return cable;
}

/* Notes a message on all its links; false: one has several senders and several
 * receivers. */
static bool add_message(struct dist__sim_ways *ways,
			const struct dist__sim_way *way, int from, int to)
{
	bool alone = true;

	for (size_t i = 0; i < way->count; i++) {
		struct dist__sim_cable *cable = cable_of(ways, way->cables[i]);
		bool senders = add_user(&cable->senders, from);
		bool receivers = add_user(&cable->receivers, to);

		if (cable->is_shared && senders && receivers)
			alone = false;
	}
	return alone;
}

/* The messages of all kinds of steps: the ways on which each rank sends [0],
 * and receives [1], one behind another; NULL: no message. */
struct messages {
	struct dist__sim_way **ways[2];
	int kinds, size;
};

/* Adds the messages of a step, the k-th of its kind. Without a list for them
 * it ends at the first that is not alone. Stores whether there are all ways. */
static bool add_step(struct dist__sim_ways *ways, const struct dist__flow *flow,
		     const struct dist__members *members, int step,
		     const struct messages *list, int k, bool *is_well)
{
	bool alone = true;

	for (int rank = 0;
	     rank < flow->world_size && *is_well && (alone || list->ways[0]);
	     rank++) {
		int to = flow->ops->hop(flow, rank, step).to;
		int sender = dist__global_rank(members, rank), receiver;
		struct dist__sim_way *way;

		if (to < 0)
			continue;
		receiver = dist__global_rank(members, to);
		way = dist__sim_way_find(ways, sender, receiver);
		*is_well = way;
		if (!way)
			break;
		alone &= add_message(ways, way, sender, receiver);
		if (list->ways[0]) {
			list->ways[0][rank * list->kinds + k] = way;
			list->ways[1][to * list->kinds + k] = way;
		} else {
			dist__sim_way_release(way);
		}
	}
	return alone;
}

/* A message on its way, by its sender (side 0) or receiver (1): what links of
 * that rank's own let through, asked of those that it shares. */
static void add_rate(struct dist__sim_ways *ways,
		     const struct dist__sim_way *way, int rank, int side)
{
	double own_Bps = INFINITY;

	for (size_t i = 0; i < way->count; i++) {
		const struct dist__sim_cable *cable =
			&ways->cables[way->cables[i]];
		int user = side ? cable->receivers : cable->senders;

		if (!cable->is_shared || user == rank + 1)
			own_Bps = fmin(own_Bps, cable->Bps);
	}
	for (size_t i = 0; i < way->count; i++) {
		struct dist__sim_asked *asked =
			&ways->cables[way->cables[i]].asked[side];

		if (asked->last != rank + 1)
			asked->last_Bps = 0;
		asked->last = rank + 1;
		if (own_Bps > asked->last_Bps) {
			asked->all_Bps += own_Bps - asked->last_Bps;
			asked->last_Bps = own_Bps;
		}
	}
}

/* Whether the links of a way carry all that is asked of them. */
static bool carries(const struct dist__sim_ways *ways,
		    const struct dist__sim_way *way)
{
	for (size_t i = 0; i < way->count; i++) {
		const struct dist__sim_cable *cable =
			&ways->cables[way->cables[i]];
		double all_Bps =
			fmin(cable->asked[0].all_Bps, cable->asked[1].all_Bps);

		if (cable->is_shared && cable->senders < 0 &&
		    cable->receivers < 0 &&
		    all_Bps > cable->Bps * (1 + ROUNDED))
			return false;
	}
	return true;
}

/* Visits all messages by a side's ranks: asks their rates of the links, or
 * (check) returns whether these carry what is asked. */
static bool visit(struct dist__sim_ways *ways, const struct messages *m,
		  const struct dist__members *members, int side, bool check)
{
	bool carried = true;

	for (int i = 0; i < m->size * m->kinds && carried; i++) {
		const struct dist__sim_way *way = m->ways[side][i];

		if (way && check)
			carried = carries(ways, way);
		else if (way)
			add_rate(ways, way,
				 dist__global_rank(members, i / m->kinds),
				 side);
	}
	return carried;
}

/* Whether all that ranks send or receive at the same time, in whatever steps
 * they are, is no more than each link carries. All messages have been noted. */
static bool is_carried(struct dist__sim_ways *ways, const struct messages *m,
		       const struct dist__members *members)
{
	return ways->back_load == 0 && visit(ways, m, members, 0, false) &&
	       visit(ways, m, members, 1, false) &&
	       visit(ways, m, members, 0, true);
}

/* Whether the messages of an open flow share no links, or share them well. */
static bool is_alone(struct dist__sim_ways *ways, const struct dist__flow *flow,
		     const struct dist__members *members)
{
	struct messages m = {.size = flow->world_size};
	bool alone = true, well = true;
	size_t num = 0;
	int k = 0;

	ways->judged++;
	for (int step = 0; step < flow->steps; step++)
		m.kinds += dist__flow_like(flow, step) == step;
	if (m.kinds <= MOST_KINDS) {
		num = (size_t)m.kinds * (size_t)m.size;
		m.ways[0] = calloc(2 * num + 1, sizeof *m.ways[0]);
		well = m.ways[0];
		m.ways[1] = well ? m.ways[0] + num : NULL;
	}
	for (int step = 0; step < flow->steps && well && (alone || m.ways[0]);
	     step++)
		if (dist__flow_like(flow, step) == step)
			alone &= add_step(ways, flow, members, step, &m, k++,
					  &well);
	if (well && !alone && m.ways[0])
		alone = is_carried(ways, &m, members);
	for (size_t i = 0; i < num && m.ways[0]; i++)
		dist__sim_way_release(m.ways[0][i]);
	free(m.ways[0]);
	return well && alone;
}

/* A step of all parts of a group. */
struct parts {
	struct dist__sim_ways *ways;
	const struct dist__flow *flow;
	const struct dist__members *members;
	int step;
	struct message {
		struct dist__sim_way *way; /* NULL: none */
		double Bps;                /* as it was last */
	} * sent;                          /* by rank */
};

/* Finds the ways of all messages; false: there is one too few. */
static bool find_ways(const struct parts *p, int num)
{
	int size = p->flow->world_size;

	for (int i = 0; i < num * size; i++) {
		int to = p->flow->ops->hop(p->flow, i % size, p->step).to;

		if (to < 0)
			continue;
		p->sent[i].way = dist__sim_way_find(
			p->ways, dist__global_rank(p->members, i),
			dist__global_rank(p->members, i - i % size + to));
		if (!p->sent[i].way)
			return false;
	}
	return true;
}

/* Visits the messages of some parts, from first on: puts them onto their links,
 * rates them, takes them off; returns whether they are as fast as before. */
static bool visit_parts(const struct parts *p, int first, int num)
{
	struct message *from = p->sent + first * p->flow->world_size;
	struct message *end = from + num * p->flow->world_size;
	bool same = true;

	for (struct message *m = from; m < end; m++)
		if (m->way)
			dist__sim_way_load(p->ways, m->way, 1);
	for (struct message *m = from; m < end; m++) {
		double Bps = m->way ? dist__sim_way_Bps(p->ways, m->way) : 0;

		same &= Bps == m->Bps;
		m->Bps = Bps;
	}
	for (struct message *m = from; m < end; m++)
		if (m->way)
			dist__sim_way_load(p->ways, m->way, -1);
	return same;
}

/* Whether no message of a part is slower because of those of the other parts in
 * the same step. */
static bool are_apart(struct parts *p, int num)
{
	int all = num * p->flow->world_size;
	bool apart;

	p->sent = calloc((size_t)all, sizeof *p->sent);
	if (!p->sent)
		return false;
	apart = find_ways(p, num);
	for (int i = 0; i < num && apart; i++)
		(void)visit_parts(p, i, 1);
	apart = apart && visit_parts(p, 0, num);
	for (int i = 0; i < all; i++)
		dist__sim_way_release(p->sent[i].way);
	free(p->sent);
	return apart;
}

static enum dist__sim_fitness judge(struct dist__sim_ways *ways,
				    const struct dist__flow *given,
				    const struct dist__members *members)
{
	struct dist__flow flow = *given;
	bool meets = flow.ops->open(&flow) == DIST_OK, alone = meets;
	int parts = dist__sim_parts(ways->world, members);

	for (int i = 0; i < parts && alone; i++) {
		struct dist__members part = *members;

		if (i > 0)
			part.ranks += (size_t)i * (size_t)part.world_size;
		alone = is_alone(ways, &flow, &part);
	}
	for (int step = 0; alone && parts > 1 && step < flow.steps; step++)
		if (dist__flow_like(&flow, step) == step)
			alone = are_apart(&(struct parts){ways, &flow, members,
							  step, NULL},
					  parts);
	if (flow.ops->close)
		flow.ops->close(&flow);
	if (!meets)
		return DIST__SIM_EARLY;
	return alone ? DIST__SIM_FITS : DIST__SIM_SHARES;
}

/* ---- remembering ------------------------------------------------------------
 */

/* What is known of flows like this one, of numel elements. NULL: no memory. */
static struct dist__sim_fit *find_fit(const struct dist__sim_rank *rank,
				      const struct dist__flow *flow,
				      const struct dist__members *members,
				      size_t numel)
{
	struct dist__sim_flows *flows = rank->world->flows;
	struct dist__sim_fit key = fit_of(rank, flow, members, numel);
	struct dist__sim_fit **list = &flows->fits[dist__sim_list(
		key.group, key.first, (uint32_t)numel * 31)];
	struct dist__sim_fit *fit = flows->last_fit;

	/* The ranks of a group often come one behind the other. */
	if (fit && same(fit, &key))
		return fit;
	for (fit = *list; fit && !same(fit, &key); fit = fit->next)
		continue;
	if (!fit) {
		fit = malloc(sizeof *fit);
		if (!fit)
			return NULL;
		*fit = key;
		fit->next = *list;
		*list = fit;
	}
	return flows->last_fit = fit;
}

/* To whom a rank sends does not depend on lengths, but where a timetable has to
 * be made for them. */
static bool has_fitness(const struct dist__sim_rank *rank,
			const struct dist__flow *flow,
			const struct dist__members *members,
			enum dist__sim_fitness fitness)
{
	struct dist__sim_fit *fit =
		find_fit(rank, flow, members,
			 flow->ops && flow->ops->close ? flow->numel : 0);

	if (fit && !fit->fitness)
		fit->fitness = judge(rank->world->flows->ways, flow, members);
	return fit && fit->fitness == fitness;
}

struct dist__sim_timing **
dist__sim_timing_of(const struct dist__sim_rank *rank,
		    const struct dist__flow *flow,
		    const struct dist__members *members)
{
	struct dist__sim_fit *fit = find_fit(rank, flow, members, flow->numel);

	return fit ? &fit->timing : NULL;
}

/* Flows know neither rates by size nor windows, nor what a call, a receive or a
 * copy takes, nor whose turn it is on a core. */
static bool suits(const struct dist__sim_world *world)
{
	const struct dist__profile *profile = &world->profile;

	return world->flows && profile->num_rates == 0 &&
	       profile->window_bytes == SIZE_MAX && profile->call_ns <= 0 &&
	       profile->receive_overhead_ns <= 0 && profile->cores == 0 &&
	       profile->copy_Bps <= 0;
}

bool dist__sim_is_whole(const struct dist__sim_rank *rank,
			const struct dist__flow *flow,
			const struct dist__members *members)
{
	const struct dist__sim_world *world = rank->world;

	/* Rank 0 comes for all ranks there are, none of them a root. */
	if (world->may_part &&
	    (flow->root >= 0 ||
	     dist__sim_parts(world, members) * flow->world_size !=
		     world->world_size))
		return false;
	return world->flows->ways && !flow->is_own &&
	       has_fitness(rank, flow, members, DIST__SIM_FITS);
}

bool dist__sim_has_flow(struct dist__transport *t,
			const struct dist__flow *flow,
			const struct dist__members *members)
{
	const struct dist__sim_rank *rank = (struct dist__sim_rank *)t;

	return suits(rank->world) && (dist__sim_is_whole(rank, flow, members) ||
				      dist__sim_has_steps(rank->world, flow));
}

/* ---- what messages cost ------------------------------------------------- */

/* Of a message of a ring over 1,024 ranks, measured: 0.9 us by our own engine,
 * 6 to 7 us by SimGrid. The warning takes a value between. */
#define MESSAGE_S 3e-6

/* Less is not worth a word. */
#define LONG_S 2

/* The messages of a flow: of its timetable; without one to all others where
 * each rank has a part for each, else a few a rank. */
static double guess_messages(const struct dist__flow *given)
{
	int each = given->kind == DIST__ALL_TO_ALL ? given->world_size - 1 : 4;
	struct dist__flow flow = *given;

	if (flow.ops) {
		if (flow.ops->open(&flow) == DIST_OK)
			each = flow.steps;
		if (flow.ops->close)
			flow.ops->close(&flow);
	}
	return (double)flow.world_size * each;
}

/* Says so before it starts, once for each reason and kind of op. */
static void warn(struct dist__sim_world *world, const struct dist__flow *flow,
		 enum dist__by_messages why, double messages)
{
	static const char *const reasons[DIST__BY_NUM] = {
		[DIST__BY_LINKS] = "its own messages share links",
		[DIST__BY_EARLY] = "a rank may be through before others come",
		[DIST__BY_TIMETABLE] = "it has no timetable, or lengths that "
				       "not all ranks know",
		[DIST__BY_MODEL] = "flows do not know the network model or "
				   "the profile",
	};
	uint32_t bit = (uint32_t)1 << flow->kind;

	if (messages * MESSAGE_S < LONG_S || (world->warned[why] & bit))
		return;
	world->warned[why] |= bit;
	fprintf(stderr,
		"lockstep: %s of %d ranks goes message by message, not as a "
		"flow: %s; about %.2g messages, %.2g s of processor time, each "
		"time (--fidelity formula: none)\n",
		dist__op_name(flow->kind), flow->world_size, reasons[why],
		messages, messages * MESSAGE_S);
}

/* One of the ranks counts for all. */
void dist__sim_by_messages(struct dist__transport *t,
			   const struct dist__flow *flow,
			   const struct dist__members *members)
{
	const struct dist__sim_rank *rank = (struct dist__sim_rank *)t;
	struct dist__sim_world *world = rank->world;
	enum dist__by_messages why = DIST__BY_LINKS;

	if (world->may_part)
		dist__sim_part(world);
	if (members->rank != 0)
		return;
	if (!suits(world) || !world->flows->ways)
		why = DIST__BY_MODEL;
	else if (!flow->ops || flow->is_own)
		why = DIST__BY_TIMETABLE;
	else if (has_fitness(rank, flow, members, DIST__SIM_EARLY))
		why = DIST__BY_EARLY;
	world->tally.messages[why]++;
	if (world->fidelity == DIST__FIDELITY_FLOW && !world->is_copy)
		warn(world, flow, why, guess_messages(flow));
}

void dist__sim_fits_free(struct dist__sim_flows *flows)
{
	for (size_t i = 0; i < DIST__SIM_TABLE; i++) {
		struct dist__sim_fit *fit, *next;

		for (fit = flows->fits[i]; fit; fit = next) {
			next = fit->next;
			free(fit->timing);
			free(fit);
		}
	}
}
