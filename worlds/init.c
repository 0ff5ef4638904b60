/* init.c - dist_init_process_group(): finds the world of the caller. */
#include <stdio.h>

#include "base/variable.h"
#include "base/refuse.h"
#include "worlds/worlds.h"

#undef dist_init_process_group

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
	name = dist__variable_or(name, "LOCKSTEP_BACKEND");
	if (!name)
		name = "tcp";
	*world = dist__world_of_process(name);
	if (!*world)
		return dist__world_refuse(name, message);
	return dist__world_check(*world, message);
}

static enum dist_error check_timeout(const struct dist_init_options *options,
				     struct dist_message *message)
{
	if (options->timeout_ns >= 0)
		return DIST_OK;
	return dist__refuse(message, "timeout_ns is %lld: expected more than 0",
			    (long long)options->timeout_ns);
}

static enum dist_error open_group(struct dist_init_options options,
				  struct dist_group **group,
				  struct dist_message *message)
{
	const struct dist__world *world;
	enum dist_error error = choose_world(&options, &world, message);

	if (!error)
		error = check_timeout(&options, message);
	if (error)
		return error;
	options.backend = world->name;
	return dist__group_open(world, &options, group, message);
}

enum dist_error dist_init_process_group(const struct dist_init_options *options,
					struct dist_group **group)
{
	static const struct dist_init_options defaults;
	struct dist_message message = {""};
	struct dist__site site = dist__call_site_take();
	enum dist_error error;

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!options)
		options = &defaults;
	error = open_group(*options, group, &message);
	if (error == DIST_ERR_INVALID_ARGUMENT ||
	    error == DIST_ERR_UNSUPPORTED || error == DIST_ERR_UNAVAILABLE)
		dist__record_refusal("init_process_group", error, message.text,
				     site);
	if (error && !message.text[0])
		snprintf(message.text, sizeof message.text, "%s",
			 dist_error_string(error));
	if (error && options->message)
		*options->message = message;
	return error;
}
