#include "sim/tally.h"

static const char *const keys[DIST__BY_NUM] = {
	[DIST__BY_LINKS] = "shared_links",
	[DIST__BY_EARLY] = "early_ranks",
	[DIST__BY_TIMETABLE] = "no_timetable",
	[DIST__BY_MODEL] = "network_model",
};

const char *dist__tally_engine(const struct dist__tally *tally)
{
	return tally->own_engine ? "own" : "simgrid";
}

struct check_simulated dist__tally_report(const struct dist__tally *tally,
					  struct check_count why[])
{
	for (int i = 0; i < DIST__BY_NUM; i++)
		why[i] = (struct check_count){keys[i], tally->messages[i]};
	why[DIST__BY_NUM] = (struct check_count){NULL, 0};
	return (struct check_simulated){
		.fidelity = dist__fidelity_name(tally->fidelity),
		.flows = tally->flows,
		.by_messages =
			tally->fidelity == DIST__FIDELITY_FLOW ? why : NULL,
	};
}
