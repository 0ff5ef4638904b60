#define _GNU_SOURCE /* O_TMPFILE */
#include "realbackend/wire/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "base/variable.h"
#include "realbackend/wire/socket.h"

/* Where Linux has memory that looks like files. */
#define MEMORY "/dev/shm"

/* Opens a file in dir that is gone with its last user; -1: not possible. Where
 * the file system has no files without a name, it has one for a moment. */
static int open_nameless(const char *dir)
{
	char path[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), len;

	if (fd >= 0)
		return fd;
	len = snprintf(path, sizeof path, "%s/lockstep-XXXXXX", dir);
	if (len < 0 || (size_t)len >= sizeof path)
		return -1;
	fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* A file of so many bytes in dir; -1: not possible (errno). Memory that there
 * is not must show here, not when it is written. */
static int make_in(const char *dir, size_t bytes)
{
	int fd = open_nameless(dir), error = EIO;

	if (fd < 0)
		return -1;
	if (!dist__file_fits(bytes))
		error = errno;
	else if (dist__socket_cloexec(fd, true))
		error = posix_fallocate(fd, 0, (off_t)bytes);
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int dist__memory_file_new(size_t bytes)
{
	const char *dir = dist__variable("TMPDIR");
	int fd = make_in(MEMORY, bytes), error = errno;

	if (fd < 0 && dir)
		fd = make_in(dir, bytes);
	if (fd < 0)
		fd = make_in("/tmp", bytes);
	/* Why not where it should be. */
	if (fd < 0 && error != ENOENT)
		errno = error;
	return fd;
}

bool dist__memory_file_full(int fd, char *text, size_t size)
{
	struct stat here, memory;
	struct statvfs room;

	if (fstat(fd, &here) != 0 || stat(MEMORY, &memory) != 0 ||
	    here.st_dev == memory.st_dev || statvfs(MEMORY, &room) != 0 ||
	    (uint64_t)here.st_size <= (uint64_t)room.f_bavail * room.f_bsize)
		return false;
	snprintf(text, size,
		 MEMORY " is full (%lld bytes wanted): the records lie in "
			"$TMPDIR or /tmp",
		 (long long)here.st_size);
	return true;
}

void *dist__memory_file_map(int fd, size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
