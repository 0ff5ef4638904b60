#include "check/watch/mapping.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool dist__mapping_is_plain(uintptr_t begin, uintptr_t end)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t at = begin, from, to;
	char line[512], access[5];
	bool plain = maps != NULL;

	/* In rising order; a longer line goes on with the path, which does not
	 * look like another mapping. */
	while (plain && at < end && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to,
			   access) != 3 ||
		    to <= at)
			continue;
		plain = from <= at && memcmp(access, "rw-", 3) == 0;
		at = to;
	}
	if (maps)
		fclose(maps);
	return plain && at >= end;
}
