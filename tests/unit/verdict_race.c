/* A message race as it is told: on calls written by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/outputs.h"
#include "check/verdict.h"
#include "tests/support/board.h"

static struct check_call call_of(const char *op, int peer, int line)
{
	struct check_call call = {
		.number = 1, .peer = peer, .peer_rank = peer, .numel = 4};

	snprintf(call.op, sizeof call.op, "%s", op);
	snprintf(call.group, sizeof call.group, "default");
	check_site_set(&call.site, "prog.c", line);
	return call;
}

static struct check_race race_of(enum check_verdict_kind kind)
{
	return (struct check_race){
		.call = call_of("recv", -1, 10),
		.other = {1, call_of("send", 0, 20), false, "the job ends well",
			  "v1/any"},
		.here = {2, call_of("send", 0, 30), false, "deadlock",
			 "v1/any:0.1"},
		.outcome = {kind, -1},
	};
}

static char *report_of(const struct check_race *race)
{
	const struct check_facts facts = {.lost_rank = -1, .race = race};
	const struct check_verdict verdict = {CHECK_RACE, 0};

	return board_report(NULL, &facts, &verdict);
}

Test(verdict_race, both_matches_and_what_they_lead_to_are_told)
{
	struct check_race race = race_of(CHECK_DEADLOCK);
	char *text = report_of(&race);

	cr_expect_str_eq(
		text,
		"lockstep: message race: how the job ends depends on whose "
		"message rank 0 receives\n"
		"  rank 0 called recv(any source, tag 0) of group default at "
		"prog.c:10\n"
		"  from rank 1, which called send(dst 0, tag 0) of group "
		"default at prog.c:20: the job ends well (--replay v1/any)\n"
		"  from rank 2, which called send(dst 0, tag 0) of group "
		"default at prog.c:30: deadlock (--replay v1/any:0.1)\n"
		"lockstep: deadlock: no rank can ever move\n");
	free(text);
}

Test(verdict_race, calls_that_are_forgotten_are_left_out)
{
	struct check_race race = race_of(CHECK_FINE);
	char *text;

	race.call.op[0] = race.other.send.op[0] = '\0';
	text = report_of(&race);
	cr_expect(strstr(text, "receives\n  from rank 1: the job ends well"),
		  "%s", text);
	free(text);
}

Test(verdict_race, a_look_is_told_by_its_answers)
{
	struct check_race race = race_of(CHECK_FINE);
	char *text;

	race.look = true;
	race.call = call_of("recv", 1, 10);
	race.other.send.op[0] = race.here.send.op[0] = '\0';
	race.here.seen = true;
	text = report_of(&race);
	cr_expect_str_eq(text,
			 "lockstep: message race: how the job ends depends on "
			 "whether a message is complete when rank 0 looks\n"
			 "  rank 0 called recv(src 1, tag 0) of group default "
			 "at prog.c:10\n"
			 "  if it is not: the job ends well (--replay v1/any)\n"
			 "  if it is: deadlock (--replay v1/any:0.1)\n");
	free(text);
}
