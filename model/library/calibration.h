/*
 * calibration.h - what was measured of a library on a machine: constants of the
 * library's model that the machine's own rows say, beside the profile's for all
 * machines. Part of a machine's description (model/measured/machine.h), and of
 * a platform made of it.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_CALIBRATION_H
#define LOCKSTEP_MODEL_LIBRARY_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "lockstep/dist.h"

struct calibration_constant {
	char name[24];
	double value;
	bool is_given;    /* not fitted: the rows are fitted beside it */
	bool is_at_bound; /* no legal value meets the rows */
};

#define CALIBRATION_CONSTANTS 8
#define CALIBRATIONS          8 /* most of a machine */

struct calibration {
	char library[16];   /* as library_name() */
	char version[32];   /* of what was measured; "": not stated */
	char transport[32]; /* between nodes; "": there is one node */
	struct calibration_constant constants[CALIBRATION_CONSTANTS];
	size_t num_constants;

	int rows;        /* that it was fitted to */
	char from[128];  /* the tables or the log that have them */
	char date[16];   /* of the fit: 2026-01-31 */
	double residual; /* |predicted / measured - 1|, the worst row's */
	int checked;     /* rows of the library there that the model predicts */
	double error;    /* and the median of the same of them; of all */
};

/* library_calibration_find returns the one of that library and transport (NULL
 * or "": of one node); NULL: there is none. */
const struct calibration *
library_calibration_find(const struct calibration *all, size_t num,
			 const char *library, const char *transport);

/* library_calibration_constant returns the place of a constant; NULL: it has
 * none. */
struct calibration_constant *
library_calibration_constant(struct calibration *calibration, const char *name);

/* library_calibration_set gives a constant a value, as the last one if it is
 * new; false: there is no room, or the name is too long. */
bool library_calibration_set(struct calibration *calibration, const char *name,
			     double value);

/*
 * library_calibration_print writes one as a line of text, "library=nccl
 * transport=ib
 * ... net_share=0.95", 17 digits a number; library_calibration_parse reads it.
 * false: that is none, or text is too short.
 */
#define CALIBRATION_TEXT 768
bool library_calibration_print(const struct calibration *calibration,
			       char text[CALIBRATION_TEXT]);
bool library_calibration_parse(struct calibration *calibration,
			       const char *text);

/* library_calibration_describe writes "calibrated on 2026-01-31 from 2 rows of
 * TABLE, residual 0.1 %", and which constants are at their bounds. */
void library_calibration_describe(const struct calibration *calibration,
				  char *text, size_t size);

#endif
