#include "cli/algorithm_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/profile.h"

bool forced_check(const char *text, struct dist_message *message)
{
	struct dist__profile profile;
	enum dist_error error;

	dist__profile_init(&profile);
	error = dist__profile_force(&profile, text, message);
	dist__profile_release(&profile);
	return !error;
}

/* Whether a name stands alone among the words. */
static bool has_bare_name(const char *text)
{
	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (!memchr(text, '=', len))
			return true;
		text += len;
		if (!*text)
			return false;
	}
}

/* The words, spelled out; NULL: no memory. */
static char *spell_out(const char *text, const char *op)
{
	char *whole = malloc((strlen(text) + 1) * (strlen(op) + 2));
	char *end = whole;

	while (whole) {
		size_t len = strcspn(text, ",");

		if (!memchr(text, '=', len))
			end += sprintf(end, "%s=", op);
		end += sprintf(end, "%.*s", (int)len, text);
		text += len;
		if (!*text)
			break;
		*end++ = *text++;
	}
	return whole;
}

bool algorithm_option_spell_out(const char *text, const char *op, char **whole,
				struct dist_message *message)
{
	*whole = NULL;
	if (!op && has_bare_name(text)) {
		snprintf(message->text, sizeof message->text,
			 "--algorithm: expected COLLECTIVE=NAME, not \"%.40s\"",
			 text);
		return false;
	}
	*whole = spell_out(text, op ? op : "");
	if (!*whole) {
		snprintf(message->text, sizeof message->text, "out of memory");
		return false;
	}
	return forced_check(*whole, message);
}
