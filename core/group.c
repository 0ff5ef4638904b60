#include "core/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wait.h"
#include "check/record.h"
#include "core/threads.h"
#include "lockstep/measure.h"

#undef dist_destroy_process_group

/* Opens the back end, under the recorder if any. */
static enum dist_error open_backend(struct dist_group *group,
				    struct dist_message *message)
{
	struct dist__recorder *recorder = group->place.recorder;
	struct dist__backend *inner = NULL;
	enum dist_error error = group->world->backend_new(
		&group->place, &group->members, &inner, message);

	group->backend = inner;
	if (error || !recorder)
		return error;
	group->backend = recorder->wrap(recorder, inner, &group->members);
	if (group->backend)
		return DIST_OK;
	inner->ops->free(inner);
	return DIST_ERR_NO_MEMORY;
}

/* The threads of this process; 0: not counted. */
static uint32_t count_threads(const struct dist_group *group)
{
	return group->world->in_process ? 0 : dist__thread_count(getpid());
}

/* Of the threads since then, the library made all if the program had none. */
static void note_threads(struct dist_group *group, uint32_t before)
{
	struct check_slot *slot = group->place.slot;

	if (before == slot->library_threads + 1)
		slot->library_threads = count_threads(group) - 1;
}

enum dist_error dist__group_start(struct dist_group *group,
				  struct dist_message *message)
{
	const struct dist__members *members = &group->members;
	uint32_t threads = count_threads(group);
	enum dist_error error = open_backend(group, message);

	if (error)
		return error;
	note_threads(group, threads);
	dist__rank_lock(group);
	check_join(group->place.slot, members->group_id,
		   (uint32_t)dist__global_rank(members, 0));
	dist__rank_unlock(group);
	return DIST_OK;
}

/* Where the rank got stuck stays in the records. Some back ends part only when
 * all ranks do. */
static void note_finished(const struct dist_group *group)
{
	struct check_slot *slot = group->place.slot;

	if (group->poison || slot->state == CHECK_RANK_WAITING)
		return;
	slot->state = CHECK_RANK_FINISHED;
	slot->parting = 1;
}

/* Waits for operations in flight, frees the back end and what the group owns.
 * Returns the first error of an operation in flight. */
static enum dist_error group_stop(struct dist_group *group)
{
	enum dist_error error = dist__works_wait(group);

	dist__calls_await(group);
	if (group == group->root)
		note_finished(group);
	group->backend->ops->free(group->backend);
	group->place.slot->parting = 0;
	dist__works_release(group);
	free(group->factors);
	free(group->missing);
	free(group->call_cache);
	free(group->message);
	return error;
}

/* Joins the world of group, and makes it the rank's default group. */
static enum dist_error join(struct dist_group *group,
			    const struct dist_init_options *options,
			    struct dist_message *message)
{
	struct dist__place *place = &group->place;
	uint32_t threads = count_threads(group);
	enum dist_error error = group->world->attach(options, place, message);

	if (error)
		return error;
	group->members.rank = place->rank;
	group->members.world_size = place->world_size;
	group->members.nodes = place->nodes;
	strcpy(group->title, "default");
	group->root = group;
	group->next_id = 1;
	error = dist__group_start(group, message);
	if (error) {
		place->transport->ops->free(place->transport);
		return error;
	}
	note_threads(group, threads);
	place->slot->state = CHECK_RANK_RUNNING;
	dist__own_set(group);
	return DIST_OK;
}

enum dist_error dist__group_open(const struct dist__world *world,
				 const struct dist_init_options *options,
				 struct dist_group **group,
				 struct dist_message *message)
{
	struct dist_group *fresh = calloc(1, sizeof *fresh);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (fresh) {
		fresh->world = world;
		error = join(fresh, options, message);
	}
	if (error)
		free(fresh);
	else
		*group = fresh;
	return error;
}

/* Destroys a group that is not the default one, and takes it from its list. */
static enum dist_error subgroup_free(struct dist_group **link)
{
	struct dist_group *group = *link;
	enum dist_error error = group_stop(group);

	*link = group->next;
	dist__rank_lock(group);
	check_leave(group->place.slot, group->members.group_id);
	dist__rank_unlock(group);
	free(group->ranks);
	dist__group_retire(group);
	return error;
}

enum dist_error dist_destroy_process_group(struct dist_group *group)
{
	enum dist_error error = DIST_OK, late;
	struct dist__transport *transport;
	struct dist__recorder *recorder;
	struct dist_message message;
	struct dist__site site = dist__call_site_take();

