#include "realbackend/tcp/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "check/verdict.h"
#include "realbackend/tcp/clock.h"

bool dist__outcome_failed(const struct dist__child *child)
{
	return child->ended && (child->by_signal || child->code != 0);
}

/* The call that failed last on a rank: the one it stopped waiting in, or its
 * last one; NULL: it failed by itself. */
static const struct check_call *failed_call(const struct check_slot *slot)
{
	uint32_t number = slot->waiting ? slot->waiting : slot->calls;
	const struct check_call *call = check_call_find(slot, number);

	return call && call->state == CHECK_CALL_FAILED ? call : NULL;
}

bool dist__outcome_follows(const struct dist__child *child,
			   const struct check_board *board)
{
	const struct check_call *call =
		board ? failed_call(&board->slots[child->rank]) : NULL;

	return !child->by_signal && call &&
	       (call->error == DIST_ERR_PEER_LOST ||
		call->error == DIST_ERR_ABORTED);
}

/* The rank on which the end turns: one killed, else one that did not merely
 * follow another. */
static const struct dist__child *
find_culprit(const struct dist__child *children, int num_children,
	     const struct check_board *board)
{
	const struct dist__child *best = NULL;
	int best_weight = 0;

	for (int i = 0; i < num_children; i++) {
		const struct dist__child *child = &children[i];
		int weight = 1;

		if (!dist__outcome_failed(child))
			continue;
		if (!dist__outcome_follows(child, board))
			weight = child->by_signal ? 3 : 2;
		if (weight > best_weight) {
			best = child;
			best_weight = weight;
		}
	}
	return best;
}

static void describe(const struct dist__child *child, char *text, size_t size)
{
	if (child->by_signal)
		snprintf(text, size, "was killed by signal %d (%s)",
			 child->code, strsignal(child->code));
	else
		snprintf(text, size, "exited with status %d", child->code);
}

/* What the launcher knows and the ranks could not write down themselves. */
static void complete_board(struct check_board *board,
			   const struct dist__child *children, int num_children)
{
	for (int i = 0; i < num_children; i++) {
		const struct dist__child *child = &children[i];
		struct check_slot *slot = &board->slots[child->rank];

		if (child->ended && child->by_signal)
			slot->state = CHECK_RANK_LOST;
		else if (child->ended && (child->code == 0 ||
					  slot->state != CHECK_RANK_WAITING))
			slot->state = CHECK_RANK_FINISHED;
	}
}

static bool failed_to_meet(const struct check_slot *slot)
{
	const struct check_call *call = failed_call(slot);

	return call && call->error == DIST_ERR_RENDEZVOUS;
}

/* Without a verdict there is still the first rank that ended badly. */
static int report_bare(FILE *out, const struct dist__child *culprit,
		       const char *how)
{
	fprintf(out, "lockstep: rank %d %s\n", culprit->rank, how);
	return culprit->by_signal ? DIST_EXIT_RANK_LOST : DIST_EXIT_FAILED;
}

static int judge(FILE *out, const struct dist__child *culprit,
		 const struct check_board *board,
		 const struct check_facts *facts)
{
	struct check_verdict verdict = check_judge(board, facts);

	if (verdict.kind == CHECK_FINE)
		return report_bare(out, culprit, facts->lost_how);
	check_report(out, board, facts, &verdict);
	return check_exit_status(&verdict);
}

int dist__outcome_report(FILE *out, const struct dist__child *children,
			 int num_children, const struct check_board *board,
			 int64_t timeout_ns)
{
	const struct dist__child *culprit =
		find_culprit(children, num_children, board);
	struct check_facts facts = {.now_ns = dist__clock_ns(),
				    .timeout_ns = timeout_ns,
				    .lost_rank = -1};
	struct check_board *copy = NULL;
	size_t bytes;
	int status;

	if (!culprit)
		return DIST_EXIT_OK;
	describe(culprit, facts.lost_how, sizeof facts.lost_how);
	if (board) {
		bytes = check_board_bytes(board->world_size);
		copy = malloc(bytes);
	}
	if (!copy)
		return report_bare(out, culprit, facts.lost_how);
	/* Ranks that still run go on writing to theirs. */
	memcpy(copy, board, bytes);
	complete_board(copy, children, num_children);
	if (culprit->by_signal || !failed_call(&copy->slots[culprit->rank]))
		facts.lost_rank = culprit->rank;
	if (!culprit->by_signal &&
	    failed_to_meet(&copy->slots[culprit->rank])) {
		fputs("lockstep: rendezvous failed: the ranks did not find "
		      "each other\n",
		      out);
		status = DIST_EXIT_RENDEZVOUS;
	} else {
		status = judge(out, culprit, copy, &facts);
	}
	free(copy);
	return status;
}
