/*
 * simulated.h - how closely a simulation followed the collectives of a job, for
 * machines.
 */
#ifndef LOCKSTEP_CHECK_SIMULATED_H
#define LOCKSTEP_CHECK_SIMULATED_H

#include <stdint.h>

#include <jansson.h>

/* So many of what key says. */
struct check_count {
	const char *key; /* NULL: the end of a list */
	uint64_t num;
};

/* Strings are borrowed. */
struct check_simulated {
	const char *fidelity; /* "flow", "message", ... */
	uint64_t flows;       /* collectives that were simulated as a whole */
	/* The others, by the reason, a list; NULL: it is not counted which. */
	const struct check_count *by_messages;
};

/* check_collectives_json returns the counts as an object of flows, by_messages
 * and why, which the caller owns; null where there are none; NULL: no memory.
 */
json_t *check_collectives_json(const struct check_simulated *simulated);

#endif
