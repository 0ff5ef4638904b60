/*
 * world.c - the simulated world: launch runs every rank program as an actor of
 * SimGrid inside this process.
 */
#include "sim/world.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "core/data.h"
#include "core/init_method.h"
#include "library/fidelity.h"
#include "sim/explore.h"
#include "sim/flow.h"
#include "sim/queues.h"
#include "sim/formula.h"

/* SimGrid has one engine a process; while it runs, all code runs in it. */
static struct dist__sim_world *running;

/* What the last one followed. */
static struct dist__tally told;

const struct dist__tally *dist__sim_tally(void)
{
	return &told;
}

static bool is_here(void)
{
	return running != NULL;
}

static struct check_slot *records(void)
{
	struct dist__sim_actor *actor =
		running ? sg_actor_self_get_data() : NULL;

	return actor ? &running->board->slots[actor->rank->rank] : NULL;
}

static struct dist_group **own(void)
{
	struct dist__sim_actor *actor =
		running ? sg_actor_self_get_data() : NULL;

	return actor ? &actor->rank->group : NULL;
}

static bool is_available(struct dist_message *why)
{
	(void)why;
	return true;
}

static enum dist_error pause_rank(int64_t duration_ns)
{
	struct dist__sim_actor *actor = sg_actor_self_get_data();
	struct dist__transport *transport = &actor->rank->transport;

	dist__sim_note_look(actor->rank->world);
	return transport->ops->compute(transport, duration_ns);
}

/* ---- joining -------------------------------------------------------- */

/* Whether the method says of the rank's place what is so. */
static enum dist_error check_place(const struct dist__init_method *method,
				   const struct dist__sim_rank *rank,
				   struct dist_message *message)
{
	int world_size = rank->world->world_size;

	if (method->world_size > 0 &&
	    (method->world_size != world_size || method->rank != rank->rank))
		snprintf(message->text, sizeof message->text,
			 "this actor is rank %d of %d, not rank %d of %d",
			 rank->rank, world_size, method->rank,
			 method->world_size);
	else if (rank->attached)
		snprintf(message->text, sizeof message->text,
			 "rank %d has joined already: destroy its process "
			 "group first",
			 rank->rank);
	else
		return DIST_OK;
	return DIST_ERR_INVALID_ARGUMENT;
}

/* A method has room for a path: on the stack, every rank would keep that. */
static enum dist_error check_options(const struct dist_init_options *options,
				     const struct dist__sim_rank *rank,
				     struct dist_message *message)
{
	struct dist__init_method *method = malloc(sizeof *method);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (method)
		error = dist__init_method_read(options, method, message);
	if (!error)
		error = check_place(method, rank, message);
	free(method);
	return error;
}

static enum dist_error attach(const struct dist_init_options *options,
			      struct dist__place *place,
			      struct dist_message *message)
{
	struct dist__sim_actor *actor =
		running ? sg_actor_self_get_data() : NULL;
	struct dist__sim_world *world = running;
	struct dist__sim_rank *rank;
	enum dist_error error;

	if (!actor) {
		snprintf(message->text, sizeof message->text,
			 "not inside a simulation: use dist_launch");
		return DIST_ERR_INVALID_ARGUMENT;
	}
	rank = actor->rank;
	error = check_options(options, rank, message);
	if (error)
		return error;
	rank->attached = true;
	rank->joined++;
	rank->num_aborted = 0;
	*place = (struct dist__place){
		.rank = rank->rank,
		.world_size = world->world_size,
		.timeout_ns = options->timeout_ns ? options->timeout_ns
						  : world->timeout_ns,
		.debug = world->debug,
		.transport = &rank->transport,
		.profile = &world->profile,
		.nodes = world->nodes,
		.recorder = world->recorder,
		.slot = &world->board->slots[rank->rank],
	};
	return DIST_OK;
}

/* ---- what the run stands on ----------------------------------------- */

#define OWN_FACTS 22

static enum dist_error open_profile(struct dist__sim_world *world,
				    const struct dist_launch_options *options,
				    struct dist_message *message)
{
	char path[4096];
	enum dist_error error = DIST_OK;

