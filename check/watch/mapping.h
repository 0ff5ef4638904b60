/* mapping.h - what the system maps where. Private to check/watch/. */
#ifndef LOCKSTEP_CHECK_WATCH_MAPPING_H
#define LOCKSTEP_CHECK_WATCH_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

/* dist__mapping_is_plain returns whether all memory from begin to end is
 * readable and writable, and not executable. */
bool dist__mapping_is_plain(uintptr_t begin, uintptr_t end);

#endif
