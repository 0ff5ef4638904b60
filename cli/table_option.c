/* table_option.c - the options of every command that prints tables. */
#include "cli/table_option.h"

#include <string.h>

#include "base/output.h"
#include "base/terminal.h"
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

void condition_print(const char *name, const char *text, enum dist__form form,
		     FILE *out)
{
	const char *comment = form == FORM_MARKDOWN ? "-" : "#";
	const int column = fprintf(out, "%s %-11s%s ", comment, name,
				   strchr(name, ' ') ? ":" : "");
	const struct terminal_wrap wrap = {dist__terminal_width(out),
					   (size_t)column, comment, ""};

	dist__terminal_wrap(out, text, (size_t)column, &wrap);
}

void conditions_print(json_t *conditions, enum dist__form form, FILE *out)
{
	const char *name;
	json_t *text;

	json_object_foreach(conditions, name, text)
		condition_print(name, json_string_value(text), form, out);
	json_decref(conditions);
}

/* Rows below their conditions. */
struct answer {
	json_t *conditions;
	const struct dist__rows *rows;
};

static bool print_answer(FILE *out, const void *arg)
{
	const struct answer *answer = arg;
	const char *name;
	json_t *text;

	json_object_foreach(answer->conditions, name, text)
		fprintf(out, "# %s: %s\n", name, json_string_value(text));
	return !dist__rows_print(answer->rows, FORM_TSV, out);
}

enum dist_error conditions_write(json_t *conditions, struct dist__rows *rows,
				 const char *path, struct dist_message *message)
{
	const struct answer answer = {conditions, rows};
	enum dist_error error =
		dist__output_write(path, print_answer, &answer, message);

	json_decref(conditions);
	dist__rows_release(rows);
	return error;
}
