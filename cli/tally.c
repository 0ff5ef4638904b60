#include "cli/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/text.h"

static const char *const reasons[DIST__BY_NUM] = {
	[DIST__BY_LINKS] = "whose own messages share links",
	[DIST__BY_EARLY] = "with ranks through before others come",
	[DIST__BY_TIMETABLE] = "of few messages or without a timetable",
	[DIST__BY_MODEL] = "by a network model with windows or factors, or a "
			   "profile with rates, windows, receives, "
			   "copies or cores",
};

static uint64_t by_messages(const struct dist__tally *tally)
{
	uint64_t sum = 0;

	for (int i = 0; i < DIST__BY_NUM; i++)
		sum += tally->messages[i];
	return sum;
}

void tally_describe(const struct dist__tally *tally, char *text, size_t size)
{
	const char *between = "; by messages ";

	text[0] = '\0';
	if (tally->fidelity != DIST__FIDELITY_FLOW)
		return;
	snprintf(text, size,
		 "%" PRIu64 " of %" PRIu64 " collectives were flows",
		 tally->flows, tally->flows + by_messages(tally));
	for (int i = 0; i < DIST__BY_NUM; i++) {
		if (tally->messages[i] == 0)
			continue;
		(void)dist__append(text, size, "%s%" PRIu64 " %s", between,
				   tally->messages[i], reasons[i]);
		between = ", ";
	}
}

json_t *tally_json(const struct dist__tally *tally)
{
	struct check_count why[DIST__BY_NUM + 1];
	const struct check_simulated simulated = dist__tally_report(tally, why);

	return check_collectives_json(&simulated);
}

struct interval_case tally_call(const struct dist__tally *tally,
				const char *collective, size_t bytes)
{
	return (struct interval_case){
		.what = collective,
		.library = tally->library,
		.is_one_node = tally->nodes == 1,
		.transport = tally->transport,
		.range = accuracy_range_of(bytes),
		.is_calibrated = tally->is_calibrated,
	};
}
