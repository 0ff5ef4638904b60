/*
 * rpc.c - a worker: how it begins and ends, names, functions.
 */
#include "core/rpc/state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/capability.h"

#define DEFAULT_THREADS    16
#define DEFAULT_TIMEOUT_NS (INT64_C(60) * 1000000000)

/* Its messages go under another id than the collectives of its group: they end
 * first. */
#define MESSAGES (UINT32_C(1) << 31)

/* ---- names ----------------------------------------------------------------
 */

static bool is_name(const char *name)
{
	size_t length = strnlen(name, DIST_RPC_NAME);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_:", name[i]))
			return false;
	return length > 0 && length < DIST_RPC_NAME;
}

/* All ranks see the same names, and so agree whether they are in order: a rank
 * with a bad one has the empty one. */
static enum dist_error check_names(const struct dist_rpc *rpc)
{
	for (int i = 0; i < rpc->num_workers; i++) {
		if (!rpc->names[i][0])
			return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
					      "worker %d: expected options as "
					      "rpc.h has them",
					      i);
		for (int j = 0; j < i; j++)
			if (strcmp(rpc->names[i], rpc->names[j]) == 0)
				return dist__rpc_fail(
					DIST_ERR_INVALID_ARGUMENT,
					"workers %d and %d are both called %s",
					j, i, rpc->names[i]);
	}
	return DIST_OK;
}

static enum dist_error exchange_names(struct dist_rpc *rpc, const char *name,
				      const struct dist__site *site)
{
	char own[DIST_RPC_NAME] = "";
	size_t all = (size_t)rpc->num_workers * DIST_RPC_NAME;
	struct dist_group *group = rpc->group;
	enum dist_error error;

	if (name)
		snprintf(own, sizeof own, "%s", name);
	rpc->names = calloc((size_t)rpc->num_workers, sizeof *rpc->names);
	if (!rpc->names)
		return DIST_ERR_NO_MEMORY;
	dist_label(group, "rpc_init", 0);
	error = (dist_all_gather_single)(dist_at(group, site->file, site->line),
					 dist_tensor(rpc->names, all,
						     DIST_UINT8),
					 dist_tensor(own, sizeof own,
						     DIST_UINT8),
					 NULL);
	dist_label(group, "", 0);
	return error ? dist__rpc_fail(error, "%s", dist_error_message(group))
		     : check_names(rpc);
}

int dist_rpc_get_worker(const struct dist_rpc *rpc, const char *name)
{
	for (int i = 0; rpc && name && i < rpc->num_workers; i++)
		if (strcmp(rpc->names[i], name) == 0)
			return i;
	return -1;
}

const char *dist_rpc_get_worker_name(const struct dist_rpc *rpc, int worker)
{
	return rpc && worker >= 0 && worker < rpc->num_workers
		       ? rpc->names[worker]
		       : NULL;
}

int dist_rpc_get_rank(const struct dist_rpc *rpc)
{
	return rpc ? rpc->worker : -1;
}

int dist_rpc_get_world_size(const struct dist_rpc *rpc)
{
	return rpc ? rpc->num_workers : -1;
}

/* ---- beginning ------------------------------------------------------ */

static void rpc_free(struct dist_rpc *rpc)
{
	struct dist__rpc_function *function;
	struct dist__rpc_quiet *quiet;
	struct dist_rpc_call *call;

	while ((function = rpc->functions) != NULL) {
		rpc->functions = function->next;
		free(function);
	}
	while ((quiet = rpc->quiets) != NULL) {
		rpc->quiets = quiet->next;
		rpc->transport->ops->events->free(quiet->event);
		free(quiet);
	}
	while ((call = rpc->joined) != NULL) {
		rpc->joined = call->next;
		dist_rpc_bytes_free(&call->input);
		free(call);
	}
	dist__rpc_values_free(rpc);
	pthread_mutex_destroy(&rpc->mutex);
	free(rpc->worker_of);
	free(rpc->names);
	free(rpc->lost);
	free(rpc);
}

static struct dist_rpc *rpc_new(struct dist_group *group,
				const struct dist_rpc_options *options)
{
	struct dist_rpc *rpc = calloc(1, sizeof *rpc);
	size_t world_size = (size_t)group->place.world_size;

	if (!rpc)
		return NULL;
	rpc->transport = group->place.transport;
	rpc->slot = group->place.slot;
	rpc->owner = pthread_self();
	rpc->worker = group->members.rank;
	rpc->num_workers = group->members.world_size;
	rpc->max_running = options->num_worker_threads
				   ? options->num_worker_threads
				   : DEFAULT_THREADS;
	rpc->timeout_ns =
		options->timeout_ns ? options->timeout_ns : DEFAULT_TIMEOUT_NS;
	rpc->backlog_end = &rpc->backlog;
	pthread_mutex_init(&rpc->mutex, NULL);
	rpc->worker_of = calloc(world_size, sizeof *rpc->worker_of);
	rpc->lost = calloc(world_size, sizeof *rpc->lost);
	if (!rpc->worker_of || !rpc->lost) {
		rpc_free(rpc);
		return NULL;
	}
	for (int i = 0; i < rpc->num_workers; i++)
		rpc->worker_of[dist__global_rank(&group->members, i)] = i;
	return rpc;
}

