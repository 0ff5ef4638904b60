/*
 * launch.c - dist_launch(): completes the options from the environment, then
 * calls the world that they name.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/variable.h"
#include "base/quantity.h"
#include "worlds/worlds.h"

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("lockstep: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return DIST_EXIT_USAGE;
}

static int complete_world_size(struct dist_launch_options *options)
{
	const char *text = dist__variable_or(NULL, "WORLD_SIZE");
	int64_t n;

	if (options->world_size < 0)
		return refuse("world size %d: expected 1 or more",
			      options->world_size);
	if (options->world_size > 0)
		return 0;
	if (!text) {
		options->world_size = 1;
		return 0;
	}
	if (!dist__count_read(text, 1, INT_MAX, &n))
		return refuse("WORLD_SIZE is \"%s\": expected 1 or more", text);
	options->world_size = (int)n;
	return 0;
}

static int complete_timeout(struct dist_launch_options *options)
{
	const char *text = dist__variable_or(NULL, "LOCKSTEP_TIMEOUT");

	if (options->timeout_ns < 0)
		return refuse("timeout %lld ns: expected more than 0",
			      (long long)options->timeout_ns);
	if (options->timeout_ns > 0)
		return 0;
	if (!text)
		return 0; /* the world's default, once it is known */
	if (!dist__seconds_read(text, &options->timeout_ns) ||
	    options->timeout_ns == 0)
		return refuse("LOCKSTEP_TIMEOUT is \"%s\": expected seconds, "
			      "more than 0",
			      text);
	return 0;
}

void dist__world_prepare(const struct dist__world *world, int num_ranks)
{
	const char *rank = dist__variable_or(NULL, "RANK");
	struct dist_message text;

	if (!world->prepare || rank)
		return;
	world->prepare(num_ranks, &text);
	if (text.text[0])
		fprintf(stderr, "lockstep: %s\n", text.text);
}

int dist_launch(const struct dist_launch_options *given,
		int (*rank_main)(void *arg), void *arg)
{
	struct dist_launch_options options = {0};
	const struct dist__world *world;
	struct dist_message why;
	enum dist__debug debug;
	enum dist_error error;

	if (given)
		options = *given;
	options.backend =
		dist__variable_or(options.backend, "LOCKSTEP_BACKEND");
	if (!options.backend)
		options.backend = "tcp";
	options.platform =
		dist__variable_or(options.platform, "LOCKSTEP_PLATFORM");
	options.links = dist__variable_or(options.links, "LOCKSTEP_LINKS");
	options.profile =
		dist__variable_or(options.profile, "LOCKSTEP_PROFILE");
	options.algorithm =
		dist__variable_or(options.algorithm, "LOCKSTEP_ALGORITHM");
	options.fidelity =
		dist__variable_or(options.fidelity, "LOCKSTEP_FIDELITY");
	options.engine = dist__variable_or(options.engine, "LOCKSTEP_ENGINE");
	options.p2p = dist__variable_or(options.p2p, "LOCKSTEP_P2P");
	options.debug = dist__variable_or(options.debug, "LOCKSTEP_DEBUG");
	options.trace = dist__variable_or(options.trace, "LOCKSTEP_TRACE");
	options.replay = dist__variable_or(options.replay, "LOCKSTEP_REPLAY");
	options.explore =
		dist__variable_or(options.explore, "LOCKSTEP_EXPLORE");
	if (complete_world_size(&options) || complete_timeout(&options))
		return DIST_EXIT_USAGE;
	if (!dist__debug_parse(&debug, options.debug))
		return refuse("debug is \"%s\": expected " DIST__DEBUG_LEVELS,
			      options.debug);
	world = dist__world_of_process(options.backend);
	if (!world) {
		(void)dist__world_refuse(options.backend, &why);
		return refuse("%s", why.text);
	}
	if ((options.replay || options.explore) && !world->in_process)
		return refuse("%s: expected back end sim, not %s",
			      options.replay ? "replay" : "explore",
			      world->name);
	error = dist__world_check(world, &why);
	if (error) {
		(void)refuse("back end %s: %s", world->name, why.text);
		return error == DIST_ERR_UNAVAILABLE ? DIST_EXIT_SKIPPED
						     : DIST_EXIT_USAGE;
	}
	if (options.timeout_ns == 0)
		options.timeout_ns = world->default_timeout_ns;
	options.backend = world->name;
	dist__world_prepare(world, options.world_size);
	return world->launch(&options, rank_main, arg);
}
