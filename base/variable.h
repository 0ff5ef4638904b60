/* variable.h - what the environment says. */
#ifndef LOCKSTEP_BASE_VARIABLE_H
#define LOCKSTEP_BASE_VARIABLE_H

#include <stdlib.h>

/* dist__variable_or returns the option if it is given (not NULL), else what the
 * variable says; NULL: neither says anything. */
static inline const char *dist__variable_or(const char *option,
					    const char *name)
{
	const char *text = option ? option : getenv(name);

	return text && *text ? text : NULL;
}

/* dist__variable returns what a variable says; NULL: it is empty or not set. */
static inline const char *dist__variable(const char *name)
{
	return dist__variable_or(NULL, name);
}

#endif
