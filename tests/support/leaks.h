/* leaks.h - asking the address sanitizer for leaks inside a test: Criterion's
 * children leave in a way that skips the question at their end. */
#ifndef LOCKSTEP_TESTS_SUPPORT_LEAKS_H
#define LOCKSTEP_TESTS_SUPPORT_LEAKS_H

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>

/* leaks_found returns whether memory was lost so far, and prints where. */
static inline int leaks_found(void)
{
	return __lsan_do_recoverable_leak_check();
}
#else
static inline int leaks_found(void)
{
	return 0;
}
#endif

#endif
