/* report_waits.h - sentences about calls that are enqueued behind an incomplete
 * one, and about keys of stores. Private to check/. */
#ifndef LOCKSTEP_CHECK_REPORT_WAITS_H
#define LOCKSTEP_CHECK_REPORT_WAITS_H

#include "check/picture.h"
#include "check/text.h"

/* check_report_queued adds a sentence for each call that ranks wait in and that
 * the ranks they wait for have enqueued, but not begun. */
void check_report_queued(struct check_lines *lines,
			 const struct check_picture *picture);

/* check_report_stored says who stored how much, where ranks wait for a key. */
void check_report_stored(struct check_lines *lines,
			 const struct check_picture *picture);

/* check_report_polls says which real ranks, in their own code, do nothing but
 * ask for a key at now_ns, on the clock of their host. */
void check_report_polls(struct check_lines *lines,
			const struct check_picture *picture, int64_t now_ns);

#endif
