/*
 * plan.h - what a run is told to do where it could do otherwise, and the words
 * for that, the replay token:
 *
 *	v1/p2p:buffered/any:2.1,5.3	at point 2 of choice take option 1, at
 *					point 5 option 3, at all others 0
 *	v1/p2p:rendezvous/skew:17	delay calls by the seed 17
 *
 * The same program with the same platform, ranks and token does the same.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_PLAN_H
#define LOCKSTEP_SIM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one can do when nothing else can move: let this rank's any-source
 * receive, number `receive` of those that it posted, take the next message of
 * this sender; or tell a rank that looks, for the time of that number and
 * DIST__SIM_LOOK, yes (1) or no (0). */
struct dist__sim_option {
	int rank;
	uint32_t receive;
	int sender;
};

#define DIST__SIM_LOOK UINT32_C(0x80000000)

/* At a point of choice, of those with more than one option: which of them. */
struct dist__sim_choice {
	uint32_t point;
	uint32_t option;
};

struct dist__sim_plan {
	char p2p[32];  /* when sends end; "": as the world has it */
	uint64_t skew; /* seed of delays; 0: none */

	/* Whether any-source receives wait until nothing else can move, to take
	 * what is chosen; else they take messages as they come. */
	bool chooses;
	struct dist__sim_choice *choices; /* owned; by rising points */
	size_t num_choices;

	/* Of a search, and in no token: after the first `prefix` messages taken
	 * these options are passed over, because runs that take them are known.
	 * Borrowed. */
	size_t prefix;
	const struct dist__sim_option *asleep;
	size_t num_asleep;
};

/* What a token looks like, for a message. */
#define DIST__SIM_TOKEN "a replay token, such as v1/any:2.1,5.3"

/* dist__sim_plan_parse reads a token into a zeroed plan, which the caller
 * releases in any case. False: it is none, or there is no memory. */
bool dist__sim_plan_parse(struct dist__sim_plan *plan, const char *token);

/* dist__sim_plan_token returns the token of plan, which the caller frees; NULL:
 * no memory. */
char *dist__sim_plan_token(const struct dist__sim_plan *plan);

/* dist__sim_plan_add adds a choice behind the others. False: no memory. */
bool dist__sim_plan_add(struct dist__sim_plan *plan,
			struct dist__sim_choice choice);

/* dist__sim_plan_release frees what plan holds. */
void dist__sim_plan_release(struct dist__sim_plan *plan);

#endif
