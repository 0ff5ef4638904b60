#include "realbackend/launch/board.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file_limit.h"
#include "base/io.h"
#include "check/dump.h"
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
	drop_changed(slot->made, before.made, CHECK_MADE);
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

static struct check_slot *map_slot(int fd, uint32_t rank)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t offset = check_board_bytes(rank);
	size_t before = offset % page; /* where pages are larger than 4 KiB */
	char *memory = mmap(NULL, before + sizeof(struct check_slot),
			    PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    (off_t)(offset - before));

	return memory == MAP_FAILED ? NULL
				    : (struct check_slot *)(memory + before);
}

struct check_slot *dist__board_slot(int fd, int rank, uint32_t *world_size)
{
	struct check_board head;
	struct stat status;

	if (fd < 0 || rank < 0 || fstat(fd, &status) != 0 ||
	    status.st_size <= 0 || !read_at(fd, &head, sizeof head, 0) ||
	    !check_board_valid(&head, (size_t)status.st_size) ||
	    check_board_bytes(head.world_size) != (size_t)status.st_size ||
	    (uint32_t)rank >= head.world_size)
		return NULL;
	*world_size = head.world_size;
	return map_slot(fd, (uint32_t)rank);
}

/* ---- of ranks that the program starts itself ------------------------------
 */

int dist__board_open_own(char *path, size_t size)
{
	int fd = dist__memory_file_new(sizeof(struct check_board));

	if (fd >= 0)
		snprintf(path, size, "/proc/%ld/fd/%d", (long)getpid(), fd);
	return fd;
}

/* Reads the head; false: no world is there. */
static bool read_own(int fd, struct check_board *head)
{
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 &&
	       read_at(fd, head, sizeof *head, 0) && head->own_job &&
	       head->world_size <= CHECK_DUMP_MAX_WORLD &&
	       check_board_valid(head, (size_t)status.st_size);
}

bool dist__board_is_gone(const struct check_slot *slot)
{
	char path[48], state = 'X';
	FILE *in;

	snprintf(path, sizeof path, "/proc/%lld/stat", (long long)slot->pid);
	in = slot->pid > 0 ? fopen(path, "re") : NULL;
	if (in) {
		/* "PID (NAME) STATE ..."; a NAME may have brackets. */
		if (fscanf(in, "%*[^)]%*[)] %c", &state) != 1)
			state = '?';
		fclose(in);
	}
	return slot->pid > 0 && (state == 'X' || state == 'Z');
}

struct check_board *dist__board_copy_own(int fd)
{
	struct check_board head, *board;

	if (!read_own(fd, &head))
		return NULL;
	board = dist__board_copy(fd, head.world_size);
	if (board)
		board->own_job = head.own_job;
	return board;
}

/* Whether all ranks of the world in the file have left it, or are gone. */
static bool is_over(int fd, const struct check_board *head)
{
	struct check_board *board = dist__board_copy(fd, head->world_size);
	bool over = board != NULL;

	for (uint32_t rank = 0; over && rank < head->world_size; rank++)
		over = board->slots[rank].state == CHECK_RANK_FINISHED ||
		       dist__board_is_gone(&board->slots[rank]);
	free(board);
	return over;
}

/* Makes the file a board of that world, unless it is; for one process at a
 * time. It does not shrink: ranks that have left still map theirs. */
static bool enter_own(int fd, uint64_t job, uint32_t world_size)
{
	size_t bytes = check_board_bytes(world_size);
	struct check_board head, *board;
	struct stat status;

	if (read_own(fd, &head)) {
		if (head.own_job == job)
			return head.world_size == world_size;
		if (!is_over(fd, &head))
			return false;
	}
	if (fstat(fd, &status) != 0 ||
	    ((size_t)status.st_size < bytes &&
	     (!dist__file_fits(bytes) ||
	      posix_fallocate(fd, 0, (off_t)bytes) != 0)))
		return false;
	board = dist__memory_file_map(fd, bytes);
	if (!board)
		return false;
	memset(board, 0, bytes);
	check_board_init(board, world_size);
	board->own_job = job;
	munmap(board, bytes);
	return true;
}

struct check_slot *dist__board_join_own(const char *path, uint64_t job,
					int rank, uint32_t world_size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct check_slot *slot = NULL;

	if (fd < 0)
		return NULL;
	if (flock(fd, LOCK_EX) == 0 && enter_own(fd, job, world_size))
		slot = map_slot(fd, (uint32_t)rank);
	(void)flock(fd, LOCK_UN); /* the mapping would keep it */
	close(fd);
	return slot;
}
