/* file_limit.h - the limit on the size of files (ulimit -f), which also holds
 * for shared memory. A system call that passes it ends the process. */
#ifndef LOCKSTEP_BASE_FILE_LIMIT_H
#define LOCKSTEP_BASE_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* dist__file_fits returns whether files may have so many bytes; else errno is
 * EFBIG. */
bool dist__file_fits(uint64_t bytes);

/* dist__file_hold holds the signal back that the calling thread's writes may
 * raise, so that they fail with EFBIG; dist__file_release drops it and restores
 * the signals before. errno stays. */
void dist__file_hold(sigset_t *before);
void dist__file_release(const sigset_t *before);

/* dist__file_why returns strerror(error), for EFBIG with the limit; until the
 * thread's next call. */
const char *dist__file_why(int error);

#endif
