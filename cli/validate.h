/*
 * validate.h - predictions compared with published measurements: requested by
 * validate.c, which also sums them up, read and predicted by validate_make.c,
 * printed by validate_print.c, and as intervals' data by validate_blind.c.
 */
#ifndef LOCKSTEP_CLI_VALIDATE_H
#define LOCKSTEP_CLI_VALIDATE_H

#include <stdio.h>

#include "cli/table_option.h"
#include "model/measured/log.h"
#include "model/validation/crossover.h"
#include "model/validation/outcome.h"
#include "model/validation/step_outcome.h"

#define VALIDATE_NAME 64

/* What all constants are fitted without: a table's machine; its machine and its
 * fabric; its machine, except the rows that it marks for calibration. */
enum validate_blind {
	VALIDATE_NO_MACHINE,
	VALIDATE_NO_FABRIC,
	VALIDATE_OWN_ROWS,
	VALIDATE_BLIND /* how many there are */
};

/* A table of collectives or of steps. Tables that were not asked for are loaded
 * for their calibration rows. */
struct validate_table {
	char name[VALIDATE_NAME];
	bool wanted;
	bool is_steps;
	bool is_unseen;  /* no constant is fitted to it, blind or not */
	bool is_profile; /* of torch.profiler; its rows are printed, too */

	struct collectives collectives;       /* if it is one of collectives;
						 else empty */
	struct outcome outcome;               /* empty if it is not wanted */
	struct outcome blind[VALIDATE_BLIND]; /* likewise, and if nothing is
						 left */
	struct steps steps;
	struct step_outcome step_outcome, blind_steps;

	/* Errors: by size, of the two-parameter fit, by schedule. */
	struct accuracy ranges[ACCURACY_RANGES], fit;
	struct accuracy blind_errors[VALIDATE_BLIND];
	struct accuracy schedules[STREAM_SCHEDULES];
	struct accuracy blind_schedules[STREAM_SCHEDULES];
};

/* A request. Strings are borrowed. */
struct validate_request {
	const char *const *names; /* tables; logs if facts has a machine */
	size_t num;
	struct log_facts facts;
	bool calibrate; /* with rows of the logs themselves */
	bool blind;     /* too */
	enum calibrated_constants constants;
};

struct validate {
	struct validate_table *tables; /* owned */
	size_t num;
	const struct collectives **calibration; /* of all tables; owned */
	struct calibrated_models models;
	struct machine machine; /* of the logs, if there are any any */
	bool is_blind;          /* also filled in: */
	struct calibrated_models blind[VALIDATE_BLIND];
};

/*
 * validate_make reads the tables that come with Lockstep, and the named files
 * or logs, and predicts the named ones, or all if none is named. Returns an
 * exit status, after a line on stderr when it is not OK. In any case
 * validate_release frees what *validate holds.
 */
int validate_make(struct validate *validate,
		  const struct validate_request *request);

/* validate_release frees what validate holds. */
void validate_release(struct validate *validate);

/* The errors over all tables of collectives. */
struct validate_summary {
	size_t tables; /* with a row that could be predicted */
	size_t good;   /* of these, within the bounds of accuracy.h */

	/* Medians over tables of their medians and 90th percentiles; num counts
	 * tables, worst is the worst median of a table. */
	struct accuracy ranges[ACCURACY_RANGES];
	struct accuracy fit; /* the same for the two-parameter fit */
	struct accuracy blind[VALIDATE_BLIND];
	size_t blind_good; /* tables without their machine */

	/* The share of measured rows within the intervals from other machines'
	 * stored errors: of collectives, of collectives on machines with rows
	 * of their own, of steps; NAN: not known, or not asked for. */
	double held[3];

	double worst_steps; /* median of a schedule of a table of steps */
};

/* validate_print writes errors by table in any form but TSV. Returns 0, or -1
 * without memory. */
int validate_print(const struct validate *validate,
		   const struct validate_summary *summary, enum dist__form form,
		   FILE *out);

/* validate_write_errors writes the blind errors, by like cases, in the form of
 * model/validation/interval.h. Errors: of the file, with message. */
enum dist_error validate_write_errors(const struct validate *validate,
				      const char *path,
				      struct dist_message *message);

/* validate_write_tsv writes to path a line for each predicted row, whole or not
 * at all. Errors: of the file, with message. */
enum dist_error validate_write_tsv(const struct validate *validate,
				   const char *path,
				   struct dist_message *message);

/* ---- validate_llm.c: steps of language models ---------------------------- */

struct validate_llm_request {
	const char *const *names; /* sources; num 0: all */
	size_t num;
	bool blind;       /* also with constants fitted without each source */
	bool refit;       /* with constants fitted now, and printed */
	bool plan;        /* also search where a best layout is published */
	double max_error; /* of the median of dense rows; INFINITY: none */
	const struct table_options *form;
	const char *plot; /* NULL: none */
};

/* validate_llm returns an exit status, after a line on stderr when it is not OK
 * or FAILED. */
int validate_llm(const struct validate_llm_request *request);

#endif
