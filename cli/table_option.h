/* table_option.h - the options of every command that prints tables. */
#ifndef LOCKSTEP_CLI_TABLE_OPTION_H
#define LOCKSTEP_CLI_TABLE_OPTION_H

#include "base/rows.h"
#include "scenarios/arguments.h"

struct table_options {
	const char *tsv; /* NULL: not given */
	int json;
	int markdown;
};

/* --tsv, --json and --markdown; form_print_options are the last two alone. */
extern const struct option form_options[];
#define form_print_options (form_options + 1)

/* table_options_form returns the form to print. */
enum dist__form table_options_form(const struct table_options *options);

/* table_options_print prints the table as asked, also to the file of --tsv, and
 * releases it.
 * Returns an exit status, after a line on stderr when it is not OK. */
int table_options_print(const struct table_options *options,
			const char *command, struct dist__rows *table);

/* conditions_print writes a line for each condition, an object of texts, which
 * it releases; condition_print one. On a terminal they are broken into lines as
 * wide. */
void conditions_print(json_t *conditions, enum dist__form form, FILE *out);
void condition_print(const char *name, const char *text, enum dist__form form,
		     FILE *out);

/* conditions_write writes to path a line for each condition, an object of texts
 * (NULL: no memory), and the table as TSV. Releases both. Errors: IO,
 * NO_MEMORY. */
DIST_MUST_CHECK enum dist_error conditions_write(json_t *conditions,
						 struct dist__rows *rows,
						 const char *path,
						 struct dist_message *message);

#endif
