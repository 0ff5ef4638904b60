#include "realbackend/launch/board.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "realbackend/wire/memory_file.h"

/* How often records are read that do not stand still, and between. */
#define MOST_READS 50
#define PAUSE_NS   50000

enum dist_error dist__board_create(uint32_t world_size, int *fd)
{
	size_t bytes = check_board_bytes(world_size);
	struct check_board *board;

	*fd = dist__memory_file_new(bytes);
	if (*fd < 0)
		return DIST_ERR_IO;
	board = dist__memory_file_map(*fd, bytes);
	if (!board) {
		close(*fd);
		*fd = -1;
		return DIST_ERR_IO;
	}
	check_board_init(board, world_size);
	munmap(board, bytes);
	return DIST_OK;
}

/* Reads len bytes at offset; what the file has not is zero. Returns whether it
 * had all. */
static bool read_at(int fd, void *data, size_t len, size_t offset)
{
	size_t got = dist__read_all(fd, data, len, (off_t)offset);

	memset((char *)data + got, 0, len - got);
	return got == len;
}

/* Whether bytes were read twice alike; padding counts, too. */
static bool is_same(const void *a, const void *b, size_t bytes)
{
	return memcmp(a, b, bytes) == 0;
}

/* The calls that the rank was writing, or may have been, are none. */
static void drop_changed(struct check_call *calls,
			 const struct check_call *before, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_same(&calls[i], &before[i], sizeof calls[i]))
			memset(&calls[i], 0, sizeof calls[i]);
}

/* Reads the slot at offset until it stood still, because half of one call and
 * half of another would be a call that nobody made. Where the rank calls all
 * the time, calls that stood still. Returns whether the file had all. */
static bool read_slot(int fd, struct check_slot *slot, size_t offset)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct check_slot before;
	bool whole = read_at(fd, slot, sizeof *slot, offset);

	for (int i = 0; i < MOST_READS; i++) {
		before = *slot;
		whole = read_at(fd, slot, sizeof *slot, offset);
		if (is_same(&before, slot, sizeof before))
			return whole;
		nanosleep(&pause, NULL);
	}
	drop_changed(slot->ring, before.ring, CHECK_RING);
	drop_changed(slot->quiet, before.quiet, CHECK_QUIET);
	drop_changed(&slot->kept, &before.kept, 1);
	return whole;
}

struct check_board *dist__board_copy(int fd, uint32_t world_size)
{
	struct check_board *board = malloc(check_board_bytes(world_size));

	if (!board)
		return NULL;
	check_board_init(board, world_size);
	for (uint32_t rank = 0; rank < world_size; rank++) {
		struct check_slot *slot = &board->slots[rank];

		if (!read_slot(fd, slot, check_board_bytes(rank)))
			slot->damaged = 1;
		(void)check_slot_mend(slot, world_size);
	}
	return board;
}

struct check_slot *dist__board_slot(int fd, int rank, uint32_t *world_size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), offset, before;
	struct check_board head;
	struct stat status;
	char *memory;

	if (fd < 0 || rank < 0 || fstat(fd, &status) != 0 ||
	    status.st_size <= 0 || !read_at(fd, &head, sizeof head, 0) ||
	    !check_board_valid(&head, (size_t)status.st_size) ||
	    check_board_bytes(head.world_size) != (size_t)status.st_size ||
	    (uint32_t)rank >= head.world_size)
		return NULL;
	*world_size = head.world_size;
	offset = check_board_bytes((uint32_t)rank);
	before = offset % page; /* where pages are larger than 4 KiB */
	memory = mmap(NULL, before + sizeof(struct check_slot),
		      PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      (off_t)(offset - before));
	return memory == MAP_FAILED ? NULL
				    : (struct check_slot *)(memory + before);
}
