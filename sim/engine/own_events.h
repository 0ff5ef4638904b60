/*
 * own_events.h - the future events of the own engine: a heap by time. An event
 * stores its place in the heap, so that it can be moved and removed. Private to
 * sim/engine/.
 */
#ifndef LOCKSTEP_SIM_ENGINE_OWN_EVENTS_H
#define LOCKSTEP_SIM_ENGINE_OWN_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"

/* The struct of which an event is the first member. */
enum own_kind { OWN_FLOW, OWN_CLASS, OWN_SLEEPER };

struct own_event {
	uint32_t place; /* in the heap, from 1; 0: not in it */
	uint32_t kind;
};

struct own_entry {
	double at_s;
	struct own_event *event;
};

/* Each node has four children: half the depth of a binary heap, in as many
 * cache lines. */
struct own_events {
	struct own_entry *heap;
	uint32_t count;
	size_t space;
};

static inline void own_events_put(struct own_entry *heap, size_t place,
				  struct own_entry entry)
{
	heap[place] = entry;
	entry.event->place = (uint32_t)place + 1;
}

#define OWN_IS_SOONER(a, b) ((a).at_s < (b).at_s)

DIST__HEAP(own_events, struct own_entry, 4, OWN_IS_SOONER, own_events_put)

/* own_events_reserve makes room for count events in total; false: no memory. */
static inline bool own_events_reserve(struct own_events *events, uint32_t count)
{
	return dist__array_room(&events->heap, &events->space, count,
				sizeof *events->heap);
}

/* own_events_set puts event into the heap at time at_s, or moves it there.
 * There must be room. */
static inline void own_events_set(struct own_events *events,
				  struct own_event *event, double at_s)
{
	struct own_entry entry = {at_s, event};
	double before_s;

	if (!event->place) {
		own_events_rise(events->heap, events->count++, entry);
		return;
	}
	before_s = events->heap[event->place - 1].at_s;
	if (at_s < before_s)
		own_events_rise(events->heap, event->place - 1, entry);
	else if (at_s > before_s)
		own_events_sink(events->heap, events->count, event->place - 1,
				entry);
}

/* own_events_drop removes event, if it is in the heap. */
static inline void own_events_drop(struct own_events *events,
				   struct own_event *event)
{
	uint32_t place = event->place;
	struct own_entry last;

	if (!place)
		return;
	event->place = 0;
	last = events->heap[--events->count];
	if (--place == events->count)
		return;
	if (place > 0 && events->heap[(place - 1) / 4].at_s > last.at_s)
		own_events_rise(events->heap, place, last);
	else
		own_events_sink(events->heap, events->count, place, last);
}

#endif
