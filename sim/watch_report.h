/*
 * watch_report.h - what is said of a simulation that a signal ended, or that
 * does not end. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_WATCH_REPORT_H
#define LOCKSTEP_SIM_WATCH_REPORT_H

#include "sim/watch_state.h"

struct check_board;
struct check_cause;

/* dist__sim_watch_describe says how the signal ended the process. */
void dist__sim_watch_describe(const struct dist__sim_watch *watch, int number,
			      char *text, size_t size);

/*
 * dist__sim_watch_report says on stderr what became of a simulation, writes the
 * verdict where the environment asks for it, and returns its exit status.
 * endless_ns: that the rank computes so long; 0: the process is dead, or dies,
 * for cause. board, a copy, may be changed, and be NULL.
 */
int dist__sim_watch_report(const struct dist__sim_watch *watch,
			   struct check_board *board,
			   const struct check_cause *cause, int64_t endless_ns);

/* dist__sim_watch_report_interrupted does the same for one that a signal ended,
 * which somebody sent: where the ranks were. */
void dist__sim_watch_report_interrupted(const struct dist__sim_watch *watch,
					const struct check_board *board,
					int number);

#endif
