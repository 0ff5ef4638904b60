#include "core/state.h"

#include <stdlib.h>

#include "base/clock.h"
#include "check/record.h"
#include "core/buffer_check.h"
#include "core/threads.h"

#undef dist_work_wait

struct dist_work *dist__work_new(struct dist_group *group,
				 const struct dist__op *op)
{
	size_t more = op->sides ? sizeof *op->sides : 0;
	struct dist_work *work = malloc(sizeof *work + more);

	if (!work)
		return NULL;
	*work = (struct dist_work){.op = *op,
				   .group = group,
				   .next = group->works,
				   .link = &group->works};
	if (op->sides) {
		work->op.sides = work->sides;
		work->sides[0] = *op->sides;
	}
	if (work->next)
		work->next->link = &work->next;
	group->works = work;
	return work;
}

void dist__work_drop(struct dist_work *work)
{
	if (!work)
		return;
	if (work->group) {
		*work->link = work->next;
		if (work->next)
			work->next->link = work->link;
	}
	dist__buffer_check_free(work->op.watch);
	free(work);
}

/* Writes the end of a done op into the records, once. One that failed stays
 * there as the one that the rank got stuck in, unless it is in another; but it
 * may have been elsewhere if it does not wait for it. */
static void report_end(struct dist_work *work, bool waits)
{
	struct check_slot *slot;

	if (work->reported || !work->group)
		return;
	work->reported = true;
	dist__report_end(work->group, &work->op);
	slot = work->group->place.slot;
	if (!work->op.error || work->op.error == DIST_ERR_ABORTED ||
	    slot->state != CHECK_RANK_RUNNING)
		return;
	if (waits)
		dist__report_wait(work->group, &work->op, NULL);
	else
		check_look(slot, work->op.call);
}

/* The rank knows now that work is done. A hazard is its error from then on. */
static void settle(struct dist_work *work, const struct dist__site *seen)
{
	enum dist_error error;

	report_end(work, seen != NULL);
	if (!work->unseen)
		check_seen(work->group->place.slot, work->op.call);
	if (seen)
		dist__buffer_check_look(work->group, seen);
	error = dist__buffer_check_sweep(work->group, &work->op);
	if (!error)
		error = dist__buffer_check_end(work->op.watch, seen);
	if (error)
		work->op.error = error;
}

/* Blocks until work is done or deadline_ns passes. */
static enum dist_error wait_inside(struct dist_work *work, int64_t deadline_ns)
{
	struct dist__backend *backend = work->group->backend;
	enum dist_error error;

	if (!dist__work_enter(work, deadline_ns))
		return dist__op_is_done(&work->op) ? work->op.error
						   : DIST_ERR_TIMEOUT;
	error = backend->ops->wait(backend, &work->op, deadline_ns);
	dist__work_leave(work);
	return error;
}

/*
 * Blocks until work is done or deadline_ns passes. On a timeout of the wait
 * alone the op still holds the caller's memory: the group is aborted, which
 * ends the op, and only then may the caller go on. How the wait ended is how
 * the op did, also for another thread that waits for it meanwhile.
 */
static enum dist_error wait_until(struct dist_work *work, int64_t deadline_ns,
				  bool aside)
{
	struct dist_group *group = work->group;
	enum dist_error error = wait_inside(work, deadline_ns);

	work->late |= error == DIST_ERR_TIMEOUT;
	if (work->late)
		error = DIST_ERR_TIMEOUT;
	if (error)
		(void)dist__fail(group, error, "wait for %s: %s",
				 dist__op_name(work->op.kind),
				 dist_error_string(error));
	if (!dist__op_is_done(&work->op))
		(void)wait_inside(work, DIST_TIMEOUT_NEVER);
	if (error)
		work->op.error = error;
	report_end(work, !aside);
	if (error)
		dist__dump(group);
	return error;
}

