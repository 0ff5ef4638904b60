/*
 * watch_report.h - the report on a simulation that a signal ended, or that does
 * not end. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_WATCH_REPORT_H
#define LOCKSTEP_SIM_WATCH_REPORT_H

#include "sim/watch_state.h"

struct check_board;
struct check_cause;

/* dist__sim_watch_describe writes to text how signal number ended the process.
 */
void dist__sim_watch_describe(const struct dist__sim_watch *watch, int number,
			      char *text, size_t size);

/*
 * dist__sim_watch_report reports on stderr how a simulation ended, writes the
 * verdict files that the environment asks for, and returns the exit status.
 * endless_ns: the rank has computed for so long; 0: the process died, because
 * of cause: by a signal (weight 3), or by _exit() of the rank, with status 0
 * (weight 0) or another (2). board is a copy that may be changed, or NULL.
 */
int dist__sim_watch_report(const struct dist__sim_watch *watch,
			   struct check_board *board,
			   const struct check_cause *cause, int64_t endless_ns);

/* dist__sim_watch_report_late does the same for a process that failed only
 * after its ranks had ended well; status is that of waitpid(). */
int dist__sim_watch_report_late(const struct dist__sim_watch *watch,
				const struct check_board *board, int status);

/* dist__sim_watch_report_interrupted does the same for a simulation ended by a
 * signal from outside: where the ranks were. */
void dist__sim_watch_report_interrupted(const struct dist__sim_watch *watch,
					const struct check_board *board,
					int number);

#endif
