/* left_out.h - rows that are not predicted, and why. */
#ifndef LOCKSTEP_MODEL_VALIDATION_LEFT_OUT_H
#define LOCKSTEP_MODEL_VALIDATION_LEFT_OUT_H

#include <stddef.h>

#include "lockstep/dist.h"

#define LEFT_OUT_REASONS 24

struct left_out {
	size_t num; /* rows */
	struct left_out_reason {
		size_t num;
		char text[160];
	} reasons[LEFT_OUT_REASONS]; /* different reasons; more are counted only
					in num */
	size_t num_reasons;
};

/* left_out_add counts a row. */
void left_out_add(struct left_out *left_out, const struct dist_message *why);

#endif
