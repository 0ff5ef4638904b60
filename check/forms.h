/* forms.h - ranks that made one collective by different calls. */
#ifndef LOCKSTEP_CHECK_FORMS_H
#define LOCKSTEP_CHECK_FORMS_H

#include "check/text.h"

/* check_warn_of_forms adds a line if ranks met with all_gather and
 * all_gather_single on one index, or with another such pair: the first place
 * that the records of both still hold. They fit. */
void check_warn_of_forms(struct check_lines *lines,
			 const struct check_board *board);

#endif
