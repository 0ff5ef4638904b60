#include "library/fidelity.h"

#include <stdio.h>

#include "library/library.h"

/* A ring of more takes minutes message by message, of still more a rank needs
 * more memory than it has. */
#define MESSAGE_RANKS 256
#define FLOW_RANKS    16384

static enum dist__fidelity choose(bool has_steps, int ranks)
{
	if (!has_steps || ranks > FLOW_RANKS)
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
	bool has_steps;

	if (error)
		return error;
	has_steps = library_has_steps(profile);
	*fidelity = asked;
	if (asked == DIST__FIDELITY_AUTO)
		*fidelity = choose(has_steps, ranks);
	if (*fidelity == DIST__FIDELITY_FORMULA || has_steps)
		return DIST_OK;
	snprintf(message->text, sizeof message->text,
		 "fidelity %s: expected auto or formula: profile %s is of "
		 "library %s, whose messages are not known",
		 dist__fidelity_name(*fidelity), profile->name,
		 profile->library);
	return DIST_ERR_INVALID_ARGUMENT;
}
