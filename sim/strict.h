/*
 * strict.h - would it end if sends were not buffered? Private to sim/.
 */
#ifndef LOCKSTEP_SIM_STRICT_H
#define LOCKSTEP_SIM_STRICT_H

#include "sim/world.h"

/* dist__sim_note_buffered notes that a send is about not to wait; in the copy
 * that finds out, it will. */
void dist__sim_note_buffered(struct dist__sim_world *world);

/* dist__sim_warning returns what is to be said of a job that ended well, which
 * the caller frees; NULL: nothing. */
char *dist__sim_warning(struct dist__sim_world *world);

#endif
