/*
 * note.h - what a run of an exploration writes to its log. Private to sim/.
 */
#ifndef LOCKSTEP_SIM_NOTE_H
#define LOCKSTEP_SIM_NOTE_H

#include "sim/world.h"

/* dist__sim_note_message marks in the log the receives that took another
 * message, but could have taken this one, which has just arrived. */
void dist__sim_note_message(struct dist__sim_world *world,
			    const struct dist__request *message);

/* dist__sim_note_look notes that the result of a test depends on time. */
void dist__sim_note_look(struct dist__sim_world *world);

/* dist__sim_note_post notes that rank posts m. */
void dist__sim_note_post(const struct dist__sim_rank *rank,
			 const struct dist__message *m, bool is_send);

/* dist__sim_note_end notes how the run ends. */
void dist__sim_note_end(struct dist__sim_world *world,
			const struct check_verdict *verdict);

/* dist__sim_note_done marks in the log the tests of r, now complete, that found
 * it incomplete. */
void dist__sim_note_done(struct dist__sim_world *world,
			 const struct dist__request *r);

/* dist__sim_choosing returns whether receives from any source and tests of
 * completion wait until nothing else can move. */
bool dist__sim_choosing(const struct dist__sim_world *world);

#endif
