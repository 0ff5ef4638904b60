#include "realbackend/launch/outcome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/death.h"
#include "check/diagnosis.h"
#include "check/dump.h"
#include "check/outputs.h"
#include "base/clock.h"
#include "realbackend/launch/python_notes.h"
#include "realbackend/launch/rank_dump.h"

bool dist__outcome_failed(const struct dist__child *child)
{
	return child->ended && (child->by_signal || child->code != 0);
}

/* Whether a failed child ended for the sake of another that is gone: then the
 * other's end will be seen in a moment. */
static bool follows(const struct dist__child *child,
		    const struct check_board *board)
{
	const struct check_call *call =
		board ? check_failed_call(&board->slots[child->rank]) : NULL;

	return !child->by_signal && call &&
	       (call->error == DIST_ERR_PEER_LOST ||
		call->error == DIST_ERR_ABORTED);
}

bool dist__outcome_is_known(const struct dist__child *child,
			    const struct check_board *board)
{
	const struct check_slot *slot;
	const struct check_call *call;

	if (child->by_signal || !board)
		return true;
	slot = &board->slots[child->rank];
	call = check_failed_call(slot);
	return !follows(child, board) && !check_last_refusal(slot) &&
	       (!call || call->error != DIST_ERR_MISMATCH);
}

/* Whether it ended as if all were well, because it did not look how a call of
 * its ended. */
static bool has_overlooked(const struct dist__child *child,
			   const struct check_board *board)
{
	return child->ended && !dist__outcome_failed(child) && board &&
	       board->slots[child->rank].overlooked;
}

/* Whether it ended as if all were well, but had written where it must not. */
static bool is_damaged(const struct dist__child *child,
		       const struct check_board *board)
{
	return child->ended && !dist__outcome_failed(child) && board &&
	       board->slots[child->rank].damaged;
}

/* Whether it ended while a function of its served a call: who called it has
 * lost it. */
static bool is_serving(const struct dist__child *child,
		       const struct check_board *board)
{
	const struct check_serving *serving =
		board ? board->slots[child->rank].remote.servings : NULL;

	for (int i = 0; child->ended && board && i < CHECK_SERVINGS; i++)
		if (serving[i].state == CHECK_SERVING_RUNNING)
			return true;
	return false;
}

static int weigh(const struct dist__child *child,
		 const struct check_board *board)
{
	if (is_damaged(child, board))
		return 2;
	if (!dist__outcome_failed(child) && !has_overlooked(child, board))
		return 0;
	if (follows(child, board))
		return 1;
	return child->by_signal || is_serving(child, board) ? 3 : 2;
}

/* The call of a child that failed with error, which is no other's fault; NULL:
 * there is none. */
static const struct check_call *call_without(const struct dist__child *child,
					     const struct check_board *board,
					     enum dist_error error)
{
	const struct check_call *call =
		board ? check_failed_call(&board->slots[child->rank]) : NULL;

	return call && call->error == (int32_t)error ? call : NULL;
}

static const struct check_call *without_memory(const struct dist__child *child,
					       const struct check_board *board)
{
	return call_without(child, board, DIST_ERR_NO_MEMORY);
}

static void describe(const struct dist__child *child,
		     const struct check_board *board, char *text, size_t size)
{
	const struct check_call *call = without_memory(child, board),
				*io = call_without(child, board, DIST_ERR_IO);

	if (!child->ended)
		snprintf(text, size, "ran out of memory in %.16s", call->op);
	else if (!child->by_signal && call)
		snprintf(text, size,
			 "ran out of memory in %.16s (exit status %d)",
			 call->op, child->code);
	else if (has_overlooked(child, board))
		snprintf(text, size, CHECK_OVERLOOKED);
	else if (child->by_signal)
		check_describe_death(text, size, child->code, child->pid,
				     child->kills);
	else if (io)
		snprintf(text, size,
			 "could do no I/O in %.16s (exit status %d)", io->op,
			 child->code);
	else
		snprintf(text, size, "exited with status %d%s", child->code,
			 is_serving(child, board)
				 ? " while it served a remote call"
				 : "");
	if (child->ended && !child->by_signal && !call)
		dist__notes_append(child->notes_fd, text, size);
}

/* The call in which a child called exit(0), in a handler of a signal or on
 * another thread; NULL: in none. */
static const struct check_call *left_in(const struct dist__child *child,
					const struct check_board *board)
{
	const struct check_slot *slot = &board->slots[child->rank];

	return child->ended && slot->state == CHECK_RANK_WAITING
		       ? check_call_find(slot, slot->waiting)
		       : NULL;
}

static const struct dist__child *child_of(const struct dist__child *children,
					  int num_children, uint32_t rank)
{
	for (int i = 0; i < num_children; i++)
		if (children[i].rank == (int)rank)
			return &children[i];
	return NULL;
}

