/*
 * progress.h - which thread reads and writes.
 *
 * Leader and followers: of the threads that wait for a request, one polls for
 * all; the others sleep until their request is complete or the leader leaves.
 * A background thread polls between the calls of the rank's threads, but only
 * while there are requests that no thread may be waiting for (those with tag
 * >= 0; a collective always has its own thread). It gives way to any other
 * thread, and is started when first needed.
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
 * dist__progress_new makes it for mesh. Mutex not held. crowded: this machine
 * has more ranks than processors. Errors: NO_MEMORY, IO.
 */
enum dist_error dist__progress_new(struct dist__mesh *mesh, bool crowded,
				   struct dist__progress **progress);

/* dist__progress_stop ends the background thread. Mutex not held. */
void dist__progress_stop(struct dist__progress *progress);

/* dist__progress_free frees it. Mutex not held; NULL allowed. */
void dist__progress_free(struct dist__progress *progress);

/* dist__progress_wait blocks until request is complete (true) or the clock
 * passes deadline_ns. It releases the mutex meanwhile. */
bool dist__progress_wait(struct dist__progress *progress,
			 struct dist__request *request, int64_t deadline_ns);

/*
 * dist__progress_looks returns how often a waiting thread looks at memory
 * before it yields the processor. dist__progress_linger yields and counts in
 * *turns, from 0; or it returns false: that is not worth it any more. It
 * releases the mutex meanwhile.
 */
unsigned dist__progress_looks(const struct dist__progress *progress);
bool dist__progress_linger(struct dist__progress *progress, unsigned *turns);

/* dist__progress_look reads and writes what is possible now, unless another
 * thread does so already: for request, and now and then for all; NULL: for all.
 */
void dist__progress_look(struct dist__progress *progress,
			 const struct dist__request *request);

/* dist__progress_until polls for all until the clock passes deadline_ns or one
 * event was handled. For the end of the transport, without other threads.
 */
void dist__progress_until(struct dist__progress *progress, int64_t deadline_ns);

/* dist__progress_posted handles a new request: it may need polling, and the
 * background thread. completions: the mesh's, before. */
void dist__progress_posted(struct dist__progress *progress,
			   struct dist__request *request, uint64_t completions);

/* dist__progress_touched wakes the leader if the calling thread, another one,
 * has completed requests: one of them may be the leader's. */
void dist__progress_touched(struct dist__progress *progress,
			    uint64_t completions);

#endif
