/*
 * input.h - opening what a user gave as input: a file, or a pipe that somebody
 * writes to.
 */
#ifndef LOCKSTEP_BASE_INPUT_H
#define LOCKSTEP_BASE_INPUT_H

#include <stdio.h>

#include "lockstep/dist.h"

/* dist__input_fd opens path for reading, closed on exec. -1: it cannot be, and
 * errno says why; ENODATA: it is a pipe to which nobody writes, nor began to
 * within a second. */
int dist__input_fd(const char *path);

/* dist__input_open does the same; NULL: it cannot be. */
FILE *dist__input_open(const char *path);

/*
 * dist__input_read reads all that path has into *text, ended by a zero byte,
 * for the caller to free; *len is without that. Errors: IO (errno says why;
 * EFBIG: more than 256 MiB), NO_MEMORY; then *text is NULL.
 */
enum dist_error dist__input_read(const char *path, char **text, size_t *len);

/* dist__input_odd returns where in text, of len bytes, the first is that is not
 * UTF-8 to be shown, a tab or an end of line; len: nowhere. */
size_t dist__input_odd(const char *text, size_t len);

#endif
