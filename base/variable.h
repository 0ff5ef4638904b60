/* variable.h - reads environment variables. */
#ifndef LOCKSTEP_BASE_VARIABLE_H
#define LOCKSTEP_BASE_VARIABLE_H

#include <stdlib.h>

/* dist__variable_or returns option if it is not NULL, else the value of the
 * variable; NULL: that is empty or not set. */
static inline const char *dist__variable_or(const char *option,
					    const char *name)
{
	const char *text = option ? option : getenv(name);

	return text && *text ? text : NULL;
}

/* dist__variable returns the value of a variable; NULL: empty or not set. */
static inline const char *dist__variable(const char *name)
{
	return dist__variable_or(NULL, name);
}

#endif
