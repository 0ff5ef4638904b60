#include "sim/analytic_collective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"
#include "model/library/library.h"
#include "sim/actor.h"
#include "sim/forecast.h"
#include "sim/platform/state.h"
#include "sim/progress.h"

/* What the ranks have in common. */
struct shared {
	struct shared *next;
	int key;
	void *memory;
};

/* What sends of so many bytes take; before the route's latency. */
struct price {
	bool known;
	size_t bytes;
	struct dist__sim_send send;
};

struct dist__sim_analytic {
	struct dist__sim_analytic *next; /* of the world's */
	struct dist__sim_world *world;
	uint32_t joined; /* how often its ranks had attached */
	uint32_t group;
	int *ranks; /* global; owned */
	int size;
	int awaited;    /* those of them that run */
	int *stand_ins; /* NULL: all do; owned */
	bool measured;
	struct fabric fabric;   /* then */
	double latency_factor;  /* the network's */
	struct price prices[2]; /* inside nodes, between them */
	bool lost;              /* a rank has left */
	double end_s;           /* of the last complete round */
	struct dist__sim_round *first, *last;
	struct shared *shared;

	/* At flow, once measured: */
	struct dist__sim_sitting sitting;
	struct dist__sim_round *turn, *last_turn; /* all have come to them */
};

/* ---- meetings ---------------------------------------------------------- */

static bool has_flows(const struct dist__sim_analytic *meeting)
{
	return meeting->measured &&
	       meeting->world->fidelity == DIST__FIDELITY_FLOW;
}

enum dist_error dist__sim_analytic_measure(struct dist__sim_analytic *meeting)
{
	enum dist_error error = DIST_OK;

	if (!meeting->measured)
		error = dist__platform_fabric(meeting->world->platform,
					      meeting->ranks, meeting->size,
					      &meeting->fabric);
	meeting->measured = !error;
	meeting->latency_factor =
		dist__graph_read_factors(meeting->world->platform->graph)
			.latency_factor;
	meeting->sitting.world = meeting->world;
	meeting->sitting.fabric = &meeting->fabric;
	meeting->sitting.ranks = meeting->ranks;
	return error;
}

static void round_free(struct dist__sim_round *round)
{
	dist__sim_brought_free(round->brought);
	free(round->sum);
	free(round);
}

static void meeting_free(struct dist__sim_analytic *meeting)
{
	struct dist__sim_round *round;
	struct shared *shared;

	while ((shared = meeting->shared)) {
		meeting->shared = shared->next;
		free(shared->memory);
		free(shared);
	}
	while ((round = meeting->first)) {
		meeting->first = round->next;
		round_free(round);
	}
	dist__sim_traffic_free(meeting->sitting.known);
	free(meeting->stand_ins);
	free(meeting->ranks);
	free(meeting);
}

static struct dist__sim_analytic **list_of(struct dist__sim_world *world,
					   int leader, uint32_t group)
{
	uint32_t number = group * 31 + (uint32_t)leader;

	return &world->meetings[number % DIST__SIM_MEETINGS];
}

/* False: no memory, or somebody of no class; then the world has ended. */
static bool find_stand_ins(struct dist__sim_analytic *meeting)
{
	struct dist__sim_world *world = meeting->world;
	struct dist_message message;
	int lacks;

	meeting->stand_ins =
		dist__sim_stand_ins(meeting->ranks, meeting->size,
				    world->present, &meeting->awaited, &lacks);
	if (lacks < 0)
		return meeting->stand_ins;
	snprintf(message.text, sizeof message.text,
		 "a group has rank %d without rank %d, which stands for it: "
		 "expected both or none of them",
		 lacks, lacks % world->present);
	dist__sim_break(world, message.text);
	return false;
}

