/*
 * launch.c - the simulated world: how a rank joins it, what it stands on, and
 * its life from dist_launch() to the exit status.
 */
#include "sim/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/refuse.h"
#include "coll/p2p_backend.h"
#include "core/init_method.h"
#include "model/library/fidelity.h"
#include "model/library/library.h"
#include "sim/analytic_collective.h"
#include "sim/channel.h"
#include "sim/choose.h"
#include "sim/copy.h"
#include "sim/cores.h"
#include "sim/engine/engine.h"
#include "sim/explore/explore.h"
#include "sim/flow.h"
#include "sim/keys.h"
#include "sim/message.h"
#include "sim/forecast.h"
#include "sim/note.h"
#include "sim/progress.h"
#include "sim/queues.h"
#include "sim/request.h"
#include "sim/round.h"
#include "sim/run.h"
#include "sim/stack.h"
#include "sim/transport.h"
#include "sim/watch.h"
#include "trace/recorder.h"

/* What the last simulation of this process followed. */
static struct dist__tally last;

const struct dist__tally *dist__sim_tally(void)
{
	return &last;
}

static struct check_slot *records(void)
{
	struct dist__sim_rank *rank = dist__sim_caller();

	return rank ? &rank->world->board->slots[rank->rank] : NULL;
}

static struct dist_group **own(void)
{
	struct dist__sim_rank *rank = dist__sim_caller();

	return rank ? &rank->group : NULL;
}

