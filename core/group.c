#include "core/group.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/record.h"

static bool poisons(enum dist_error error)
{
	switch (error) {
	case DIST_ERR_TIMEOUT:
	case DIST_ERR_MISMATCH:
	case DIST_ERR_DEADLOCK:
	case DIST_ERR_PEER_LOST:
	case DIST_ERR_ABORTED:
	case DIST_ERR_IO:
		return true;
	default:
		return false;
	}
}

enum dist_error dist__fail(struct dist_group *group, enum dist_error error,
			   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(group->message.text, sizeof group->message.text, format,
		  args);
	va_end(args);
	if (poisons(error) && group->poison == DIST_OK) {
		group->poison = error;
		group->backend->ops->abort(group->backend);
	}
	return error;
}

/* The world that the caller belongs to: the one it asks for, the one that
 * runs it, the one that the environment names, TCP. */
static enum dist_error choose_world(const struct dist_init_options *options,
				    const struct dist__world **world,
				    struct dist_message *message)
{
	const struct dist__world *here = dist__world_here();
	const char *name = options->backend;

	if (!name && here)
		name = here->name;
	if (!name)
		name = getenv("LOCKSTEP_BACKEND");
	if (!name || !*name)
		name = "tcp";
	*world = dist__world_find(name);
	if (!*world) {
		snprintf(message->text, sizeof message->text,
			 "unknown back end \"%.64s\": expected sim or tcp",
			 name);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (!(*world)->is_available(message))
		return DIST_ERR_UNAVAILABLE;
	if (options->init_method && strcmp(options->init_method, "env://")) {
		snprintf(message->text, sizeof message->text,
			 "unknown init method \"%.64s\": expected env://",
			 options->init_method);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (options->world_size < 0 || options->rank < 0 ||
	    (options->world_size && options->rank >= options->world_size)) {
		snprintf(message->text, sizeof message->text,
			 "rank %d is outside a world of %d", options->rank,
			 options->world_size);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	return DIST_OK;
}

/* Makes the back end: coll over the transport, under the recorder if any. */
static struct dist__backend *open_backend(const struct dist_group *group)
{
	const struct dist__place *place = &group->place;
	struct dist__backend *inner, *outer;

	inner = dist__p2p_backend_new(place->transport, &group->members,
				      place->profile);
	if (!inner || !place->recorder)
		return inner;
	outer = dist__recorder_wrap(place->recorder, inner, &group->members);
	if (!outer)
		inner->ops->free(inner);
	return outer;
}

static enum dist_error group_open(struct dist_group *group,
				  const struct dist_init_options *options,
				  struct dist_message *message)
{
	struct dist__place *place = &group->place;
	enum dist_error error;

	error = choose_world(options, &group->world, message);
	if (!error)
		error = group->world->attach(options, place, message);
	if (error)
		return error;
	group->members.rank = place->rank;
	group->members.world_size = place->world_size;
	strcpy(group->name, "default");
	group->backend = open_backend(group);
	if (!group->backend) {
		place->transport->ops->free(place->transport);
		return DIST_ERR_NO_MEMORY;
	}
	place->slot->state = CHECK_RANK_RUNNING;
	return DIST_OK;
}

enum dist_error dist_init_process_group(const struct dist_init_options *options,
					struct dist_group **group)
{
	static const struct dist_init_options defaults;
	struct dist_message message = {""};
	struct dist_group *fresh;
	enum dist_error error;

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!options)
		options = &defaults;
	fresh = calloc(1, sizeof *fresh);
	error = fresh ? group_open(fresh, options, &message)
		      : DIST_ERR_NO_MEMORY;
	if (error) {
		free(fresh);
		if (!message.text[0])
			snprintf(message.text, sizeof message.text, "%s",
				 dist_error_string(error));
		if (options->message)
			*options->message = message;
		return error;
	}
	*group = fresh;
	return DIST_OK;
}

enum dist_error dist_destroy_process_group(struct dist_group *group)
{
	enum dist_error error, wrote = DIST_OK;
	struct dist__transport *transport;
	struct dist_message message;

	if (!group)
		return DIST_OK;
	error = dist__works_wait(group);
	transport = group->place.transport;
	group->backend->ops->free(group->backend);
	dist__works_release(group);
	transport->ops->free(transport);
	if (group->place.recorder && !group->world->is_here)
		wrote = dist__recorder_finish(group->place.recorder, &message);
	if (!group->poison)
		group->place.slot->state = CHECK_RANK_FINISHED;
	free(group);
	return error ? error : wrote;
}

void dist_abort(struct dist_group *group)
{
	if (group && !group->poison)
		(void)dist__fail(group, DIST_ERR_ABORTED,
				 "the group was aborted by this rank");
}

struct dist_group *dist_at(struct dist_group *group, const char *file, int line)
{
	if (group)
		group->site = (struct dist__site){file, line};
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

const char *dist_get_backend(const struct dist_group *group)
{
	return group ? group->world->name : NULL;
}

const char *dist_error_message(const struct dist_group *group)
{
	return group ? group->message.text : "";
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
