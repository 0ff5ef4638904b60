/*
 * progress.h - who moves the bytes.
 *
 * Leader and followers: of the threads that wait for a request, one polls for
 * all; the others sleep until their request is complete or the leader leaves.
 * Between the calls of the rank's threads a background thread polls, but only
 * while requests are outstanding that nobody may be waiting for (those of tag
 * >= 0; a collective always has a thread of its own). It gives way to any other
 * thread, and is not there before it is first needed.
 *
 * Called with the mesh's mutex held, unless said otherwise.
 * Private to realbackend/wire/.
 */
#ifndef LOCKSTEP_WIRE_PROGRESS_H
#define LOCKSTEP_WIRE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "lockstep/dist.h"

struct dist__mesh;
struct dist__request;
struct dist__progress;

/*
 * dist__progress_new makes it for mesh. Mutex not held. crowded: there
 * are more ranks on this machine than processors. Errors: NO_MEMORY, IO.
 */
enum dist_error dist__progress_new(struct dist__mesh *mesh, bool crowded,
				   struct dist__progress **progress);

/* dist__progress_stop ends the background thread. Mutex not held. */
void dist__progress_stop(struct dist__progress *progress);

/* dist__progress_free frees it. Mutex not held; NULL allowed. */
void dist__progress_free(struct dist__progress *progress);

/* dist__progress_wait blocks until request is complete (true) or the clock
 * passes deadline_ns. The mutex is released meanwhile. */
bool dist__progress_wait(struct dist__progress *progress,
			 struct dist__request *request, int64_t deadline_ns);

/*
 * dist__progress_looks returns how often a waiting thread looks at memory
 * before it gives the processor away. dist__progress_linger does that, for the
 * time numbered *turns from 0 on, or returns false: it is not worth it any
 * more. The mutex is released meanwhile.
 */
unsigned dist__progress_looks(const struct dist__progress *progress);
bool dist__progress_linger(struct dist__progress *progress, unsigned *turns);

/* dist__progress_look moves what can be moved now, unless another thread is at
 * it already. */
void dist__progress_look(struct dist__progress *progress);

/* dist__progress_until polls for all until the clock passes deadline_ns or one
 * thing happened. For the end of the transport, when no other thread is left.
 */
void dist__progress_until(struct dist__progress *progress, int64_t deadline_ns);

/* dist__progress_posted follows up a request just posted: it may need to be
 * polled for, and a background thread. completions: the mesh's, before. */
void dist__progress_posted(struct dist__progress *progress,
			   struct dist__request *request, uint64_t completions);

/* dist__progress_touched wakes the leader when requests were completed by a
 * thread that is not it: one of them may be the leader's own. */
void dist__progress_touched(struct dist__progress *progress,
			    uint64_t completions);

/* dist__progress_announce wakes the followers. */
void dist__progress_announce(struct dist__progress *progress);

#endif
