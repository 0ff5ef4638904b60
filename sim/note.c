/* note.c - what a run that is one of many notes in its log. */
#include "sim/note.h"

#include "base/hash.h"
#include "sim/log.h"

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
	for (int shift = 0; shift < 64; shift += 8)
		hash = dist__hash_word(hash, number >> shift & 0xff);
	return hash;
}

void dist__sim_note_look(struct dist__sim_world *world)
{
	if (world->log)
		world->log->looked = true;
}

void dist__sim_note_post(const struct dist__sim_rank *rank,
			 const struct dist__message *m, bool is_send)
{
	struct dist__sim_log *log = rank->world->log;

	if (!log)
		return;
	log->wrote |= m->tag >= 0;
	log->any |= m->peer == DIST_ANY_SOURCE;
	if (is_send) {
		/* Sums up what is sent, whenever that is. What was received
		 * shows in what it leads to. */
		const struct dist__sim_world *world = rank->world;
		const unsigned char *data = m->data;
		bool by_message = m->tag >= 0;
		uint64_t hash =
			mix_number(DIST__HASH_BEGIN, (uint64_t)rank->rank);

		hash = mix_number(hash, (uint64_t)m->peer);
		hash = mix_number(hash, m->group);
		hash = mix_number(
			hash, by_message ? world->board->slots[rank->rank].calls
					 : m->seq);
		hash = mix_number(hash, by_message ? UINT64_MAX : m->step);
		hash = mix_number(hash, m->bytes);
		if (data)
			hash = dist__hash_bytes(hash, data, m->bytes);
		world->log->values += hash;
	}
}

void dist__sim_note_end(struct dist__sim_world *world,
			const struct check_verdict *verdict)
{
	struct dist__sim_log *log = world->log;

	log->verdict = *verdict;
	log->fate = world->late_board ? DIST__SIM_LATE : DIST__SIM_JUDGED;
}

/* Whether step had, for the receive or look that was served, the option of
 * this sender or answer. */
static bool had_option(const struct dist__sim_log *log,
		       const struct dist__sim_step *step, int sender)
{
	const struct dist__sim_option *taken =
		&log->options[step->first + step->taken];

	for (uint32_t i = 0; i < step->count; i++) {
		const struct dist__sim_option *option =
			&log->options[step->first + i];

		if (option->rank == taken->rank &&
		    option->receive == taken->receive &&
		    option->sender == sender)
			return true;
	}
	return false;
}

void dist__sim_note_message(struct dist__sim_world *world,
			    const struct dist__request *message)
{
	struct dist__sim_log *log = world->log;

	for (uint32_t i = 0; log && i < log->num_steps; i++) {
		struct dist__sim_step *step = &log->steps[i];

		if (!step->raced && step->group == message->group &&
		    step->joined == message->joined &&
		    step->tag == message->tag &&
		    log->options[step->first + step->taken].rank ==
			    message->peer)
			step->raced =
				!had_option(log, step, message->rank->rank);
	}
}

void dist__sim_note_done(struct dist__sim_world *world,
			 const struct dist__request *r)
{
	struct dist__sim_log *log = world->log;

	for (uint32_t i = 0; log && i < log->num_steps; i++) {
		struct dist__sim_step *step = &log->steps[i];

		if (!step->raced && step->look == r->call &&
		    log->options[step->first + step->taken].rank ==
			    r->rank->rank)
			step->raced = !had_option(log, step, true);
	}
}

bool dist__sim_choosing(const struct dist__sim_world *world)
{
	return world->plan && world->plan->chooses;
}
