#include "core/data.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef LOCKSTEP_DATADIR
#error "LOCKSTEP_DATADIR says where the data files are"
#endif

void dist__data_dir(const char *kind, char *path, size_t size)
{
	const char *data = getenv("LOCKSTEP_DATA");

	snprintf(path, size, "%s/%s", data && *data ? data : LOCKSTEP_DATADIR,
		 kind);
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
