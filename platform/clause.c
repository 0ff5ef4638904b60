/* clause.c - cutting up an option's value, and reading what is in it. */
#include "platform/clause.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The slowest link is 1 kbit/s and the fastest 1 Pbit/s, the longest latency
 * 10 s: the rest are slips of the pen. */
#define LEAST_BPS 125.0
#define MOST_BPS  125e12
#define MOST_S    10.0

enum dist_error platform_refuse(struct dist_message *message,
				const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message->text, sizeof(message->text), format, args);
	va_end(args);
	return DIST_ERR_INVALID_ARGUMENT;
}

/* ---- words ----------------------------------------------------------- */

enum dist_error platform_clause_read(const char *option, const char *text,
				     struct platform_clause *clause,
				     struct dist_message *message)
{
	char *rest, *next;

	memset(clause, 0, sizeof(*clause));
	clause->option = option;
	if (strlen(text) >= sizeof(clause->text))
		return platform_refuse(message,
				       "%s: expected less than %zu characters",
				       option, sizeof(clause->text));
	strcpy(clause->text, text);
	clause->kind = clause->text;
	clause->word = "";
	rest = strchr(clause->text, ':');
	if (!rest)
		return DIST_OK;
	*rest = '\0';
	clause->word = rest + 1;
	for (rest = strchr(rest + 1, ','); rest; rest = next) {
		int n = clause->num_keys++;

		if (n == PLATFORM_CLAUSE_KEYS)
			return platform_refuse(message,
					       "%s %s: too many commas", option,
					       text);
		*rest = '\0';
		next = strchr(rest + 1, ',');
		if (next)
			*next = '\0';
		clause->keys[n].key = rest + 1;
		clause->keys[n].value = "";
		rest = strchr(rest + 1, '=');
		if (rest) {
			*rest = '\0';
			clause->keys[n].value = rest + 1;
		}
	}
	return DIST_OK;
}

/* Whether word is one of list, words apart by spaces. */
static bool is_in(const char *word, const char *list)
{
	size_t len = strlen(word);

	for (const char *at = list; *at; at += strspn(at, " ")) {
		size_t span = strcspn(at, " ");

		if (span == len && strncmp(at, word, len) == 0)
			return true;
		at += span;
	}
	return false;
}

enum dist_error platform_clause_only(const struct platform_clause *clause,
				     const char *known,
				     struct dist_message *message)
{
	for (int i = 0; i < clause->num_keys; i++) {
		const char *key = clause->keys[i].key;

		if (!is_in(key, known))
			return platform_refuse(
				message, "%s %s: no word \"%s\": expected %s%s",
				clause->option, clause->kind, key,
				*known ? "some of: " : "none", known);
		for (int j = 0; j < i; j++)
			if (strcmp(clause->keys[j].key, key) == 0)
				return platform_refuse(
					message, "%s %s: %s comes twice",
					clause->option, clause->kind, key);
	}
	return DIST_OK;
}

const char *platform_clause_value(const struct platform_clause *clause,
				  const char *key)
{
	for (int i = 0; i < clause->num_keys; i++)
		if (strcmp(clause->keys[i].key, key) == 0)
			return clause->keys[i].value;
	return NULL;
}

/* ---- quantities ------------------------------------------------------ */

struct unit {
	const char *name;
	double factor;
};

static const struct unit bandwidths[] = {
	{"K", 125},    {"M", 125e3},    {"G", 125e6},    {"T", 125e9},
	{"Kbps", 125}, {"Mbps", 125e3}, {"Gbps", 125e6}, {"Tbps", 125e9},
	{"MB/s", 1e6}, {"GB/s", 1e9},   {"TB/s", 1e12},  {"MBps", 1e6},
	{"GBps", 1e9}, {"TBps", 1e12},  {NULL, 0},
};

static const struct unit times[] = {
	{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {NULL, 0}};

/* Reads a number with one of the units; nothing else may stand there. */
static bool read_quantity(const char *text, const struct unit *units,
			  double *value)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	if (errno || end == text || !isfinite(*value))
		return false;
	for (; units->name; units++)
		if (strcmp(end, units->name) == 0) {
			*value *= units->factor;
			return true;
		}
	return false;
}

bool platform_read_bandwidth(const char *text, double *Bps)
{
	return read_quantity(text, bandwidths, Bps) && *Bps >= LEAST_BPS &&
	       *Bps <= MOST_BPS;
}

bool platform_read_latency(const char *text, double *seconds)
{
	return read_quantity(text, times, seconds) && *seconds > 0 &&
	       *seconds <= MOST_S;
}

bool platform_read_count(const char *text, int most, int *count)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 1 || value > most)
		return false;
	*count = (int)value;
	return true;
}

enum dist_error platform_clause_bandwidth(const struct platform_clause *clause,
					  const char *key, double *Bps,
					  struct dist_message *message)
{
	const char *text =
		key ? platform_clause_value(clause, key) : clause->word;

	if (text && platform_read_bandwidth(text, Bps))
		return DIST_OK;
	return platform_refuse(message,
			       "%s %s: %s%sexpected " PLATFORM_BANDWIDTH_WORDS
			       ", not \"%s\"",
			       clause->option, clause->kind, key ? key : "",
			       key ? ": " : "", text ? text : "");
}

enum dist_error platform_clause_latency(const struct platform_clause *clause,
					const char *key, double *seconds,
					struct dist_message *message)
{
	const char *text = platform_clause_value(clause, key);

	if (!text || platform_read_latency(text, seconds))
		return DIST_OK;
	return platform_refuse(message,
			       "%s %s: %s: expected " PLATFORM_LATENCY_WORDS
			       ", not \"%s\"",
			       clause->option, clause->kind, key, text);
}

enum dist_error platform_clause_shape(const struct platform_clause *clause,
				      int *shape, int *n,
				      struct dist_message *message)
{
	const char *at = clause->word;
	int most = *n;

	for (*n = 0; *n < most; at++) {
		size_t len = strcspn(at, "x");
		char number[16];

		snprintf(number, sizeof(number), "%.*s", (int)len, at);
		if (len >= sizeof(number) ||
		    !platform_read_count(number, 65536, &shape[*n]))
			break;
		++*n;
		at += len;
		if (!*at)
			return DIST_OK;
	}
	return platform_refuse(message,
			       "%s %s: expected up to %d numbers of 1 to 65536 "
			       "with x between, not \"%s\"",
			       clause->option, clause->kind, most,
			       clause->word);
}
