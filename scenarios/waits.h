/*
 * waits.h - divides the waiting time of a rank: idle, while other ranks had not
 * called yet; or exposed communication, while bytes were on their way.
 *
 * This compares clocks of ranks: of the simulation, or of one machine.
 */
#ifndef LOCKSTEP_SCENARIOS_WAITS_H
#define LOCKSTEP_SCENARIOS_WAITS_H

#include "lockstep/dist.h"

/* One operation: its beginning on this rank, and the wait for it. */
struct wait {
	int64_t begun_ns;
	int64_t from_ns;
	int64_t to_ns;
};

/* The waits of one rank for the collectives of one group, in their order. */
struct waits {
	struct wait *list; /* owned */
	size_t num;
};

/* waits_add adds a wait. Errors: DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error waits_add(struct waits *waits,
					  struct wait wait);

/*
 * waits_idle adds to *idle_ns the time that this rank waited for members of
 * group that had not yet begun the collective. All members call it, with
 * equally many waits. Errors: any group error, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error waits_idle(const struct waits *waits,
					   struct dist_group *group,
					   int64_t *idle_ns);

/* wait_idle_ns returns the part of a wait before peer_ns, when the peer began.
 */
int64_t wait_idle_ns(const struct wait *wait, int64_t peer_ns);

/* waits_release frees what waits holds. */
void waits_release(struct waits *waits);

#endif
