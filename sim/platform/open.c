/*
 * open.c - a platform file, asked from outside: what there is to know of it by
 * a child that loads it, and loaded for good, once a process.
 */
#include "sim/platform/platform.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <simgrid/link.h>
#include "base/refuse.h"
#include "sim/engine/shim.h"
#include "sim/platform/read.h"
#include "sim/platform/state.h"

/* That SimGrid is there, and the file. */
static enum dist_error check_file(const char *path,
				  struct dist_message *message)
{
	struct stat status;

	if (stat(path, &status))
		return dist__refuse(message, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return dist__refuse(
			message,
			"%s: not a file: expected a SimGrid platform in "
			"XML",
			path);
	if (!dist__engine_open(message->text, sizeof message->text))
		return DIST_ERR_UNAVAILABLE;
	return DIST_OK;
}

enum dist_error
dist__platform_open(const char *path, int ranks,
		    const struct dist__link_overrides *overrides,
		    struct dist__platform **platform,
		    struct dist_message *message)
{
	static bool opened; /* SimGrid has one engine a process, for ever */
	struct dist__plain *plain = NULL;
	struct dist__trial found;
	enum dist_error error;

	if (opened)
		return dist__refuse(message, "one simulation per process: a "
					     "platform was loaded here before");
	error = check_file(path, message);
	if (!error)
		plain = dist__platform_read(path);
	/* Of a plain file only these can be wrong. */
	if (!error &&
	    (!plain || overrides || (size_t)ranks > plain->graph.num_hosts))
		error = dist__platform_try(path, ranks, overrides, &found,
					   message);
	if (error) {
		dist__plain_free(plain);
		return error;
	}
	opened = true;
	return dist__platform_load(path, plain, ranks, overrides, platform,
				   message);
}

enum dist_error dist__platform_count_nodes(const char *path, int ranks,
					   int *nodes,
					   struct dist_message *message)
{
	struct dist__trial found;
	enum dist_error error = check_file(path, message);

	if (!error)
		error = dist__platform_try(path, ranks, NULL, &found, message);
	if (!error)
		*nodes = found.nodes;
	return error;
}

enum dist_error dist__platform_gpu(const char *path,
				   const struct dist__link_overrides *overrides,
				   int *hosts, int *ranks, char gpu[64],
				   struct dist_message *message)
{
	struct dist__trial found;
	enum dist_error error = check_file(path, message);

	if (!error)
		error = dist__platform_try(path, 0, overrides, &found, message);
	if (error)
		return error;
	*hosts = found.hosts;
	if (ranks)
		*ranks = found.ranks;
	memcpy(gpu, found.gpu, sizeof found.gpu);
	return DIST_OK;
}

enum dist_error dist__platform_gpu_named(const char *path, char gpu[64],
					 struct dist_message *message)
{
	int hosts;

	if (dist__platform_gpu_read(path, gpu))
		return DIST_OK;
	return dist__platform_gpu(path, NULL, &hosts, NULL, gpu, message);
}

enum dist_error dist__platform_hosts(const char *path, int *hosts, int *ranks,
				     struct dist_message *message)
{
	char gpu[64];

	return dist__platform_gpu(path, NULL, hosts, ranks, gpu, message);
}
