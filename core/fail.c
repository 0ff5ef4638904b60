/* fail.c - stores the failure of a call or a group, and its message. */
#include "base/text.h"
#include "core/state.h"

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

/* Appends to the group's message, and notes for others, what the system below
 * said. */
static void append_failure_text(struct dist_group *group)
{
	struct dist__backend *backend = group->backend;
	struct dist_message *message = group->message;
	const char *text = backend->ops->failure_text
				   ? backend->ops->failure_text(backend)
				   : "";

	if (*text)
		snprintf(group->place.slot->failure,
			 sizeof group->place.slot->failure, "%s", text);
	if (*text && message)
		(void)dist__append(message->text, sizeof message->text, " (%s)",
				   text);
}

void dist__dump(const struct dist_group *group)
{
	if (group->world->dump)
		group->world->dump();
}

/* Notes the text of the last failure as why the call being made is refused. */
static void note_refusal(struct dist_group *group, enum dist_error error)
{
	const struct dist__members *members = &group->members;
	struct check_call call = {
		.error = error,
		.group_id = members->group_id,
		.leader = (uint32_t)dist__global_rank(members, 0)};

	memcpy(call.group, group->title, sizeof call.group);
	check_site_set(&call.site, group->site.file, group->site.line);
	check_site_set(&call.from, group->from.file, group->from.line);
	check_refuse(group->place.slot, &call, dist_error_message(group));
}

enum dist_error dist__fail(struct dist_group *group, enum dist_error error,
			   const char *format, ...)
{
	struct dist_message *message;
	va_list args;

	dist__rank_lock(group);
	message = message_of(group);
	va_start(args, format);
	if (message)
		vsnprintf(message->text, sizeof message->text, format, args);
	va_end(args);
	if (error == DIST_ERR_INVALID_ARGUMENT || error == DIST_ERR_UNSUPPORTED)
		note_refusal(group, error);
	if (poisons(error))
		group->place.slot->overlooked = 0;
	if (poisons(error) && group->poison == DIST_OK) {
		group->poison = error;
		check_give_up(group->place.slot);
		group->backend->ops->abort(group->backend);
		/* Notes in the records that nobody need wait for the group's
		 * handles. */
		for (struct dist_work *work = group->works; work;
		     work = work->next)
			check_release(group->place.slot, work->op.call);
		append_failure_text(group);
		dist__dump(group);
	} else if (error == DIST_ERR_NO_MEMORY) {
		append_failure_text(group);
	}
	dist__rank_unlock(group);
	return error;
}

bool dist__is_inside_too(struct dist_group *root)
{
	struct dist__transport *transport = root->place.transport;
	const struct dist__lane_ops *lanes =
		transport ? transport->ops->lanes : NULL;

	if (lanes && lanes->here(transport))
		return true;
	root->many = true;
	return false;
}

enum dist_error dist__refuse_inside(struct dist_group *group, const char *name)
{
	return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
			  "%s: the rank is in another call, or jumped out of "
			  "it: a signal handler, or a function that serves a "
			  "remote call, may call only between calls",
			  name);
}

struct dist__site dist__site_take(struct dist_group *group)
{
	const struct dist__site site = group->site;

	group->site = (struct dist__site){NULL, 0};
	group->from = (struct dist__site){NULL, 0};
	return site;
}

const char *dist_error_message(const struct dist_group *group)
{
	if (!group)
		return "the group is NULL: never made, or this rank is no "
		       "member of it";
	if (dist__is_copied())
		return "this process is a copy of the rank, made by fork(): "
		       "it has no part in the job";
	if (!dist__is_own(group))
		return "the group is destroyed, or another rank's: what is "
		       "global or static, simulated ranks share";
	return group->message ? group->message->text : "";
}

void dist_error_message_copy(struct dist_group *group,
			     struct dist_message *message)
{
	if (group && dist__is_own(group))
		dist__rank_lock(group);
	snprintf(message->text, sizeof message->text, "%s",
		 dist_error_message(group));
	if (group && dist__is_own(group))
		dist__rank_unlock(group);
}

void dist__record_refusal(const char *name, enum dist_error error,
			  const char *reason, struct dist__site site)
{
	struct check_slot *slot = dist__records_here();
	struct check_call call = {.error = error,
				  .group_id = CHECK_GROUP_UNKNOWN};
	char text[200];

	if (!slot)
		return;
	check_site_set(&call.site, site.file, site.line);
	snprintf(text, sizeof text, "%s: %.160s", name, reason);
	check_refuse(slot, &call, text);
	slot->copied |= dist__is_copied();
}

enum dist_error dist__refuse_group(const struct dist_group *group,
				   const char *name, const char *file, int line)
{
	dist__record_refusal(name, DIST_ERR_INVALID_ARGUMENT,
			     dist_error_message(group),
			     (struct dist__site){file, line});
	return DIST_ERR_INVALID_ARGUMENT;
}

/* Simulated ranks share a thread, but do not switch between the line and its
 * call. */
static _Thread_local struct dist__site next_site;

void dist_call_at(const char *file, int line)
{
	next_site = (struct dist__site){file, line};
}

struct dist__site dist__call_site_take(void)
{
	struct dist__site site = next_site;

	next_site = (struct dist__site){NULL, 0};
	return site;
}
