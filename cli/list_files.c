/* list_files.c - the files of a kind that come with Lockstep, one by one. */
#include "cli/list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "cli/refuse.h"

#define PATH_SIZE 4096

int list_each_file(const char *kind, const char *suffix, list_add *add,
		   struct dist__rows *table)
{
	struct dist_message message;
	char dir[PATH_SIZE], path[2 * PATH_SIZE];
	int status = DIST_EXIT_OK;
	struct dirent **entries;
	int n;

	dist__data_dir(kind, dir, sizeof dir);
	n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0)
		return refuse("list", "no folder %s", dir);
	for (int i = 0; i < n; i++) {
		char *end = strrchr(entries[i]->d_name, '.');

		snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
		if (end && strcmp(end, suffix) == 0) {
			*end = '\0';
			if (add(table, entries[i]->d_name, path, &message))
				status = refuse("list", "%s", message.text);
		}
		free(entries[i]);
	}
	free(entries);
	return status;
}
