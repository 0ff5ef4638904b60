/*
 * waits.h - what a rank waited for: for others that had not come yet (it was
 * idle), or for bytes on their way (exposed communication).
 *
 * The clocks of ranks are compared for this: those of the simulation, or of
 * one machine.
 */
#ifndef LOCKSTEP_SCENARIOS_WAITS_H
#define LOCKSTEP_SCENARIOS_WAITS_H

#include "lockstep/dist.h"

/* One operation: begun on this rank, waited for from then to then. */
struct wait {
	int64_t begun_ns;
	int64_t from_ns;
	int64_t to_ns;
};

/* The waits of one rank for the collectives of one group, in their order. */
struct waits {
	struct wait *list; /* owned */
	size_t num;
	size_t room;
};

/* waits_add adds one. Errors: DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error waits_add(struct waits *waits,
					  struct wait wait);

/*
 * waits_idle adds to *idle_ns how long this rank waited for members of group
 * that had not begun the collective yet. All members call it, with as many
 * waits. Errors: any group error, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error waits_idle(const struct waits *waits,
					   struct dist_group *group,
					   int64_t *idle_ns);

/* wait_idle_ns returns how much of one wait was for who began at peer_ns. */
int64_t wait_idle_ns(const struct wait *wait, int64_t peer_ns);

/* waits_release frees what waits holds. */
void waits_release(struct waits *waits);

#endif
