#define _GNU_SOURCE /* dladdr, which tells the file that holds this code */
#include "base/data.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By this file they are known. */
#define KNOWN_BY "/measured/hardware/gpus.tsv"

static bool find_above(const char *file, const char *const places[2],
		       char path[PATH_MAX])
{
	char dir[PATH_MAX], *slash;

	if (!realpath(file, dir))
		return false;
	while ((slash = strrchr(dir, '/')) != NULL) {
		*slash = '\0';
		for (size_t i = 0; i < 2; i++)
			if (snprintf(path, PATH_MAX, "%s/%s", dir, places[i]) <
				    PATH_MAX &&
			    access(path, R_OK) == 0)
				return true;
	}
	return false;
}

/* The library's own file is asked first: a program that links it lies
 * elsewhere. */
bool dist__data_above(const char *const places[2], char path[PATH_MAX])
{
	static const char ours = 0;
	Dl_info info;

	return (dladdr(&ours, &info) && strchr(info.dli_fname, '/') &&
		find_above(info.dli_fname, places, path)) ||
	       find_above("/proc/self/exe", places, path);
}

static void find_own_root(char root[PATH_MAX])
{
	static const char *const places[] = {"share/lockstep" KNOWN_BY,
					     "scenarios" KNOWN_BY};

	if (dist__data_above(places, root))
		root[strlen(root) - strlen(KNOWN_BY)] = '\0';
	else
		snprintf(root, PATH_MAX, "%s",
			 access("/usr/share/lockstep" KNOWN_BY, R_OK) == 0
				 ? "/usr/share/lockstep"
				 : "/usr/local/share/lockstep");
}

void dist__data_own(const char *kind, char *path, size_t size)
{
	char root[PATH_MAX];

	find_own_root(root);
	snprintf(path, size, "%s/%s", root, kind);
}

void dist__data_dir(const char *kind, char *path, size_t size)
{
	const char *data = getenv("LOCKSTEP_DATA");

	if (data && *data)
		snprintf(path, size, "%s/%s", data, kind);
	else
		dist__data_own(kind, path, size);
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t len = strlen(name), tail = strlen(suffix);

	return len >= tail && strcmp(name + len - tail, suffix) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Appends to text the names that dir offers, sorted; says nothing when the
 * folder cannot be read, for the caller has named it already. */
static void append_choices(const char *dir, const char *suffix, char *text,
			   size_t size)
{
	enum { MOST = 64, LONGEST = 64 };
	char(*names)[LONGEST] = calloc(MOST, LONGEST);
	DIR *stream = names ? opendir(dir) : NULL;
	struct dirent *entry;
	size_t n = 0, used = strlen(text);

	while (stream && n < MOST && (entry = readdir(stream)) != NULL) {
		int len = (int)(strlen(entry->d_name) - strlen(suffix));

		if (ends_in(entry->d_name, suffix) && len < LONGEST)
			snprintf(names[n++], LONGEST, "%.*s", len,
				 entry->d_name);
	}
	if (n > 0)
		qsort(names, n, LONGEST, by_name);
	for (size_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? ", " : "; there are ", names[i]);
	if (stream)
		closedir(stream);
	free(names);
}

enum dist_error dist__data_find(const char *kind, const char *name,
				const char *suffix, char *path, size_t size,
				struct dist_message *message)
{
	char dir[4096];
	int len;

	if (strchr(name, '/') || ends_in(name, suffix)) {
		len = snprintf(path, size, "%s", name);
		if (len >= 0 && (size_t)len < size && access(path, R_OK) == 0)
			return DIST_OK;
		snprintf(message->text, sizeof message->text,
			 "%.256s: no such readable file", name);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	dist__data_dir(kind, dir, sizeof dir);
	len = snprintf(path, size, "%s/%s%s", dir, name, suffix);
	if (*name && len >= 0 && (size_t)len < size && access(path, R_OK) == 0)
		return DIST_OK;
	snprintf(message->text, sizeof message->text,
		 "no \"%.64s\" among the %s, and no FILE%s", name, kind,
		 suffix);
	append_choices(dir, suffix, message->text, sizeof message->text);
	return DIST_ERR_INVALID_ARGUMENT;
}
