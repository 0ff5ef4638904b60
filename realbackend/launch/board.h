/*
 * board.h - the records of a job in a file in memory that the launcher shares
 * with its ranks: readable after a rank was killed. A rank maps its own records
 * alone. The launcher maps none; it reads copies and trusts nothing in them.
 * Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_BOARD_H
#define LOCKSTEP_LAUNCH_BOARD_H

#include "check/record.h"
#include "lockstep/dist.h"

/* dist__board_create makes an empty board for world_size ranks, in a file
 * without a name that *fd keeps open (closed on exec). Errors: IO. */
enum dist_error dist__board_create(uint32_t world_size, int *fd);

/* dist__board_copy returns the records of world_size ranks as they are now,
 * mended (check_slot_mend), which the caller frees; records that a rank cut off
 * the file are damaged. Every call in the copy was made by a rank, even if the
 * ranks write meanwhile. NULL: no memory. */
struct check_board *dist__board_copy(int fd, uint32_t world_size);

/* dist__board_slot maps the records of rank on the board in fd, for the life of
 * the process, and stores the board's number of ranks in *world_size. NULL: no
 * board, or no such rank. */
struct check_slot *dist__board_slot(int fd, int rank, uint32_t *world_size);

/* A second board is for ranks that the program starts itself. The launcher does
 * not know how many, and they may have closed its files: the first of a world
 * makes it as large as it must be. */

/* dist__board_open_own makes a file for that board, without ranks; path is how
 * other processes open it. -1: see errno. */
int dist__board_open_own(char *path, size_t size);

/* dist__board_copy_own returns the records of those ranks as dist__board_copy
 * does, own_job set; NULL: there are none, or no memory. */
struct check_board *dist__board_copy_own(int fd);

/* dist__board_is_gone returns whether the process of a rank on this machine has
 * ended; one that nobody has waited for has, too. */
bool dist__board_is_gone(const struct check_slot *slot);

/* dist__board_join_own maps the records of a rank of the world that `job` is
 * the token of. NULL: the file cannot be opened, or another world of the
 * program has it, some ranks of which are alive and have not left. */
struct check_slot *dist__board_join_own(const char *path, uint64_t job,
					int rank, uint32_t world_size);

#endif
