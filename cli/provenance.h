/* provenance.h - where data comes from, in the words of its own files. */
#ifndef LOCKSTEP_CLI_PROVENANCE_H
#define LOCKSTEP_CLI_PROVENANCE_H

#include <stdbool.h>
#include <stddef.h>

/* provenance_platform stores the first XML comment of the platform file at
 * path, line by line; "" if there is none. The first line is a title. */
void provenance_platform(const char *path, char *text, size_t size);

/* provenance_find stores the path of the file that name means as a value of
 * `lockstep predict --KIND`: platform, profile, model or machine. Returns false
 * for other kinds, and when there is no such file. */
bool provenance_find(const char *kind, const char *name, char *path,
		     size_t size);

/* provenance_of stores what that file says of itself. Returns false when there
 * is none, or it says nothing. */
bool provenance_of(const char *kind, const char *name, char *text, size_t size);

#endif
