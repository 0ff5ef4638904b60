#include "cli/check_writable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is written beside its place and renamed, so that its folder counts.
 * Returns 0, else an error number. */
static int error_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096] = ".";
	struct stat info;

	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return S_ISDIR(info.st_mode) ? EISDIR : 0;
	if (slash && (size_t)(slash - path) + 1 >= sizeof folder)
		return ENAMETOOLONG;
	if (slash)
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1,
			 path);
	return access(folder, W_OK) ? errno : 0;
}

/* Whether two outputs are one file, of which the later would be left. */
static bool are_one(const char *a, const char *b)
{
	struct stat info;

	return a && b && *a && strcmp(a, b) == 0 &&
	       (stat(a, &info) != 0 || S_ISREG(info.st_mode));
}

/* The first path that stands for two outputs; NULL: none does. */
static const char *find_double(const char *const *paths, int num)
{
	for (int i = 0; i < num; i++)
		for (int j = 0; j < i; j++)
			if (are_one(paths[i], paths[j]))
				return paths[i];
	return NULL;
}

bool check_writable(const char *command, const char *const *paths, int num)
{
	for (int i = 0; i < num; i++) {
		int error = paths[i] && *paths[i] ? error_of(paths[i]) : 0;

		if (!error)
			continue;
		fprintf(stderr, "lockstep %s: %s: cannot be written: %s\n",
			command, paths[i], strerror(error));
		return false;
	}
	if (find_double(paths, num)) {
		fprintf(stderr,
			"lockstep %s: %s: expected a file of its own for each "
			"output\n",
			command, find_double(paths, num));
		return false;
	}
	return true;
}
