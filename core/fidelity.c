#include "core/fidelity.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *meaning;
} fidelities[] = {
	[DIST__FIDELITY_AUTO] = {"auto", "what the number of ranks affords"},
	[DIST__FIDELITY_MESSAGE] =
		{"message", "every message of every collective is simulated"},
	[DIST__FIDELITY_FLOW] =
		{"flow", "collectives are timed as a whole where that is "
			 "the same, their bytes share the links"},
	[DIST__FIDELITY_FORMULA] =
		{"formula", "every collective takes the time of its formula, "
			    "as if alone on the links"},
};

bool dist__fidelity_parse(enum dist__fidelity *fidelity, const char *text)
{
	*fidelity = DIST__FIDELITY_AUTO;
	if (!text)
		return true;
	for (size_t i = 0; i < sizeof fidelities / sizeof *fidelities; i++) {
		if (strcmp(fidelities[i].name, text) != 0)
			continue;
		*fidelity = (enum dist__fidelity)i;
		return true;
	}
	return false;
}

const char *dist__fidelity_name(enum dist__fidelity fidelity)
{
	return fidelities[fidelity].name;
}

const char *dist__fidelity_meaning(enum dist__fidelity fidelity)
{
	return fidelities[fidelity].meaning;
}
