/* board.h - boards of records written by hand, and what is said of them. */
#ifndef LOCKSTEP_TESTS_SUPPORT_BOARD_H
#define LOCKSTEP_TESTS_SUPPORT_BOARD_H

#include <stdint.h>

#include "check/verdict.h"

/* The errors of calls that count: of a time-out, of ranks that disagree. */
enum { BOARD_TIMEOUT = -5, BOARD_MISMATCH = -6, BOARD_ABORTED = -9 };

/* Of a job in which nobody is lost, and of one in which nothing moves. */
extern const struct check_facts board_usual, board_stuck;

/* board_of makes a board of ranks that run and are in the default group. The
 * caller frees it. */
struct check_board *board_of(uint32_t world_size);

/* board_add lets rank call op at prog.c:line, as call says what differs from a
 * call on four float32 in the default group; its number in the order of the
 * group is the next if it has no tag (-1). Returns its number in the rank. */
uint32_t board_add(struct check_board *board, uint32_t rank, const char *op,
		   int line, struct check_call call);

/* A collective of the default group, for tag -1, or a message with peer:
 * issued; issued and waited for; issued, waited for and over. */
uint32_t board_issue(struct check_board *board, uint32_t rank, const char *op,
		     int peer, int tag, int line);
uint32_t board_block(struct check_board *board, uint32_t rank, const char *op,
		     int peer, int tag, int line);
uint32_t board_done(struct check_board *board, uint32_t rank, const char *op,
		    int peer, int tag, int line);

/* board_late has rank wait as board_block, and the time run out. */
void board_late(struct check_board *board, uint32_t rank, const char *op,
		int peer, int tag, int line);

/*
 * board_play adds calls as steps say, "0-1 waits recv 1 0 @11; 2 finished": of
 * ranks, how each stands in the call, its operation, then as needed peer and
 * tag, @ the line (0), x the elements (4), and what it may take, "20s" (0). Or
 * "finished", "lost", "unknown": what became of the rank. It stands:
 *   issued, waits, done   as board_issue, board_block, board_done
 *   failed                in a wait that ran out of time
 *   given_up              in a wait, which another failure ended
 *   looked                at what failed, without a wait
 *   late                  elsewhere, after the failure
 *   gone                  after it: the rank ended
 * board_played makes a board for it.
 */
void board_play(struct check_board *board, const char *steps);
struct check_board *board_played(uint32_t world_size, const char *steps);

/* board_report returns what is reported of verdict, which the caller frees. */
char *board_report(const struct check_board *board,
		   const struct check_facts *facts,
		   const struct check_verdict *verdict);

/* board_judge judges the board, expects a verdict of kind that turns on rank
 * (BOARD_ANY: on any), and a report that has each of the texts, ended by NULL;
 * one behind a ! it must not have. board_expect frees the board as well, and so
 * does board_expect_end, which judges as when all ranks have ended. */
#define BOARD_ANY (-2)
void board_judge(const struct check_board *board,
		 const struct check_facts *facts, enum check_verdict_kind kind,
		 int rank, ...);
void board_expect(struct check_board *board, const struct check_facts *facts,
		  enum check_verdict_kind kind, int rank, ...);
void board_expect_end(struct check_board *board, enum check_verdict_kind kind,
		      int rank, ...);

/* board_kind is the kind of the verdict on a job in which nobody is lost. */
enum check_verdict_kind board_kind(const struct check_board *board);

#endif
