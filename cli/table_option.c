/* table_option.c - the options of every command that prints tables. */
#include "cli/table_option.h"

#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
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

enum dist_error conditions_write(json_t *conditions, struct dist__rows *rows,
				 const char *path, struct dist_message *message)
{
	enum dist_error error = DIST_ERR_NO_MEMORY;
	const char *name;
	char *head = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&head, &size);
	json_t *text;

	json_object_foreach(conditions, name, text) if (out)
		fprintf(out, "# %s: %s\n", name, json_string_value(text));
	json_decref(conditions);
	if (out && fclose(out) == 0)
		error = dist__rows_write(rows, head, path, message);
	else
		(void)dist__refuse_as(message, error, "out of memory");
	dist__rows_release(rows);
	free(head);
	return error;
}
