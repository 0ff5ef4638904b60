/*
 * input.h - opens a user's input: a file, or a pipe from another process.
 */
#ifndef LOCKSTEP_BASE_INPUT_H
#define LOCKSTEP_BASE_INPUT_H

#include <stdio.h>

#include "lockstep/dist.h"

/* dist__input_fd opens path for reading, closed on exec. -1: it cannot be
 * opened, see errno. ENODATA: a pipe that no process writes to, nor began to
 * within a second. */
int dist__input_fd(const char *path);

/* dist__input_open does the same; NULL: see errno. */
FILE *dist__input_open(const char *path);

/*
 * dist__input_read reads all of path into *text, with a terminating zero that
 * *len does not count; the caller frees *text. Errors: IO (see errno; EFBIG:
 * more than 256 MiB), NO_MEMORY; then *text is NULL.
 */
enum dist_error dist__input_read(const char *path, char **text, size_t *len);

/* dist__input_odd returns the index of the first byte of text that is neither
 * printable UTF-8, nor a tab, nor an end of line; len: there is none. */
size_t dist__input_odd(const char *text, size_t len);

#endif
