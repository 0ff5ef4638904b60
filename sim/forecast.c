/*
 * forecast.c - what would have come of a call that ran into its deadline: who
 * would have come, and when, and whether the run would have ended. A copy of
 * that instant goes on as if there were no deadlines.
 *
 * And whether a job that ended well would have ended if sends waited for their
 * receives. Only lockstep check asks: a copy of the instant before the first
 * buffered send does all that follows once more.
 */
#include "sim/forecast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/copy.h"
#include "sim/progress.h"

/* Returns the first rank whose process was killed, or whose program returned
 * non-zero by itself, not for a call that failed; -1: none. */
static int first_to_give_up(const struct dist__sim_world *world)
{
	for (int rank = 0; rank < world->present; rank++)
		if (world->board->slots[rank].state == CHECK_RANK_LOST)
			return rank;
	for (int rank = 0; rank < world->present; rank++)
		if (world->ranks[rank].closed && world->ranks[rank].status &&
		    world->board->slots[rank].state != CHECK_RANK_WAITING)
			return rank;
	return -1;
}

void dist__sim_note_lost(const struct dist__sim_world *world, int rank,
			 struct check_facts *facts)
{
	const struct dist__sim_rank *lost = &world->ranks[rank];
	const char *raised = world->board->slots[rank].raised;

	facts->lost_rank = rank;
	facts->lost_at = world->board->slots[rank].crash;
	if (lost->killed_by)
		snprintf(facts->lost_how, sizeof facts->lost_how,
			 "was killed by signal %d (%s)", lost->killed_by,
			 strsignal(lost->killed_by));
	else if (lost->status == 0)
		snprintf(facts->lost_how, sizeof facts->lost_how,
			 CHECK_OVERLOOKED);
	else
		snprintf(facts->lost_how, sizeof facts->lost_how,
			 "exited with status %d%s%.96s", lost->status,
			 raised[0] ? ": " : "", raised);
}

struct check_facts dist__sim_facts(const struct dist__sim_world *world)
{
	struct check_facts facts = {
		.now_ns = dist__sim_now_ns(world),
		.timeout_ns = world->timeout_ns,
		.lost_rank = first_to_give_up(world),
	};

	if (facts.lost_rank >= 0)
		dist__sim_note_lost(world, facts.lost_rank, &facts);
	return facts;
}

/* Ends the call that rank waits in by timeout, in the records kept. */
static void mark_late(struct check_board *board, int rank, int64_t now_ns)
{
	const struct check_slot *late = &board->slots[rank];
	const struct check_call *call = NULL;

	if (late->state == CHECK_RANK_WAITING)
		call = check_call_find(late, late->waiting);
	for (uint32_t i = 0; call && i < board->world_size; i++) {
		struct check_slot *slot = &board->slots[i];
		const struct check_call *other = NULL;

		if (slot->state == CHECK_RANK_WAITING)
			other = check_call_find(slot, slot->waiting);
		/* Ranks that wait in the same collective are late with it. */
		if (other &&
		    (call == other || check_same_collective(call, other)))
			check_end(slot, slot->waiting, DIST_ERR_TIMEOUT,
				  now_ns);
	}
}

void dist__sim_note_timeout(struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	size_t bytes = check_board_bytes((uint32_t)world->present);

	if (world->late_board || world->ended)
		return;
	world->late_board = malloc(bytes);
	if (!world->late_board)
		return;
	memcpy(world->late_board, world->board, bytes);
	world->late_facts = dist__sim_facts(world);
	mark_late(world->late_board, rank->rank, world->late_facts.now_ns);
}

/* In the copy: notes whom the late call waits for. */
static uint32_t look(struct dist__sim_world *world)
{
	return check_awaited(world->board, (uint32_t)world->late_rank,
			     world->awaited);
}

bool dist__sim_time_is_up(struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	bool first = !world->late_board && !world->ended;

	if (world->is_patient)
		return false;
	dist__sim_note_timeout(rank);
	if (!first || world->is_copy ||
	    !dist__sim_copy_make(world, &world->patience))
		return true;
	/* Makes this process, the copy, one without deadlines. */
	world->is_patient = true;
	world->late_rank = rank->rank;
	world->awaited = calloc((size_t)world->present, 1);
	if (world->awaited)
		(void)look(world);
	free(world->late_board);
	world->late_board = NULL;
	return false;
}

void dist__sim_note_call(const struct dist__sim_rank *rank)
{
	struct dist__sim_world *world = rank->world;
	struct dist__sim_news came = {DIST__SIM_CAME, rank->rank, 0, false};

	if (!world->awaited || !world->awaited[rank->rank] || look(world) > 0)
		return;
	came.at_ns = dist__sim_now_ns(world);
	dist__sim_copy_report(world, &came);
}

void dist__sim_look_ahead(struct dist__sim_world *world,
			  struct check_facts *facts,
			  struct check_verdict *verdict)
{
	struct dist__sim_future future;
	const struct dist__sim_news *news = future.news;
	enum check_verdict_kind stuck;

	if (verdict->kind != CHECK_TIMEOUT)
		return;
	dist__sim_copy_ask(world, &world->patience, &future);
	facts->forecast = (struct check_forecast){
		.rank = news[DIST__SIM_CAME].value,
		.came_ns = news[DIST__SIM_CAME].at_ns,
		.ended_ns = news[DIST__SIM_ENDED].at_ns,
	};
	stuck = (enum check_verdict_kind)news[DIST__SIM_STUCK].value;
	if (!future.board ||
	    (stuck != CHECK_DEADLOCK && stuck != CHECK_BUFFERING)) {
		free(future.board);
		return;
	}
	free(world->late_board);
	world->late_board = future.board;
	facts->forecast.stuck_ns = news[DIST__SIM_STUCK].at_ns;
	facts->nothing_moves = 1;
	*verdict = check_judge(world->late_board, facts);
	verdict->kind = stuck;
}

/* ---- without buffers ----------------------------------------------------- */

/* Where ranks are processes: no copy has them. */
static const char untried[] =
	"not tried: whether it would end if no send were buffered, for a copy "
	"has no ranks that are processes; expected --p2p rendezvous for that";

void dist__sim_note_buffered(struct dist__sim_world *world)
{
	if (world->is_copy || world->has_buffered)
		return;
	world->has_buffered = true;
	if (world->wants_strict &&
	    dist__sim_copy_make(world, &world->strictness))
		world->profile.p2p.eager_below = 0;
}

char *dist__sim_warning(struct dist__sim_world *world)
{
	struct dist__sim_future future;
	const struct dist__sim_news *stuck = &future.news[DIST__SIM_STUCK];
	char *text = NULL;

	if (world->wants_strict && world->has_buffered && world->has_processes)
		return strdup(untried);
	dist__sim_copy_ask(world, &world->strictness, &future);
	if (future.board &&
	    (stuck->value == CHECK_DEADLOCK || stuck->value == CHECK_BUFFERING))
		text = check_buffering_warning(future.board);
	free(future.board);
	return text;
}
