/* change.c - what is not as new: --degrade LINK:FACTOR, --slow NODE:FACTOR. */
#include "model/cluster/description.h"

#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"

#define LEAST_FACTOR 1e-6

enum dist_error platform_read_change(const char *option, const char *text,
				     struct platform_change *changes, int *n,
				     struct dist_message *message)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	struct platform_change *change = &changes[*n];

	if (*n == PLATFORM_CHANGES)
		return dist__refuse(message, "%s: expected at most %d", option,
				    PLATFORM_CHANGES);
	if (len == 0 || len >= sizeof change->name)
		return dist__refuse(message,
				    "%s: expected NAME:FACTOR, not \"%s\"",
				    option, text);
	memcpy(change->name, text, len);
	change->name[len] = '\0';
	if (!dist__number_read(colon + 1, &change->factor) ||
	    !(change->factor >= LEAST_FACTOR && change->factor <= 1))
		return dist__refuse(
			message,
			"%s %s: expected a factor of %g to 1, not \"%s\"",
			option, change->name, LEAST_FACTOR, colon + 1);
	for (int i = 0; i < *n; i++)
		if (strcmp(changes[i].name, change->name) == 0)
			return dist__refuse(message, "%s: %s comes twice",
					    option, change->name);
	++*n;
	return DIST_OK;
}
