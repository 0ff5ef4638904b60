/* help.c - what --help says of a program, in 80 columns. */
#include "scenarios/arguments.h"

#include <string.h>

#include "base/terminal.h"

#define WIDTH  79
#define COLUMN 26 /* where the help of an option stands */

bool option_is_taken(const struct option *option, const char *taker)
{
	char spaced[64];

	if (!option->takers || !taker)
		return true;
	snprintf(spaced, sizeof spaced, " %.60s ", taker);
	return strstr(option->takers, spaced) != NULL;
}

bool option_is_shown(const struct manual *manual, const struct option *option)
{
	const struct option named = {.takers = manual->unshown};

	return option_is_taken(option, manual->taker) &&
	       (!manual->unshown || !option_is_taken(&named, option->name));
}

static void print_wrapped(FILE *out, const char *text, size_t column,
			  size_t indent, const char *broken)
{
	dist__terminal_wrap(out, text, column,
			    &(struct terminal_wrap){WIDTH, indent, "", broken});
}

static void print_heading(FILE *out, const char *title)
{
	fprintf(out, "\n%s%s:%s\n", dist__terminal_style(out, TERMINAL_BOLD),
		title, dist__terminal_style(out, TERMINAL_PLAIN));
}

static void print_option(FILE *out, const struct option *option)
{
	char text[1024], letter[8] = "";
	int len;

	if (option->letter)
		snprintf(letter, sizeof letter, "-%c, ", option->letter);
	len = fprintf(out, "  %s--%s%s%s", letter, option->name,
		      option->value ? " " : "",
		      option->value ? option->value : "");
	if (len + 2 > COLUMN) {
		fputc('\n', out);
		len = 0;
	}
	fprintf(out, "%*s", COLUMN - len, "");
	if (option->usual)
		snprintf(text, sizeof text, "%s (default: %s)", option->help,
			 option->usual);
	else
		snprintf(text, sizeof text, "%s", option->help);
	print_wrapped(out, text, COLUMN, COLUMN, "");
}

static void print_group(FILE *out, const struct option_group *group,
			const struct manual *manual)
{
	bool begun = false;

	for (const struct option *o = group->options; o->name; o++) {
		if (!option_is_shown(manual, o))
			continue;
		if (!begun)
			print_heading(out,
				      group->title ? group->title : "Options");
		begun = true;
		print_option(out, o);
	}
}

void arguments_print_help(const struct manual *manual, const char *program,
			  FILE *out)
{
	static const struct option help = {
		.name = "help", .letter = 'h', .help = "print this help"};
	const struct option_group *g;
	const char *line = manual->usage ? manual->usage : "[OPTION...]";
	const char *before = "Usage:";
	char text[256];

	do {
		size_t len = strcspn(line, "\n");
		int begun = fprintf(out, "%s %s ", before, program);

		snprintf(text, sizeof text, "%.*s", (int)len, line);
		print_wrapped(out, text, (size_t)begun, (size_t)begun, "");
		line += len + (line[len] == '\n');
		before = "   or:";
	} while (*line);
	if (manual->about) {
		fputc('\n', out);
		print_wrapped(out, manual->about, 0, 0, "");
	}
	for (g = manual->groups; g && g->options; g++)
		print_group(out, g, manual);
	if (!manual->groups)
		print_heading(out, "Options");
	print_option(out, &help);
	if (manual->examples[0])
		print_heading(out,
			      manual->examples[1] ? "Examples" : "Example");
	for (size_t i = 0; i < MANUAL_EXAMPLES && manual->examples[i]; i++) {
		fputs("  ", out);
		print_wrapped(out, manual->examples[i], 2, 6, " \\");
	}
}
