/* stored.h - sentences about keys of stores. Private to check/. */
#ifndef LOCKSTEP_CHECK_STORED_H
#define LOCKSTEP_CHECK_STORED_H

#include "check/picture.h"
#include "check/text.h"

/* check_report_stored says who stored how much, where ranks wait for a key. */
void check_report_stored(struct check_lines *lines,
			 const struct check_picture *picture);

/* check_report_polls says which real ranks, in their own code, do nothing but
 * ask for a key at now_ns, on the clock of their host. */
void check_report_polls(struct check_lines *lines,
			const struct check_picture *picture, int64_t now_ns);

#endif
