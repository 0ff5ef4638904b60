/*
 * ending.c - the end of a world: when all ranks have returned, when nothing can
 * move, or for a fault of the input. Says the verdict.
 */
#include "sim/ending.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/cause.h"
#include "sim/analytic_collective.h"
#include "sim/channel.h"
#include "sim/choose.h"
#include "sim/copy.h"
#include "sim/flow.h"
#include "sim/forecast.h"
#include "sim/message.h"
#include "sim/note.h"
#include "sim/progress.h"
#include "sim/world.h"

/* ---- would it end if sends were buffered? -------------------------------- */

enum dist__sim_answer {
	DIST__SIM_STAYS,      /* no, or not known */
	DIST__SIM_UNTRIED,    /* not tried: ranks are processes */
	DIST__SIM_WOULD_END,  /* yes, without a verdict */
	DIST__SIM_WOULD_LACK, /* yes, but with a missing call */
	DIST__SIM_IS_COPY     /* this is the copy that tries it: go on */
};

static bool any_waiting(const struct dist__sim_queue *queue)
{
	for (const struct dist__request *r = queue->first; r; r = r->next)
		if (r->is_send && !r->eager)
			return true;
	return false;
}

/* Whether there is a send that nobody received yet, and that waits for it. */
static bool any_send_waits(const struct dist__sim_world *world)
{
	for (int i = 0; i < world->present; i++)
		if (any_waiting(&world->ranks[i].sent) ||
		    any_waiting(&world->ranks[i].arrived))
			return true;
	for (size_t i = 0; i < world->channels.count; i++)
		if (any_waiting(&world->channels.all[i]->queue))
			return true;
	return false;
}

/* Whether a message was not received. */
static bool any_message(const struct dist__sim_world *world)
{
	for (int i = 0; i < world->present; i++)
		if (world->ranks[i].sent.first || world->ranks[i].arrived.first)
			return true;
	return false;
}

static void let_go(struct dist__sim_world *world, struct dist__sim_queue *queue)
{
	for (struct dist__request *r = queue->first; r; r = r->next) {
		r->eager = r->done = true;
		if (r->gate)
			dist__sim_gate_open(world, r->gate);
	}
}

static void let_all_go(void *arg)
{
	struct dist__sim_world *world = arg;

	for (int i = 0; i < world->present; i++) {
		let_go(world, &world->ranks[i].sent);
		let_go(world, &world->ranks[i].arrived);
	}
	for (size_t i = 0; i < world->channels.count; i++)
		dist__sim_channel_loosen(world->channels.all[i]);
	(void)dist__sim_block(world);
}

/* ask_buffered tries it in a copy when nothing can move. In the copy
 * the caller is blocked as before, and others can move. If a call would be
 * missing, *board is the records at that end, which the caller frees; else
 * NULL. */
static enum dist__sim_answer ask_buffered(struct dist__sim_world *world,
					  struct check_board **board)
{
	struct dist__sim_future future;
	const struct dist__sim_news *ended = &future.news[DIST__SIM_ENDED];
	enum dist__sim_answer answer = DIST__SIM_STAYS;
	struct dist__sim_copy copy;

	*board = NULL;
	if (!any_send_waits(world))
		return DIST__SIM_STAYS;
	if (world->has_processes)
		return DIST__SIM_UNTRIED;
	if (dist__sim_copy_make(world, &copy)) {
		world->is_loose = true;
		dist__sim_unblock(world);
		dist__engine->at(dist__engine->now_s(), let_all_go, world);
		return DIST__SIM_IS_COPY;
	}
	dist__sim_copy_ask(world, &copy, &future);
	if (future.board && ended->what == DIST__SIM_ENDED) {
		if (ended->value == CHECK_FINE)
			answer = DIST__SIM_WOULD_END;
		if (ended->value == CHECK_MISMATCH)
			answer = DIST__SIM_WOULD_LACK;
	}
	if (answer == DIST__SIM_WOULD_LACK)
		*board = future.board;
	else
		free(future.board);
	return answer;
}

