#include "check/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool check_file_write(const char *path,
		      bool (*print)(FILE *out, const void *arg),
		      const void *arg)
{
	bool in_place = is_special(path), good;
	char temporary[4096];
	FILE *out;
	int len;

	len = snprintf(temporary, sizeof temporary, in_place ? "%s" : "%s.%ld",
		       path, (long)getpid());
	errno = ENAMETOOLONG;
	if (len < 0 || (size_t)len >= sizeof temporary)
		return false;
	out = fopen(temporary, "we");
	if (!out)
		return false;
	errno = ENOMEM;
	good = print(out, arg);
	good = fclose(out) == 0 && good;
	if (in_place)
		return good;
	if (good && rename(temporary, path) == 0)
		return true;
	remove(temporary);
	return false;
}