	dist__profile_init(&world->profile);
	if (options->profile) {
		error = dist__data_find("profiles", options->profile, ".yaml",
					path, sizeof path, message);
		if (!error)
			error = dist__profile_load(&world->profile, path,
						   message);
	}
	if (!error && options->algorithm)
		error = dist__profile_force(&world->profile, options->algorithm,
					    message);
	if (!error && options->p2p &&
	    !dist__p2p_mode_parse(&world->profile.p2p, options->p2p)) {
		snprintf(message->text, sizeof message->text,
			 "p2p: expected " DIST__P2P_MODES ", not \"%.40s\"",
			 options->p2p);
		error = DIST_ERR_INVALID_ARGUMENT;
	}
	world->call_s = world->profile.call_ns * 1e-9;
	world->overhead_s = world->profile.message_overhead_ns * 1e-9;
	world->receive_s = world->profile.receive_overhead_ns * 1e-9;
	world->wait_s = world->profile.wait_ns * 1e-9;
	if (world->profile.reduce_Bps > 0)
		world->reduce_s_per_byte = 1 / world->profile.reduce_Bps;
	if (world->profile.copy_Bps > 0)
		world->copy_s_per_byte = 1 / world->profile.copy_Bps;
	return error;
}

static enum dist_error refuse_fidelity(const struct dist__sim_world *world,
				       const char *expected,
				       struct dist_message *message)
{
	snprintf(message->text, sizeof message->text,
		 "fidelity: expected %s, not %s", expected,
		 dist__fidelity_name(world->fidelity));
	return DIST_ERR_INVALID_ARGUMENT;
}

/* Schedules are searched, and seen again, message by message; where rank 0
 * stands for all, there is nobody to send one to. */
static enum dist_error open_fidelity(struct dist__sim_world *world,
				     const struct dist_launch_options *options,
				     struct dist_message *message)
{
	bool scheduled = options->explore || options->replay;
	bool alone = world->present < world->world_size;
	enum dist__fidelity asked;
	enum dist_error error;

	if (!dist__fidelity_parse(&asked, options->fidelity)) {
		snprintf(message->text, sizeof message->text,
			 "fidelity: expected " DIST__FIDELITIES
			 ", not \"%.40s\"",
			 options->fidelity);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (scheduled && asked == DIST__FIDELITY_AUTO)
		asked = DIST__FIDELITY_MESSAGE;
	else if (alone && asked == DIST__FIDELITY_AUTO)
		asked = DIST__FIDELITY_FORMULA;
	error = library_fidelity(&world->profile, world->world_size, asked,
				 &world->fidelity, message);
	if (error)
		return error;
	world->tally.fidelity = world->fidelity;
	if (scheduled && world->fidelity != DIST__FIDELITY_MESSAGE)
		return refuse_fidelity(world,
				       "message where schedules are "
				       "explored or replayed",
				       message);
	if (alone && world->fidelity != DIST__FIDELITY_FORMULA)
		return refuse_fidelity(world,
				       "formula on a platform of any "
				       "number of nodes",
				       message);
	return DIST_OK;
}

/* Where the network model has no simple arithmetic, or links have queues, all
 * goes by messages. */
static enum dist_error open_links(struct dist__sim_world *world)
{
	if (world->platform->has_queues) {
		world->queues = dist__sim_queues_new(world);
		return world->queues ? DIST_OK : DIST_ERR_NO_MEMORY;
	}
	if (world->fidelity == DIST__FIDELITY_FLOW)
		world->flows = dist__sim_flows_new(world);
	return DIST_OK;
}

static enum dist_error open_platform(struct dist__sim_world *world,
				     const struct dist_launch_options *options,
				     struct dist_message *message)
{
	struct dist__terms terms;
	enum dist_error error;

