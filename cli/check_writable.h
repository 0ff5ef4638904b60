/* check_writable.h - checks that output files can be written, before any work.
 */
#ifndef LOCKSTEP_CLI_CHECK_WRITABLE_H
#define LOCKSTEP_CLI_CHECK_WRITABLE_H

#include <stdbool.h>

/* check_writable returns whether each of num paths (NULL: none) can be written
 * and no two are the same file; false after a line on stderr that begins with
 * command. */
bool check_writable(const char *command, const char *const *paths, int num);

#endif
