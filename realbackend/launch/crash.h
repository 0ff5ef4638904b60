/*
 * crash.h - a rank that a signal is about to end says where it was. Private to
 * realbackend/launch/.
 *
 * The launcher sees the signal and nothing else. So the rank's handler looks up
 * the line itself, in a copy of the process, because it may stand anywhere, in
 * malloc() too, and the memory may be in any state. Signals that the program
 * handles, or a sanitizer, stay theirs.
 */
#ifndef LOCKSTEP_LAUNCH_CRASH_H
#define LOCKSTEP_LAUNCH_CRASH_H

#include "check/record.h"

/* dist__crash_watch has this process write into *slot, in memory that it shares
 * with the launcher, at which line of the program it crashes. Not undone; later
 * calls only replace the slot. */
void dist__crash_watch(struct check_slot *slot);

#endif
