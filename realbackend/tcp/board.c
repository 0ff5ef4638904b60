#include "realbackend/tcp/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "realbackend/tcp/socket.h"

/* Opens a file in dir that is gone with its last user; -1: not possible. */
static int open_nameless(const char *dir)
{
	char path[4096];
	int fd, len;

	len = snprintf(path, sizeof path, "%s/lockstep-XXXXXX", dir);
	if (len < 0 || (size_t)len >= sizeof path)
		return -1;
	fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_shared(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open_nameless("/dev/shm"); /* memory, where Linux has it */

	if (fd < 0 && dir && *dir)
		fd = open_nameless(dir);
	return fd < 0 ? open_nameless("/tmp") : fd;
}

static struct check_board *map(int fd, size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

enum dist_error dist__board_create(uint32_t world_size, int *fd,
				   struct check_board **board)
{
	size_t bytes = check_board_bytes(world_size);

	*board = NULL;
	*fd = open_shared();
	if (*fd < 0)
		return DIST_ERR_IO;
	if (dist__socket_cloexec(*fd, true) &&
	    ftruncate(*fd, (off_t)bytes) == 0)
		*board = map(*fd, bytes);
	if (!*board) {
		close(*fd);
		*fd = -1;
		return DIST_ERR_IO;
	}
	check_board_init(*board, world_size);
	return DIST_OK;
}

struct check_board *dist__board_open(int fd)
{
	struct check_board *board;
	struct stat status;
	size_t bytes;

	if (fstat(fd, &status) != 0 || status.st_size <= 0)
		return NULL;
	bytes = (size_t)status.st_size;
	board = map(fd, bytes);
	if (board && (!check_board_valid(board, bytes) ||
		      check_board_bytes(board->world_size) != bytes)) {
		munmap(board, bytes);
		return NULL;
	}
	return board;
}

void dist__board_unmap(struct check_board *board)
{
	if (board)
		munmap(board, check_board_bytes(board->world_size));
}
