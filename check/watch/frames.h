/* frames.h - where a thread is, as instructions. */
#ifndef LOCKSTEP_CHECK_WATCH_FRAMES_H
#define LOCKSTEP_CHECK_WATCH_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* dist__frames_outermost returns where the caller's outermost frame begins: its
 * stack in use is between that and itself. */
uintptr_t dist__frames_outermost(void);

/* dist__frames_of_fault stores, for the handler of a fault, the instruction
 * that faulted and the calls that led there, innermost first, the rest of num
 * 0. Not before dist__frames_outermost() has been called once: what that
 * loads is not to be loaded by a handler. */
void dist__frames_of_fault(uintptr_t *frames, size_t num);

#endif
