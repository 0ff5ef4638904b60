/*
 * open.c - a platform file, asked from outside: what there is to know of it,
 * and loaded for good, once a process.
 */
#include "sim/platform/platform.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/refuse.h"
#include "sim/engine/graph.h"
#include "sim/engine/shim.h"
#include "sim/platform/read.h"
#include "sim/platform/state.h"

/* Reads the file, or stores NULL if SimGrid has to, which is there then. */
static enum dist_error read_file(const char *path, bool needs_simgrid,
				 struct dist__plain **plain,
				 struct dist_message *message)
{
	struct stat status;

	*plain = NULL;
	if (stat(path, &status))
		return dist__refuse(message, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return dist__refuse(
			message,
			"%s: not a file: expected a SimGrid platform in XML",
			path);
	if (!needs_simgrid)
		*plain = dist__platform_read(path);
	if (*plain && !dist__graph_read_factors(&(*plain)->graph).is_linear) {
		dist__plain_free(*plain);
		*plain = NULL;
	}
	if (!*plain && !dist__engine_open(message->text, sizeof message->text))
		return DIST_ERR_UNAVAILABLE;
	return DIST_OK;
}

enum dist_error
dist__platform_open(const char *path, int ranks,
		    const struct dist__link_overrides *overrides,
		    bool needs_simgrid, struct dist__platform **platform,
		    struct dist_message *message)
{
	static bool opened; /* an engine runs once, and SimGrid is one */
	struct dist__plain *plain;
	struct dist__trial found;
	enum dist_error error;

	if (opened)
		return dist__refuse(message, "one simulation per process: a "
					     "platform was loaded here before");
	error = read_file(path, needs_simgrid, &plain, message);
	if (!error && !plain)
		error = dist__platform_try(path, ranks, overrides, &found,
					   message);
	if (!error)
		error = dist__platform_load(path, plain, ranks, overrides,
					    platform, message);
	opened = !error;
	return error;
}

static enum dist_error look_at(const char *path,
			       const struct dist__link_overrides *overrides,
			       struct dist__trial *found,
			       struct dist_message *message)
{
	struct dist__platform *platform = NULL;
	struct dist__plain *plain;
	enum dist_error error = read_file(path, false, &plain, message);

	if (error)
		return error;
	if (!plain)
		return dist__platform_try(path, 0, overrides, found, message);
	error = dist__platform_load(path, plain, 0, overrides, &platform,
				    message);
	if (!error)
		dist__platform_summarize(platform, found);
	dist__platform_close(platform);
	return error;
}

enum dist_error dist__platform_gpu(const char *path,
				   const struct dist__link_overrides *overrides,
				   int *hosts, int *ranks, char gpu[64],
				   struct dist_message *message)
{
	struct dist__trial found;
	enum dist_error error = look_at(path, overrides, &found, message);

	if (error)
		return error;
	*hosts = found.hosts;
	if (ranks)
		*ranks = found.ranks;
	memcpy(gpu, found.gpu, sizeof found.gpu);
	return DIST_OK;
}

enum dist_error dist__platform_hosts(const char *path, int *hosts, int *ranks,
				     struct dist_message *message)
{
	char gpu[64];

	return dist__platform_gpu(path, NULL, hosts, ranks, gpu, message);
}
