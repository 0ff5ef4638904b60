#include "base/file_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

bool dist__file_fits(uint64_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

void dist__file_hold(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	(void)pthread_sigmask(SIG_BLOCK, &set, before);
}

void dist__file_release(const sigset_t *before)
{
	const struct timespec none = {0, 0};
	int error = errno;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	if (!sigismember(before, SIGXFSZ))
		(void)sigtimedwait(&set, NULL, &none);
	(void)pthread_sigmask(SIG_SETMASK, before, NULL);
	errno = error;
}

const char *dist__file_why(int error)
{
	static _Thread_local char text[80];
	struct rlimit limit;

	if (error != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return strerror(error);
	snprintf(text, sizeof text,
		 "%s: files may have %" PRIu64 " bytes (ulimit -f)",
		 strerror(error), (uint64_t)limit.rlim_cur);
	return text;
}
