/*
 * tally.h - how closely the last simulation of this process followed its
 * collectives, and why not all of them were flows (flow.h).
 */
#ifndef LOCKSTEP_SIM_TALLY_H
#define LOCKSTEP_SIM_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "check/simulated.h"
#include "core/fidelity.h"

/* What may be asked for: our own engine if it runs the platform. */
#define DIST__ENGINES "auto, own or simgrid"

/* Why a collective without data goes by messages where flows are wanted. */
enum dist__by_messages {
	DIST__BY_LINKS,     /* its own messages share links */
	DIST__BY_EARLY,     /* a rank may be through before others come */
	DIST__BY_TIMETABLE, /* its algorithm has few messages, or lengths that
			       not all ranks know: there is no timetable */
	DIST__BY_MODEL,     /* the network model is no simple arithmetic, or
			       the profile knows rates, windows, receives,
			       copies or cores */
	DIST__BY_NUM
};

/* Collectives without data, all of the simulation; of one that is made of
 * others among some of the ranks, those. */
struct dist__tally {
	enum dist__fidelity fidelity; /* AUTO: there was no simulation */
	bool own_engine;              /* ran it; else SimGrid */
	bool has_parted; /* rank 0 could not run for all: no answer */
	uint64_t flows;
	uint64_t messages[DIST__BY_NUM]; /* with fidelity FLOW */

	/* What the collectives of all ranks were timed for. */
	char library[16];   /* library_name() of the profile */
	char transport[32]; /* between nodes; "": one node, or not known */
	int nodes;
	bool is_calibrated; /* by what was measured there of the library */
};

/* dist__sim_tally returns that of the last simulation. */
const struct dist__tally *dist__sim_tally(void);

/* dist__tally_engine returns the word for the engine that ran it. */
const char *dist__tally_engine(const struct dist__tally *tally);

/* dist__tally_report returns it for check/. why is the caller's, of
 * DIST__BY_NUM + 1 elements, and what is returned points there. */
struct check_simulated dist__tally_report(const struct dist__tally *tally,
					  struct check_count why[]);

#endif
