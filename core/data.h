/* data.h - finding the data files that come with Lockstep. */
#ifndef LOCKSTEP_CORE_DATA_H
#define LOCKSTEP_CORE_DATA_H

#include "lockstep/dist.h"

/*
 * dist__data_find stores in path (size bytes) the file that name means: name
 * itself when it holds a '/' or ends in suffix; otherwise
 * <data>/<kind>/<name><suffix>, where <data> is $LOCKSTEP_DATA, else the place
 * where Lockstep was installed or built. kind is "platforms", "profiles" or
 * "models", suffix ".xml", ".yaml", ".csv". Errors: INVALID_ARGUMENT (no such
 * readable file: message says where was looked, and what there is).
 */
enum dist_error dist__data_find(const char *kind, const char *name,
				const char *suffix, char *path, size_t size,
				struct dist_message *message);

/* dist__data_dir returns the folder of a kind in path. */
void dist__data_dir(const char *kind, char *path, size_t size);

#endif
