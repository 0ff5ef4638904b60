/* frames.h - the call stack of a thread, as instruction addresses. */
#ifndef LOCKSTEP_CHECK_WATCH_FRAMES_H
#define LOCKSTEP_CHECK_WATCH_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* dist__frames_outermost returns the start of the caller's outermost frame: the
 * used stack is between that and the caller's own frame. */
uintptr_t dist__frames_outermost(void);

/* dist__frames_of_fault, called in the handler of a fault, stores the faulting
 * instruction and the calls that led there, innermost first; the rest of num is
 * 0. Call dist__frames_outermost() once before: it loads a library, which a
 * handler must not. */
void dist__frames_of_fault(uintptr_t *frames, size_t num);

#endif
