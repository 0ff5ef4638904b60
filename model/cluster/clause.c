/* clause.c - cutting up an option's value, and reading what is in it. */
#include "model/cluster/clause.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"

/* ---- words ----------------------------------------------------------- */

enum dist_error platform_clause_read(const char *option, const char *text,
				     struct platform_clause *clause,
				     struct dist_message *message)
{
	char *rest, *next;

	memset(clause, 0, sizeof *clause);
	clause->option = option;
	if (strlen(text) >= sizeof clause->text)
		return dist__refuse(message,
				    "%s: expected less than %zu characters",
				    option, sizeof clause->text);
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
			return dist__refuse(message, "%s %s: too many commas",
					    option, text);
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
			return dist__refuse(
				message, "%s %s: no word \"%s\": expected %s%s",
				clause->option, clause->kind, key,
				*known ? "some of: " : "none", known);
		for (int j = 0; j < i; j++)
			if (strcmp(clause->keys[j].key, key) == 0)
				return dist__refuse(
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

bool platform_read_count(const char *text, int most, int *count)
{
	int64_t value;

	if (!dist__count_read(text, 1, most, &value))
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

	if (text && dist__bandwidth_read(text, Bps))
		return DIST_OK;
	return dist__refuse(message,
			    "%s %s: %s%sexpected " DIST__BANDWIDTH_WORDS
			    ", not \"%s\"",
			    clause->option, clause->kind, key ? key : "",
			    key ? ": " : "", text ? text : "");
}

enum dist_error platform_clause_latency(const struct platform_clause *clause,
					const char *key, double *seconds,
					struct dist_message *message)
{
	const char *text = platform_clause_value(clause, key);

	if (!text || dist__latency_read(text, seconds))
		return DIST_OK;
	return dist__refuse(message,
			    "%s %s: %s: expected " DIST__LATENCY_WORDS
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

		snprintf(number, sizeof number, "%.*s", (int)len, at);
		if (len >= sizeof number ||
		    !platform_read_count(number, 65536, &shape[*n]))
			break;
		++*n;
		at += len;
		if (!*at)
			return DIST_OK;
	}
	return dist__refuse(message,
			    "%s %s: expected up to %d numbers of 1 to 65536 "
			    "with x between, not \"%s\"",
			    clause->option, clause->kind, most, clause->word);
}
