/* lane.h - lanes as threads. Private to realbackend/wire/. */
#ifndef LOCKSTEP_WIRE_LANE_H
#define LOCKSTEP_WIRE_LANE_H

#include "core/transport.h"

extern const struct dist__lane_ops dist__lanes;
extern const struct dist__event_ops dist__events;

#endif