	if (!options->platform) {
		snprintf(message->text, sizeof message->text,
			 "a simulation needs a platform: give --platform or "
			 "set LOCKSTEP_PLATFORM");
		return DIST_ERR_INVALID_ARGUMENT;
	}
	error = dist__data_find("platforms", options->platform, ".xml",
				world->path, sizeof world->path, message);
	if (!error && options->links)
		error = dist__terms_read(&terms, options->links, message);
	if (error)
		return error;
	if (options->links)
		dist__platform_agree(&terms);
	error = dist__platform_open(world->path, options->world_size,
				    &world->platform, message);
	world->present = world->world_size;
	if (!error && dist__platform_is_any(world->platform))
		world->present = 1;
	return error;
}

static void number(char *text, size_t size, double value)
{
	snprintf(text, size, "%.12g", value);
}

/* The trace keeps where the texts are. */
static void print_p2p(struct dist__sim_world *world)
{
	dist__p2p_mode_print(&world->profile.p2p, world->p2p_text,
			     sizeof world->p2p_text);
}

static void print_profile(struct dist__sim_world *world)
{
	const struct dist__profile *profile = &world->profile;

	number(world->overhead_text, sizeof world->overhead_text,
	       profile->message_overhead_ns);
	number(world->reduce_text, sizeof world->reduce_text,
	       profile->reduce_Bps);
	number(world->segment_text, sizeof world->segment_text,
	       profile->segment_bytes);
	number(world->receive_text, sizeof world->receive_text,
	       profile->receive_overhead_ns);
	number(world->call_text, sizeof world->call_text, profile->call_ns);
	number(world->wait_text, sizeof world->wait_text, profile->wait_ns);
	number(world->cores_text, sizeof world->cores_text, profile->cores);
	number(world->send_rate_text, sizeof world->send_rate_text,
	       profile->send_Bps);
	number(world->receive_rate_text, sizeof world->receive_rate_text,
	       profile->receive_Bps);
	number(world->copy_text, sizeof world->copy_text, profile->copy_Bps);
	number(world->window_text, sizeof world->window_text,
	       (double)profile->window_bytes);
	dist__profile_rates_print(profile, world->rates_text,
				  sizeof world->rates_text);
	print_p2p(world);
}

static enum dist_error open_recorder(struct dist__sim_world *world,
				     const struct dist_launch_options *options)
{
	const struct dist__profile *profile = &world->profile;
	struct dist__fact facts[OWN_FACTS + DIST__PLATFORM_FACTS];
	const struct dist__fact *more;
	size_t n = 0, num_more;

	if (!options->trace)
		return DIST_OK;
	print_profile(world);
	facts[n++] = (struct dist__fact){"backend", "sim"};
	facts[n++] = (struct dist__fact){"fidelity",
					 dist__fidelity_name(world->fidelity)};
	facts[n++] = (struct dist__fact){
		"platform", dist__platform_name(options->platform)};
	more = dist__platform_facts(world->platform, &num_more);
	while (num_more-- > 0)
		facts[n++] = *more++;
	facts[n++] = (struct dist__fact){"profile", profile->name};
	facts[n++] = (struct dist__fact){"profile version", profile->version};
	facts[n++] = (struct dist__fact){"profile source", profile->source};
	facts[n++] = (struct dist__fact){"message_overhead_ns",
					 world->overhead_text};
	facts[n++] = (struct dist__fact){"reduce_Bps", world->reduce_text};
	facts[n++] = (struct dist__fact){"segment_bytes", world->segment_text};
	facts[n++] = (struct dist__fact){"p2p", world->p2p_text};
	if (profile->shares_memory)
		facts[n++] = (struct dist__fact){"intra", "shm"};
	if (profile->receive_overhead_ns > 0)
		facts[n++] = (struct dist__fact){"receive_overhead_ns",
						 world->receive_text};
	if (profile->call_ns > 0)
		facts[n++] = (struct dist__fact){"call_ns", world->call_text};
	if (profile->wait_ns > 0)
		facts[n++] = (struct dist__fact){"wait_ns", world->wait_text};
	if (profile->cores > 0)
		facts[n++] = (struct dist__fact){"cores", world->cores_text};
	if (profile->send_Bps > 0)
		facts[n++] =
			(struct dist__fact){"send_Bps", world->send_rate_text};
	if (profile->receive_Bps > 0)
		facts[n++] = (struct dist__fact){"receive_Bps",
						 world->receive_rate_text};
	if (profile->copy_Bps > 0)
		facts[n++] = (struct dist__fact){"copy_Bps", world->copy_text};
	if (profile->window_bytes < SIZE_MAX)
		facts[n++] =
			(struct dist__fact){"window_bytes", world->window_text};
	if (profile->num_rates > 0)
		facts[n++] = (struct dist__fact){"rates", world->rates_text};
	if (options->algorithm)
		facts[n++] =
			(struct dist__fact){"algorithm", options->algorithm};
	if (world->debug)
		facts[n++] = (struct dist__fact){"debug", options->debug};
	world->recorder = dist__recorder_new(options->trace, -1,
					     world->world_size, facts, n);
	return world->recorder ? DIST_OK : DIST_ERR_NO_MEMORY;
}

/* ---- the world's life ----------------------------------------------- */

static enum dist_error open_ranks(struct dist__sim_world *world)
{
	size_t size = (size_t)world->present;

