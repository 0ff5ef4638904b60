/*
 * progress.c - knows at every instant whether anything can still move.
 *
 * An actor is movable unless it waits for an act of another: for the other end
 * of a message, for a job of its lane to end, for a job to come. A transfer
 * under way, a computation, a timed sleep end by themselves. Whoever does the
 * awaited act makes the waiter movable in the same instant, so the count is
 * exact: at 0 nothing will ever happen but deadlines passing, and this very
 * instant is the deadlock. SimGrid's own detection would come only after all
 * deadlines, and kills the ranks.
 */
#include "sim/world.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/engine.h>

#include "check/outputs.h"
#include "sim/flow.h"

static int64_t engine_now_ns(void)
{
	return llround(simgrid_get_clock() * 1e9);
}

int64_t dist__sim_now_ns(const struct dist__sim_world *world)
{
	return world->ended ? world->ended_ns : engine_now_ns();
}

bool dist__sim_is_late(const struct dist__sim_world *world, int64_t deadline_ns)
{
	return !world->is_patient && dist__sim_now_ns(world) >= deadline_ns;
}

double dist__sim_seconds_until(const struct dist__sim_world *world,
			       int64_t deadline_ns)
{
	int64_t until_ns = world->is_patient ? DIST_TIMEOUT_NEVER : deadline_ns;
	double seconds = (double)until_ns * 1e-9 - simgrid_get_clock();

	return seconds > 0 ? seconds : 0;
}

/* Ends the world; every unanswered request fails, which wakes all actors. */
static void end(struct dist__sim_world *world, enum dist_error error,
		int exit_status)
{
	world->ended_ns = engine_now_ns();
	world->ended = true;
	world->end_error = error;
	world->exit_status = exit_status;
	for (size_t i = 0; i < world->channels.count; i++)
		dist__sim_channel_fail(world, world->channels.all[i], error);
	dist__sim_letters_end(world, error);
	dist__sim_flows_end(world, error);
	dist__sim_looks_end(world);
	dist__sim_meetings_end(world);
}

/* Returns the first rank whose program returned non-zero by itself, not for a
 * call that failed; -1: none. */
static int first_to_give_up(const struct dist__sim_world *world)
{
	for (int rank = 0; rank < world->present; rank++)
		if (world->ranks[rank].closed && world->ranks[rank].status &&
		    world->board->slots[rank].state != CHECK_RANK_WAITING)
			return rank;
	return -1;
}

static struct check_facts facts_now(const struct dist__sim_world *world)
{
	struct check_facts facts = {
		.now_ns = dist__sim_now_ns(world),
		.timeout_ns = world->timeout_ns,
		.lost_rank = first_to_give_up(world),
	};

	if (facts.lost_rank >= 0)
		snprintf(facts.lost_how, sizeof facts.lost_how,
			 "exited with status %d",
			 world->ranks[facts.lost_rank].status);
	return facts;
}

/* Tells the verdict, or the race that it is an outcome of. A run that is one of
 * many tells who explores. */
static int report(struct dist__sim_world *world,
		  const struct check_board *board, struct check_facts *facts,
		  struct check_verdict *verdict)
{
	struct check_count why[DIST__BY_NUM + 1];
	const struct check_simulated simulated =
		dist__tally_tell(&world->tally, why);
	const struct check_job job = {.board = board,
				      .facts = facts,
				      .verdict = verdict,
				      .world = "sim",
				      .replay = world->token,
				      .explored = world->explored,
				      .simulated = &simulated};
	struct check_race race;

	if (world->log) {
		dist__sim_note_end(world, verdict);
		return check_exit_status(verdict);
	}
	if (world->race) {
		race = *world->race;
		race.outcome = *verdict;
		facts->race = &race;
		*verdict = (struct check_verdict){CHECK_RACE, (int)race.rank};
	}
	fflush(stdout);
	return check_conclude(stderr, &job);
}

/* Replaces a verdict by that on the first timeout, if there was one: what came
 * later is what it led to. But what a mismatch or a hazard leaves behind is
 * given up, and looks late. */
static void look_back(struct dist__sim_world *world,
		      const struct check_board **board,
		      struct check_facts *facts, struct check_verdict *verdict)
{
	struct check_verdict late;

