#include "realbackend/tcp/board.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "realbackend/tcp/memory_file.h"

enum dist_error dist__board_create(uint32_t world_size, int *fd,
				   struct check_board **board)
{
	size_t bytes = check_board_bytes(world_size);

	*board = NULL;
	*fd = dist__memory_file_new(bytes);
	if (*fd < 0)
		return DIST_ERR_IO;
	*board = dist__memory_file_map(*fd, bytes);
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
	board = dist__memory_file_map(fd, bytes);
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