	if (!group)
		return DIST_OK;
	if (dist__is_copied()) /* what it has is the rank's */
		return DIST_ERR_INVALID_ARGUMENT;
	if (!dist__is_own(group))
		return dist__refuse_group(group, "destroy", site.file,
					  site.line);
	if (group == group->root && group->rpcs > 0)
		return dist__fail(dist_at(group, site.file, site.line),
				  DIST_ERR_INVALID_ARGUMENT,
				  "destroy: expected dist_rpc_shutdown() "
				  "before it");
	if (group != group->root) {
		struct dist_group **link = &group->root->subs;

		while (*link != group)
			link = &(*link)->next;
		return subgroup_free(link);
	}
	while (group->subs) {
		late = subgroup_free(&group->subs);
		error = error ? error : late;
	}
	late = group_stop(group);
	error = error ? error : late;
	transport = group->place.transport;
	recorder = group->place.recorder;
	late = transport->ops->free(transport);
	if (!group->place.watched && !group->place.slot->failed)
		error = error ? error : late;
	if (recorder && !group->world->in_process) {
		late = recorder->finish(recorder, &message);
		error = error ? error : late;
	}
	dist__dump(group);
	dist__buffer_pool_release(&group->pool);
	dist__own_set(NULL);
	dist__threads_free(group->threads);
	dist__group_retire(group);
	return error;
}

void dist_abort(struct dist_group *group)
{
	if (!group || dist__is_copied())
		return;
	dist__rank_lock(group);
	if (!group->poison) {
		check_abort(group->place.slot, group->members.group_id);
		(void)dist__fail(group, DIST_ERR_ABORTED,
				 "the group was aborted by this rank");
	}
	dist__rank_unlock(group);
}

struct dist_group *dist_at(struct dist_group *group, const char *file, int line)
{
	if (!group || !dist__is_own(group)) {
		(void)dist__refuse_group(group, "an operation", file, line);
		return NULL;
	}
	group->site = (struct dist__site){file, line};
	group->from = (struct dist__site){NULL, 0};
	return group;
}

struct dist_group *dist_at_from(struct dist_group *group, const char *file,
				int line, const char *from_file, int from_line)
{
	group = dist_at(group, file, line);
	if (group && from_file &&
	    !(file && line == from_line && strcmp(file, from_file) == 0))
		group->from = (struct dist__site){from_file, from_line};
	return group;
}

enum dist_error dist_refuse(struct dist_group *group, const char *text)
{
	return group ? dist__fail(group, DIST_ERR_INVALID_ARGUMENT, "%s", text)
		     : DIST_ERR_INVALID_ARGUMENT;
}

void dist_end_at(struct dist_group *group, const char *file, int line,
		 const char *function, const char *why)
{
	struct check_slot *slot = group ? group->place.slot : NULL;

	if (!slot)
		return;
	check_site_set(&slot->crash.site, file, line);
	snprintf(slot->crash.function, sizeof slot->crash.function, "%s",
		 function ? function : "");
	snprintf(slot->raised, sizeof slot->raised, "%s", why ? why : "");
}

struct dist_group *dist_label(struct dist_group *group, const char *text,
			      uint64_t terms)
{
	if (!group)
		return NULL;
	snprintf(group->label.text, sizeof group->label.text, "%s",
		 text ? text : "");
	group->label.terms = terms;
	return group;
}

struct dist_group *dist_untimed(struct dist_group *group)
{
	if (group)
		group->untimed = true;
	return group;
}

int dist_get_rank(const struct dist_group *group)
{
	return group ? group->members.rank : -1;
}

int dist_get_world_size(const struct dist_group *group)
{
	return group ? group->members.world_size : -1;
}

bool dist_is_initialized(const struct dist_group *group)
{
	return group != NULL;
}

enum dist_error dist_set_timeout(struct dist_group *group, int64_t timeout_ns)
{
	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (timeout_ns <= 0)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "set_timeout: timeout_ns is %lld: expected "
				  "more than 0",
				  (long long)timeout_ns);
	group->place.timeout_ns = timeout_ns;
	return DIST_OK;
}

const char *dist_get_backend(const struct dist_group *group)
{
	return group ? group->world->name : NULL;
}

int64_t dist_now_ns(struct dist_group *group)
{
	return group ? group->backend->ops->now_ns(group->backend) : -1;
}

enum dist_error dist_compute(struct dist_group *group, int64_t duration_ns,
			     const char *label)
{
	enum dist_error error;

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!dist__is_own(group))
		return dist__refuse_group(group, "compute", NULL, 0);
	if (duration_ns < 0)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "compute: duration_ns is %lld: expected 0 "
				  "or more",
				  (long long)duration_ns);
	if (duration_ns == 0)
		return DIST_OK;
	error = group->backend->ops->compute(group->backend, duration_ns,
					     label ? label : "compute");
	return error ? dist__fail(group, error, "compute: %s",
				  dist_error_string(error))
		     : DIST_OK;
}
