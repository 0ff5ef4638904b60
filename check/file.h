/* file.h - a file that appears whole or not at all. */
#ifndef LOCKSTEP_CHECK_FILE_H
#define LOCKSTEP_CHECK_FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * check_file_write writes what print() does into a temporary beside path, and
 * renames it. A device or a pipe is written in place: renaming would replace
 * it. print() returns whether it could. False: nothing is changed, errno says
 * why.
 */
bool check_file_write(const char *path,
		      bool (*print)(FILE *out, const void *arg),
		      const void *arg);

#endif
