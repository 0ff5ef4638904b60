/*
 * choose.c - any-source receives that wait until nothing else can move, and
 * then take the message that the plan says, or the first; and looks at messages
 * in flight, which wait as long and then are told yes or no.
 *
 * What a receive could take by then is all that can have been sent without it.
 * A message that fits an any-source receive first is held back from those that
 * were posted later, whatever their source: so no message meets a receive that
 * it could not meet on a network.
 *
 * A look at what is complete by then may have come too soon: "no" is a choice,
 * but once only for each message, so that who looks again and again comes to an
 * end. A look at what is not is told no when there is nothing else to choose.
 */
#include "sim/choose.h"

#include <unistd.h>

#include "base/array.h"
#include "sim/log.h"
#include "sim/message.h"
#include "sim/note.h"
#include "sim/progress.h"

/* ---- what there is to choose from ------------------------------------- */

/* A message and the receive that may take it; or no message, and what a rank
 * looks at. */
struct dist__sim_pair {
	struct dist__request *message, *receive;
	bool yes; /* the answer to the look */
};

static struct dist__sim_option option_of(const struct dist__sim_pair *pair)
{
	const struct dist__sim_rank *rank = pair->receive->rank;

	if (!pair->message)
		return (struct dist__sim_option){
			rank->rank, DIST__SIM_LOOK | rank->num_looks,
			pair->yes};
	return (struct dist__sim_option){rank->rank, pair->receive->number,
					 pair->message->rank->rank};
}

static bool add_pair(struct dist__sim_chooser *chooser,
		     struct dist__sim_pair pair)
{
	if (!dist__array_room(&chooser->pairs, &chooser->space,
			      chooser->num_pairs + 1, sizeof pair))
		return false;
	chooser->pairs[chooser->num_pairs++] = pair;
	return true;
}

/* Whether receive already has a pair, since `first`, with a message of the same
 * sender: later ones wait behind it. */
static bool has_sender(const struct dist__sim_chooser *chooser, size_t first,
		       const struct dist__request *message)
{
	for (size_t i = first; i < chooser->num_pairs; i++)
		if (chooser->pairs[i].message->rank == message->rank)
			return true;
	return false;
}

/* Adds the messages that receive may take, as they arrived. */
static bool collect_for(struct dist__sim_chooser *chooser,
			struct dist__request *receive)
{
	struct dist__request *message = receive->rank->arrived.first;
	size_t first = chooser->num_pairs;
	bool good = true;

	for (; message && good; message = message->next)
		if (dist__sim_message_receive(message) == receive &&
		    !has_sender(chooser, first, message))
			good = add_pair(chooser,
					(struct dist__sim_pair){message,
								receive, true});
	return good;
}

/* Adds the messages that receives of rank may take, as these were posted. */
static bool collect_messages(struct dist__sim_chooser *chooser,
			     struct dist__sim_rank *rank)
{
	struct dist__request *receive = rank->receives.first;
	bool good = true;

	for (; receive && good; receive = receive->next)
		if (receive->peer == DIST_ANY_SOURCE)
			good = collect_for(chooser, receive);
	return good;
}

/* Adds the answers to the look of rank, if it waits for one: at what is
 * complete, and else only if `all` are wanted. */
static bool collect_look(struct dist__sim_chooser *chooser,
			 struct dist__sim_rank *rank, bool all)
{
	struct dist__request *r = rank->look;
	bool good = true;

	if (r && r->done)
		good = add_pair(chooser,
				(struct dist__sim_pair){NULL, r, true});
	if (r && good && (r->done ? !r->denied : all))
		good = add_pair(chooser,
				(struct dist__sim_pair){NULL, r, false});
	return good;
}

/* Finds all options, by rank. */
static void collect(struct dist__sim_world *world)
{
	struct dist__sim_chooser *chooser = &world->chooser;
	int size = world->present;
	bool good = true;

	chooser->num_pairs = 0;
	for (int rank = 0; rank < size && good; rank++)
		good = collect_messages(chooser, &world->ranks[rank]);
	for (int rank = 0; rank < size && good; rank++)
		good = collect_look(chooser, &world->ranks[rank], false);
	if (chooser->num_pairs == 0)
		for (int rank = 0; rank < size && good; rank++)
			good = collect_look(chooser, &world->ranks[rank], true);
	if (!good)
		dist__sim_break(world, "no memory to choose messages");
}

/* ---- choosing --------------------------------------------------------- */

static bool is_asleep(const struct dist__sim_world *world,
		      const struct dist__sim_pair *pair)
{
	const struct dist__sim_plan *plan = world->plan;
	struct dist__sim_option option = option_of(pair);

	if (world->chooser.steps < plan->prefix)
		return false;
	for (size_t i = 0; i < plan->num_asleep; i++)
		if (plan->asleep[i].rank == option.rank &&
		    plan->asleep[i].receive == option.receive &&
		    plan->asleep[i].sender == option.sender)
			return true;
	return false;
}