static bool is_available(struct dist_message *why)
{
	(void)why;
	return true;
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
		return dist__refuse(
			message,
			"this actor is rank %d of %d, not rank %d of %d: "
			"--nproc-per-node, or --represent, says of how many",
			rank->rank, world_size, method->rank,
			method->world_size);
	if (rank->attached)
		return dist__refuse(message,
				    "rank %d has joined already: destroy its "
				    "process group first",
				    rank->rank);
	return DIST_OK;
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
	struct dist__sim_rank *rank = dist__sim_caller();
	struct dist__sim_world *world;
	enum dist_error error;

	if (!rank)
		return dist__refuse(message, "not inside a simulation: use "
					     "dist_launch");
	world = rank->world;
	error = check_options(options, rank, message);
	if (error)
		return error;
	rank->attached = true;
	rank->joined++;
	rank->num_aborted = 0;
	*place = (struct dist__place){
		.rank = rank->rank,
		.world_size = world->world_size,
		.num_running = world->present,
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

static enum dist_error open_profile(struct dist__sim_world *world,
				    const struct dist_launch_options *options,
				    struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	dist__profile_init(&world->profile);
	if (options->profile)
		error = dist__profile_find(&world->profile, options->profile,
					   message);
	if (!error && options->algorithm)
		error = library_force(&world->profile, options->algorithm,
				      message);
	if (!error && options->p2p &&
	    !dist__p2p_mode_parse(&world->profile.p2p, options->p2p))
		error = dist__refuse(message,
				     "p2p: expected " DIST__P2P_MODES
				     ", not \"%.40s\"",
				     options->p2p);
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
	return dist__refuse(message, "fidelity: expected %s, not %s", expected,
			    dist__fidelity_name(world->fidelity));
}

/* Whether bytes can flow: links have no queues, and latencies and bytes add up.
 */
static bool can_flow(const struct dist__sim_world *world)
{
	return !world->platform->has_queues &&
	       dist__graph_read_factors(world->platform->graph).is_linear;
}

/* Schedules are searched, and seen again, message by message; where ranks
 * stand for others, there is nobody to send one to. */
static enum dist_error open_fidelity(struct dist__sim_world *world,
				     const struct dist_launch_options *options,
				     struct dist_message *message)
{
	bool scheduled = options->explore || options->replay;
	bool alone = world->present < world->world_size;
	enum dist__fidelity asked;
	enum dist_error error;

	if (!dist__fidelity_parse(&asked, options->fidelity))
		return dist__refuse(message,
				    "fidelity: expected " DIST__FIDELITIES
				    ", not \"%.40s\"",
				    options->fidelity);
	if (scheduled && asked == DIST__FIDELITY_AUTO)
		asked = DIST__FIDELITY_MESSAGE;
	else if (alone && asked == DIST__FIDELITY_AUTO)
		asked = DIST__FIDELITY_FORMULA;
	error = library_fidelity(&world->profile, world->world_size, asked,
				 &world->fidelity, message);
	if (error)
		return error;
	if (asked == DIST__FIDELITY_AUTO &&
	    world->fidelity == DIST__FIDELITY_FLOW &&
	    !library_has_steps(&world->profile) && !can_flow(world))
		world->fidelity = DIST__FIDELITY_FORMULA;
	world->tally.fidelity = world->fidelity;
	world->has_rounds = world->fidelity == DIST__FIDELITY_FORMULA ||
			    !library_has_steps(&world->profile);
	if (scheduled && world->fidelity != DIST__FIDELITY_MESSAGE)
		return refuse_fidelity(world,
				       "message where schedules are "
				       "explored or replayed",
				       message);
	if (alone && world->fidelity != DIST__FIDELITY_FORMULA)
		return refuse_fidelity(
			world, "formula where ranks stand for others", message);
	return DIST_OK;
}

/* Whether ranks that do the same do it at the same times: by a formula, and by
 * transfers that go on at one pace, all of a group end together. Those of a
 * flow may, where links stay as they are. */
static bool are_in_step(const struct dist__sim_world *world)
{
	double pace = dist__platform_pace(world->platform, 0);

	if (world->fidelity == DIST__FIDELITY_MESSAGE)
		return false;
	if (world->fidelity == DIST__FIDELITY_FLOW &&
	    library_has_steps(&world->profile) &&
	    (!can_flow(world) || !world->tally.own_engine))
		return false;
	for (int rank = 1; rank < world->world_size; rank++)
		if (dist__platform_pace(world->platform, rank) != pace)
			return false;
	return true;
}

/* Whether all ranks together can use the algorithms that are forced. */
static enum dist_error check_forced(const struct dist__sim_world *world,
				    const struct fabric *fabric,
				    struct dist_message *message)
{
	const struct dist__profile *profile = &world->profile;
	struct library_call call = {
		.numel = 1, .element_bytes = 4, .ranks = world->world_size};
	struct library_estimate estimate;
	enum dist_error error = DIST_OK;

	for (int op = 0; op < DIST__OP_KINDS && !error; op++) {
		call.op = (enum dist__op_kind)op;
		if (profile->forced[op])
			error = library_estimate(profile, fabric, &call,
						 &estimate, message);
	}
	return error;
}

/* Keeps for the tally what the collectives are timed for. */
static enum dist_error note_cluster(struct dist__sim_world *world,
				    struct dist_message *message)
{
	struct dist__tally *tally = &world->tally;
	struct fabric fabric;
	enum dist_error error = dist__platform_fabric(
		world->platform, NULL, world->world_size, &fabric);

	if (error)
		return error;
	snprintf(tally->library, sizeof tally->library, "%s",
		 library_name(&world->profile));
	if (fabric.nodes > 1)
		snprintf(tally->transport, sizeof tally->transport, "%s",
			 fabric.transport);
	tally->nodes = fabric.nodes;
	tally->is_calibrated = library_calibration(&world->profile, &fabric);
	error = library_check_fabric(&world->profile, &fabric, message);
	if (!error && world->fidelity == DIST__FIDELITY_FORMULA &&
	    !dist__platform_is_any(world->platform))
		error = dist__platform_check_alike(
			world->platform, world->world_size, &fabric, message);
	return error ? error : check_forced(world, &fabric, message);
}

/* Where the network model has no simple arithmetic, or links have queues, all
 * goes by messages; a library of which only transfers are known has none. */
static enum dist_error open_links(struct dist__sim_world *world,
				  struct dist_message *message)
{
	bool by_transfers = world->fidelity == DIST__FIDELITY_FLOW &&
			    !library_has_steps(&world->profile);

	if (by_transfers && !can_flow(world))
		return dist__refuse(
			message,
			"fidelity flow: expected formula: the network model of "
			"the platform cannot time the transfers of profile %s",
			world->profile.name);
	if (world->platform->has_queues) {
		world->queues =
			dist__sim_queues_new(world, dist__sim_message_come);
		return world->queues ? DIST_OK : DIST_ERR_NO_MEMORY;
	}
	if (world->fidelity != DIST__FIDELITY_FORMULA)
		world->flows = dist__sim_flows_new(world);
	return by_transfers && !world->flows ? DIST_ERR_NO_MEMORY : DIST_OK;
}

/* Starts the engine that text names; NULL or "": our own if it runs the
 * platform. */
static enum dist_error start_engine(struct dist__sim_world *world,
				    const char *text,
				    struct dist_message *message)
{
	bool any = !text || !*text || strcmp(text, "auto") == 0;
	bool own = any || strcmp(text, "own") == 0;
	const char *obstacle = NULL;

	if (own)
		obstacle = dist__engine_obstacle(world->platform->graph,
						 world->path);
	if (obstacle && !any)
		return dist__refuse(message,
				    "engine own: %s: expected %s; --engine "
				    "simgrid runs it",
				    world->path, obstacle);
	own = own && !obstacle;
	world->tally.own_engine = own;
	return dist__platform_start(world->platform, own) ? DIST_OK
							  : DIST_ERR_NO_MEMORY;
}

static enum dist_error
open_platform(struct dist__sim_world *world,
	      const struct dist_launch_options *options,
	      const struct dist__link_overrides *overrides,
	      struct dist_message *message)
{
	const char *represents = getenv("LOCKSTEP_REPRESENT");
	const char *engine = options->engine ? options->engine : "auto";
	bool simgrid = strcmp(engine, "simgrid") == 0;
	struct dist__link_overrides read;
	enum dist_error error;

	if (!options->platform)
		return dist__refuse(
			message,
			"a simulation needs a platform: give --platform or "
			"set LOCKSTEP_PLATFORM; see lockstep list platforms");
	error = dist__data_find("platforms", options->platform, ".xml",
				world->path, sizeof world->path, message);
	if (!error && !overrides && options->links) {
		error = dist__link_overrides_read(&read, options->links,
						  message);
		overrides = &read;
	}
	if (!error && *engine && !simgrid && strcmp(engine, "auto") != 0 &&
	    strcmp(engine, "own") != 0)
		error = dist__refuse(message,
				     "engine: expected " DIST__ENGINES
				     ", not \"%.40s\"",
				     engine);
	if (error)
		return error;
	error = dist__platform_open(world->path, options->world_size, overrides,
				    simgrid, &world->platform, message);
	if (!error)
		error = start_engine(world, options->engine, message);
	if (!error && overrides)
		error = library_check_latency(
			&world->profile,
			dist__change_is_any(&overrides->inter.latency),
			dist__change_is_any(&overrides->intra.latency),
			message);
	world->present = world->world_size;
	if (error)
		return error;
	if (represents && *represents)
		world->present = (int)strtol(represents, NULL, 10);
	else if (dist__platform_is_any(world->platform))
		world->present = 1;
	if (world->present < 1 || world->world_size % world->present)
		return dist__refuse(message,
				    "LOCKSTEP_REPRESENT: %.20s: expected a "
				    "number that divides that of the ranks",
				    represents);
	if (dist__platform_is_any(world->platform) && world->present > 1)
		return dist__refuse(message,
				    "%.200s: its nodes represent any number: "
				    "expected --represent 1:N",
				    options->platform);
	return DIST_OK;
}

/* Adds a cost that the profile may leave out. */
static void add_number(struct dist__recorder *recorder, const char *key,
		       double value)
{
	if (value > 0)
		dist__recorder_add_fact(recorder, key, "%.12g", value);
}

static void add_profile(const struct dist__sim_world *world)
{
	const struct dist__profile *profile = &world->profile;
	struct dist__recorder *recorder = world->recorder;
	char rates[64 * DIST__RATES + 64];

	dist__recorder_add_fact(recorder, "profile", "%s", profile->name);
	dist__recorder_add_fact(recorder, "profile version", "%s",
				profile->version);
	dist__recorder_add_fact(recorder, "profile source", "%s",
				profile->source);
	dist__recorder_add_fact(recorder, "message_overhead_ns", "%.12g",
				profile->message_overhead_ns);
	dist__recorder_add_fact(recorder, "reduce_Bps", "%.12g",
				profile->reduce_Bps);
	dist__recorder_add_fact(recorder, "segment_bytes", "%d",
				profile->segment_bytes);
	dist__sim_note_p2p(world);
	if (profile->shares_memory)
		dist__recorder_add_fact(recorder, "intra", "shm");
	add_number(recorder, "receive_overhead_ns",
		   profile->receive_overhead_ns);
	add_number(recorder, "call_ns", profile->call_ns);
	add_number(recorder, "wait_ns", profile->wait_ns);
	add_number(recorder, "cores", profile->cores);
	add_number(recorder, "send_Bps", profile->send_Bps);
	add_number(recorder, "receive_Bps", profile->receive_Bps);
	add_number(recorder, "copy_Bps", profile->copy_Bps);
	if (profile->window_bytes < SIZE_MAX)
		dist__recorder_add_fact(recorder, "window_bytes", "%.12g",
					(double)profile->window_bytes);
	if (profile->num_rates > 0) {
		dist__profile_rates_print(profile, rates, sizeof rates);
		dist__recorder_add_fact(recorder, "rates", "%s", rates);
	}
}

static void add_facts(const struct dist__sim_world *world,
		      const struct dist_launch_options *options,
		      const struct dist__link_overrides *overrides)
{
	bool renamed = overrides && overrides->name[0];
	struct dist__recorder *recorder = world->recorder;
	const struct dist__fact *facts;
	size_t num;

	dist__recorder_add_fact(recorder, "backend", "sim");
	dist__recorder_add_fact(recorder, "fidelity", "%s",
				dist__fidelity_name(world->fidelity));
	dist__recorder_add_fact(recorder, "engine", "%s",
				dist__tally_engine(&world->tally));
	if (world->present < world->world_size)
		dist__recorder_add_fact(recorder, DIST__FACT_REPRESENTED,
					"rank 0 stands for all");
	dist__recorder_add_fact(recorder, "platform", "%s",
				renamed ? overrides->name : options->platform);
	facts = dist__platform_facts(world->platform, &num);
	for (size_t i = 0; i < num; i++)
		dist__recorder_add_fact(recorder, facts[i].key, "%s",
					facts[i].value);
	add_profile(world);
	if (options->algorithm)
		dist__recorder_add_fact(recorder, "algorithm", "%s",
					options->algorithm);
	if (world->debug)
		dist__recorder_add_fact(recorder, "debug", "%s",
					options->debug);
}

static enum dist_error open_recorder(struct dist__sim_world *world,
				     const struct dist_launch_options *options,
				     const struct dist__sim_options *more)
{
	world->recorder = more->recorder;
	if (!more->recorder && options->trace) {
		world->recorder = dist__recorder_new(options->trace, -1,
						     world->world_size, false);
		if (!world->recorder)
			return DIST_ERR_NO_MEMORY;
		world->owns_recorder = true;
	}
	if (world->recorder)
		add_facts(world, options, more->overrides);
	return DIST_OK;
}

/* ---- the world's life ----------------------------------------------- */

static enum dist_error open_ranks(struct dist__sim_world *world)
{
	size_t size = (size_t)world->present;
	/* Flows know those that do not run, too. */
	int known = world->fidelity == DIST__FIDELITY_FLOW &&
				    library_has_steps(&world->profile)
			    ? world->world_size
			    : world->present;

	world->ranks = calloc((size_t)known, sizeof world->ranks[0]);
	/* Zeroed by the system: slots that no rank touches cost nothing. */
	world->board = calloc(1, check_board_bytes((uint32_t)size));
	if (!world->ranks || !world->board)
		return DIST_ERR_NO_MEMORY;
	check_board_init(world->board, (uint32_t)size);
	world->outputs = check_outputs_asked();
	for (int r = 0; r < known; r++) {
		struct dist__sim_rank *rank = &world->ranks[r];

		rank->transport.ops = &dist__sim_transport_ops;
		rank->transport.shares_memory = world->profile.shares_memory;
		rank->world = world;
		rank->rank = r;
		rank->pace = dist__platform_pace(world->platform, r);
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
	dist__sim_analytics_release(world);
	dist__sim_flows_free(world->flows);
	dist__sim_queues_free(world->queues);
	dist__platform_close(world->platform);
	dist__profile_release(&world->profile);
	free(world->cores_free_s);
	free(world->chooser.pairs);
	free(world->late_board);
	dist__sim_watch_release(world);
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
				  const struct dist__sim_options *more,
				  struct dist_message *message)
{
	enum dist_error error = open_profile(world, options, message);

	if (!error)
		error = open_platform(world, options, more->overrides, message);
	if (!error)
		error = open_fidelity(world, options, message);
	if (!error && more->are_alike && are_in_step(world)) {
		world->present = 1;
		world->may_part = world->fidelity == DIST__FIDELITY_FLOW;
	}
	if (!error)
		error = open_nodes(world);
	if (!error)
		error = dist__sim_cores_open(world);
	if (!error)
		error = dist__sim_stack_choose(
			world, getenv("LOCKSTEP_STACK_SIZE"), message);
	if (!error)
		error = open_ranks(world);
	if (!error)
		error = open_links(world, message);
	if (!error)
		error = note_cluster(world, message);
	if (!error)
		error = open_recorder(world, options, more);
	return error;
}

static int complain(enum dist_error error, const struct dist_message *message)
{
	fprintf(stderr, "lockstep: %s\n",
		message->text[0] ? message->text : dist_error_string(error));
	return error == DIST_ERR_NO_MEMORY ? DIST_EXIT_INTERNAL
					   : DIST_EXIT_USAGE;
}

static int refuse_variable(const char *variable, const char *text,
			   const char *expected)
{
	fprintf(stderr, "lockstep: %s: expected %s, not \"%s\"\n", variable,
		expected, text);
	return DIST_EXIT_USAGE;
}

static int replay(struct dist__sim_world *world, const char *token)
{
	struct dist__sim_plan plan = {.skew = 0};
	int status;

	if (!dist__sim_plan_parse(&plan, token) ||
	    !dist__sim_follow(world, &plan)) {
		status = refuse_variable("--replay", token, DIST__SIM_TOKEN);
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
		return refuse_variable("explore", options->explore,
				       DIST__SIM_BOUNDS);
	return dist__sim_explore(world, &bounds, options->p2p != NULL);
}

int dist__sim_launch(const struct dist_launch_options *options,
		     const struct dist__sim_options *more,
		     int (*rank_main)(void *arg), void *arg)
{
	struct dist__sim_world *world = calloc(1, sizeof *world);
	const char *watched = getenv(DIST__SIM_WATCH_VARIABLE);
	const struct dist__world *before;
	struct dist_message message = {""};
	enum dist_error error;
	int status;

	if (!world)
		return complain(DIST_ERR_NO_MEMORY, &message);
	world->watch = &world->own_watch;
	world->watch_fd = watched && *watched ? atoi(watched) : -1;
	world->wants_strict = getenv("LOCKSTEP_CHECK") != NULL;
	world->world_size = options->world_size;
	world->timeout_ns = options->timeout_ns;
	(void)dist__debug_parse(&world->debug, options->debug);
	world->rank_main = rank_main;
	world->arg = arg;
	error = world_open(world, options, more, &message);
	if (error) {
		status = complain(error, &message);
	} else {
		before = dist__world_enter(&dist__sim_world);
		status = run_as_asked(world, options);
		(void)dist__world_enter(before);
		last = world->tally;
		if (world->recorder && world->owns_recorder)
			error = world->recorder->finish(world->recorder,
							&message);
		if (error)
			(void)complain(error, &message);
		if (error && status == DIST_EXIT_OK)
			status = DIST_EXIT_FAILED;
	}
	/* What was said here, the watcher need not say. */
	world->watch->verdict = status;
	world_free(world);
	return status;
}

static int launch(const struct dist_launch_options *options,
		  int (*rank_main)(void *arg), void *arg)
{
	const struct dist__sim_options nothing = {.overrides = NULL};

	return dist__sim_launch(options, &nothing, rank_main, arg);
}

static enum dist_error backend_new(const struct dist__place *place,
				   const struct dist__members *members,
				   struct dist__backend **backend,
				   struct dist_message *message)
{
	enum dist_error error = dist__sim_rounds_open(
		(struct dist__sim_rank *)place->transport, members);

	return error ? error
		     : dist__p2p_backend_new(place, members, backend, message);
}

const struct dist__world dist__sim_world = {
	.name = "sim",
	.summary = "simulated hosts and links, by SimGrid",
	.has_phantoms = true,
	.in_process = true,
	.records = records,
	.own = own,
	.is_available = is_available,
	.pause = dist__sim_pause,
	.await_key = dist__sim_await_key,
	.has_stored = dist__sim_has_stored,
	.ask_again = dist__sim_ask_again,
	.default_timeout_ns = DIST_TIMEOUT_DEFAULT,
	.attach = attach,
	.launch = launch,
	.backend_new = backend_new,
	.one_thread = true,
};
