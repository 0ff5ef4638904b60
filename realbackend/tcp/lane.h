/* lane.h - lanes as threads; the slots of core/transport.h. Private to
 * realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_LANE_H
#define LOCKSTEP_TCP_LANE_H

#include "core/transport.h"

enum dist_error dist__lane_new(struct dist__transport *transport,
			       struct dist__lane **lane);
enum dist_error dist__lane_submit(struct dist__lane *lane,
				  struct dist__job *job);
enum dist_error dist__lane_wait(struct dist__lane *lane, struct dist__op *op,
				int64_t deadline_ns);
void dist__lane_notify(struct dist__lane *lane);
void dist__lane_free(struct dist__lane *lane);

#endif
