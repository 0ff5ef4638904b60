/* Every kind of store, used by several threads at once. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/store_cases.h"

static int try_all(const char *name, store_opener *open, const char *path)
{
	const char *failure = store_try_all(open, path, false);

	if (!failure)
		failure = store_try_all(open, path, true);
	if (failure)
		fprintf(stderr, "%s: %s\n", name, failure);
	return failure != NULL;
}

int main(void)
{
	char folder[] = "/tmp/lockstep-stores-XXXXXX", path[64];
	int failures = 0;

	alarm(250);
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/store", folder);
	failures += try_all("hash", store_open_hash, path);
	failures += try_all("file", store_open_file, path);
	failures += try_all("tcp", store_open_tcp, path);
	unlink(path);
	return failures || rmdir(folder) != 0;
}
