#include "cli/tally.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *key, *words;
} reasons[DIST__BY_NUM] = {
	[DIST__BY_LINKS] = {"shared_links", "whose own messages share links"},
	[DIST__BY_EARLY] = {"early_ranks",
			    "with ranks through before others come"},
	[DIST__BY_TIMETABLE] = {"no_timetable",
				"of few messages or without a timetable"},
	[DIST__BY_MODEL] = {"network_model",
			    "by a network model with windows or factors, or a "
			    "profile with rates, windows, receives or cores"},
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
	size_t used;

	text[0] = '\0';
	if (tally->fidelity != DIST__FIDELITY_FLOW)
		return;
	used = (size_t)snprintf(
		text, size, "%" PRIu64 " of %" PRIu64 " collectives were flows",
		tally->flows, tally->flows + by_messages(tally));
	for (int i = 0; i < DIST__BY_NUM && used < size; i++) {
		if (tally->messages[i] == 0)
			continue;
		used += (size_t)snprintf(text + used, size - used,
					 "%s%" PRIu64 " %s", between,
					 tally->messages[i], reasons[i].words);
		between = ", ";
	}
}

json_t *tally_json(const struct dist__tally *tally)
{
	json_t *why;

	if (tally->fidelity != DIST__FIDELITY_FLOW)
		return json_null();
	why = json_object();
	for (int i = 0; i < DIST__BY_NUM; i++)
		json_object_set_new(
			why, reasons[i].key,
			json_integer((json_int_t)tally->messages[i]));
	return json_pack("{s:I, s:I, s:o}", "flows", (json_int_t)tally->flows,
			 "by_messages", (json_int_t)by_messages(tally), "why",
			 why);
}