/* ---- the verdict --------------------------------------------------------- */

/* Ends the world; every unanswered request fails, which wakes all actors. */
void dist__sim_end(struct dist__sim_world *world, enum dist_error error,
		   int exit_status)
{
	world->ended_ns = dist__sim_now_ns(world);
	world->ended = true;
	world->end_error = error;
	world->exit_status = exit_status;
	for (size_t i = 0; i < world->channels.count; i++)
		dist__sim_channel_fail(world->channels.all[i], error);
	dist__sim_messages_end(world, error);
	dist__sim_flows_end(world, error);
	dist__sim_looks_end(world);
	dist__sim_analytics_end(world);
}

/* Tells the verdict, or the race that it is an outcome of. A run that is one of
 * many tells who explores. */
static int report(struct dist__sim_world *world,
		  const struct check_board *board, struct check_facts *facts,
		  struct check_verdict *verdict)
{
	struct check_count why[DIST__BY_NUM + 1];
	const struct check_simulated simulated =
		dist__tally_report(&world->tally, why);
	const struct check_job job = {.board = board,
				      .facts = facts,
				      .verdict = verdict,
				      .world = "sim",
				      .replay = world->token,
				      .explored = world->explored,
				      .simulated = &simulated,
				      .outputs = &world->outputs};
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
	return check_conclude(stderr, &job, NULL);
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
static void report_end(const struct dist__sim_world *world,
		       enum dist__sim_event what, int value)
{
	const struct dist__sim_news news = {
		.what = what,
		.value = value,
		.at_ns = dist__sim_now_ns(world),
		.has_board = what == DIST__SIM_STUCK || world->is_loose};

