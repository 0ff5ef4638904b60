/* okay.h - calls that have to be OK for a test to go on. */
#ifndef LOCKSTEP_TESTS_SUPPORT_OKAY_H
#define LOCKSTEP_TESTS_SUPPORT_OKAY_H

#include <criterion/criterion.h>

#include "lockstep/types.h"

/* okay ends the test unless call, an enum dist_error, is DIST_OK; okay_or also
 * shows what the call wrote into message, a struct dist_message. */
#define okay(call)             cr_assert_eq(call, DIST_OK)
#define okay_or(call, message) cr_assert_eq(call, DIST_OK, "%s", (message).text)

#endif
