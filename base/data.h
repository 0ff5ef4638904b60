/* data.h - finding the data files that come with Lockstep. */
#ifndef LOCKSTEP_BASE_DATA_H
#define LOCKSTEP_BASE_DATA_H

#include <limits.h>

#include "base/spelling.h"
#include "lockstep/dist.h"

/*
 * dist__data_find stores in path (size bytes) the file that name means: name
 * itself when it holds a '/' or ends in suffix; otherwise
 * <data>/<kind>/<name><suffix>, where <data> is $LOCKSTEP_DATA, else the first
 * share/lockstep or scenarios above the file of the library or of the program,
 * else that of /usr or /usr/local. kind is "platforms", "profiles" or
 * "models", suffix ".xml", ".yaml", ".csv". Errors: INVALID_ARGUMENT (no such
 * readable file: message says where was looked, and what there is).
 */
enum dist_error dist__data_find(const char *kind, const char *name,
				const char *suffix, char *path, size_t size,
				struct dist_message *message);

/* dist__data_offer offers what there is of a kind, as above. */
void dist__data_offer(struct dist__spelling *near, const char *kind,
		      const char *suffix);

/* dist__data_dir stores in path (size bytes) the folder of a kind, or the place
 * of any file below <data>. */
void dist__data_dir(const char *kind, char *path, size_t size);

/* dist__data_own does the same, whatever LOCKSTEP_DATA says. */
void dist__data_own(const char *kind, char *path, size_t size);

/* dist__data_above stores in path the first file that can be read of either
 * place in a folder above the file of the library, else above that of the
 * program; the nearest folder first. Returns whether there is one. */
bool dist__data_above(const char *const places[2], char path[PATH_MAX]);

#endif
