/*
 * log.h - what nccl-tests or lockstep bench printed, read as a table of
 * collectives. Of the lines that begin with '#' these are understood:
 *
 *	# collective: all_reduce ranks: 16 ...	(lockstep bench)
 *	# nodes: 2				(by hand)
 *	#  Rank  0 ... on  HOST device ...
 *	# ... all_reduce_perf ...	("Collective test starting")
 *	#  size  count  type ... time  algbw  busbw ...
 *
 * The last one names the columns; a second "time" is that in place.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LOG_H
#define LOCKSTEP_MODEL_MEASURED_LOG_H

#include "model/measured/collectives.h"

/* What is known beside the log; NULL and 0: only the log may say it. */
struct log_facts {
	const char *machine;    /* always given */
	const char *transport;  /* of several nodes: always given */
	const char *library;    /* always given */
	const char *collective; /* torch's name */
	int nodes, ranks;
};

/*
 * collectives_load_log reads the log at path; all its rows are for validation.
 * The texts of facts must stay. On failure *table is empty and message says
 * "file:line: what was expected", or what neither says. Errors:
 * DIST_ERR_INVALID_ARGUMENT, DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
collectives_load_log(struct collectives *table, const char *path,
		     const struct log_facts *facts,
		     struct dist_message *message);

/* collectives_give_away makes the third smallest size, if it is of 4 KiB or
 * less, and the largest rows for calibration, those in place where there are
 * such: the rule of docs/measured.md. */
void collectives_give_away(struct collectives *table);

#endif
