/* change.c - what is not as new: --degrade LINK:FACTOR, --slow NODE:FACTOR. */
#include "platform/description.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clause.h"

#define LEAST_FACTOR 1e-6

enum dist_error platform_read_change(const char *option, const char *text,
				     struct platform_change *changes, int *n,
				     struct dist_message *message)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	struct platform_change *change = &changes[*n];
	char *end;

	if (*n == PLATFORM_CHANGES)
		return platform_refuse(message, "%s: expected at most %d",
				       option, PLATFORM_CHANGES);
	if (len == 0 || len >= sizeof(change->name))
		return platform_refuse(message,
				       "%s: expected NAME:FACTOR, not \"%s\"",
				       option, text);
	memcpy(change->name, text, len);
	change->name[len] = '\0';
	errno = 0;
	change->factor = strtod(colon + 1, &end);
	if (errno || end == colon + 1 || *end ||
	    !(change->factor >= LEAST_FACTOR && change->factor <= 1))
		return platform_refuse(message,
				       "%s %s: expected a factor of %g to 1, "
				       "not \"%s\"",
				       option, change->name, LEAST_FACTOR,
				       colon + 1);
	for (int i = 0; i < *n; i++)
		if (strcmp(changes[i].name, change->name) == 0)
			return platform_refuse(message, "%s: %s comes twice",
					       option, change->name);
	++*n;
	return DIST_OK;
}
