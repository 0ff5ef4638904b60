/*
 * plan.h - the choices that a run is to make, and their text, the replay token:
 *
 *	v1/p2p:buffered/any:2.1,5.3	at point 2 of choice take option 1, at
 *					point 5 option 3, at all others 0
 *	v1/p2p:rendezvous/skew:17	delay calls by the seed 17
 *
 * The same program with the same platform, ranks and token runs the same way.
 * Private to sim/.
 */
#ifndef LOCKSTEP_SIM_PLAN_H
#define LOCKSTEP_SIM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An option when nothing else can move: any-source receive number `receive` of
 * rank takes the next message of sender. Or, with DIST__SIM_LOOK set in
 * receive: the test of completion of that number finds the operation complete
 * (sender 1) or not (0). */
struct dist__sim_option {
	int rank;
	uint32_t receive;
	int sender;
};

#define DIST__SIM_LOOK UINT32_C(0x80000000)

/* The option taken at a point of choice; points with one option are not
 * counted. */
struct dist__sim_choice {
	uint32_t point;
	uint32_t option;
};

struct dist__sim_plan {
	char p2p[32];  /* when sends are complete; "": the world's rule */
	uint64_t skew; /* seed of delays; 0: none */

	/* Whether any-source receives wait until nothing else can move, and
	 * then take what is chosen; else they take messages as they come. */
	bool chooses;
	struct dist__sim_choice *choices; /* owned; sorted by point */
	size_t num_choices;

	/* Used in a search, not part of the token: after the first `prefix`
	 * choices these options are skipped, because runs that take them are
	 * known. Borrowed. */
	size_t prefix;
	const struct dist__sim_option *asleep;
	size_t num_asleep;
};

/* An example of a token, for a message. */
#define DIST__SIM_TOKEN "a replay token, such as v1/any:2.1,5.3"

/* dist__sim_plan_parse reads a token into a zeroed plan, which the caller
 * releases in any case. Returns false if it is no token, or without memory. */
bool dist__sim_plan_parse(struct dist__sim_plan *plan, const char *token);

/* dist__sim_plan_token returns the token of plan, which the caller frees; NULL:
 * no memory. */
char *dist__sim_plan_token(const struct dist__sim_plan *plan);

/* dist__sim_plan_add appends a choice. Returns false without memory. */
bool dist__sim_plan_add(struct dist__sim_plan *plan,
			struct dist__sim_choice choice);

/* dist__sim_plan_release frees what plan holds. */
void dist__sim_plan_release(struct dist__sim_plan *plan);

#endif
