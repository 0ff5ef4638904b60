/* folder.c - makes and removes the folder of a job. */
#define _XOPEN_SOURCE   700 /* nftw */
#define _DEFAULT_SOURCE     /* flock */
#include "realbackend/mpi/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "/dev/shm/lockstep-mpi-"

static int open_path(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	(void)remove(path);
	return 0;
}

static void remove_if_last(int fd, const char *path)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Those of jobs of which every rank was killed; another user's stay. */
static void remove_stale(void)
{
	glob_t found;
	int fd;

	if (glob(PREFIX "*", GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			fd = open_path(found.gl_pathv[i]);
			if (fd < 0)
				continue;
			remove_if_last(fd, found.gl_pathv[i]);
			close(fd);
		}
	globfree(&found);
}

/* Whether the folder that fd holds is still the one at path. */
static bool is_there(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

bool dist__folder_open(struct dist__folder *folder, int job)
{
	remove_stale();
	snprintf(folder->path, sizeof folder->path, PREFIX "%d", job);
	for (;;) {
		folder->fd = -1;
		if (mkdir(folder->path, 0700) != 0 && errno != EEXIST)
			return false;
		folder->fd = open_path(folder->path);
		/* Between the two calls it may have been taken for nobody's. */
		if (folder->fd < 0 && errno == ENOENT)
			continue;
		if (folder->fd < 0)
			return false;
		if (flock(folder->fd, LOCK_SH) == 0 &&
		    is_there(folder->fd, folder->path))
			return true;
		close(folder->fd);
	}
}

void dist__folder_close(struct dist__folder *folder)
{
	if (folder->fd < 0)
		return;
	remove_if_last(folder->fd, folder->path);
	close(folder->fd);
	folder->fd = -1;
}
