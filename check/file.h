/* file.h - writes a file completely or not at all. */
#ifndef LOCKSTEP_CHECK_FILE_H
#define LOCKSTEP_CHECK_FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * check_file_write writes the output of print() into a temporary file beside
 * path and renames it. A device or a pipe is written directly: renaming would
 * replace it. print() returns whether it succeeded. False: path is unchanged;
 * see errno.
 */
bool check_file_write(const char *path,
		      bool (*print)(FILE *out, const void *arg),
		      const void *arg);

#endif
