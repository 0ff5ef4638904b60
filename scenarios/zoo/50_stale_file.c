/*
 * 50 - the file of an earlier run is still there.
 *
 * Of the earlier run only rank 0 came, and gave up. The next one meets in the
 * same file, and finds there that its ranks have not come.
 *
 * verdict: rendezvous
 * ranks:
 * worlds: tcp
 * seen in: powersgd#21
 */
#include "scenarios/zoo/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FOLDER "/tmp/lockstep-zoo-XXXXXX"

/* Rank 0 makes a folder for the file; all get its name. */
static enum dist_error choose_folder(struct zoo *zoo, char folder[])
{
	bool good = zoo->rank != 0 || mkdtemp(folder);

	return good ? dist_broadcast(
			      zoo->group,
			      dist_tensor(folder, sizeof FOLDER, DIST_UINT8), 0,
			      NULL)
		    : DIST_ERR_IO;
}

/* The run to which only rank 0 comes: the others are started after it. */
static enum dist_error run_earlier(struct zoo *zoo, const char *url)
{
	if (zoo->rank != 0)
		return dist_compute(zoo->group, 2000000000, "start again");
	(void)!zoo_join_by(zoo, zoo->rank, zoo->world_size, url);
	return DIST_OK;
}

static enum dist_error run(struct zoo *zoo)
{
	char folder[] = FOLDER, path[sizeof folder + 8], url[sizeof path + 8];
	enum dist_error error;

	zoo_try(choose_folder(zoo, folder));
	snprintf(path, sizeof path, "%s/meet", folder);
	snprintf(url, sizeof url, "file://%s", path);
	if (!zoo->correct)
		zoo_try(run_earlier(zoo, url));
	error = zoo_join_by(zoo, zoo->rank, zoo->world_size, url);
	if (!error)
		error = dist_barrier(zoo->group, NULL);
	unlink(path);
	rmdir(folder);
	return error;
}

const struct zoo_program zoo_50_stale_file = {
	.name = "50_stale_file",
	.world_size = 3,
	.run = run,
};
