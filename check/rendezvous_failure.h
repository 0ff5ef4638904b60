/* rendezvous_failure.h - a rendezvous that failed, as its ranks report it.
 * Private to check/. */
#ifndef LOCKSTEP_CHECK_RENDEZVOUS_FAILURE_H
#define LOCKSTEP_CHECK_RENDEZVOUS_FAILURE_H

#include "check/text.h"

/* check_failed_to_meet returns whether a rank reports one. */
bool check_failed_to_meet(const struct check_board *board);

/* check_rendezvous_failure_next returns the lowest rank >= from that a rank
 * reports to be at fault; it may exceed the job's ranks. UINT32_MAX: none.
 */
uint32_t check_rendezvous_failure_next(const struct check_board *board,
				       uint32_t from);

/* check_report_rendezvous_failure adds the ranks' sentences, each once.
 */
void check_report_rendezvous_failure(struct check_lines *lines,
				     const struct check_board *board);

#endif