static int64_t deadline_of(struct dist_work *work, int64_t timeout_ns)
{
	struct dist__backend *backend = work->group->backend;

	return timeout_ns == DIST_TIMEOUT_OF_GROUP
		       ? work->op.deadline_ns
		       : dist__deadline_ns(backend->ops->now_ns(backend),
					   timeout_ns);
}

/* Aside the records do not hear that the rank waits. */
static enum dist_error wait_for(struct dist_work *work, int64_t timeout_ns,
				bool aside)
{
	struct check_slot *slot = work->group->place.slot;
	struct dist__site here = {NULL, 0};
	struct check_site site;
	enum dist_error error;

	if (!aside) {
		here = work->site;
		work->site = (struct dist__site){NULL, 0};
	}
	if (dist__op_is_done(&work->op)) {
		work->asked = true;
		settle(work, &here);
		if (work->op.error && work->op.error != DIST_ERR_HAZARD)
			(void)dist__fail(work->group, work->op.error,
					 "wait for %s: %s",
					 dist__op_name(work->op.kind),
					 dist_error_string(work->op.error));
		return work->op.error;
	}
	if (!aside) {
		check_site_set(&site, here.file, here.line);
		dist__report_wait(work->group, &work->op, &site);
	}
	if (timeout_ns != DIST_TIMEOUT_OF_GROUP)
		check_limit(slot, work->op.call, timeout_ns);
	error = wait_until(work, deadline_of(work, timeout_ns), aside);
	if (error)
		return error;
	if (!aside)
		check_resume(slot);
	work->asked = true;
	settle(work, &here);
	return work->op.error;
}

static enum dist_error wait_so(struct dist_work *work, int64_t timeout_ns,
			       bool aside)
{
	struct dist_group *group;
	enum dist_error error;

	if (!work || timeout_ns < 0)
		return DIST_ERR_INVALID_ARGUMENT;
	group = work->group;
	if (!group)
		return work->op.error;
	if (aside && !group->root->threads)
		return dist__fail(group, DIST_ERR_UNSUPPORTED,
				  "wait_aside: expected dist_allow_threads() "
				  "before it");
	if (dist__is_inside(group))
		return dist__refuse_inside(group, "wait");
	dist__rank_lock(group);
	dist__call_begin(group);
	error = wait_for(work, timeout_ns, aside);
	dist__call_end(group);
	dist__rank_unlock(group);
	return error;
}

enum dist_error dist_work_wait(struct dist_work *work, int64_t timeout_ns)
{
	return wait_so(work, timeout_ns, false);
}

enum dist_error dist_work_wait_aside(struct dist_work *work, int64_t timeout_ns)
{
	return wait_so(work, timeout_ns, true);
}

struct dist_work *dist_work_at(struct dist_work *work, const char *file,
			       int line)
{
	if (work && work->group && dist__is_copied()) {
		(void)dist__refuse_group(work->group, "wait", file, line);
		return NULL;
	}
	if (work && work->group)
		work->site = (struct dist__site){file, line};
	return work;
}

static bool test(struct dist_work *work)
{
	struct dist__backend *backend = work->group->backend;
	bool done;

	if (dist__op_is_done(&work->op))
		return true;
	if (!dist__work_enter(work, 0))
		return dist__op_is_done(&work->op);
	done = backend->ops->test(backend, &work->op);
	dist__work_leave(work);
	return done;
}

bool dist_work_is_completed(struct dist_work *work)
{
	struct dist_group *group = work ? work->group : NULL;
	bool done;

	if (!group || dist__is_copied())
		return true;
	dist__rank_lock(group);
	dist__call_begin(group);
	done = test(work);
	dist__call_end(group);
	if (done) {
		work->asked = true;
		settle(work, NULL);
	}
	dist__rank_unlock(group);
	return done;
}

enum dist_error dist_work_error(const struct dist_work *work)
{
	enum dist_error error = DIST_OK;

	if (!work)
		return DIST_ERR_INVALID_ARGUMENT;
	if (work->group)
		dist__rank_lock(work->group);
	if (atomic_load_explicit(&work->op.done, memory_order_acquire))
		error = work->op.error;
	if (work->group && error) {
		work->group->told = true;
		work->group->place.slot->overlooked = 0;
	}
	if (work->group)
		dist__rank_unlock(work->group);
	return error;
}

