/*
 * calibration.h - constants of a library's model fitted to rows of one machine;
 * they replace the profile's, which are for all machines. Part of a machine's
 * description (model/measured/machine.h), and of platforms made from it.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_CALIBRATION_H
#define LOCKSTEP_MODEL_LIBRARY_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

#include "lockstep/dist.h"

struct calibration_constant {
	char name[24];
	double value;
	bool is_given;    /* not fitted, but given */
	bool is_at_bound; /* no legal value fits the rows */
};

#define CALIBRATION_CONSTANTS 8
#define CALIBRATIONS          8 /* most of a machine */

struct calibration {
	char library[16];   /* as library_name() */
	char version[32];   /* of the measured library; "": not stated */
	char transport[32]; /* between nodes; "": one node */
	struct calibration_constant constants[CALIBRATION_CONSTANTS];
	size_t num_constants;

	int rows;        /* fitted to so many rows */
	char from[128];  /* the tables or the log of the rows */
	char date[16];   /* of the fit: 2026-01-31 */
	double residual; /* |predicted / measured - 1| of the worst row */
	int checked;     /* all all rows of the library there that the model
			    predicts */
	double error;    /* median error of these */
};

/* library_calibration_find returns the calibration of that library and
 * transport (NULL or "": of one node); NULL: none. */
const struct calibration *
library_calibration_find(const struct calibration *all, size_t num,
			 const char *library, const char *transport);

/* library_calibration_constant returns the constant called name; NULL: none. */
struct calibration_constant *
library_calibration_constant(struct calibration *calibration, const char *name);

/* library_calibration_set sets a constant; a new one is appended. Returns false
 * without room, or if the name is too long. */
bool library_calibration_set(struct calibration *calibration, const char *name,
			     double value);

/*
 * library_calibration_print writes a calibration as a line of text,
 * "library=nccl transport=ib ... net_share=0.95", with 17 digits a number;
 * library_calibration_parse reads it. Both return false on failure: text is too
 * short, or no calibration.
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
