/* provenance.h - the sources of data, as its files state them. */
#ifndef LOCKSTEP_CLI_PROVENANCE_H
#define LOCKSTEP_CLI_PROVENANCE_H

#include <stdbool.h>
#include <stddef.h>

/* provenance_platform stores the first XML comment of the platform file at
 * path, by lines; "" if there is none. The first line is the title. */
void provenance_platform(const char *path, char *text, size_t size);

/* provenance_find stores the path of the file that `lockstep predict --KIND
 * name` reads: kind is platform, profile, model or machine. Returns false for
 * other kinds, or if there is no such file. */
bool provenance_find(const char *kind, const char *name, char *path,
		     size_t size);

/* provenance_of stores what that file states about its source. Returns false if
 * there is no such file, or it states nothing. */
bool provenance_of(const char *kind, const char *name, char *text, size_t size);

#endif
