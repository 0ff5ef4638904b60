#include "scenarios/data.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef LOCKSTEP_DATADIR
#define LOCKSTEP_DATADIR "scenarios"
#endif

void data_path(char *path, size_t size, const char *file)
{
	const char *data = getenv("LOCKSTEP_DATA");

	snprintf(path, size, "%s/%s", data && *data ? data : LOCKSTEP_DATADIR,
		 file);
}
