#include "sim/explore/ending.h"

#include <stdlib.h>
#include <string.h>

/* The choices that were made, as a plan has them. */
static bool copy_choices(struct dist__sim_plan *plan,
			 const struct dist__sim_log *log)
{
	uint32_t point = 0;

	for (uint32_t i = 0; i < log->num_steps; i++) {
		const struct dist__sim_step *step = &log->steps[i];

		if (step->count < 2)
			continue;
		if (step->taken > 0 &&
		    !dist__sim_plan_add(plan, (struct dist__sim_choice){
						      point, step->taken}))
			return false;
		point++;
	}
	return true;
}

bool dist__sim_ending_keep(struct dist__sim_ending *ending,
			   const struct dist__sim_plan *plan,
			   const struct dist__sim_log *log)
{
	dist__sim_plan_release(&ending->plan);
	if (!ending->log)
		ending->log = calloc(1, sizeof *ending->log);
	if (!ending->log)
		return false;
	/* Copies the part of a log that is in use. */
	memcpy(ending->log, log, offsetof(struct dist__sim_log, options));
	memcpy(ending->log->options, log->options,
	       log->num_options * sizeof log->options[0]);
	memcpy(ending->log->steps, log->steps,
	       log->num_steps * sizeof log->steps[0]);
	ending->plan = (struct dist__sim_plan){.skew = plan->skew,
					       .chooses = plan->chooses};
	memcpy(ending->plan.p2p, plan->p2p, sizeof plan->p2p);
	return copy_choices(&ending->plan, log);
}

/* How it ended, after "from rank 1: ". */
static const char *outcome_of(const struct dist__sim_ending *ending)
{
	switch (ending->log->verdict.kind) {
	case CHECK_FINE:
		return "the job ends well";
	case CHECK_MISMATCH:
		return "mismatch";
	case CHECK_DEADLOCK:
		return "deadlock";
	case CHECK_TIMEOUT:
		return "timeout";
	case CHECK_LOST:
		return "rank lost";
	case CHECK_HAZARD:
		return "buffer hazard";
	case CHECK_BUFFERING:
		return "depends on buffering";
	case CHECK_LEFT:
		return "left behind";
	case CHECK_INVALID:
		return "invalid call";
	default:
		return "failed";
	}
}

/* The step in which log has the receive of option; NULL: in none. */
static const struct dist__sim_step *
find_step(const struct dist__sim_log *log,
	  const struct dist__sim_option *option)
{
	for (uint32_t i = 0; i < log->num_steps; i++) {
		const struct dist__sim_step *step = &log->steps[i];
		const struct dist__sim_option *taken =
			&log->options[step->first + step->taken];

		if (taken->rank == option->rank &&
		    taken->receive == option->receive)
			return step;
	}
	return NULL;
}

static struct check_match match_of(const struct dist__sim_ending *ending,
				   const struct dist__sim_step *step)
{
	int what = ending->log->options[step->first + step->taken].sender;

	return (struct check_match){
		.sender = step->look ? 0 : (uint32_t)what,
		.send = step->send,
		.seen = step->look && what,
		.outcome = outcome_of(ending),
	};
}

bool dist__sim_race_find(struct check_race *race,
			 const struct dist__sim_ending *other,
			 const struct dist__sim_ending *here)
{
	for (uint32_t i = 0; i < here->log->num_steps; i++) {
		const struct dist__sim_step *step = &here->log->steps[i];
		const struct dist__sim_option *taken =
			&here->log->options[step->first + step->taken];
		const struct dist__sim_step *like =
			find_step(other->log, taken);

		if (!like ||
		    other->log->options[like->first + like->taken].sender ==
			    taken->sender)
			continue;
		*race = (struct check_race){
			.rank = (uint32_t)taken->rank,
			.look = step->look > 0,
			.call = step->receive,
			.other = match_of(other, like),
			.here = match_of(here, step),
		};
		return true;
	}
	return false;
}

void dist__sim_ending_release(struct dist__sim_ending *ending)
{
	dist__sim_plan_release(&ending->plan);
	free(ending->log);
	ending->log = NULL;
}