static struct dist__sim_analytic *
meeting_new(const struct dist__sim_rank *rank,
	    const struct dist__members *members)
{
	struct dist__sim_analytic *meeting = calloc(1, sizeof *meeting), **list;
	int size = members->world_size;

	if (!meeting)
		return NULL;
	meeting->ranks = malloc((size_t)size * sizeof meeting->ranks[0]);
	if (!meeting->ranks) {
		free(meeting);
		return NULL;
	}
	for (int i = 0; i < size; i++)
		meeting->ranks[i] = dist__global_rank(members, i);
	meeting->world = rank->world;
	meeting->joined = rank->joined;
	meeting->group = members->group_id;
	meeting->size = size;
	meeting->awaited = size;
	if (rank->world->present < rank->world->world_size &&
	    !find_stand_ins(meeting)) {
		meeting_free(meeting);
		return NULL;
	}
	list = list_of(rank->world, dist__global_rank(members, 0),
		       meeting->group);
	meeting->next = *list;
	*list = meeting;
	return meeting;
}

struct dist__sim_analytic *
dist__sim_analytic_of(struct dist__sim_rank *rank,
		      const struct dist__members *members)
{
	int leader = dist__global_rank(members, 0);
	struct dist__sim_analytic *m =
		*list_of(rank->world, leader, members->group_id);

	while (m && (m->ranks[0] != leader || m->group != members->group_id ||
		     m->joined != rank->joined))
		m = m->next;
	return m ? m : meeting_new(rank, members);
}

/* ---- sends -------------------------------------------------------------- */

static struct price price_of(const struct dist__sim_analytic *meeting,
			     bool leaves, size_t bytes)
{
	struct fabric fabric = meeting->fabric;
	struct library_call call = {.op = DIST__SEND,
				    .numel = bytes,
				    .element_bytes = 1,
				    .ranks = meeting->size};
	const struct library_transfers one = {.card_share = leaves};
	struct price price = {.known = true, .bytes = bytes};
	struct library_estimate estimate;
	struct dist_message message;

	if (!leaves && !fabric_is_one(&fabric)) {
		fabric.nodes = 1;
		call.ranks = fabric.node_ranks;
	}
	if (library_estimate(&meeting->world->profile, &fabric, &call,
			     &estimate, &message)) {
		dist__sim_break(meeting->world, message.text);
		return price;
	}
	price.send = (struct dist__sim_send){
		(estimate.start_ns + estimate.latency_ns) * 1e-9,
		estimate.transfer_ns * 1e-9,
		leaves ? library_transfers_load(&fabric, &call, &estimate, &one)
				 .remote
		       : 1};
	return price;
}

struct dist__sim_send dist__sim_analytic_send(struct dist__sim_rank *rank,
					      const struct dist__message *m)
{
	struct dist__sim_world *world = rank->world;
	struct dist__sim_analytic *meeting =
		world->has_rounds ? dist__sim_analytic_of(rank, m->members)
				  : NULL;
	const int *nodes = world->nodes;
	struct dist__sim_send send = {0};
	double latency_s = 0;
	struct price *price;
	bool leaves;

	if (!meeting || !meeting->measured ||
	    !library_has_transfers(&world->profile))
		return send;
	leaves = !fabric_is_one(&meeting->fabric) &&
		 (!nodes || nodes[rank->rank] != nodes[m->peer]);
	price = &meeting->prices[leaves];
	if (!price->known || price->bytes != m->bytes)
		*price = price_of(meeting, leaves, m->bytes);
	send = price->send;
	(void)dist__engine_way(dist__platform_seat(world->platform, rank->rank),
			       dist__platform_seat(world->platform, m->peer),
			       NULL, 0, &latency_s);
	send.start_s =
		fmax(0, send.start_s - latency_s * meeting->latency_factor);
	return send;
}

/* ---- rounds ------------------------------------------------------------ */

static void fail(struct dist__sim_analytic *meeting,
		 struct dist__sim_round *round, enum dist_error error)
{
	if (round->begun || round->complete || round->error)
		return;
	round->error = error;
	dist__sim_list_open(meeting->world, &round->waiters);
}

static struct dist__sim_round *find_round(struct dist__sim_analytic *meeting,
					  const struct dist__op *op)
{
	struct dist__sim_round *round = meeting->first;

	while (round && round->seq != op->seq)
		round = round->next;
	if (round)
		return round;
	round = calloc(1, sizeof *round);
	if (!round)
		return NULL;
	round->meeting = meeting;
	round->seq = op->seq;
	round->fingerprint = op->fingerprint;
	if (meeting->last)
		meeting->last->next = round;
	else
		meeting->first = round;
	meeting->last = round;
	return round;
}

