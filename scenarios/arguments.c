#include "scenarios/arguments.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/spelling.h"

/* The words of argv that popt leaves are copies of its own. */
static const char *original(int argc, const char **argv, const char *copy)
{
	for (int i = 1; copy && i < argc; i++)
		if (strcmp(argv[i], copy) == 0)
			return argv[i];
	return NULL;
}

/* Whether the option of a table, its name len characters long, is a number. */
static bool is_number(const struct poptOption *table, const char *name,
		      size_t len)
{
	for (; table->longName || table->shortName || table->arg; table++) {
		unsigned kind = table->argInfo & POPT_ARG_MASK;

		if (kind == POPT_ARG_INCLUDE_TABLE) {
			if (is_number(table->arg, name, len))
				return true;
		} else if (table->longName && strlen(table->longName) == len &&
			   strncmp(table->longName, name, len) == 0) {
			return kind == POPT_ARG_INT || kind == POPT_ARG_DOUBLE;
		}
	}
	return false;
}

/* popt takes "--seed=" for the number 0; whoever wrote that had a variable that
 * was not set. Returns the option, or NULL. */
static const char *find_empty(int argc, const char **argv,
			      const struct poptOption *table)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		size_t len = strcspn(argv[i], "=");

		if (strncmp(argv[i], "--", 2) == 0 && argv[i][len] == '=' &&
		    !argv[i][len + 1] && is_number(table, argv[i] + 2, len - 2))
			return argv[i];
	}
	return NULL;
}

/* Stores in near the long option of those in text, as --usage prints them, that
 * was probably meant by bad; "": none is near. */
static void find_near(const char *text, const char *bad, char near[64])
{
	size_t least = SPELLING_NEAR + 1, len, far;
	char name[64];

	near[0] = '\0';
	while ((text = strstr(text, "--"))) {
		text += strspn(text, "-");
		len = strcspn(text, "=] |\n");
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		far = spelling_distance(bad, name);
		if (far < least && far < len) {
			least = far;
			memcpy(near, name, sizeof(name));
		}
	}
}

void arguments_refuse(const char *who, poptContext context, int rc)
{
	const char *bad = poptBadOption(context, POPT_BADOPTION_NOALIAS);
	char name[64], near[64] = "", *text = NULL;
	size_t size;
	FILE *usage = NULL;

	if (rc == POPT_ERROR_BADOPT && strncmp(bad, "--", 2) == 0)
		usage = open_memstream(&text, &size);
	if (usage) {
		poptPrintUsage(context, usage, 0);
		if (fclose(usage) == 0) {
			snprintf(name, sizeof(name), "%.*s",
				 (int)strcspn(bad + 2, "="), bad + 2);
			find_near(text, name, near);
		}
		free(text);
	}
	fprintf(stderr, "%s: %s: %s", who, bad, poptStrerror(rc));
	if (near[0])
		fprintf(stderr, "; did you mean \"--%s\"?", near);
	fputc('\n', stderr);
}

bool arguments_parse_word(int argc, const char **argv,
			  const struct poptOption *table, const char *usage,
			  const char **word)
{
	poptContext context = poptGetContext(NULL, argc, argv, table, 0);
	const char *name = argc > 0 ? argv[0] : "?";
	const char *empty = find_empty(argc, argv, table);
	bool fine = false;
	int rc;

	if (!context)
		return false;
	poptSetOtherOptionHelp(context, usage);
	rc = poptGetNextOpt(context);
	if (empty)
		fprintf(stderr, "%s: %s: expected a number\n", name, empty);
	else if (rc < -1)
		arguments_refuse(name, context, rc);
	else if (word && !(*word = original(argc, argv, poptGetArg(context))))
		fprintf(stderr, "%s: what? Try --help\n", name);
	else if (poptPeekArg(context))
		fprintf(stderr, "%s: unexpected argument \"%s\"\n", name,
			poptPeekArg(context));
	else
		fine = true;
	poptFreeContext(context);
	return fine;
}

bool arguments_parse(int argc, const char **argv,
		     const struct poptOption *table, const char *usage)
{
	return arguments_parse_word(argc, argv, table, usage, NULL);
}

bool arguments_size(const char *text, size_t *bytes)
{
	unsigned long long value;
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (errno || end[shift ? 1 : 0] != '\0' ||
	    value > (SIZE_MAX >> 2) >> shift)
		return false;
	*bytes = (size_t)value << shift;
	return true;
}
