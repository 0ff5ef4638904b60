/*
 * board.h - the records of a job in memory that the launcher shares with its
 * ranks: readable after a rank was killed. Private to realbackend/tcp/.
 */
#ifndef LOCKSTEP_TCP_BOARD_H
#define LOCKSTEP_TCP_BOARD_H

#include "check/record.h"
#include "lockstep/dist.h"

/* dist__board_create makes an empty board for world_size ranks, in a file
 * without a name that *fd holds open (closed on exec). Errors: IO. */
enum dist_error dist__board_create(uint32_t world_size, int *fd,
				   struct check_board **board);

/* dist__board_open maps the board that fd holds; NULL: there is none. */
struct check_board *dist__board_open(int fd);

/* dist__board_unmap ends the mapping. NULL allowed. */
void dist__board_unmap(struct check_board *board);

#endif
