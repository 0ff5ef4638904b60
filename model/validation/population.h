/*
 * population.h - the constants of a library that no source states, fitted to
 * measured tables of many machines together: what a machine is taken for of
 * which nothing but its description is known.
 */
#ifndef LOCKSTEP_MODEL_VALIDATION_POPULATION_H
#define LOCKSTEP_MODEL_VALIDATION_POPULATION_H

#include "coll/profile.h"
#include "model/measured/collectives.h"

struct population {
	const struct collectives *const *tables; /* borrowed */
	size_t num_tables;

	/* No row of this machine, nor of a transport of this kind, the word
	 * before "-", is looked at; NULL: of none. */
	const char *without_machine;
	const char *without_transport;
};

/*
 * population_fit gives the constants of library_fitted() the values that the
 * rows of library `library` in tables come to, each machine having its own
 * around them; where no row says anything a constant is its start. Errors:
 * NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
population_fit(const struct population *population, const char *library,
	       struct dist__profile *profile);

/* population_transport_is returns whether a transport is of a kind, or of the
 * same kind as another. */
bool population_transport_is(const char *transport, const char *kind);

#endif
