/* document.c - pages for man, and the words that a shell completes, from the
 * manuals of the commands. */
#include "cli/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/list.h"
#include "cli/llm_question.h"
#include "cli/refuse.h"
#include "lockstep/dist.h"
#include "scenarios/workload.h"

/* ---- pages -------------------------------------------------------------- */

/* Writes text so that roff shows it as it is, paragraphs apart. */
static void print_roff(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strncmp(text, "\n\n", 2) == 0)
			fputs("\n.PP", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			fputc(*text, out);
	}
}

static void print_option(FILE *out, const struct option *option)
{
	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", out);
	print_roff(out, option->name);
	fputs("\\fR", out);
	if (option->value) {
		fputs(" \\fI", out);
		print_roff(out, option->value);
		fputs("\\fR", out);
	}
	fputs("\n\\&", out);
	print_roff(out, option->help);
	if (option->usual) {
		fputs(" (default: ", out);
		print_roff(out, option->usual);
		fputc(')', out);
	}
	if (option->takers)
		fprintf(out, "; of%.*s", (int)strlen(option->takers) - 1,
			option->takers);
	fputc('\n', out);
}

static void print_synopsis(FILE *out, const struct manual *manual,
			   const char *program)
{
	const char *line = manual->usage ? manual->usage : "[OPTION...]";

	for (size_t len; *line; line += len + (line[len] == '\n')) {
		char text[512];

		len = strcspn(line, "\n");
		snprintf(text, sizeof text, "%.*s", (int)len, line);
		fprintf(out, "%s.B %s\n", line == manual->usage ? "" : ".br\n",
			program);
		print_roff(out, text);
		fputc('\n', out);
	}
}

/* A page; name is "check\-conformance", as roff has it. */
static void print_page(FILE *out, const struct manual *manual, const char *name,
		       const char *program, const char *summary)
{
	fprintf(out,
		".TH LOCKSTEP\\-%s 1 \"\" \"Lockstep " LOCKSTEP_VERSION
		"\" \"User Commands\"\n"
		".SH NAME\nlockstep\\-%s \\- ",
		name, name);
	print_roff(out, summary);
	fputs("\n.SH SYNOPSIS\n", out);
	print_synopsis(out, manual, program);
	if (manual->about) {
		fputs(".SH DESCRIPTION\n", out);
		print_roff(out, manual->about);
		fputc('\n', out);
	}
	fputs(".SH OPTIONS\n", out);
	for (const struct option_group *g = manual->groups; g->options; g++) {
		if (g->title)
			fprintf(out, ".SS %s\n", g->title);
		for (const struct option *o = g->options; o->name; o++)
			if (option_is_shown(manual, o))
				print_option(out, o);
	}
	fputs(".SH EXAMPLES\n.nf\n", out);
	for (int i = 0; i < MANUAL_EXAMPLES && manual->examples[i]; i++) {
		print_roff(out, manual->examples[i]);
		fputc('\n', out);
	}
	fputs(".fi\n.SH SEE ALSO\n.BR lockstep (1)\n", out);
}

static int write_page(const char *folder, const struct manual *manual,
		      const char *name, const char *verb, const char *summary)
{
	char title[64], program[64], path[4096];
	FILE *out;

	snprintf(program, sizeof program, "lockstep %s%s%s", name,
		 isalpha(*verb) ? " " : "", isalpha(*verb) ? verb : "");
	verb += strspn(verb, "-");
	snprintf(path, sizeof path, "%s/lockstep-%s%s%s.1", folder, name,
		 *verb ? "-" : "", verb);
	snprintf(title, sizeof title, "%s%s%s", name, *verb ? "\\-" : "", verb);
	out = fopen(path, "w");
	if (out)
		print_page(out, manual, title, program, summary);
	if (!out || ferror(out) + fclose(out))
		return refuse("manual", "%s: %s", path, strerror(errno));
	return DIST_EXIT_OK;
}

int document_write(const char *folder)
{
	int status = DIST_EXIT_OK;

	if (!folder) {
		/* The entries of the page of all. */
		for (const struct command *c = commands; c->name; c++) {
			fprintf(stdout, ".TP\n.BR lockstep\\-%s (1)\n\\&",
				c->name);
			print_roff(stdout, c->summary);
			fputc('\n', stdout);
		}
	}
	for (const struct command *c = commands; folder && c->name; c++) {
		if (!status)
			status = write_page(folder, c->manual, c->name, "",
					    c->summary);
		if (!status && c->verb)
			status = write_page(folder, c->verb_manual, c->name,
					    c->verb, c->summary);
	}
	return status;
}

/* ---- completion --------------------------------------------------------- */

/* Prints those of "shm|tcp" or "ddp_step, fsdp" that are words to be written as
 * they are: not "N|auto", whose N stands for a number. */
static void print_choices(const char *choices)
{
	while (*choices) {
		size_t len = strcspn(choices, "|, ");

		if (len > 0 && !isupper((unsigned char)*choices))
			printf("%.*s\n", (int)len, choices);
		choices += len;
		choices += strspn(choices, "|, ");
	}
}

static void print_values(const char *choices, const char *list)
{
	if (list && strcmp(list, "workloads") == 0)
		print_choices(WORKLOAD_NAMES);
	else if (list)
		list_print_names(list, stdout);
	else if (choices && strchr(choices, '|'))
		print_choices(choices);
}

static void print_options(const struct manual *manual)
{
	for (const struct option_group *g = manual->groups; g->options; g++)
		for (const struct option *o = g->options; o->name; o++)
			if (option_is_shown(manual, o))
				printf("--%s\t%s\n", o->name, o->help);
	puts("--help\tsay what there is");
}

/* The option whose value stands behind word; NULL: none does. */
static const struct option *option_before(const struct manual *manual,
					  const char *word)
{
	const struct option_group *group;
	const struct option *o = NULL;

	if (strncmp(word, "--", 2) == 0)
		o = option_find(manual, word + 2, strlen(word + 2), &group);
	return o && o->kind != OPTION_SWITCH ? o : NULL;
}

/* That of predict for a model; NULL: none is said. */
static struct manual predict_manual_of(const char *model)
{
	struct manual manual = manual_predict;

	manual.taker = "ddp_step";
	return model && llm_is_language_model(model) ? manual_predict_llm
						     : manual;
}

static void complete(const struct command *command, int num, const char **text)
{
	struct manual manual = *command->manual;
	const struct option *o;

	if (command->verb && num > 2 && strcmp(text[1], command->verb) == 0)
		manual = *command->verb_manual;
	manual.taker = option_peek(num, text, "workload");
	if (!manual.taker && command->manual == &manual_predict)
		manual = predict_manual_of(option_peek(num, text, "model"));
	o = option_before(&manual, text[num - 2]);
	if (o)
		print_values(o->value, o->list);
	else if (text[num - 1][0] == '-')
		print_options(&manual);
	else if (manual.choices && strchr(manual.choices, '|'))
		print_values(num == 2 ? manual.choices : NULL, NULL);
	else
		print_values(NULL, manual.choices);
}

int document_complete(int num, const char **text)
{
	const struct command *command = num > 0 ? command_find(text[0]) : NULL;

	if (num > 1 && strcmp(text[0], "help") != 0) {
		if (command)
			complete(command, num, text);
		return DIST_EXIT_OK;
	}
	for (const struct command *c = commands; c->name; c++)
		printf("%s\t%s\n", c->name, c->summary);
	return DIST_EXIT_OK;
}
