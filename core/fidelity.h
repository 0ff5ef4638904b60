/*
 * fidelity.h - how closely a simulation follows a collective. Messages of the
 * program are always simulated, each one.
 */
#ifndef LOCKSTEP_CORE_FIDELITY_H
#define LOCKSTEP_CORE_FIDELITY_H

#include <stdbool.h>

enum dist__fidelity {
	DIST__FIDELITY_AUTO,    /* one of those below, by what is simulated */
	DIST__FIDELITY_MESSAGE, /* every message of its algorithm */
	DIST__FIDELITY_FLOW,    /* as a whole, where that is the same */
	DIST__FIDELITY_FORMULA  /* its cost formula; links are not shared */
};

#define DIST__FIDELITIES "auto, message, flow or formula"

/* dist__fidelity_parse reads one of those; false: words are none. NULL is
 * auto. */
bool dist__fidelity_parse(enum dist__fidelity *fidelity, const char *text);

/* dist__fidelity_name returns its word. */
const char *dist__fidelity_name(enum dist__fidelity fidelity);

/* dist__fidelity_meaning says what is simulated then. */
const char *dist__fidelity_meaning(enum dist__fidelity fidelity);

#endif
