#include "realbackend/launch/hang_watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/variable.h"
#include "base/quantity.h"
#include "check/proof.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/wait.h"
#include "realbackend/launch/board.h"

#define PATIENCE_NS ((int64_t)5 * 1000000000)
/* That a rank polls is said after so many times the patience. */
#define POLLS 60
/* Looks at the leader's own records while they may not change. */
#define CHECKS 5

void dist__hang_watchdog_open(struct dist__hang_watchdog *watchdog)
{
	const char *text = dist__variable("LOCKSTEP_PATIENCE");

	*watchdog = (struct dist__hang_watchdog){.patience_ns = PATIENCE_NS};
	if (text && !dist__seconds_read(text, &watchdog->patience_ns))
		watchdog->patience_ns = 0;
}

/* Which calls every rank has made and waits in, in short. That it has ended is
 * no call. */
static uint64_t digest(const struct check_board *board)
{
	uint64_t sum = DIST__HASH_BEGIN;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		const uint32_t text[] = {slot->calls, slot->waiting,
					 slot->generation, slot->remote.moves};

		for (size_t i = 0; i < sizeof text / sizeof *text; i++)
			sum = dist__hash_word(sum, text[i]);
	}
	return sum;
}

/* The records of the ranks; of those that the program started itself, if only
 * they have some. NULL: none, or no memory. */
static struct check_board *find_records(const struct dist__workers *workers)
{
	struct check_board *board = dist__workers_records(workers);
	struct check_board *own = NULL;

	if (board && !dist__outcome_has_records(board))
		own = dist__workers_own_records(workers);
	if (own)
		free(board);
	return own ? own : board;
}

/* Those ranks of a board that run on this node. */
struct ranks {
	const struct check_slot *slots;
	uint32_t first, count;
};

static struct ranks ranks_here(const struct dist__workers *workers,
			       const struct check_board *board)
{
	const uint32_t first = (uint32_t)workers->plumbing.seat.first_rank;

	if (board->own_job)
		return (struct ranks){board->slots, 0, board->world_size};
	return (struct ranks){board->slots + first, first,
			      (uint32_t)workers->started};
}

/* Whether a rank of this node may be stuck, rather than all compute. */
static bool any_waits(const struct ranks *here)
{
	for (uint32_t i = 0; i < here->count; i++)
		if (here->slots[i].state == CHECK_RANK_WAITING)
			return true;
	return false;
}

/* Says which rank of this node has polled a store for that long, and how many
 * more poll by now. Returns whether any has. */
static bool notice_polls(const struct ranks *here, int64_t now_ns,
			 int64_t least_ns)
{
	const struct check_slot *first = NULL;
	int ranks = 0;

	for (uint32_t i = 0; i < here->count; i++) {
		int64_t polls_ns = check_polls(&here->slots[i], now_ns);

		ranks += polls_ns > 0;
		if (!first && polls_ns >= least_ns)
			first = &here->slots[i];
	}
	if (!first)
		return false;
	fprintf(stderr,
		"lockstep: no rank here has communicated for %.3g s; rank %d "
		"asks for key \"%s\" again and again",
		(double)least_ns / 1e9,
		(int)(first - here->slots) + (int)here->first,
		first->polled.key);
	if (first->polled.site.file[0])
		fprintf(stderr, " at %s:%d", first->polled.site.file,
			(int)first->polled.site.line);
	if (ranks > 1)
		fprintf(stderr, ", and %d more do", ranks - 1);
	fputc('\n', stderr);
	return true;
}

static bool is_watched(const struct dist__hang_watchdog *watchdog,
		       const struct dist__agent *agent,
		       const struct dist__workers *workers)
{
	return watchdog->patience_ns > 0 && agent->leads &&
	       workers->world_size && workers->phase == DIST__WORKERS_RUNNING;
}

int64_t dist__hang_watchdog_deadline(const struct dist__hang_watchdog *watchdog,
				     const struct dist__agent *agent,
				     const struct dist__workers *workers)
{
	return is_watched(watchdog, agent, workers) ? watchdog->next_ns
						    : DIST_TIMEOUT_NEVER;
}

