/* remote_wait.c - which ranks wait for which remote calls. */
#include "check/remote_wait.h"

#include <stdlib.h>
#include <string.h>

#include "lockstep/types.h"

/* ---- what the records say ------------------------------------------------ */

/* The wait of whoever by says, in that state; NULL: there is none. */
static const struct check_rpc_wait *find_wait(const struct check_slot *slot,
					      int32_t by, uint32_t state)
{
	for (uint32_t i = 0; i < CHECK_WAITS; i++) {
		const struct check_rpc_wait *wait = &slot->remote.waits[i];

		if (wait->state == state && wait->by == by)
			return wait;
	}
	return NULL;
}

const struct check_rpc_wait *check_own_wait(const struct check_slot *slot)
{
	const struct check_rpc_wait *wait;

	if (slot->state != CHECK_RANK_WAITING ||
	    slot->remote.state == CHECK_RPC_NONE)
		return NULL;
	wait = find_wait(slot, CHECK_BY_OWN, CHECK_WAITS_STILL);
	if (!wait)
		wait = find_wait(slot, CHECK_BY_OWN, CHECK_WAIT_FAILED);
	return wait && wait->number == slot->waiting ? wait : NULL;
}

bool check_serves(const struct check_slot *slot)
{
	return slot->remote.state != CHECK_RPC_ENDED &&
	       slot->state != CHECK_RANK_FINISHED &&
	       slot->state != CHECK_RANK_LOST;
}

const struct check_serving *
check_awaited_serving(const struct check_board *board,
		      const struct check_rpc_wait *wait)
{
	const struct check_serving *servings =
		board->slots[wait->worker].remote.servings;

	for (uint32_t i = 0; i < CHECK_SERVINGS; i++)
		if (servings[i].state && servings[i].call == wait->call &&
		    servings[i].caller == wait->caller)
			return &servings[i];
	return NULL;
}

/* ---- lanes ----------------------------------------------------------------
 */

/* The calls that the rank runs: lanes, if it can. */
static uint32_t count_running(const struct check_slot *slot)
{
	uint32_t n = 0;

	if (slot->remote.state == CHECK_RPC_NONE || !check_serves(slot))
		return 0;
	for (uint32_t i = 0; i < CHECK_SERVINGS; i++)
		n += slot->remote.servings[i].state == CHECK_SERVING_RUNNING;
	return n;
}

static void add_lanes(struct check_picture *p, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];

	for (uint32_t i = 0; i < CHECK_SERVINGS; i++) {
		const struct check_serving *serving = &slot->remote.servings[i];
		const struct check_rpc_wait *wait;

		if (serving->state != CHECK_SERVING_RUNNING)
			continue;
		wait = find_wait(slot, (int32_t)serving->place,
				 CHECK_WAITS_STILL);
		p->lanes[p->num_lanes++] =
			(struct check_cohort){.slot = slot,
					      .wait = wait,
					      .serving = serving,
					      .waiting = wait != NULL,
					      .may_move = !wait,
					      .first = rank,
					      .size = 1};
	}
}

bool check_find_lanes(struct check_picture *p)
{
	size_t num = 0;

	for (uint32_t rank = 0; rank < p->world_size; rank++)
		num += count_running(&p->board->slots[rank]);
	if (num == 0)
		return true;
	p->lanes = calloc(num, sizeof *p->lanes);
	if (!p->lanes)
		return false;
	for (uint32_t rank = 0; rank < p->world_size; rank++)
		if (count_running(&p->board->slots[rank]) > 0)
			add_lanes(p, rank);
	return true;
}

const struct check_cohort *
check_blocking_lane(const struct check_picture *p,
		    const struct check_rpc_wait *wait)
{
	const struct check_serving *serving =
		wait->worker < 0 ? NULL : check_awaited_serving(p->board, wait);
	const struct check_cohort *first = NULL;

	if (!serving)
		return NULL;
	for (uint32_t i = 0; i < p->num_lanes; i++) {
		const struct check_cohort *lane = &p->lanes[i];

		if (lane->serving == serving)
			return lane;
		if (!first && lane->first == (uint32_t)wait->worker &&
		    !lane->may_move)
			first = lane;
	}
	return first;
}

/* ---- whether it can end ----------------------------------------------------
 */

bool check_same_rpc(const struct check_slot *a, const struct check_slot *b)
{
	return a->remote.state && b->remote.state &&
	       a->remote.group_id == b->remote.group_id &&
	       a->remote.leader == b->remote.leader;
}

/* Whether rank, a worker, has not come to the shutdown that cohort waits in. */
static bool is_missing(const struct check_picture *p,
		       const struct check_cohort *cohort, uint32_t rank)
{
	const struct check_slot *slot = &p->board->slots[rank];

	return rank != cohort->first && check_same_rpc(slot, cohort->slot) &&
	       slot->remote.state == CHECK_RPC_JOINED;
}

uint32_t check_next_worker(const struct check_picture *p,
			   const struct check_cohort *cohort, uint32_t from)
{
	int32_t worker = cohort->wait->worker;

	if (worker >= 0)
		return (uint32_t)worker >= from ? (uint32_t)worker
						: p->world_size;
	while (from < p->world_size && !is_missing(p, cohort, from))
		from++;
	return from;
}

