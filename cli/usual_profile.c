#include "cli/usual_profile.h"

#include "base/data.h"
#include "model/library/fidelity.h"
#include "model/library/library.h"

const char *usual_profile(const char *gpu, int ranks, enum dist__fidelity asked)
{
	const char *name = library_of_gpu(gpu);
	enum dist__fidelity fidelity;
	struct dist__profile profile;
	struct dist_message message;
	char path[4096];

	if (!name || dist__data_find("profiles", name, ".yaml", path,
				     sizeof path, &message))
		return NULL;
	dist__profile_init(&profile);
	if (dist__profile_load(&profile, path, &message) ||
	    library_fidelity(&profile, ranks, asked, &fidelity, &message))
		name = NULL;
	dist__profile_release(&profile);
	return name;
}