/* Whether what one rank alone can judge of the options is in order. */
static bool suits(struct dist_rpc *rpc, const struct dist_rpc_options *options)
{
	if ((options->name && !is_name(options->name)) ||
	    options->num_worker_threads < 0 || options->timeout_ns < 0 ||
	    options->num_functions < 0 ||
	    (options->num_functions > 0 && !options->functions))
		return false;
	for (int i = 0; i < options->num_functions; i++) {
		const struct dist_rpc_entry *entry = &options->functions[i];

		if (dist_rpc_register(rpc, entry->name, entry->function,
				      entry->context))
			return false;
	}
	return true;
}

/* Opens the group of its own, and agrees about names. */
static enum dist_error meet(struct dist_rpc *rpc, struct dist_group *group,
			    const struct dist_rpc_options *options,
			    const struct dist__site *site)
{
	static const struct dist_group_options own = {.name = "rpc"};
	char name[DIST_RPC_NAME];
	bool good = suits(rpc, options);
	enum dist_error error =
		(dist_new_group)(dist_at(group, site->file, site->line), NULL,
				 0, &own, &rpc->group);

	if (error)
		return dist__rpc_fail(error, "%s", dist_error_message(group));
	rpc->message_group = rpc->group->members.group_id | MESSAGES;
	snprintf(name, sizeof name, "worker%d", rpc->worker);
	if (good && options->name)
		snprintf(name, sizeof name, "%s", options->name);
	return exchange_names(rpc, good ? name : "", site);
}

static enum dist_error begin_to_listen(struct dist_rpc *rpc)
{
	if (rpc->num_workers == 1)
		return DIST_OK;
	rpc->listeners = 1;
	return dist__rpc_spawn(rpc, dist__rpc_listen, NULL);
}

enum dist_error dist_rpc_init(struct dist_group *group,
			      const struct dist_rpc_options *options,
			      struct dist_rpc **rpc)
{
	static const struct dist_rpc_options defaults;
	struct dist__site site = dist__call_site_take();
	struct dist_rpc *fresh;
	enum dist_error error;

	if (!group || !rpc)
		return dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				      "expected a group and where to store "
				      "the rpc");
	if (!group->place.transport->ops->events ||
	    !dist__world_has(group->world, DIST__NEEDS_MESSAGES))
		return dist__fail(dist_at(group, site.file, site.line),
				  dist__rpc_fail(DIST_ERR_UNSUPPORTED,
						 "expected a world that has "
						 "messages of its own, got %s",
						 group->world->name),
				  "rpc_init: expected a world that has "
				  "messages of its own, got %s",
				  group->world->name);
	options = options ? options : &defaults;
	fresh = rpc_new(group, options);
	if (!fresh)
		return dist__rpc_fail(DIST_ERR_NO_MEMORY, "no memory");
	error = meet(fresh, group, options, &site);
	if (!error) {
		const struct dist__members *members = &fresh->group->members;

		dist__rpc_lock(fresh);
		check_rpc_join(fresh->slot, members->group_id,
			       (uint32_t)dist__global_rank(members, 0),
			       (uint32_t)fresh->max_running,
			       fresh->names[fresh->worker]);
		dist__rpc_unlock(fresh);
		error = begin_to_listen(fresh);
	}
	if (!error) {
		fresh->group->root->rpcs++;
		*rpc = fresh;
		return DIST_OK;
	}
	(void)dist_destroy_process_group(fresh->group);
	rpc_free(fresh);
	return error;
}

/* ---- ending --------------------------------------------------------- */

static struct dist__rpc_quiet *quiet_new(struct dist_rpc *rpc)
{
	struct dist__rpc_quiet *quiet = calloc(1, sizeof *quiet);

	if (quiet && rpc->transport->ops->events->create(rpc->transport,
							 &quiet->event)) {
		free(quiet);
		return NULL;
	}
	return quiet;
}

/* Waits until this worker has no call outstanding; stores how many it had
 * begun by then. */