/* What the plan says of this point. False: it says nothing. */
static bool is_planned(struct dist__sim_world *world, uint32_t *option)
{
	struct dist__sim_chooser *chooser = &world->chooser;
	const struct dist__sim_plan *plan = world->plan;
	uint32_t point = chooser->points;

	if (chooser->num_pairs < 2)
		return false;
	chooser->points++;
	if (chooser->next == plan->num_choices ||
	    plan->choices[chooser->next].point != point)
		return false;
	*option = plan->choices[chooser->next++].option;
	return true;
}

/* Returns the number of the pair to let meet; num_pairs: there is none. */
static uint32_t pick(struct dist__sim_world *world)
{
	const struct dist__sim_chooser *chooser = &world->chooser;
	uint32_t count = (uint32_t)chooser->num_pairs, option = 0;

	if (is_planned(world, &option)) {
		if (option >= count)
			dist__sim_break(world, DIST__SIM_OTHER_JOB);
		return option < count ? option : count;
	}
	while (option < count && is_asleep(world, &chooser->pairs[option]))
		option++;
	return option;
}

static struct check_call call_of(const struct dist__request *r)
{
	const struct check_call *call = check_call_find(
		&r->rank->world->board->slots[r->rank->rank], r->call);

	return call ? *call : (struct check_call){.number = 0};
}

static void note(struct dist__sim_world *world, uint32_t taken)
{
	const struct dist__sim_chooser *chooser = &world->chooser;
	const struct dist__sim_pair *pair = &chooser->pairs[taken];
	uint32_t count = (uint32_t)chooser->num_pairs;
	struct dist__sim_log *log = world->log;
	struct dist__sim_step *step;

	if (log->num_steps == DIST__SIM_STEPS ||
	    count > DIST__SIM_OPTIONS - log->num_options)
		log->full = true;
	if (log->full)
		return;
	step = &log->steps[log->num_steps++];
	*step = (struct dist__sim_step){
		.first = log->num_options,
		.count = count,
		.taken = taken,
		.group = pair->receive->group,
		.joined = pair->receive->joined,
		.tag = pair->message ? pair->receive->tag : -1,
		.look = pair->message ? 0 : pair->receive->call,
		.receive = call_of(pair->receive),
	};
	if (pair->message)
		step->send = call_of(pair->message);
	for (uint32_t i = 0; i < count; i++)
		log->options[log->num_options++] =
			option_of(&chooser->pairs[i]);
}

/* ---- looks ------------------------------------------------------------ */

bool dist__sim_look(struct dist__sim_actor *actor, struct dist__request *r)
{
	struct dist__sim_rank *rank = actor->rank;

	rank->num_looks++;
	rank->seen = false;
	rank->look = r;
	while (rank->look && !rank->world->ended)
		dist__sim_gate_wait(rank->world, &actor->gate,
				    DIST_TIMEOUT_NEVER);
	rank->look = NULL;
	dist__sim_watch_note(rank);
	return rank->seen;
}

void dist__sim_looks_end(struct dist__sim_world *world)
{
	for (int rank = 0; rank < world->present; rank++)
		if (world->ranks[rank].look || world->ranks[rank].awaits_key)
			dist__sim_gate_open(world,
					    &world->ranks[rank].actor.gate);
}

static void answer(const struct dist__sim_pair *pair)
{
	struct dist__sim_rank *rank = pair->receive->rank;

	rank->look = NULL;
	rank->seen = pair->yes;
	if (!pair->yes && pair->receive->done)
		pair->receive->denied = true;
	dist__sim_gate_open(rank->world, &rank->actor.gate);
}

/* ---- at a point of choice --------------------------------------------- */

/* Nobody else acts in this instant. */
static void choose(void *arg)
{
	struct dist__sim_world *world = arg;
	struct dist__sim_pair pair;
	uint32_t taken;

	collect(world);
	taken = pick(world);
	if (!world->ended && taken == world->chooser.num_pairs) {
		/* Only an explorer puts options to sleep. */
		world->log->fate = DIST__SIM_REDUNDANT;
		_exit(DIST_EXIT_OK);
	}
	if (!world->ended) {
		pair = world->chooser.pairs[taken];
		world->chooser.steps++;
		if (world->log)
			note(world, taken);
		if (pair.message)
			dist__sim_message_take(pair.message, pair.receive);
		else
			answer(&pair);
	}
	(void)dist__sim_block(world);
}

bool dist__sim_choose(struct dist__sim_world *world)
{
	if (!dist__sim_choosing(world))
		return false;
	collect(world);
	if (world->chooser.num_pairs == 0 || world->ended)
		return false;
	dist__sim_unblock(world);
	dist__engine->at(dist__engine->now_s(), choose, world);
	return true;
}

bool dist__sim_chose_all(const struct dist__sim_world *world)
{
	return !world->plan || world->chooser.next == world->plan->num_choices;
}