	world->ranks = calloc(size, sizeof world->ranks[0]);
	/* Zeroed by the system: slots that no rank touches cost nothing. */
	world->board = calloc(1, check_board_bytes((uint32_t)size));
	if (!world->ranks || !world->board)
		return DIST_ERR_NO_MEMORY;
	check_board_init(world->board, (uint32_t)size);
	for (int r = 0; r < world->present; r++) {
		struct dist__sim_rank *rank = &world->ranks[r];

		rank->transport.ops = &dist__sim_transport_ops;
		rank->transport.shares_memory = world->profile.shares_memory;
		rank->world = world;
		rank->rank = r;
		rank->actor.rank = rank;
	}
	return DIST_OK;
}

static void world_free(struct dist__sim_world *world)
{
	if (!world)
		return;
	dist__sim_copy_drop(&world->patience);
	dist__sim_copy_drop(&world->strictness);
	dist__sim_requests_release(world);
	dist__sim_channels_release(world);
	dist__sim_meetings_release(world);
	dist__sim_flows_free(world->flows);
	dist__sim_queues_free(world->queues);
	dist__platform_close(world->platform);
	dist__profile_release(&world->profile);
	free(world->cores_free_s);
	free(world->chooser.pairs);
	free(world->late_board);
	free(world->board);
	free(world->ranks);
	free(world->nodes);
	free(world);
}

/* Where no two ranks share a node there is nothing to remember. */
static enum dist_error open_nodes(struct dist__sim_world *world)
{
	int size = world->world_size, count = -1;

	world->nodes = calloc((size_t)size, sizeof world->nodes[0]);
	if (world->nodes)
		count = dist__platform_nodes(world->platform, size,
					     world->nodes);
	if (count < 0)
		return DIST_ERR_NO_MEMORY;
	if (count == size) {
		free(world->nodes);
		world->nodes = NULL;
	}
	return DIST_OK;
}

static enum dist_error world_open(struct dist__sim_world *world,
				  const struct dist_launch_options *options,
				  struct dist_message *message)
{
	enum dist_error error = open_profile(world, options, message);