/* Whether a worker thread of rank is free, or may come to be. */
static bool may_take(const struct check_picture *p, uint32_t rank)
{
	const struct check_remote *remote = &p->board->slots[rank].remote;
	uint32_t taken = 0;

	for (uint32_t i = 0; i < p->num_lanes; i++) {
		if (p->lanes[i].first != rank)
			continue;
		if (p->lanes[i].may_move)
			return true;
		taken++;
	}
	return taken < remote->limit || remote->servings_unknown ||
	       remote->waits_unknown;
}

bool check_remote_may_come(const struct check_picture *p,
			   const struct check_cohort *cohort)
{
	const struct check_rpc_wait *wait = cohort->wait;
	const struct check_serving *serving;
	const struct check_cohort *lane;

	if (wait->worker < 0) {
		/* All come to the shutdown, and every function returns. */
		uint32_t rank = check_next_worker(p, cohort, 0);

		for (; rank < p->world_size;
		     rank = check_next_worker(p, cohort, rank + 1))
			if (!check_cohort_of(p, rank)->may_move)
				return false;
		for (uint32_t i = 0; i < p->num_lanes; i++)
			if (check_same_rpc(p->lanes[i].slot, cohort->slot) &&
			    !p->lanes[i].may_move)
				return false;
		return true;
	}
	/* To a call that was late it may have stopped serving only since. */
	if (!check_serves(&p->board->slots[wait->worker]))
		return wait->error == DIST_ERR_TIMEOUT;
	serving = check_awaited_serving(p->board, wait);
	if (!serving)
		return true;
	if (serving->state == CHECK_SERVING_QUEUED)
		return may_take(p, (uint32_t)wait->worker);
	lane = check_blocking_lane(p, wait);
	return !lane || lane->may_move;
}

/* ---- in sentences ----------------------------------------------------------
 */

/* Lines that the calls that ranks serve take in a report. */
#define MOST_LINES 12

/* Calls that a rank serves alike. */
struct served {
	const struct check_slot *slot;
	const struct check_serving *like;  /* the first of them */
	const struct check_rpc_wait *wait; /* in which its function is */
};

static const struct check_rpc_wait *wait_of(const struct check_slot *slot,
					    const struct check_serving *serving)
{
	return find_wait(slot, (int32_t)serving->place, CHECK_WAITS_STILL);
}

static bool is_like(const struct served *served,
		    const struct check_serving *serving)
{
	const struct check_rpc_wait *a = served->wait,
				    *b = wait_of(served->slot, serving);

	if (serving->state != served->like->state ||
	    strcmp(serving->function, served->like->function) != 0 || !a != !b)
		return false;
	return !a || (a->worker == b->worker && strcmp(a->op, b->op) == 0 &&
		      strcmp(a->function, b->function) == 0 &&
		      check_same_site(&a->site, &b->site));
}

static bool is_caller(const void *arg, uint32_t rank)
{
	const struct served *served = arg;

	for (uint32_t i = 0; i < CHECK_SERVINGS; i++) {
		const struct check_serving *serving =
			&served->slot->remote.servings[i];

		if (serving->caller == (int32_t)rank &&
		    is_like(served, serving))
			return true;
	}
	return false;
}

/* Whether one like it stands before place i. */
static bool is_reported(const struct served *served, uint32_t i)
{
	while (i-- > 0)
		if (is_like(served, &served->slot->remote.servings[i]))
			return true;
	return false;
}

static void print_served(FILE *out, const struct check_picture *p,
			 const struct served *served, int64_t now_ns)
{
	const struct check_serving *like = served->like;
	uint32_t limit = served->slot->remote.limit;
	bool runs = like->state == CHECK_SERVING_RUNNING;

	fprintf(out, "rank %td %s %s for ", served->slot - p->board->slots,
		runs ? "serves" : "has yet to serve", like->function);
	check_print_ranks(out, p->world_size, is_caller, served);
	if (now_ns - like->since_ns >= 1000000)
		fprintf(out, ", for %.3f s",
			(double)(now_ns - like->since_ns) / 1e9);
	if (!runs && limit > 0)
		fprintf(out, ", with %u worker thread%s", limit,
			limit > 1 ? "s" : "");
	if (!served->wait)
		return;
	fputs("; it waits in ", out);
	check_print_remote(out, served->wait);
}

void check_report_servings(struct check_lines *lines,
			   const struct check_picture *p, int64_t now_ns)
{
	uint32_t num = 0;

	for (uint32_t rank = 0; rank < p->world_size; rank++) {
		struct served served = {.slot = &p->board->slots[rank]};

		for (uint32_t i = 0;
		     check_serves(served.slot) && i < CHECK_SERVINGS; i++) {
			served.like = &served.slot->remote.servings[i];
			if (!served.like->state)
				continue;
			served.wait = wait_of(served.slot, served.like);
			if (!is_reported(&served, i) && num++ < MOST_LINES)
				print_served(check_line(lines, 1), p, &served,
					     now_ns);
		}
	}
	if (num > MOST_LINES)
		fprintf(check_line(lines, 1), "and %u other served calls",
			num - MOST_LINES);
}
