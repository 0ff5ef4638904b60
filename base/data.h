/* data.h - finds the data files that come with Lockstep. */
#ifndef LOCKSTEP_BASE_DATA_H
#define LOCKSTEP_BASE_DATA_H

#include <limits.h>

#include "base/spelling.h"
#include "lockstep/dist.h"

/*
 * dist__data_find stores in path (size bytes) the file called name: name itself
 * if it has a '/' or ends in suffix; otherwise <data>/<kind>/<name><suffix>.
 * <data> is $LOCKSTEP_DATA, else the first share/lockstep or scenarios in a
 * folder above the library's or the program's file, else that of /usr or
 * /usr/local. kind is "platforms", "profiles" or "models", suffix ".xml",
 * ".yaml", ".csv". Errors: INVALID_ARGUMENT (no readable file: message says
 * where it was searched, and which names there are).
 */
enum dist_error dist__data_find(const char *kind, const char *name,
				const char *suffix, char *path, size_t size,
				struct dist_message *message);

/* dist__data_offer offers all names of a kind to near. */
void dist__data_offer(struct dist__spelling *near, const char *kind,
		      const char *suffix);

/* Paths, in order of name. */
struct dist__files {
	char **paths; /* owned, as each is */
	size_t num;
};

/* dist__data_files finds all files of a kind, which dist__files_release frees.
 * Errors: IO (no such folder), NO_MEMORY. */
enum dist_error dist__data_files(struct dist__files *files, const char *kind,
				 const char *suffix);
void dist__files_release(struct dist__files *files);

/* dist__data_dir stores in path (size bytes) the folder of a kind, or the path
 * of any file below <data>. */
void dist__data_dir(const char *kind, char *path, size_t size);

/* dist__data_own does the same but ignores LOCKSTEP_DATA. */
void dist__data_own(const char *kind, char *path, size_t size);

/* dist__data_above looks for the files `places` in each folder above the
 * library's file, from the nearest up, then above the program's, and stores the
 * path of the first that is readable. Returns whether there is one. */
bool dist__data_above(const char *const places[2], char path[PATH_MAX]);

#endif
