/*
 * population.h - fits the constants of a library that no source states to
 * measured tables of many machines: for predictions of machines of which only
 * the description is known.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_POPULATION_H
#define LOCKSTEP_MODEL_VALIDATION_POPULATION_H

#include "coll/profile.h"
#include "model/measured/collectives.h"

struct population {
	const struct collectives *const *tables; /* borrowed */
	size_t num_tables;

	/* Rows of this machine, and of transports of this kind (the word before
	 * "-"), are left out; NULL: none. */
	const char *without_machine;
	const char *without_transport;
};

/*
 * population_fit sets the constants of library_fitted() to the values fitted to
 * the rows of `library` in tables; each machine has its own values around them.
 * Without rows a constant stays at its start. Errors: NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
population_fit(const struct population *population, const char *library,
	       struct dist__profile *profile);

#endif
