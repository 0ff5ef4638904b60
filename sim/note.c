/* note.c - what a run that is one of many notes in its log. */
#include "sim/log.h"
#include "sim/world.h"

/* FNV-1a: draft-eastlake-fnv. */
#define HASH_BEGIN UINT64_C(14695981039346656037)

static uint64_t mix_byte(uint64_t hash, uint64_t byte)
{
	return (hash ^ (byte & 0xff)) * UINT64_C(1099511628211);
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
	for (int shift = 0; shift < 64; shift += 8)
		hash = mix_byte(hash, number >> shift);
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
	const unsigned char *data = m->data;
	bool is_letter = m->tag >= 0;
	uint64_t hash = mix_number(HASH_BEGIN, (uint64_t)rank->rank);

	hash = mix_number(hash, (uint64_t)m->peer);
	hash = mix_number(hash, m->group);
	hash = mix_number(hash, is_letter
					? world->board->slots[rank->rank].calls
					: m->seq);
	hash = mix_number(hash, is_letter ? UINT64_MAX : m->step);
	hash = mix_number(hash, m->bytes);
	for (size_t i = 0; data && i < m->bytes; i++)
		hash = mix_byte(hash, data[i]);
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
	log->fate = world->late_board ? DIST__SIM_LATE : DIST__SIM_JUDGED;
}
