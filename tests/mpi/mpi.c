#include "tests/mpi/mpi.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/backend.h"
#include "worlds/worlds.h"

const char *const mpi_libraries[] = {"openmpi", "mpich", NULL};

void mpi_use(const char *library)
{
	struct dist_message text;

	setenv("LOCKSTEP_MPI", library, 1);
	if (!dist__world_find("mpi")->is_available(&text))
		cr_skip_test("%s", text.text);
}