/* The rank that others, which failed for it, could not reach any more: one that
 * did not fail, else one that reached all. NULL: there is none. */
static const struct dist__child *find_missed(const struct dist__child *children,
					     int num_children,
					     const struct check_board *board)
{
	for (int weight = 0; weight < 2; weight++)
		for (int i = 0; i < num_children; i++) {
			uint32_t rank = board->slots[children[i].rank].missed;
			const struct dist__child *child =
				rank ? child_of(children, num_children,
						rank - 1)
				     : NULL;

			if (child && weigh(&children[i], board) == 1 &&
			    weigh(child, board) == weight &&
			    (weight == 0 || !board->slots[child->rank].missed))
				return child;
		}
	return NULL;
}

/* Finds the rank on which the end turns: one killed, else one that did not
 * merely follow another. */
static void find_cause(struct check_cause *cause,
		       const struct dist__child *children, int num_children,
		       const struct check_board *board)
{
	const struct dist__child *best = NULL, *missed;
	const struct check_call *call;

	for (int i = 0; i < num_children; i++) {
		int weight = weigh(&children[i], board);

		if (weight > cause->weight) {
			best = &children[i];
			cause->weight = weight;
		}
	}
	/* Who followed another may be gone before that one is. */
	for (int i = 0; cause->weight == 1 && i < num_children; i++)
		if (!children[i].ended && without_memory(&children[i], board)) {
			best = &children[i];
			cause->weight = 2;
		} else if (weigh(&children[i], board) == 0 &&
			   is_serving(&children[i], board)) {
			best = &children[i];
			cause->weight = 3;
		}
	missed = cause->weight == 1 && board
			 ? find_missed(children, num_children, board)
			 : NULL;
	if (missed)
		best = missed;
	if (!best)
		return;
	if (missed && weigh(missed, board) == 0) {
		call = left_in(missed, board);
		cause->rank = missed->rank;
		cause->weight = 3;
		cause->lost = call;
		snprintf(cause->how, sizeof cause->how, "%s%.16s",
			 call ? "exited with status 0 in "
			      : "cannot be reached any more",
			 call ? call->op : "");
		return;
	}
	cause->rank = best->rank;
	cause->lost = best->by_signal || !board ||
		      !check_failed_call(&board->slots[best->rank]);
	if (is_damaged(best, board))
		snprintf(cause->how, sizeof cause->how, CHECK_DAMAGE);
	else
		describe(best, board, cause->how, sizeof cause->how);
}

bool dist__outcome_has_records(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];

		if (slot->groups > 0 || slot->rendezvous.text[0] ||
		    slot->state == CHECK_RANK_LOST)
			return true;
	}
	return false;
}

void dist__outcome_take(struct dist__outcome *outcome,
			const struct dist__child *children, int num_children,
			struct check_board *board, struct check_board *own)
{
	*outcome = (struct dist__outcome){.board = board};
	find_cause(&outcome->cause, children, num_children, board);
	if (board) {
		/* What the launcher knows and the ranks could not write down
		 * themselves. */
		for (int i = 0; i < num_children; i++) {
			const struct dist__child *child = &children[i];
			struct check_slot *slot = &board->slots[child->rank];

			if (child->ended && child->by_signal)
				slot->state = CHECK_RANK_LOST;
			else if (child->ended && !slot->damaged &&
				 ((child->code == 0 && !slot->overlooked) ||
				  slot->state != CHECK_RANK_WAITING))
				slot->state = CHECK_RANK_FINISHED;
			else if (!child->ended && child->stopped_ns &&
				 slot->state == CHECK_RANK_FINISHED)
				slot->state = CHECK_RANK_RUNNING;
		}
	}
	if (own && (!board || !dist__outcome_has_records(board))) {
		outcome->board = own;
		own = board;
	}
	free(own);
}

void dist__outcome_narrow(struct dist__outcome *outcome, int first, int num)
{
	int size = outcome->board && !outcome->board->own_job
			   ? (int)outcome->board->world_size
			   : 0;

	for (int rank = 0; rank < size; rank++)
		if (rank < first || rank >= first + num)
			outcome->board->slots[rank].state = CHECK_RANK_UNKNOWN;
}

void dist__outcome_release(struct dist__outcome *outcome)
{
	free(outcome->board);
	memset(outcome, 0, sizeof *outcome);
}

/* ---- telling ------------------------------------------------------------ */

