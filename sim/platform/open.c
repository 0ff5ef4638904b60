/*
 * open.c - a platform file, asked from outside: what there is to know of it,
 * and loaded for good, once a process.
 */
#include "sim/platform/platform.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "base/refuse.h"
#include "sim/engine/graph.h"
#include "sim/engine/shim.h"
#include "sim/platform/read.h"
#include "sim/platform/state.h"

/* What was read last and is as the file has it: a process that has looked at a
 * platform gives it to the children that open it. */
static struct {
	struct dist__plain *plain; /* NULL: none */
	struct stat status;        /* of its file */
} spare;

static struct dist__plain *read_plain(const char *path,
				      const struct stat *status)
{
	struct dist__plain *plain = spare.plain;

	if (!plain || status->st_dev != spare.status.st_dev ||
	    status->st_ino != spare.status.st_ino ||
	    status->st_size != spare.status.st_size ||
	    memcmp(&status->st_mtim, &spare.status.st_mtim,
		   sizeof status->st_mtim) != 0)
		return dist__platform_read(path);
	spare.plain = NULL;
	return plain;
}

/* Reads the file, or stores NULL if SimGrid has to, which is there then. */
static enum dist_error read_file(const char *path, bool needs_simgrid,
				 struct dist__plain **plain,
				 struct stat *status,
				 struct dist_message *message)
{
	*plain = NULL;
	if (stat(path, status))
		return dist__refuse(message, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status->st_mode))
		return dist__refuse(
			message,
			"%s: not a file: expected a SimGrid platform in XML",
			path);
	if (!needs_simgrid)
		*plain = read_plain(path, status);
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
	struct stat status;
	enum dist_error error;

	if (opened)
		return dist__refuse(message, "one simulation per process: a "
					     "platform was loaded here before");
	error = read_file(path, needs_simgrid, &plain, &status, message);
	if (!error && !plain)
		error = dist__platform_try(path, ranks, overrides, &found,
					   message);
	if (!error)
		error = dist__platform_load(path, plain, ranks, overrides,
					    platform, message);
	opened = !error;
	return error;
}

enum dist_error dist__platform_look(const char *path, int ranks,
				    struct dist__platform **platform,
				    struct dist_message *message)
{
	struct dist__plain *plain;
	struct stat status;
	enum dist_error error =
		read_file(path, false, &plain, &status, message);

	if (!error && !plain)
		error = DIST_ERR_UNAVAILABLE;
	return error ? error
		     : dist__platform_load(path, plain, ranks, NULL, platform,
					   message);
}

static enum dist_error look_at(const char *path,
			       const struct dist__link_overrides *overrides,
			       struct dist__trial *found,
			       struct dist_message *message)
{
	struct dist__platform *platform = NULL;
	struct dist__plain *plain;
	struct stat status;
	enum dist_error error =
		read_file(path, false, &plain, &status, message);

	if (error)
		return error;
	if (!plain)
		return dist__platform_try(path, 0, overrides, found, message);
	error = dist__platform_load(path, plain, 0, overrides, &platform,
				    message);
	if (error)
		return error;
	dist__platform_summarize(platform, found);
	if (!dist__link_overrides_any(overrides)) {
		dist__plain_free(spare.plain);
		spare.plain = plain;
		spare.status = status;
		platform->plain = NULL;
	}
	dist__platform_close(platform);
	return DIST_OK;
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
