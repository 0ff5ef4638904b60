/*
 * simulated.h - how finely a simulation followed the collectives of a job, for
 * machine-readable output.
 */
#ifndef LOCKSTEP_CHECK_SIMULATED_H
#define LOCKSTEP_CHECK_SIMULATED_H

#include <stdint.h>

#include <jansson.h>

/* A number with its key. */
struct check_count {
	const char *key; /* NULL: the end of a list */
	uint64_t num;
};

/* Strings are borrowed. */
struct check_simulated {
	const char *fidelity; /* "flow", "message", ... */
	uint64_t flows;       /* collectives that were simulated as a whole */
	/* The others, by reason, a list; NULL: not counted by reason. */
	const struct check_count *by_messages;
};

/* check_collectives_json returns the counts as an object with flows,
 * by_messages and why, owned by the caller; JSON null if there are none; NULL:
 * no memory. */
json_t *check_collectives_json(const struct check_simulated *simulated);

#endif