/* Leaves the dumps of the ranks that are known, if somebody wants them. */
static void save_dumps(FILE *out, const struct dist__outcome *outcome,
		       int64_t timeout_ns)
{
	const char *pattern = dist__dump_pattern();
	struct check_dump dump = {.attempt = (uint32_t)outcome->attempt,
				  .timeout_ns = timeout_ns,
				  .cause = outcome->cause};
	bool good = true;

	if (!pattern || !outcome->board ||
	    (!outcome->board->own_job &&
	     !dist__outcome_has_records(outcome->board)))
		return;
	dist__dump_stamp(&dump);
	snprintf(dump.job, sizeof dump.job, "%ld.%lld", (long)getpid(),
		 (long long)dump.time_ns);
	snprintf(dump.world, sizeof dump.world, "tcp");
	dump.world_size = outcome->board->world_size;
	good = check_dump_prepare(pattern);
	for (; good && dump.rank < dump.world_size; dump.rank++) {
		dump.slot = outcome->board->slots[dump.rank];
		if (dump.slot.state != CHECK_RANK_UNKNOWN)
			good = check_dump_save(pattern, &dump);
	}
	if (!good)
		fprintf(out, "lockstep: %.200s: dumps cannot be written: %s\n",
			pattern, strerror(errno));
}

/* Leaves the dumps, and says verdict, by facts. outputs NULL: those that the
 * environment asks for. Returns the exit status. */
static int conclude(FILE *out, const struct dist__outcome *outcome,
		    const struct check_facts *facts,
		    struct check_verdict verdict,
		    const struct check_outputs *outputs, int *culprit)
{
	const struct check_job job = {.board = outcome->board,
				      .facts = facts,
				      .verdict = &verdict,
				      .world = "tcp",
				      .outputs = outputs};

	save_dumps(out, outcome, facts->timeout_ns);
	return check_conclude(out, &job, culprit);
}

/* The verdict on ranks that the program started itself: by their records alone,
 * for nobody here knows how they ended. Only a program that failed, or does not
 * move, gets one. False: there is nothing to say of them. */
static bool report_own(FILE *out, const struct dist__outcome *outcome,
		       int64_t timeout_ns, int *status)
{
	const struct check_cause *cause = &outcome->cause;
	struct check_diagnosis diagnosis = {
		.board = outcome->board,
		.facts = {.now_ns = dist__clock_ns(),
			  .timeout_ns = timeout_ns,
			  .lost_rank = -1}};
	struct check_verdict verdict;

	if (cause->weight == CHECK_CAUSE_PROVED)
		diagnosis.cause = *cause;
	verdict = check_diagnose(&diagnosis);
	if (cause->weight == 0 || verdict.kind == CHECK_FINE ||
	    verdict.kind == CHECK_STATUS)
		return false;
	*status = conclude(out, outcome, &diagnosis.facts, verdict, NULL, NULL);
	return true;
}

int dist__outcome_report(FILE *out, const struct dist__outcome *outcome,
			 int64_t timeout_ns, int *culprit)
{
	const struct dist__outcome without = {.cause = outcome->cause,
					      .attempt = outcome->attempt};
	const struct check_cause *cause = &outcome->cause;
	int status;
	struct check_facts facts = {
		.now_ns = dist__clock_ns(),
		.timeout_ns = timeout_ns,
		.nothing_moves = cause->weight == CHECK_CAUSE_PROVED,
		.endless_ns = check_endless(cause, timeout_ns),
		.lost_rank = cause->lost ? cause->rank : -1};

	if (outcome->board && outcome->board->own_job) {
		*culprit = -1;
		if (report_own(out, outcome, timeout_ns, &status))
			return status;
		save_dumps(out, outcome, timeout_ns);
		outcome = &without;
	}
	memcpy(facts.lost_how, cause->how, sizeof facts.lost_how);
	if (cause->lost && outcome->board && cause->rank >= 0)
		facts.lost_at = outcome->board->slots[cause->rank].crash;
	return conclude(out, outcome, &facts,
			check_judge_cause(outcome->board, &facts, cause), NULL,
			culprit);
}

void dist__outcome_interrupted(FILE *out, const struct dist__outcome *outcome,
			       int64_t timeout_ns, int signal)
{
	const struct check_facts facts = {.now_ns = dist__clock_ns(),
					  .timeout_ns = timeout_ns,
					  .lost_rank = -1,
					  .signal = signal};

	(void)conclude(out, outcome, &facts,
		       check_judge_interrupted(outcome->board, &facts), NULL,
		       NULL);
}

void dist__outcome_status(FILE *out, const struct dist__outcome *outcome,
			  int64_t timeout_ns)
{
	const struct check_facts facts = {.now_ns = dist__clock_ns(),
					  .timeout_ns = timeout_ns,
					  .lost_rank = -1};
	const struct check_outputs asked = {.json = check_outputs_asked().json};

	(void)conclude(out, outcome, &facts,
		       (struct check_verdict){CHECK_STATUS, -1}, &asked, NULL);
}
