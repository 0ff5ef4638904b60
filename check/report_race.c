/* report_race.c - sentences about a receive or a completion test that decides
 * how the job ends. */
#include "check/finding.h"

static void report_match(struct check_lines *lines,
			 const struct check_race *race,
			 const struct check_match *match)
{
	FILE *out = check_line(lines, 1);

	if (race->look)
		fputs(match->seen ? "if it is" : "if it is not", out);
	else
		fprintf(out, "from rank %u", match->sender);
	if (match->send.op[0]) {
		fputs(", which called ", out);
		check_print_call_in_place(out, &match->send);
	}
	fprintf(out, ": %s (--replay %s)", match->outcome, match->replay);
}

void check_report_race(struct check_lines *lines, const struct check_race *race)
{
	FILE *out = check_line(lines, 0);

	fprintf(out,
		race->look ? "lockstep: message race: how the job ends depends "
			     "on whether a message is complete when rank %u "
			     "looks"
			   : "lockstep: message race: how the job ends depends "
			     "on whose message rank %u receives",
		race->rank);
	if (race->call.op[0]) {
		out = check_line(lines, 1);
		fprintf(out, "rank %u called ", race->rank);
		check_print_call_in_place(out, &race->call);
	}
	report_match(lines, race, &race->other);
	report_match(lines, race, &race->here);
}
