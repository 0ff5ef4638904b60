#include "model/library/fidelity.h"

#include "base/refuse.h"
#include "model/library/library.h"

/* A ring of more takes minutes message by message, of still more a rank needs
 * more memory than it has. */
#define MESSAGE_RANKS 256
#define FLOW_RANKS    16384

static enum dist__fidelity choose(const struct dist__profile *profile,
				  int ranks)
{
	if (profile->cores > 0)
		return DIST__FIDELITY_MESSAGE;
	if (ranks > FLOW_RANKS)
		return DIST__FIDELITY_FORMULA;
	if (library_has_transfers(profile))
		return DIST__FIDELITY_FLOW;
	if (!library_has_steps(profile))
		return DIST__FIDELITY_FORMULA;
	return ranks > MESSAGE_RANKS ? DIST__FIDELITY_FLOW
				     : DIST__FIDELITY_MESSAGE;
}

enum dist_error library_fidelity(const struct dist__profile *profile, int ranks,
				 enum dist__fidelity asked,
				 enum dist__fidelity *fidelity,
				 struct dist_message *message)
{
	enum dist_error error = library_check(profile, message);

	if (error)
		return error;
	*fidelity = asked;
	if (asked == DIST__FIDELITY_AUTO)
		*fidelity = choose(profile, ranks);
	if (*fidelity == DIST__FIDELITY_FORMULA && profile->cores > 0)
		return dist__refuse(message,
				    "fidelity formula: expected auto, message "
				    "or flow: by profile %s ranks share cores, "
				    "and no formula knows whose turn it is",
				    profile->name);
	if (*fidelity == DIST__FIDELITY_FORMULA || library_has_steps(profile))
		return DIST_OK;
	if (*fidelity == DIST__FIDELITY_FLOW && library_has_transfers(profile))
		return DIST_OK;
	return dist__refuse(message,
			    "fidelity %s: expected auto%s or formula: profile "
			    "%s is of library %s, whose messages are not known",
			    dist__fidelity_name(*fidelity),
			    library_has_transfers(profile) ? ", flow" : "",
			    profile->name, profile->library);
}
