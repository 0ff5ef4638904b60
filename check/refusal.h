/*
 * refusal.h - a rank that gave up because a call of it was refused, in
 * sentences. Private to check/.
 */
#ifndef LOCKSTEP_CHECK_REFUSAL_H
#define LOCKSTEP_CHECK_REFUSAL_H

#include <stdbool.h>
#include <stdio.h>

#include "check/record.h"

/* check_refused_alike returns whether two ranks' last calls were refused at the
 * same line. */
bool check_refused_alike(const struct check_slot *a,
			 const struct check_slot *b);

/* check_report_refusal writes which call of rank was refused, with the ranks
 * that were refused at the same line, and why each was; nothing if none was. */
void check_report_refusal(FILE *out, const struct check_board *board, int rank);

#endif
