/* comparison.h - prints a comparison of traces as text, JSON and TSV. */
#ifndef LOCKSTEP_CLI_COMPARISON_H
#define LOCKSTEP_CLI_COMPARISON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/rows.h"
#include "trace/compare.h"

/* What is printed; all borrowed. */
struct comparison_story {
	const struct dist__trace *predicted;
	const struct dist__trace *measured;
	const struct dist__comparison *comparison;
	bool calls;       /* also a line for each call */
	double max_error; /* as a fraction; < 0: none */
};

/* comparison_passes returns whether the traces are comparable and no row's
 * error exceeds max_error. */
bool comparison_passes(const struct comparison_story *document);

/* comparison_print writes it in any form but TSV. Returns 0, or -1 without
 * memory. */
int comparison_print(const struct comparison_story *document,
		     enum dist__form form, FILE *out);

/* comparison_write_tsv writes the rows to path; the columns are those of
 * plots/predicted_measured.gp. Errors: IO, NO_MEMORY. */
enum dist_error comparison_write_tsv(const struct comparison_story *document,
				     const char *path,
				     struct dist_message *message);

#endif