/* Our own algorithms make an average of a sum by a division. */
static double divide_ns(const struct dist__sim_analytic *meeting,
			const struct dist__sim_round *round,
			const struct dist__op *op)
{
	double Bps = meeting->world->profile.reduce_Bps;

	if (!round->algorithm || !dist__op_reduces(op->kind) ||
	    op->reduce_op != DIST_AVG || Bps <= 0)
		return 0;
	return (double)(round->result_numel *
			dist_dtype_size(op->tensor.dtype)) *
	       1e9 / Bps;
}

/* What the library takes, alone, and at flow what it puts on the links. */
static double duration_s(struct dist__sim_analytic *meeting,
			 struct dist__sim_round *round,
			 const struct dist__op *op)
{
	struct dist__sim_world *world = meeting->world;
	const struct library_call call = {
		.op = op->kind,
		.numel = round->numel,
		.element_bytes = dist_dtype_size(op->tensor.dtype),
		.ranks = meeting->size,
		.root = op->peer < 0 ? 0 : op->peer,
	};
	struct library_estimate estimate;
	struct dist_message message = {""};
	enum dist_error error = library_estimate(
		&world->profile, &meeting->fabric, &call, &estimate, &message);

	round->algorithm = estimate.ours;
	if (!error && has_flows(meeting))
		error = dist__sim_carriage_make(&meeting->sitting, &call,
						&estimate, &round->carriage,
						&message);
	if (error)
		dist__sim_break(world, message.text[0]
					       ? message.text
					       : dist_error_string(error));
	return error ? 0
		     : (library_time_ns(&estimate) +
			divide_ns(meeting, round, op)) *
			       1e-9;
}

/* ---- turns ----------------------------------------------------------------
 */

static void begin_turn(struct dist__sim_analytic *meeting);

/* Outside all actors. */
static void pass_turn(void *arg, bool well)
{
	struct dist__sim_analytic *meeting = arg;
	struct dist__sim_world *world = meeting->world;
	struct dist__sim_round *round = meeting->turn;

	if (!well)
		round->error = DIST_ERR_PEER_LOST;
	round->end_s = round->carriage.end_s;
	round->complete = true;
	meeting->end_s = round->end_s;
	dist__sim_list_open(world, &round->waiters);
	meeting->turn = round->behind;
	dist__sim_round_drop(round);
	if (meeting->turn)
		begin_turn(meeting);
	else
		(void)dist__sim_block(world);
}

static void begin_turn(struct dist__sim_analytic *meeting)
{
	struct dist__sim_round *round = meeting->turn;

	round->start_s = dist__engine->now_s();
	dist__sim_carry(&round->carriage, pass_turn, meeting);
}

/* The rounds that all have come to take their course one after the other. */
static void take_turn(struct dist__sim_analytic *meeting,
		      struct dist__sim_round *round)
{
	round->begun = true;
	round->held++;
	if (meeting->turn) {
		meeting->last_turn = meeting->last_turn->behind = round;
		return;
	}
	meeting->turn = meeting->last_turn = round;
	dist__sim_unblock(meeting->world);
	begin_turn(meeting);
}

static void complete(struct dist__sim_analytic *meeting,
		     struct dist__sim_round *round, const struct dist__op *op)
{
	double now_s = dist__engine->now_s();
	double takes_s = op->untimed ? 0 : duration_s(meeting, round, op);

	if (has_flows(meeting) && (!op->untimed || meeting->turn)) {
		meeting->world->tally.flows += !op->untimed;
		take_turn(meeting, round);
		return;
	}
	round->start_s = now_s > meeting->end_s ? now_s : meeting->end_s;
	round->end_s = round->start_s + takes_s;
	round->complete = true;
	meeting->end_s = round->end_s;
	dist__sim_list_open(meeting->world, &round->waiters);
}

static void bring(const struct dist__sim_analytic *meeting,
		  struct dist__sim_round *round, const struct dist__op *op)
{
	size_t numel = dist__op_numel(op, meeting->size);

	if (numel > round->numel)
		round->numel = numel;
	if (op->tensor.numel > round->result_numel)
		round->result_numel = op->tensor.numel;
}