	if (check_is_certain(verdict) || !world->late_board)
		return;
	late = check_judge(world->late_board, &world->late_facts);
	if (late.kind == CHECK_FINE)
		return;
	*facts = world->late_facts;
	*verdict = late;
	dist__sim_look_ahead(world, facts, verdict);
	*board = world->late_board;
}

/* Ends the copy with the last that it tells. */
static void tell_end(const struct dist__sim_world *world,
		     enum dist__sim_event what, int value)
{
	const struct dist__sim_news news = {what, value,
					    dist__sim_now_ns(world)};

	if (what != DIST__SIM_NOTHING)
		dist__sim_tell(world, &news);
	_exit(DIST_EXIT_OK);
}

/* Nothing moves. Whether that is a deadlock or what a mismatch or a timeout led
 * to, the records tell; when they show neither, it is still the deadlock it is,
 * or depends on buffering. True: this is the copy that tries that. */
static bool judge_standstill(struct dist__sim_world *world)
{
	const struct check_board *board = world->board;
	struct check_facts facts = facts_now(world);
	struct check_verdict verdict;
	enum dist__sim_answer answer = DIST__SIM_STAYS;

	facts.nothing_moves = 1;
	verdict = check_judge(board, &facts);
	if (verdict.kind == CHECK_FINE)
		verdict = (struct check_verdict){CHECK_DEADLOCK, -1};
	look_back(world, &board, &facts, &verdict);
	if (verdict.kind == CHECK_DEADLOCK && !facts.forecast.stuck_ns)
		answer = dist__sim_ask_buffered(world);
	if (answer == DIST__SIM_IS_COPY)
		return true;
	if (answer == DIST__SIM_WOULD_END)
		verdict.kind = CHECK_BUFFERING;
	if (world->is_copy)
		tell_end(world, DIST__SIM_STUCK, (int)verdict.kind);
	end(world, DIST_ERR_DEADLOCK, report(world, board, &facts, &verdict));
	return false;
}

bool dist__sim_block(struct dist__sim_world *world)
{
	world->movable--;
	assert(world->movable >= 0);
	if (world->movable > 0 || world->unfinished == 0 || world->ended)
		return true;
	world->movable++;
	if (!dist__sim_choose(world) && !judge_standstill(world))
		return false;
	world->movable--;
	return true;
}

void dist__sim_unblock(struct dist__sim_world *world)
{
	world->movable++;
}

void dist__sim_break(struct dist__sim_world *world, const char *message)
{
	if (world->ended)
		return;
	fflush(stdout);
	fprintf(stderr, "lockstep: %s\n", message);
	end(world, DIST_ERR_IO, DIST_EXIT_USAGE);
}

/* Ranks that wait in the same collective are late with it. */
static bool same_wait(const struct check_call *a, const struct check_call *b)
{
	return a == b || check_same_collective(a, b);
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
		if (other && same_wait(call, other))
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
	world->late_facts = facts_now(world);
	mark_late(world->late_board, rank->rank, world->late_facts.now_ns);
}

static bool any_failed(const struct dist__sim_world *world)
{
	for (int rank = 0; rank < world->present; rank++)
		if (world->ranks[rank].status != 0)
			return true;
	return false;
}

int dist__sim_exit_status(struct dist__sim_world *world)
{
	const struct check_board *board = world->board;
	struct check_facts facts = facts_now(world);
	struct check_verdict verdict;
	bool failed = any_failed(world);
	char *warning = NULL;
	int status;

	if (world->is_copy)
		tell_end(world,
			 failed || world->ended ? DIST__SIM_NOTHING
						: DIST__SIM_ENDED,
			 dist__sim_any_letter(world));
	if (world->ended)
		return world->exit_status;
	verdict = failed ? check_judge(board, &facts)
			 : check_judge_end(board, &facts);
	if (failed)
		look_back(world, &board, &facts, &verdict);
	if (failed && verdict.kind == CHECK_FINE)
		verdict = (struct check_verdict){CHECK_FAILED, facts.lost_rank};
	if (verdict.kind == CHECK_FINE)
		facts.warning = warning = dist__sim_warning(world);
	status = report(world, board, &facts, &verdict);
	free(warning);
	return status;
}
