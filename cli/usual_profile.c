#include "cli/usual_profile.h"

#include "base/data.h"
#include "base/variable.h"
#include "model/library/fidelity.h"
#include "model/library/library.h"
#include "sim/platform/platform.h"

const char *usual_profile(const char *gpu, int ranks, enum dist__fidelity asked)
{
	const char *name = library_of_gpu(gpu);
	enum dist__fidelity fidelity;
	struct dist__profile profile;
	struct dist_message message;

	if (!name)
		return NULL;
	dist__profile_init(&profile);
	if (dist__profile_find(&profile, name, &message) ||
	    library_fidelity(&profile, ranks, asked, &fidelity, &message))
		name = NULL;
	dist__profile_release(&profile);
	return name;
}

const char *usual_profile_on(const char *platform, const char *profile,
			     const char *algorithm, const char *fidelity,
			     int ranks)
{
	enum dist__fidelity asked;
	struct dist_message message;
	char path[4096], gpu[64];
	int hosts;

	platform = dist__variable_or(platform, "LOCKSTEP_PLATFORM");
	fidelity = dist__variable_or(fidelity, "LOCKSTEP_FIDELITY");
	if (!platform || dist__variable_or(profile, "LOCKSTEP_PROFILE") ||
	    dist__variable_or(algorithm, "LOCKSTEP_ALGORITHM"))
		return profile;
	if (!dist__fidelity_parse(&asked, fidelity) ||
	    dist__data_find("platforms", platform, ".xml", path, sizeof path,
			    &message) ||
	    dist__platform_gpu(path, NULL, &hosts, NULL, gpu, &message))
		return NULL;
	return usual_profile(gpu, ranks, asked);
}