static size_t bytes_of(const struct dist__op *op)
{
	return op->tensor.data
		       ? op->tensor.numel * dist_dtype_size(op->tensor.dtype)
		       : 0;
}

/* Whole numbers have the same sum in whatever order they come. */
bool dist__sim_can_combine(const struct dist__op *op)
{
	enum dist_dtype dtype = op->tensor.dtype;

	return op->kind == DIST__ALL_REDUCE &&
	       !dist__op_sides(op)->bundle.kind &&
	       op->reduce_op != DIST_PREMUL_SUM &&
	       (dtype == DIST_INT32 || dtype == DIST_INT64);
}

/* Combines the data of op with what came before. */
static enum dist_error combine(struct dist__sim_round *round,
			       const struct dist__op *op)
{
	const struct dist_tensor *t = &op->tensor;

	if ((!op->untimed && !dist__sim_can_combine(op)) || bytes_of(op) == 0)
		return DIST_OK;
	if (round->sum) {
		dist__reduce(t->dtype, op->reduce_op, round->sum, t->data,
			     t->numel);
		return DIST_OK;
	}
	round->sum = malloc(bytes_of(op));
	if (!round->sum)
		return DIST_ERR_NO_MEMORY;
	memcpy(round->sum, t->data, bytes_of(op));
	return DIST_OK;
}

static struct dist__sim_seats seats_of(const struct dist__sim_analytic *meeting,
				       int self)
{
	return (struct dist__sim_seats){self, meeting->size,
					meeting->stand_ins};
}

struct dist__sim_round *dist__sim_come(struct dist__sim_analytic *meeting,
				       const struct dist__op *op, int self)
{
	struct dist__sim_actor *actor = dist__engine->self();
	struct dist__sim_round *round;
	enum dist_error error = DIST_OK;

	dist__sim_note_call(actor->rank);
	dist__sim_pay(actor);
	actor->look_s = 0;
	round = find_round(meeting, op);
	if (!round)
		return NULL;
	round->held++;
	round->came++;
	bring(meeting, round, op);
	if (meeting->lost)
		error = DIST_ERR_PEER_LOST;
	else if (op->fingerprint != round->fingerprint)
		error = DIST_ERR_MISMATCH;
	else
		error = combine(round, op);
	if (!error && meeting->stand_ins) {
		const struct dist__sim_seats seats = seats_of(meeting, self);

		error = dist__sim_bring(op, &seats, &round->brought);
	}
	if (error)
		fail(meeting, round, error);
	else if (round->came == meeting->awaited && !round->error)
		complete(meeting, round, op);
	return round;
}

void dist__sim_round_drop(struct dist__sim_round *round)
{
	struct dist__sim_analytic *meeting = round->meeting;
	struct dist__sim_round **link = &meeting->first, *before = NULL;

	if (--round->held > 0 || round->came < meeting->awaited)
		return;
	while (*link != round) {
		before = *link;
		link = &before->next;
	}
	*link = round->next;
	if (meeting->last == round)
		meeting->last = before;
	round_free(round);
}

/* ---- waiting ----------------------------------------------------------- */

bool dist__sim_has_ended(const struct dist__sim_world *world,
			 const struct dist__sim_round *round)
{
	return round->error || world->ended ||
	       (round->complete && dist__engine->now_s() >= round->end_s);
}

enum dist_error dist__sim_await(struct dist__sim_round *round,
				struct dist__sim_rank *rank,
				int64_t deadline_ns)
{
	struct dist__sim_world *world = rank->world;
	enum dist_error error = DIST_OK;

	round->held++;
	while (!dist__sim_has_ended(world, round)) {
		if (dist__sim_is_late(world, deadline_ns) &&
		    dist__sim_time_is_up(rank)) {
			error = DIST_ERR_TIMEOUT;
			break;
		}
		if (round->complete) {
			/* Until its end, which is known. */
			double left_s = round->end_s - dist__engine->now_s();
			double until_s =
				dist__sim_seconds_until(world, deadline_ns);

			dist__engine->sleep(left_s < until_s ? left_s
							     : until_s);
		} else
			dist__sim_list_wait(world, &round->waiters,
					    deadline_ns);
		dist__sim_watch_note(rank);
	}
	if (!error)
		error = world->ended ? world->end_error : round->error;
	dist__sim_round_drop(round);
	return error;
}

