#include "check/race.h"

#include "check/words.h"

static void print_match(FILE *out, const struct check_race *race,
			const struct check_match *match)
{
	if (race->look)
		fputs(match->seen ? "  if it is" : "  if it is not", out);
	else
		fprintf(out, "  from rank %u", match->sender);
	if (match->send.op[0]) {
		fputs(", which called ", out);
		check_print_call_in_place(out, &match->send);
	}
	fprintf(out, ": %s (--replay %s)\n", match->outcome, match->replay);
}

void check_report_race(FILE *out, const struct check_race *race)
{
	if (race->look)
		fprintf(out,
			"lockstep: message race: how the job ends depends on "
			"whether a message is complete when rank %u looks\n",
			race->rank);
	else
		fprintf(out,
			"lockstep: message race: how the job ends depends on "
			"whose message rank %u receives\n",
			race->rank);
	if (race->call.op[0]) {
		fprintf(out, "  rank %u called ", race->rank);
		check_print_call_in_place(out, &race->call);
		fputc('\n', out);
	}
	print_match(out, race, &race->other);
	print_match(out, race, &race->here);
}
