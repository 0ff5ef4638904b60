#include "cli/forced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"

bool forced_check(const char *words, struct dist_message *message)
{
	struct dist__profile profile;
	enum dist_error error;

	dist__profile_init(&profile);
	error = dist__profile_force(&profile, words, message);
	dist__profile_release(&profile);
	return !error;
}

/* Whether a name stands alone among the words. */
static bool has_bare_name(const char *words)
{
	for (;; words++) {
		size_t len = strcspn(words, ",");

		if (!memchr(words, '=', len))
			return true;
		words += len;
		if (!*words)
			return false;
	}
}

/* The words, spelled out; NULL: no memory. */
static char *spell_out(const char *words, const char *op)
{
	char *whole = malloc((strlen(words) + 1) * (strlen(op) + 2));
	char *end = whole;

	while (whole) {
		size_t len = strcspn(words, ",");

		if (!memchr(words, '=', len))
			end += sprintf(end, "%s=", op);
		end += sprintf(end, "%.*s", (int)len, words);
		words += len;
		if (!*words)
			break;
		*end++ = *words++;
	}
	return whole;
}

bool forced_spell_out(const char *words, const char *op, char **whole,
		      struct dist_message *message)
{
	*whole = NULL;
	if (!op && has_bare_name(words)) {
		snprintf(message->text, sizeof(message->text),
			 "--algorithm: expected COLLECTIVE=NAME, not \"%.40s\"",
			 words);
		return false;
	}
	*whole = spell_out(words, op ? op : "");
	if (!*whole) {
		snprintf(message->text, sizeof(message->text), "out of memory");
		return false;
	}
	return forced_check(*whole, message);
}
