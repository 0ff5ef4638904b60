/* check_writable.h - whether a file could be written, asked before the work is
 * done. */
#ifndef LOCKSTEP_CLI_CHECK_WRITABLE_H
#define LOCKSTEP_CLI_CHECK_WRITABLE_H

#include <stdbool.h>

/* check_writable looks whether a file could be written to each of num paths,
 * NULL for none, and whether they are different files. Returns false after a
 * line on stderr, which command begins. */
bool check_writable(const char *command, const char *const *paths, int num);

#endif