void dist__hang_watchdog_ask(struct dist__hang_watchdog *watchdog,
			     struct dist__status_request *request,
			     struct dist__agent *agent,
			     const struct dist__workers *workers)
{
	int64_t now_ns = dist__clock_ns();
	struct check_board *board;
	struct ranks here;
	bool waits;
	uint64_t own;

	if (!is_watched(watchdog, agent, workers)) {
		*watchdog = (struct dist__hang_watchdog){
			.patience_ns = watchdog->patience_ns};
		return;
	}
	if (now_ns < watchdog->next_ns)
		return;
	watchdog->next_ns = now_ns + watchdog->patience_ns / CHECKS;
	board = find_records(workers);
	if (!board)
		return;
	here = ranks_here(workers, board);
	own = digest(board);
	waits = any_waits(&here);
	if (own != watchdog->own)
		watchdog->noticed = false;
	else if (!watchdog->noticed &&
		 now_ns - watchdog->since_ns >= POLLS * watchdog->patience_ns)
		watchdog->noticed = notice_polls(&here, now_ns,
						 POLLS * watchdog->patience_ns);
	free(board);
	if (own != watchdog->own) {
		watchdog->own = own;
		watchdog->all = 0;
		watchdog->since_ns = now_ns;
		watchdog->ask_ns = watchdog->patience_ns;
	} else if (waits && now_ns - watchdog->since_ns >= watchdog->ask_ns) {
		watchdog->ask_ns = 2 * (now_ns - watchdog->since_ns);
		dist__status_request_ask_quietly(request, agent);
	}
}

/* Whether the records of all ranks have stood still. Those of one node have if
 * its own have; with others, the last look at them tells. */
static bool stood_still(struct dist__hang_watchdog *watchdog,
			const struct dist__agent *agent,
			const struct check_board *board)
{
	uint64_t before = agent->store ? watchdog->all : watchdog->own;

	watchdog->all = digest(board);
	return watchdog->all == before;
}

static bool has_ended(const struct dist__workers *workers,
		      const struct check_board *board, uint32_t rank)
{
	uint32_t first = (uint32_t)workers->plumbing.seat.first_rank;

	if (board->own_job)
		return dist__board_is_gone(&board->slots[rank]);
	return rank < first || rank - first >= (uint32_t)workers->started ||
	       workers->children[rank - first].ended;
}

/* A live process that left its group may well come back; but not one that waits
 * for all others to leave it. */
static void revive(struct check_board *board,
		   const struct dist__workers *workers)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		struct check_slot *slot = &board->slots[rank];

		if (slot->state == CHECK_RANK_FINISHED && !slot->parting &&
		    !has_ended(workers, board, rank))
			slot->state = CHECK_RANK_RUNNING;
	}
}

/* The rank that wrote over its records, if all others wait or have ended; -1:
 * there is none. */
static int find_damaged(const struct check_board *board)
{
	uint32_t first = check_damaged(board, 0);

	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (!board->slots[rank].damaged &&
		    board->slots[rank].state < CHECK_RANK_WAITING)
			return -1;
	return first < board->world_size ? (int)first : -1;
}

/* Whether nobody but the ranks' own threads can set a key. */
static bool are_alone(const struct dist__agent *agent,
		      const struct dist__workers *workers,
		      const struct check_board *board)
{
	if (agent->store || board->own_job) /* on other nodes, too */
		return false;
	for (int i = 0; i < workers->started; i++) {
		const struct dist__child *child = &workers->children[i];
		const struct check_slot *slot = &board->slots[child->rank];

		if (!child->ended &&
		    dist__thread_count(slot->pid) != slot->library_threads + 1)
			return false;
	}
	return true;
}

/* Over a library of collectives ranks agree before they call it
 * (realbackend/agree). */
static struct check_rules rules_of(const struct dist__job_spec *spec)
{
	const char *backend = spec->backend ? spec->backend : "tcp";

	return (struct check_rules){
		.timeout_ns = spec->timeout_ns > 0 ? spec->timeout_ns
						   : DIST_TIMEOUT_DEFAULT,
		.agreed = strcmp(backend, "mpi") == 0 ||
			  strcmp(backend, "nccl") == 0};
}

void dist__hang_watchdog_judge(struct dist__hang_watchdog *watchdog,
			       struct dist__status_request *request,
			       const struct dist__agent *agent,
			       struct dist__workers *workers)
{
	struct check_rules rules = rules_of(workers->plumbing.spec);
	struct check_cause cause = {.weight = CHECK_CAUSE_PROVED};
	struct check_verdict verdict = {CHECK_FINE, -1};
	struct check_board *board = dist__status_request_found(request);
	int damaged = -1;

	if (board && is_watched(watchdog, agent, workers) &&
	    stood_still(watchdog, agent, board)) {
		revive(board, workers);
		rules.alone = are_alone(agent, workers, board);
		verdict = check_prove(board, &rules);
		damaged = find_damaged(board);
	}
	free(board);
	if (verdict.kind == CHECK_FINE && damaged >= 0) {
		cause = (struct check_cause){2, damaged, true, CHECK_DAMAGE};
		dist__workers_condemn(workers, &cause);
	}
	if (verdict.kind == CHECK_FINE)
		return;
	/* Those that disagree may move on before the records are read again. */
	if (verdict.kind == CHECK_MISMATCH)
		cause.weight = 2;
	cause.rank = verdict.rank > 0 ? verdict.rank : 0;
	snprintf(cause.how, sizeof cause.how, "%s",
		 verdict.kind == CHECK_MISMATCH ? "disagrees with the others"
						: "cannot move");
	dist__workers_condemn(workers, &cause);
}
