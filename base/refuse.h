/* refuse.h - one-line messages about what was expected. */
#ifndef LOCKSTEP_BASE_REFUSE_H
#define LOCKSTEP_BASE_REFUSE_H

#include "lockstep/dist.h"

/* dist__refuse_as writes what is wrong to message, without bytes that control a
 * terminal, and returns error. dist__refuse does the same and returns
 * INVALID_ARGUMENT. */
__attribute__((format(printf, 3, 4))) enum dist_error
dist__refuse_as(struct dist_message *message, enum dist_error error,
		const char *format, ...);
__attribute__((format(printf, 2, 3))) enum dist_error
dist__refuse(struct dist_message *message, const char *format, ...);

/* Why the value of an option is refused. */
struct dist__refusal {
	const char *option; /* NULL: several together */
	size_t number;      /* index of the value, if it has several */
	struct dist_message message;
};

/* dist__refuse_option does the same of an option. */
__attribute__((format(printf, 3, 4))) enum dist_error
dist__refuse_option(struct dist__refusal *refusal, const char *option,
		    const char *format, ...);

#endif
