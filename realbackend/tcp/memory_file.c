#define _GNU_SOURCE /* O_TMPFILE */
#include "realbackend/tcp/memory_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "realbackend/tcp/socket.h"

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

static int open_anywhere(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open_nameless("/dev/shm"); /* memory, where Linux has it */

	if (fd < 0 && dir && *dir)
		fd = open_nameless(dir);
	return fd < 0 ? open_nameless("/tmp") : fd;
}

int dist__memory_file_new(size_t bytes)
{
	int fd = open_anywhere();

	/* Memory that there is not must show here, not when it is written. */
	if (fd < 0 || (dist__socket_cloexec(fd, true) &&
		       posix_fallocate(fd, 0, (off_t)bytes) == 0))
		return fd;
	close(fd);
	return -1;
}

void *dist__memory_file_map(int fd, size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
