/*
 * log.h - reads a log of nccl-tests or lockstep bench as a table of
 * collectives: logs as launchers write them, of one run or several, of
 * nccl-tests 1.0 to 2.19. log_head.h lists the other lines that are understood.
 *
 *	#  size  count  type ... time  algbw  busbw ...
 *
 * names the columns of the rows that follow; a second "time" is the one in
 * place. The file that nccl-tests writes with -J is read as well: log_json.h.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LOG_H
#define LOCKSTEP_MODEL_MEASURED_LOG_H

#include "model/measured/collectives.h"
#include "model/measured/machine.h"

/* Facts given beside the log, which override it; NULL and 0: from the log. */
struct log_facts {
	const char *machine;             /* always given */
	const struct machine *described; /* its description; NULL: not used */
	const char *transport;
	const char *library;    /* always given */
	const char *version;    /* the library's */
	const char *collective; /* a name of collective_find() */
	int nodes, ranks;
};

/* Notes on how the log was read. */
struct log_notes {
	size_t cut_rows;     /* incomplete rows, left out */
	size_t wrong_rows;   /* rows with wrong results by nccl-tests */
	const char *skipped; /* a collective left out; NULL: none */
	const char *why;     /* the reason */
};

/*
 * collectives_load_log reads the log at path; all rows are for validation.
 * Texts of facts, and *described, must outlive table. On failure *table is
 * empty, and message says "file:line: what was expected", or which fact is
 * missing and the option that gives it. Errors: DIST_ERR_INVALID_ARGUMENT,
 * DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
collectives_load_log(struct collectives *table, const char *path,
		     const struct log_facts *facts, struct log_notes *notes,
		     struct dist_message *message);

/* collectives_give_away marks rows for calibration by the rule of
 * docs/measured.md: the third smallest size, if it is 4 KiB or less, and the
 * largest; in place if there are such rows. */
void collectives_give_away(struct collectives *table);

#endif