/* ---- what ranks share --------------------------------------------------- */

void **dist__sim_shared(struct dist__transport *t,
			const struct dist__members *members, int key)
{
	struct dist__sim_analytic *meeting =
		dist__sim_analytic_of((struct dist__sim_rank *)t, members);
	struct shared *shared = meeting ? meeting->shared : NULL;

	while (shared && shared->key != key)
		shared = shared->next;
	if (shared || !meeting)
		return shared ? &shared->memory : NULL;
	shared = calloc(1, sizeof *shared);
	if (!shared)
		return NULL;
	shared->key = key;
	shared->next = meeting->shared;
	meeting->shared = shared;
	return &shared->memory;
}

/* ---- what takes no time ------------------------------------------------ */

static enum dist_error take(const struct dist__sim_analytic *meeting,
			    const struct dist__sim_round *round, int self,
			    const struct dist__op *op)
{
	const struct dist__sim_seats seats = seats_of(meeting, self);
	struct dist_message message = {""};
	enum dist_error error =
		dist__sim_take(op, &seats, round->brought, &message);

	if (error != DIST_ERR_MISMATCH)
		return error;
	dist__sim_break(meeting->world, message.text);
	return meeting->world->end_error;
}

enum dist_error dist__sim_round_store(const struct dist__sim_round *round,
				      int self, const struct dist__op *op)
{
	const struct dist__sim_analytic *meeting = round->meeting;
	const struct dist_tensor *t = &op->tensor;

	if (meeting->stand_ins)
		return take(meeting, round, self, op);
	if (!round->sum || bytes_of(op) == 0 ||
	    (op->kind == DIST__REDUCE && op->peer != self))
		return DIST_OK;
	memcpy(t->data, round->sum, bytes_of(op));
	if (op->reduce_op == DIST_AVG)
		dist__divide(t->dtype, t->data, t->numel, meeting->size);
	return DIST_OK;
}

/* ---- ends -------------------------------------------------------------- */

/* Calls an act on every round of the meeting; others run meanwhile, and let
 * rounds go. */
static void each_round(struct dist__sim_analytic *meeting,
		       void (*act)(struct dist__sim_analytic *meeting,
				   struct dist__sim_round *round))
{
	struct dist__sim_round *round = meeting->first, *next;

	for (; round; round = next) {
		round->held++;
		act(meeting, round);
		next = round->next;
		dist__sim_round_drop(round);
	}
}

static void lose_round(struct dist__sim_analytic *meeting,
		       struct dist__sim_round *round)
{
	fail(meeting, round, DIST_ERR_PEER_LOST);
}

static void end_round(struct dist__sim_analytic *meeting,
		      struct dist__sim_round *round)
{
	dist__sim_list_open(meeting->world, &round->waiters);
}

static bool has_member(const struct dist__sim_analytic *meeting, int rank)
{
	for (int i = 0; i < meeting->size; i++)
		if (meeting->ranks[i] == rank)
			return true;
	return false;
}

static void abort_one(struct dist__sim_analytic *m, uint32_t joined,
		      uint32_t group, int rank)
{
	if (m->group != group || m->joined != joined || !has_member(m, rank))
		return;
	m->lost = true;
	each_round(m, lose_round);
}

void dist__sim_analytics_abort(const struct dist__sim_rank *rank,
			       uint32_t group)
{
	for (size_t i = 0; i < DIST__SIM_MEETINGS; i++)
		for (struct dist__sim_analytic *m = rank->world->meetings[i]; m;
		     m = m->next)
			abort_one(m, rank->joined, group, rank->rank);
}

void dist__sim_analytics_end(struct dist__sim_world *world)
{
	for (size_t i = 0; i < DIST__SIM_MEETINGS; i++)
		for (struct dist__sim_analytic *m = world->meetings[i]; m;
		     m = m->next)
			each_round(m, end_round);
}

void dist__sim_analytics_release(struct dist__sim_world *world)
{
	for (size_t i = 0; i < DIST__SIM_MEETINGS; i++) {
		struct dist__sim_analytic *meeting;

		while ((meeting = world->meetings[i])) {
			world->meetings[i] = meeting->next;
			meeting_free(meeting);
		}
	}
}
