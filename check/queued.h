/*
 * queued.h - calls that others wait for and that a rank has enqueued on its
 * stream behind an incomplete one. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_QUEUED_H
#define LOCKSTEP_CHECK_QUEUED_H

#include "check/picture.h"
#include "check/text.h"

/* check_report_queued adds a sentence for each call that ranks wait in and that
 * the ranks they wait for have enqueued, but not begun. */
void check_report_queued(struct check_lines *lines,
			 const struct check_picture *picture);

#endif