static enum dist_error rest(struct dist_rpc *rpc, int64_t deadline_ns,
			    uint32_t *issued)
{
	struct dist__rpc_quiet *quiet = quiet_new(rpc);
	enum dist_error error = DIST_OK;
	bool waits;

	if (!quiet)
		return DIST_ERR_NO_MEMORY;
	dist__rpc_lock(rpc);
	quiet->next = rpc->quiets;
	rpc->quiets = quiet;
	waits = rpc->asks_quiet = rpc->outstanding > 0;
	*issued = rpc->issued;
	dist__rpc_unlock(rpc);
	if (!waits)
		return DIST_OK;
	error = rpc->transport->ops->events->wait(quiet->event, deadline_ns,
						  false);
	dist__rpc_lock(rpc);
	rpc->asks_quiet = false;
	*issued = rpc->issued;
	dist__rpc_unlock(rpc);
	return error;
}

/* Waits until all workers are in this round, each with a count, of which it
 * stores the sum. */
static enum dist_error meet_all(struct dist_rpc *rpc, int64_t count,
				int64_t timeout_ns, int64_t *sum)
{
	const struct dist__rpc_start start = {.kind = DIST__RPC_JOIN,
					      .function = "",
					      .bytes = {&count, sizeof count},
					      .timeout_ns = timeout_ns};
	struct dist_rpc_future *future;
	enum dist_error error = dist__rpc_start(rpc, &start, &future);

	if (error)
		return error;
	/* A worker that never comes is a deadlock. */
	future->gives_up = false;
	error = dist__rpc_end_of(future);
	if (!error)
		*sum = *(const int64_t *)future->value.data;
	dist__rpc_future_drop(future);
	return error;
}

/*
 * Waits until no call is outstanding anywhere. Each worker comes to a round
 * when it has none, with the number of those that it has ever begun. Where two
 * rounds have the same sum but for the calls that they are themselves, nobody
 * had one between them, and nobody is left to begin one.
 */
static enum dist_error join(struct dist_rpc *rpc)
{
	int64_t timeout_ns = rpc->group->place.timeout_ns;
	int64_t deadline_ns =
		dist__deadline_ns(dist__rpc_now_ns(rpc), timeout_ns);
	int64_t sum = INT64_MIN, before;
	enum dist_error error;
	uint32_t issued;

	do {
		before = sum + rpc->num_workers;
		error = rest(rpc, deadline_ns, &issued);
		if (!error)
			error = meet_all(rpc, issued, timeout_ns, &sum);
		if (error)
			return dist__rpc_fail(error, "rpc_shutdown: %s",
					      dist_error_string(error));
	} while (sum != before);
	dist__rpc_lock(rpc);
	rpc->ending = true;
	dist__rpc_unlock(rpc);
	/* Nobody leaves before all know that nothing comes any more. Who hears
	 * of one that has left knows that they do. */
	error = meet_all(rpc, 0, timeout_ns, &sum);
	return error == DIST_ERR_PEER_LOST ? DIST_OK : error;
}

static void note_end(struct dist_rpc *rpc, enum check_rpc_state state)
{
	dist__rpc_lock(rpc);
	check_rpc_end(rpc->slot, state);
	dist__rpc_unlock(rpc);
}

enum dist_error dist_rpc_shutdown(struct dist_rpc *rpc, bool graceful)
{
	struct dist__site site = dist__call_site_take();
	enum dist_error error = DIST_OK;
	uint32_t place, issued;

	if (!rpc)
		return DIST_OK;
	if (dist__rpc_helper_here(rpc)) {
		error = dist__rpc_fail(DIST_ERR_INVALID_ARGUMENT,
				       "the function that calls it is served "
				       "by the rpc itself");
		dist__rpc_refused(rpc, error, "rpc_shutdown", site);
		return error;
	}
	if (graceful) {
		note_end(rpc, CHECK_RPC_ENDING);
		place = dist__rpc_note_wait(
			rpc, &(struct dist__rpc_wait){.op = "rpc_shutdown",
						      .function = "",
						      .worker = -1,
						      .site = site});
		error = join(rpc);
		dist__rpc_note_go(rpc, place, error);
	}
	dist__rpc_lock(rpc);
	rpc->closing = rpc->ending = true;
	dist__rpc_unlock(rpc);
	rpc->transport->ops->abort(rpc->transport, rpc->message_group);
	dist__rpc_calls_fail(rpc, -1, DIST_ERR_ABORTED);
	dist__rpc_lanes_end(rpc);
	(void)rest(rpc, DIST_TIMEOUT_NEVER, &issued);
	note_end(rpc, CHECK_RPC_ENDED);
	rpc->group->root->rpcs--;
	(void)dist_destroy_process_group(rpc->group);
	rpc_free(rpc);
	return error;
}