	if (!error)
		error = open_platform(world, options, message);
	if (!error)
		error = open_fidelity(world, options, message);
	if (!error)
		error = open_nodes(world);
	if (!error)
		error = dist__sim_cores_open(world);
	if (!error)
		error = open_ranks(world);
	if (!error)
		error = open_links(world);
	if (!error)
		error = open_recorder(world, options);
	return error;
}

/* What the ranks held is free now, and lies between their stacks. SimGrid is
 * about to free those, which writes a page that was never used into each. */
static void give_back_memory(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/* The life of a rank. A rank that failed keeps the state in which it got
 * stuck, for the verdict. */
static void rank_actor(int argc, char **argv)
{
	struct dist__sim_actor *actor = sg_actor_self_get_data();
	struct dist__sim_rank *rank = actor->rank;
	struct dist__sim_world *world = rank->world;
	struct check_slot *slot = &world->board->slots[rank->rank];

	(void)argc;
	(void)argv;
	rank->status = world->rank_main(world->arg);
	if (slot->state != CHECK_RANK_WAITING)
		slot->state = CHECK_RANK_FINISHED;
	dist__sim_close(rank);
	if (--world->unfinished == 0)
		give_back_memory();
	(void)dist__sim_block(world);
}

static void start_rank(struct dist__sim_rank *rank)
{
	sg_host_t host = dist__platform_host(rank->world->platform, rank->rank);
	sg_actor_t actor;
	char name[32];

	snprintf(name, sizeof name, "rank %d", rank->rank);
	actor = sg_actor_init(name, host);
	rank->pace = dist__platform_pace(rank->world->platform, rank->rank);
	sg_actor_set_data(actor, &rank->actor);
	sg_actor_start(actor, rank_actor, 0, NULL);
}

int dist__sim_run(struct dist__sim_world *world)
{
	world->movable = world->present;
	world->unfinished = world->present;
	for (int rank = 0; rank < world->present; rank++)
		start_rank(&world->ranks[rank]);
	running = world;
	simgrid_run();
	running = NULL;
	if (world->unfinished > 0) {
		fprintf(stderr, "lockstep: internal error: the simulation "
				"stopped with ranks still in it\n");
		return DIST_EXIT_INTERNAL;
	}
	return dist__sim_exit_status(world);
}

static int complain(enum dist_error error, const struct dist_message *message)
{
	fprintf(stderr, "lockstep: %s\n",
		message->text[0] ? message->text : dist_error_string(error));
	return error == DIST_ERR_NO_MEMORY ? DIST_EXIT_INTERNAL
					   : DIST_EXIT_USAGE;
}

bool dist__sim_follow(struct dist__sim_world *world,
		      const struct dist__sim_plan *plan)
{
	if (plan->p2p[0] &&
	    !dist__p2p_mode_parse(&world->profile.p2p, plan->p2p))
		return false;
	print_p2p(world);
	world->plan = plan;
	return true;
}

static int refuse_words(const char *variable, const char *words,
			const char *expected)
{
	fprintf(stderr, "lockstep: %s: expected %s, not \"%s\"\n", variable,
		expected, words);
	return DIST_EXIT_USAGE;
}

static int replay(struct dist__sim_world *world, const char *token)
{
	struct dist__sim_plan plan = {.skew = 0};
	int status;

	if (!dist__sim_plan_parse(&plan, token) ||
	    !dist__sim_follow(world, &plan)) {
		status = refuse_words("replay", token, DIST__SIM_TOKEN);
	} else {
		world->token = token;
		status = dist__sim_run(world);
		if (!world->ended && !dist__sim_chose_all(world)) {
			fputs("lockstep: " DIST__SIM_OTHER_JOB "\n", stderr);
			status = DIST_EXIT_USAGE;
		}
	}
	dist__sim_plan_release(&plan);
	return status;
}

static int run_as_asked(struct dist__sim_world *world,
			const struct dist_launch_options *options)
{
	struct dist__sim_bounds bounds;

	if (options->replay)
		return replay(world, options->replay);
	if (!options->explore)
		return dist__sim_run(world);
	if (!dist__sim_bounds_parse(&bounds, options->explore))
		return refuse_words("explore", options->explore,
				    DIST__SIM_BOUNDS);
	return dist__sim_explore(world, &bounds, options->p2p != NULL);
}

static int launch(const struct dist_launch_options *options,
		  int (*rank_main)(void *arg), void *arg)
{
	struct dist__sim_world *world = calloc(1, sizeof *world);
	struct dist_message message = {""};
	enum dist_error error;
	int status;

	if (!world)
		return complain(DIST_ERR_NO_MEMORY, &message);
	world->world_size = options->world_size;
	world->timeout_ns = options->timeout_ns;
	(void)dist__debug_parse(&world->debug, options->debug);
	world->rank_main = rank_main;
	world->arg = arg;
	error = world_open(world, options, &message);
	if (error) {
		status = complain(error, &message);
	} else {
		status = run_as_asked(world, options);
		told = world->tally;
		error = dist__recorder_finish(world->recorder, &message);
		if (error)
			(void)complain(error, &message);
		if (error && status == DIST_EXIT_OK)
			status = DIST_EXIT_FAILED;
	}
	world_free(world);
	return status;
}

static enum dist_error backend_new(const struct dist__place *place,
				   const struct dist__members *members,
				   struct dist__backend **backend,
				   struct dist_message *message)
{
	(void)message;
	if (running->fidelity == DIST__FIDELITY_FORMULA)
		return dist__sim_formula_new(place, members, backend);
	*backend = dist__p2p_backend_new(place->transport, members,
					 place->profile);
	return *backend ? DIST_OK : DIST_ERR_NO_MEMORY;
}

const struct dist__world dist__sim_world = {
	.name = "sim",
	.summary = "simulated hosts and links, by SimGrid",
	.has_phantoms = true,
	.is_here = is_here,
	.records = records,
	.own = own,
	.is_available = is_available,
	.pause = pause_rank,
	.default_timeout_ns = DIST_TIMEOUT_DEFAULT,
	.attach = attach,
	.launch = launch,
	.backend_new = backend_new,
};
