/*
 * fidelity.h - how finely a collective is simulated. Point-to-point messages of
 * the program are always simulated one by one.
 */
#ifndef LOCKSTEP_CORE_FIDELITY_H
#define LOCKSTEP_CORE_FIDELITY_H

#include <stdbool.h>

enum dist__fidelity {
	DIST__FIDELITY_AUTO,    /* one of those below, by the job's size */
	DIST__FIDELITY_MESSAGE, /* every message of its algorithm */
	DIST__FIDELITY_FLOW,    /* as a whole, where the time is the same */
	DIST__FIDELITY_FORMULA  /* its cost formula; links are not shared */
};

#define DIST__FIDELITIES "auto, message, flow or formula"

/* dist__fidelity_parse reads a name, NULL as auto; false: text is no fidelity.
 */
bool dist__fidelity_parse(enum dist__fidelity *fidelity, const char *text);

/* dist__fidelity_name returns the name. */
const char *dist__fidelity_name(enum dist__fidelity fidelity);

/* dist__fidelity_meaning returns a phrase on what is simulated. */
const char *dist__fidelity_meaning(enum dist__fidelity fidelity);

#endif
