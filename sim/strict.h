/*
 * strict.h - whether the job would also end if sends were not buffered. Private
 * to sim/.
 */
#ifndef LOCKSTEP_SIM_STRICT_H
#define LOCKSTEP_SIM_STRICT_H

#include "sim/world.h"

/* dist__sim_note_buffered notes that a send is buffered; in the copy that tries
 * it without buffers, the send will wait. */
void dist__sim_note_buffered(struct dist__sim_world *world);

/* dist__sim_warning returns a warning about a job that ended well, which the
 * caller frees; NULL: none. */
char *dist__sim_warning(struct dist__sim_world *world);

#endif
