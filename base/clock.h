/* clock.h - real time: CLOCK_MONOTONIC in nanoseconds, and deadlines on it. */
#ifndef LOCKSTEP_BASE_CLOCK_H
#define LOCKSTEP_BASE_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

#include "lockstep/dist.h"

static inline int64_t dist__clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* dist__deadline_ns returns the deadline timeout_ns after now_ns, without
 * overflow. */
static inline int64_t dist__deadline_ns(int64_t now_ns, int64_t timeout_ns)
{
	return timeout_ns >= DIST_TIMEOUT_NEVER - now_ns ? DIST_TIMEOUT_NEVER
							 : now_ns + timeout_ns;
}

/* dist__clock_after returns the deadline timeout_ns from now. */
static inline int64_t dist__clock_after(int64_t timeout_ns)
{
	return dist__deadline_ns(dist__clock_ns(), timeout_ns);
}

/* dist__clock_poll_ms returns the timeout with which poll() ends at
 * deadline_ns, rounded up: after an early end it would poll again. */
static inline int dist__clock_poll_ms(int64_t deadline_ns)
{
	int64_t left_ns;

	if (deadline_ns == DIST_TIMEOUT_NEVER)
		return -1;
	left_ns = deadline_ns - dist__clock_ns();
	if (left_ns <= 0)
		return 0;
	if (left_ns / 1000000 >= INT_MAX)
		return INT_MAX;
	return (int)((left_ns + 999999) / 1000000);
}

static inline struct timespec dist__clock_timespec(int64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
			     .tv_nsec = (long)(ns % 1000000000)};

	return t;
}

#endif