int dist_work_source(const struct dist_work *work)
{
	const struct dist__op *op;

	if (!work || work->op.kind != DIST__RECV ||
	    !atomic_load_explicit(&work->op.done, memory_order_acquire))
		return -1;
	op = &work->op;
	if (op->error)
		return -1;
	return dist__op_is_any(op) ? op->source : op->peer;
}

/* Notes that the program will not learn from the handle that work failed. What
 * is sent may be let be. */
static void overlook(const struct dist_work *work)
{
	const struct dist_group *group = work->group;

	if (work->op.error && work->op.kind != DIST__SEND && !group->poison &&
	    !group->told)
		group->place.slot->overlooked = work->op.call;
}

void dist_work_free(struct dist_work *work)
{
	struct dist_group *group = work ? work->group : NULL;

	if (dist__is_copied())
		return;
	if (!group) {
		dist__work_drop(work);
		return;
	}
	dist__rank_lock(group);
	/* What is sent is buffered in some worlds: it may be let be. */
	work->unseen = !work->asked && work->op.kind != DIST__SEND &&
		       group->place.debug >= DIST__DEBUG_INFO;
	if (work->unseen)
		check_give_away(group->place.slot, work->op.call);
	else
		check_release(group->place.slot, work->op.call);
	if (dist__op_is_done(&work->op)) {
		settle(work, NULL);
		overlook(work);
		dist__work_drop(work);
	} else {
		work->freed = true;
		dist__buffer_check_release(work->op.watch);
	}
	dist__rank_unlock(group);
}

void dist__work_end(struct dist_work *work)
{
	struct check_slot *slot = work->group->place.slot;
	bool moves = slot->state == CHECK_RANK_RUNNING;

	if (dist__op_is_done(&work->op))
		return;
	if (moves)
		dist__report_wait(work->group, &work->op, NULL);
	if (!wait_until(work, work->op.deadline_ns, false) && moves)
		check_resume(slot);
}

/* Whether the op leaves anything in this rank's memory. */
static bool writes(const struct dist_work *work)
{
	bool is_peer = work->op.peer == work->group->members.rank;

	switch (work->op.kind) {
	case DIST__SEND:
		return false;
	case DIST__BROADCAST:
		return !is_peer;
	case DIST__REDUCE:
	case DIST__GATHER:
		return is_peer;
	default:
		return true;
	}
}

void dist_work_read_at(struct dist_work *work, const char *file, int line)
{
	struct check_hazard hazard = {.kind = CHECK_HAZARD_READ,
				      .buffer = "tensor"};
	struct dist_group *group = work ? work->group : NULL;
	const struct check_call *call;

	if (!group || dist__is_copied() || !writes(work))
		return;
	dist__rank_lock(group);
	call = check_call_find(group->place.slot, work->op.call);
	if (call && call->held == CHECK_HELD) {
		hazard.numel = call->numel;
		check_site_set(&hazard.access, file, line);
		check_touch(group->place.slot, &hazard, call->number, 0);
	}
	dist__rank_unlock(group);
}

enum dist_error dist__works_wait(struct dist_group *group)
{
	enum dist_error error = DIST_OK;
	struct dist_work *work;

	for (work = group->works; work; work = work->next) {
		bool failed = group->poison != DIST_OK;

		dist__work_end(work);
		if (work->freed)
			settle(work, NULL);
		else if (work->op.error)
			report_end(work, false);
		if (!error && !failed)
			error = work->op.error;
	}
	return error;
}

void dist__works_release(struct dist_group *group)
{
	struct dist_work *work, *next;

	for (work = group->works; work; work = next) {
		next = work->next;
		dist__buffer_check_free(work->op.watch);
		work->op.watch = NULL;
		work->group = NULL;
		if (work->freed)
			free(work);
	}
	group->works = NULL;
}
