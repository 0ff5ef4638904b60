/* okay.h - calls that have to be OK for a test to go on. */
#ifndef LOCKSTEP_TESTS_SUPPORT_OKAY_H
#define LOCKSTEP_TESTS_SUPPORT_OKAY_H

#include <criterion/criterion.h>
#include <string.h>

#include "lockstep/types.h"

/* okay ends the test unless call, an enum dist_error, is DIST_OK; okay_or also
 * shows what the call wrote into message, a struct dist_message. */
#define okay(call)             cr_assert_eq(call, DIST_OK)
#define okay_or(call, message) cr_assert_eq(call, DIST_OK, "%s", (message).text)

/* refused_with goes on only if call is DIST_ERR_INVALID_ARGUMENT and its
 * message has words. */
#define refused_with(call, message, words)                                     \
	do {                                                                   \
		cr_assert_eq(call, DIST_ERR_INVALID_ARGUMENT);                 \
		cr_assert(strstr((message).text, words), "no \"%s\" in: %s",   \
			  words, (message).text);                              \
	} while (0)

#endif
