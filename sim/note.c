/* note.c - what a run that is one of many notes in its log. */
#include "sim/log.h"
#include "sim/world.h"

/* FNV-1a: draft-eastlake-fnv. */
static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * UINT64_C(1099511628211);
	return hash;
}

void dist__sim_note_look(struct dist__sim_world *world)
{
	if (world->log)
		world->log->looked = true;
}

/* Sums up what is sent, whenever that is. What was received shows in what it
 * leads to. */
static void note_value(const struct dist__sim_rank *rank,
		       const struct dist__message *m)
{
	const struct dist__sim_world *world = rank->world;
	bool is_letter = m->tag >= 0;
	const uint64_t place[] = {
		(uint64_t)rank->rank,
		(uint64_t)m->peer,
		m->group,
		is_letter ? world->board->slots[rank->rank].calls : m->seq,
		is_letter ? UINT64_MAX : m->step,
		m->bytes,
	};
	uint64_t hash =
		mix(UINT64_C(14695981039346656037), place, sizeof place);

	if (m->data)
		hash = mix(hash, m->data, m->bytes);
	world->log->values += hash;
}

void dist__sim_note_post(const struct dist__sim_rank *rank,
			 const struct dist__message *m, bool is_send)
{
	struct dist__sim_log *log = rank->world->log;

	if (!log)
		return;
	log->wrote |= m->tag >= 0;
	log->any |= m->peer == DIST_ANY_SOURCE;
	if (is_send)
		note_value(rank, m);
}

void dist__sim_note_end(struct dist__sim_world *world,
			const struct check_verdict *verdict)
{
	struct dist__sim_log *log = world->log;

	log->verdict = *verdict;
	log->fate = world->late_board ? DIST__SIM_LATE : DIST__SIM_ENDED;
}
