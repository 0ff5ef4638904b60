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
	case DIST_ERR_HAZARD:
		return true;
	default:
		return false;
	}
}

/* Most groups never fail: there is a message from the first failure on. NULL:
 * no memory for it. */
static struct dist_message *message_of(struct dist_group *group)
{
	if (!group->message)
		group->message = calloc(1, sizeof *group->message);
	return group->message;
}

/* Appends to the group's message what the system below said. */
static void add_words(struct dist_group *group)
{
	struct dist__backend *backend = group->backend;
	struct dist_message *message = group->message;
	const char *words =
		backend->ops->words ? backend->ops->words(backend) : "";
	size_t used = message ? strlen(message->text) : 0;

	if (*words && message)
		snprintf(message->text + used, sizeof message->text - used,
			 " (%s)", words);
}

void dist__dump(const struct dist_group *group)
{
	if (group->world->dump)
		group->world->dump();
}

/* Notes the words of the last failure as why the call being made is refused. */
static void note_refusal(struct dist_group *group)
{
	struct check_site site;

	check_site_set(&site, group->site.file, group->site.line);
	check_refuse(group->place.slot, group->title, dist_error_message(group),
		     &site);
}

enum dist_error dist__fail(struct dist_group *group, enum dist_error error,
			   const char *format, ...)
{
	struct dist_message *message = message_of(group);
	va_list args;

	va_start(args, format);
	if (message)
		vsnprintf(message->text, sizeof message->text, format, args);
	va_end(args);
	if (error == DIST_ERR_INVALID_ARGUMENT || error == DIST_ERR_UNSUPPORTED)
		note_refusal(group);
	if (poisons(error) && group->poison == DIST_OK) {
		group->poison = error;
		group->backend->ops->abort(group->backend);
		dist__works_give_up(group);
		add_words(group);
		dist__dump(group);
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
		snprintf(
			message->text, sizeof message->text,
			"unknown back end \"%.64s\": expected sim, tcp or nccl",
			name);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (!(*world)->is_available(message))
		return DIST_ERR_UNAVAILABLE;
	return DIST_OK;
}

static enum dist_error check_timeout(const struct dist_init_options *options,
				     struct dist_message *message)
{
	if (options->timeout_ns >= 0)
		return DIST_OK;
	snprintf(message->text, sizeof message->text,
		 "timeout_ns is %lld: expected more than 0",
		 (long long)options->timeout_ns);
	return DIST_ERR_INVALID_ARGUMENT;
}

/* Makes the back end: the world's own, or coll over the transport. */
static enum dist_error make_backend(struct dist_group *group,
				    struct dist__backend **backend,
				    struct dist_message *message)
{
	const struct dist__place *place = &group->place;

	if (group->world->backend_new)
		return group->world->backend_new(place, &group->members,
						 backend, message);
	*backend = dist__p2p_backend_new(place->transport, &group->members,
					 place->profile);
	return *backend ? DIST_OK : DIST_ERR_NO_MEMORY;
}

/* Opens the back end, under the recorder if any. */
static enum dist_error open_backend(struct dist_group *group,
				    struct dist_message *message)
{
	struct dist__backend *inner = NULL;
	enum dist_error error = make_backend(group, &inner, message);

	group->backend = inner;
	if (error || !group->place.recorder)
		return error;
	group->backend = dist__recorder_wrap(group->place.recorder, inner,
					     &group->members);
	if (group->backend)
		return DIST_OK;
	inner->ops->free(inner);
	return DIST_ERR_NO_MEMORY;
}

enum dist_error dist__group_start(struct dist_group *group,
				  struct dist_message *message)
{
	const struct dist__members *members = &group->members;
	enum dist_error error = open_backend(group, message);

	if (error)
		return error;
	check_join(group->place.slot, members->group_id,
		   (uint32_t)dist__global_rank(members, 0));
	return DIST_OK;
}

enum dist_error dist__group_stop(struct dist_group *group)
{
	enum dist_error error = dist__works_wait(group);

	group->backend->ops->free(group->backend);
	dist__works_release(group);
	free(group->factors);
	free(group->known);
	free(group->message);
	return error;
}

static enum dist_error group_open(struct dist_group *group,
				  const struct dist_init_options *given,
				  struct dist_message *message)
{
	struct dist__place *place = &group->place;
	struct dist_init_options options = *given;
	enum dist_error error;

	error = choose_world(&options, &group->world, message);
	if (!error)
		error = check_timeout(&options, message);
	if (!error) {
		options.backend = group->world->name;
		error = group->world->attach(&options, place, message);
	}
	if (error)
		return error;
	group->members.rank = place->rank;
	group->members.world_size = place->world_size;
	group->members.nodes = place->nodes;
	strcpy(group->title, "default");
	group->root = group;
	group->next_id = 1;
	error = dist__group_start(group, message);
	if (error)
		place->transport->ops->free(place->transport);
	else
		place->slot->state = CHECK_RANK_RUNNING;
	if (!error)
		dist__own_set(group);
	return error;
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

/* Refuses the call `name` on a group that is none of the caller's, at a line if
 * that is known, in the records of the caller. */
static enum dist_error refuse_group(const struct dist_group *group,
				    const char *name, const char *file,
				    int line)
{
	struct check_slot *slot = dist__records_here();
	struct check_site site;
	char words[200];

	if (slot) {
		check_site_set(&site, file, line);
		snprintf(words, sizeof words, "%s: %.160s", name,
			 dist_error_message(group));
		check_refuse(slot, "", words, &site);
	}
	return DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_destroy_process_group(struct dist_group *group)
{
	enum dist_error error = DIST_OK, late;
	struct dist__transport *transport;
	struct check_slot *slot;
	struct dist_message message;

	if (!group)
		return DIST_OK;
	if (!dist__is_own(group))
		return refuse_group(group, "destroy", NULL, 0);
	if (group != group->root)
		return dist__subgroup_free(group);
	while (group->subs) {
		late = dist__subgroup_free(group->subs);
		error = error ? error : late;
	}
	late = dist__group_stop(group);
	error = error ? error : late;
	transport = group->place.transport;
	transport->ops->free(transport);
	if (group->place.recorder && !group->world->is_here) {
		late = dist__recorder_finish(group->place.recorder, &message);
		error = error ? error : late;
	}
	/* Where the rank got stuck stays in the records. */
	slot = group->place.slot;
	if (!group->poison && slot->state != CHECK_RANK_WAITING)
		slot->state = CHECK_RANK_FINISHED;
	dist__dump(group);
	dist__spares_release(&group->spares);
	dist__own_set(NULL);
	free(group);
	return error;
}

void dist_abort(struct dist_group *group)
{
	if (group && !group->poison)
		(void)dist__fail(group, DIST_ERR_ABORTED,
				 "the group was aborted by this rank");
}

struct dist__site dist__site_take(struct dist_group *group)
{
	const struct dist__site site = group->site;

	group->site = (struct dist__site){NULL, 0};
	return site;
}

struct dist_group *dist_at(struct dist_group *group, const char *file, int line)
{
	if (!group || !dist__is_own(group)) {
		(void)refuse_group(group, "an operation", file, line);
		return NULL;
	}
	group->site = (struct dist__site){file, line};
	return group;
}

enum dist_error dist_refuse(struct dist_group *group, const char *words)
{
	return group ? dist__fail(group, DIST_ERR_INVALID_ARGUMENT, "%s", words)
		     : DIST_ERR_INVALID_ARGUMENT;
}

struct dist_group *dist_label(struct dist_group *group, const char *words,
			      uint64_t terms)
{
	if (!group)
		return NULL;
	snprintf(group->label.words, sizeof group->label.words, "%s",
		 words ? words : "");
	group->label.terms = terms;
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

const char *dist_error_message(const struct dist_group *group)
{
	if (!group)
		return "the group is NULL: never made, or this rank is no "
		       "member of it";
	if (!dist__is_own(group))
		return "the group is destroyed, or another rank's: what is "
		       "global or static, simulated ranks share";
	return group->message ? group->message->text : "";
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
		return refuse_group(group, "compute", NULL, 0);
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
