/* table_option.c - the options of every command that prints tables. */
#include "cli/table_option.h"

#include "lockstep/dist.h"

#define AT(field) offsetof(struct table_options, field)

const struct option form_options[] = {{"tsv", OPTION_TEXT, AT(tsv), "FILE",
				       .help = "write the rows, for plots"},
				      {"json", OPTION_SWITCH, AT(json), NULL,
				       .help = "print JSON instead of tables"},
				      {"markdown", OPTION_SWITCH, AT(markdown),
				       NULL,
				       .help = "print the tables as Markdown"},
				      {.name = NULL}};

enum dist__form table_options_form(const struct table_options *options)
{
	if (options->json)
		return FORM_JSON;
	return options->markdown ? FORM_MARKDOWN : FORM_TEXT;
}

int table_options_print(const struct table_options *options,
			const char *command, struct dist__rows *table)
{
	struct dist_message message = {"out of memory"};
	int failed =
		dist__rows_print(table, table_options_form(options), stdout);

	if (!failed && options->tsv)
		failed = dist__rows_write(table, NULL, options->tsv,
					  &message) != DIST_OK;
	dist__rows_release(table);
	if (failed)
		fprintf(stderr, "%s: %s\n", command, message.text);
	return failed ? DIST_EXIT_USAGE : DIST_EXIT_OK;
}