	if (what != DIST__SIM_NOTHING)
		dist__sim_copy_report(world, &news);
	_exit(DIST_EXIT_OK);
}

/* What else is to be said when the records show nobody that others wait for: a
 * rank gave up by itself, or left what it had begun. */
static struct check_verdict judge_leavers(const struct check_board *board,
					  const struct check_facts *facts)
{
	if (facts->lost_rank >= 0)
		return (struct check_verdict){CHECK_FAILED, facts->lost_rank};
	return check_judge_left(board);
}

/* What is not known where ranks are processes: no copy has them. */
static const char untried_buffers[] =
	"not tried: whether it would end if sends were buffered, for a copy "
	"has no ranks that are processes; expected --p2p buffered for that";

static bool any_waits(const struct check_board *board)
{
	for (uint32_t i = 0; i < board->world_size; i++)
		if (board->slots[i].state == CHECK_RANK_WAITING)
			return true;
	return false;
}

/* Whether a rank waits for a message of its program. */
static bool any_waits_in_message(const struct check_board *board)
{
	for (uint32_t i = 0; i < board->world_size; i++) {
		const struct check_slot *slot = &board->slots[i];
		const struct check_call *call = NULL;

		if (slot->state == CHECK_RANK_WAITING)
			call = check_call_find(slot, slot->waiting);
		if (call && check_is_message(call))
			return true;
	}
	return false;
}

/* Nothing moves. Whether that is a deadlock or what a mismatch or a timeout led
 * to, the records tell; when they show neither, it is still the deadlock it is,
 * or depends on buffering. True: this is the copy that tries that. */
static bool judge_standstill(struct dist__sim_world *world)
{
	const struct check_board *board = world->board;
	struct check_facts facts = dist__sim_facts(world);
	struct check_verdict verdict, left;
	enum dist__sim_answer answer = DIST__SIM_STAYS;
	struct check_board *lacking = NULL;

	facts.nothing_moves = 1;
	verdict = check_judge(board, &facts);
	if (verdict.kind == CHECK_FINE)
		verdict = (struct check_verdict){CHECK_DEADLOCK, -1};
	look_back(world, &board, &facts, &verdict);
	left = judge_leavers(board, &facts);
	if (verdict.kind == CHECK_DEADLOCK && verdict.rank < 0 &&
	    any_waits(board) && left.kind != CHECK_FINE)
		verdict = left;
	if (verdict.kind == CHECK_DEADLOCK && !facts.forecast.stuck_ns)
		answer = ask_buffered(world, &lacking);
	if (answer == DIST__SIM_IS_COPY)
		return true;
	if (answer == DIST__SIM_UNTRIED && any_waits_in_message(board))
		facts.warning = untried_buffers;
	if (answer == DIST__SIM_WOULD_END)
		verdict.kind = CHECK_BUFFERING;
	if (answer == DIST__SIM_WOULD_LACK && !world->is_copy) {
		board = lacking;
		facts.nothing_moves = 0;
		verdict = check_judge_end(board, &facts);
	}
	if (world->is_copy)
		report_end(world, DIST__SIM_STUCK, (int)verdict.kind);
	dist__sim_end(world, DIST_ERR_DEADLOCK,
		      report(world, board, &facts, &verdict));
	free(lacking);
	return false;
}

/* Whether a rank waits with a deadline that the program chose, shorter than the
 * job's: it may have plans for when that passes. */
static bool any_gives_up(const struct dist__sim_world *world)
{
	for (int rank = 0; rank < world->present; rank++) {
		const struct check_slot *slot = &world->board->slots[rank];
		const struct check_call *call = NULL;

		if (slot->state == CHECK_RANK_WAITING)
			call = check_call_find(slot, slot->waiting);
		if (call && call->state == CHECK_CALL_ISSUED &&
		    call->tag != CHECK_TAG_RPC && call->timeout_ns > 0 &&
		    check_gives_up(call, world->timeout_ns))
			return true;
	}
	return false;
}

bool dist__sim_stand_still(struct dist__sim_world *world)
{
	if (dist__sim_choose(world))
		return true;
	return (!world->is_patient && any_gives_up(world)) ||
	       judge_standstill(world);
}

/* The first rank that failed, or never learnt that a call of its did; the
 * number of ranks if there is none. */
static int first_failed(const struct dist__sim_world *world)
{
	int rank = 0;

	while (rank < world->present && world->ranks[rank].status == 0 &&
	       !world->board->slots[rank].overlooked)
		rank++;
	return rank;
}

/* The end of a copy, as a kind of verdict. The records may lack a message that
 * nobody received. */
static int end_of_copy(const struct dist__sim_world *world,
		       const struct check_verdict *verdict)
{
	bool fine = verdict->kind == CHECK_FINE;

	return fine && any_message(world) ? CHECK_LEFT : (int)verdict->kind;
}

int dist__sim_exit_status(struct dist__sim_world *world)
{
	const struct check_board *board = world->board;
	struct check_facts facts = dist__sim_facts(world);
	struct check_verdict verdict;
	int first = first_failed(world);
	bool failed = first < world->present;
	char *warning = NULL;
	int status;

	if (world->is_copy && (failed || world->ended))
		report_end(world, DIST__SIM_NOTHING, 0);
	if (world->ended)
		return world->exit_status;
	verdict = failed ? check_judge(board, &facts)
			 : check_judge_end(board, &facts);
	if (world->is_copy)
		report_end(world, DIST__SIM_ENDED,
			   end_of_copy(world, &verdict));
	if (failed)
		look_back(world, &board, &facts, &verdict);
	if (failed && verdict.kind == CHECK_FINE)
		verdict = judge_leavers(board, &facts);
	if (failed && verdict.kind == CHECK_FINE) {
		/* A rank failed, and nothing shows why. Without one that did so
		 * by itself: the first, and the rank that its failed call goes
		 * back to. */
		if (facts.lost_rank < 0)
			dist__sim_note_lost(world, first, &facts);
		verdict = check_judge_failed(world->board, facts.lost_rank);
	}
	if (verdict.kind == CHECK_FINE)
		facts.warning = warning = dist__sim_warning(world);
	status = report(world, board, &facts, &verdict);
	free(warning);
	return status;
}
