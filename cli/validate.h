/*
 * validate.h - predictions held against what others measured: asked for by
 * validate.c, read and made by validate_make.c, summed up by
 * validate_summary.c, told by validate_print.c.
 */
#ifndef LOCKSTEP_CLI_VALIDATE_H
#define LOCKSTEP_CLI_VALIDATE_H

#include <stdio.h>

#include "base/rows.h"
#include "model/measured/log.h"
#include "model/validation/crossover.h"
#include "model/validation/outcome.h"
#include "model/validation/step_outcome.h"

#define VALIDATE_NAME 64

/* What is left out of all constants: a table's machine; and its fabric; its
 * machine, but for the rows that this gives away for calibration. */
enum validate_blind {
	VALIDATE_NO_MACHINE,
	VALIDATE_NO_FABRIC,
	VALIDATE_OWN_ROWS,
	VALIDATE_BLIND /* how many there are */
};

/* A table of collectives or of steps. Those that nobody asked for are there for
 * their calibration rows. */
struct validate_table {
	char name[VALIDATE_NAME];
	bool wanted;
	bool is_steps;

	struct collectives collectives;       /* of what it is, and empty */
	struct outcome outcome;               /* where it is not wanted */
	struct outcome blind[VALIDATE_BLIND]; /* and where nothing is left */
	struct steps steps;
	struct step_outcome step_outcome, blind_steps;

	/* How far off: by size, of the two-parameter fit, by schedule. */
	struct accuracy ranges[ACCURACY_RANGES], fit;
	struct accuracy blind_errors[VALIDATE_BLIND];
	struct accuracy schedules[STREAM_SCHEDULES];
	struct accuracy blind_schedules[STREAM_SCHEDULES];
};

/* What is asked. Strings are borrowed. */
struct validate_request {
	const char *const *names; /* tables; logs if facts has a machine */
	size_t num;
	struct log_facts facts;
	bool calibrate; /* from the logs themselves */
	bool blind;     /* too */
	enum calibrated_constants constants;
};

struct validate {
	struct validate_table *tables; /* owned */
	size_t num;
	const struct collectives **calibration; /* of all tables; owned */
	struct calibrated_models models;
	struct machine machine; /* of the logs, if there are */
	bool is_blind;          /* these too: */
	struct calibrated_models blind[VALIDATE_BLIND];
};

/*
 * validate_make reads the tables that come with Lockstep and those of the names
 * that are files, or logs, and predicts those named, all if there are none.
 * Returns an exit status, after a line on stderr when it is not OK. Either way
 * validate_release frees what *validate holds.
 */
int validate_make(struct validate *validate,
		  const struct validate_request *request);

/* validate_release frees what validate holds. */
void validate_release(struct validate *validate);

/* What all tables of collectives say together. */
struct validate_summary {
	size_t tables; /* of which a row could be predicted */
	size_t good;   /* and that hold the bounds of accuracy.h */

	/* Medians over tables, of their medians and 90th percentiles; num is
	 * that of the tables, worst the worst median of one. */
	struct accuracy ranges[ACCURACY_RANGES];
	struct accuracy fit; /* the same of the two-parameter fit */
	struct accuracy blind[VALIDATE_BLIND];
	size_t blind_good; /* tables without their machine */

	/* What share of the measured rows lies within the intervals that other
	 * machines' stored errors make: collectives, those on machines with
	 * rows of their own, steps; NAN: not known, or not asked for. */
	double held[3];

	double worst_steps; /* median of a schedule of a table of steps */
};

/* validate_summarize fills *summary. Returns 0, or -1: no memory. */
int validate_summarize(const struct validate *validate,
		       struct validate_summary *summary);

/* validate_constants returns the constants of libraries that were fitted: what
 * was thought of them before, what the profile has, what all tables come to,
 * and the range of that without one machine at a time. No row unless
 * is_blind. */
struct dist__rows validate_constants(const struct validate *validate);

/* validate_goal returns how far off a step of that schedule may be, by median:
 * 0.07, or 0.12 where communication hides behind computing. */
double validate_goal(enum stream_schedule schedule);

/* validate_print writes errors by table in any form but TSV; returns 0, or -1:
 * no memory. */
int validate_print(const struct validate *validate,
		   const struct validate_summary *summary, enum dist__form form,
		   FILE *out);

/* validate_write_errors writes the blind errors, by like cases, in the form of
 * model/validation/interval.h. Errors: of the file; message says what. */
enum dist_error validate_write_errors(const struct validate *validate,
				      const char *path,
				      struct dist_message *message);

/* validate_write_tsv writes a line for each row that was predicted to path,
 * whole or not at all. Errors: of the file; message says what. */
enum dist_error validate_write_tsv(const struct validate *validate,
				   const char *path,
				   struct dist_message *message);

#endif
