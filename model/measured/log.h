/*
 * log.h - what nccl-tests or lockstep bench printed, read as a table of
 * collectives: logs as launchers leave them, of one run or several, of
 * nccl-tests 1.0 to 2.19. log_head.h says which lines beside the rows are
 * understood.
 *
 *	#  size  count  type ... time  algbw  busbw ...
 *
 * names the columns of the rows that follow; a second "time" is that in place.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LOG_H
#define LOCKSTEP_MODEL_MEASURED_LOG_H

#include "model/measured/collectives.h"
#include "model/measured/machine.h"

/* What is known beside the log, which goes first; NULL and 0: only the log may
 * say it. */
struct log_facts {
	const char *machine;             /* always given */
	const struct machine *described; /* it; NULL: is not looked at */
	const char *transport;
	const char *library;    /* always given */
	const char *version;    /* the library's */
	const char *collective; /* a name of collective_find() */
	int nodes, ranks;
};

/* What a reader of the table should know of how it was read. */
struct log_notes {
	size_t cut_rows;     /* that were not whole, and left out */
	size_t wrong_rows;   /* whose results nccl-tests found wrong */
	const char *skipped; /* a collective left out; NULL: none was */
	const char *why;     /* it was */
};

/*
 * collectives_load_log reads the log at path; all its rows are for validation.
 * The texts of facts must stay, as must *described. On failure *table is empty
 * and message says "file:line: what was expected", or what neither says and by
 * which option to say it. Errors: DIST_ERR_INVALID_ARGUMENT, DIST_ERR_IO,
 * DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
collectives_load_log(struct collectives *table, const char *path,
		     const struct log_facts *facts, struct log_notes *notes,
		     struct dist_message *message);

/* collectives_give_away makes the third smallest size, if it is of 4 KiB or
 * less, and the largest rows for calibration, those in place where there are
 * such: the rule of docs/measured.md. */
void collectives_give_away(struct collectives *table);

#endif
