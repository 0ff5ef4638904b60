#include "core/group.h"

#include <stdlib.h>

#include "check/record.h"
#include "core/watch.h"

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
	dist__watch_free(work->op.watch);
	free(work);
}

/* Writes the end of a done op into the records, once. One that failed stays
 * there as the one that the rank got stuck in, unless it is in another. */
static void report_end(struct dist_work *work)
{
	struct check_slot *slot;

	if (work->reported || !work->group)
		return;
	work->reported = true;
	dist__report_end(work->group, &work->op);
	slot = work->group->place.slot;
	if (work->op.error && work->op.error != DIST_ERR_ABORTED &&
	    slot->state == CHECK_RANK_RUNNING)
		check_wait(slot, work->op.call, NULL);
}

/* The rank knows now that work is done. A hazard is its error from then on. */
static void settle(struct dist_work *work, const struct dist__site *seen)
{
	enum dist_error error;

	report_end(work);
	check_tell(work->group->place.slot, work->op.call);
	error = dist__watch_sweep(work->group, &work->op);
	if (!error)
		error = dist__watch_end(work->op.watch, seen);
	if (error)
		work->op.error = error;
}

/*
 * Blocks until work is done or deadline_ns passes. On a timeout of the wait
 * alone the op still holds the caller's memory: the group is aborted, which
 * ends the op, and only then may the caller go on. How the wait ended is how
 * the op did.
 */
static enum dist_error wait_until(struct dist_work *work, int64_t deadline_ns)
{
	struct dist_group *group = work->group;
	struct dist__backend *backend = group->backend;
	enum dist_error error;

	error = backend->ops->wait(backend, &work->op, deadline_ns);
	if (error)
		(void)dist__fail(group, error, "wait for %s: %s",
				 dist__op_name(work->op.kind),
				 dist_error_string(error));
	if (!dist__op_is_done(&work->op))
		(void)backend->ops->wait(backend, &work->op,
					 DIST_TIMEOUT_NEVER);
	if (error)
		work->op.error = error;
	report_end(work);
	if (error)
		dist__dump(group);
	return error;
}

static int64_t deadline_of(struct dist_work *work, int64_t timeout_ns)
{
	int64_t now_ns;

	if (timeout_ns == DIST_TIMEOUT_OF_GROUP)
		return work->op.deadline_ns;
	now_ns = work->group->backend->ops->now_ns(work->group->backend);
	if (timeout_ns >= DIST_TIMEOUT_NEVER - now_ns)
		return DIST_TIMEOUT_NEVER;
	return now_ns + timeout_ns;
}

enum dist_error dist_work_wait(struct dist_work *work, int64_t timeout_ns)
{
	struct dist__site here;
	struct check_site site;
	struct check_slot *slot;
	enum dist_error error;

	if (!work || timeout_ns < 0)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!work->group)
		return work->op.error;
	here = dist__site_take(work->group);
	if (dist__op_is_done(&work->op)) {
		settle(work, &here);
		if (work->op.error && work->op.error != DIST_ERR_HAZARD)
			(void)dist__fail(work->group, work->op.error,
					 "wait for %s: %s",
					 dist__op_name(work->op.kind),
					 dist_error_string(work->op.error));
		return work->op.error;
	}
	slot = work->group->place.slot;
	check_site_set(&site, here.file, here.line);
	check_wait(slot, work->op.call, &site);
	if (timeout_ns != DIST_TIMEOUT_OF_GROUP)
		check_limit(slot, work->op.call, timeout_ns);
	error = wait_until(work, deadline_of(work, timeout_ns));
	if (error)
		return error;
	check_resume(slot);
	settle(work, &here);
	return work->op.error;
}

struct dist_work *dist_work_at(struct dist_work *work, const char *file,
			       int line)
{
	if (work && work->group)
		work->group->site = (struct dist__site){file, line};
	return work;
}

bool dist_work_is_completed(struct dist_work *work)
{
	struct dist__backend *backend;

	if (!work || !work->group)
		return true;
	backend = work->group->backend;
	if (!dist__op_is_done(&work->op) &&
	    !backend->ops->test(backend, &work->op))
		return false;
	settle(work, NULL);
	return true;
}

enum dist_error dist_work_error(const struct dist_work *work)
{
	if (!work)
		return DIST_ERR_INVALID_ARGUMENT;
	return atomic_load_explicit(&work->op.done, memory_order_acquire)
		       ? work->op.error
		       : DIST_OK;
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

void dist_work_free(struct dist_work *work)
{
	if (!work)
		return;
	if (work->group)
		check_release(work->group->place.slot, work->op.call);
	if (!work->group || dist__op_is_done(&work->op)) {
		if (work->group)
			settle(work, NULL);
		dist__work_drop(work);
	} else {
		work->freed = true;
		dist__watch_release(work->op.watch);
	}
}

enum dist_error dist__works_wait(struct dist_group *group)
{
	enum dist_error error = DIST_OK;
	struct dist_work *work;

	for (work = group->works; work; work = work->next) {
		bool failed = group->poison != DIST_OK;

		if (!dist__op_is_done(&work->op))
			(void)wait_until(work, work->op.deadline_ns);
		if (work->freed)
			settle(work, NULL);
		if (!error && !failed)
			error = work->op.error;
	}
	return error;
}

void dist__works_give_up(struct dist_group *group)
{
	for (struct dist_work *work = group->works; work; work = work->next)
		check_release(group->place.slot, work->op.call);
}

void dist__works_release(struct dist_group *group)
{
	struct dist_work *work, *next;

	for (work = group->works; work; work = next) {
		next = work->next;
		dist__watch_free(work->op.watch);
		work->op.watch = NULL;
		work->group = NULL;
		if (work->freed)
			free(work);
	}
	group->works = NULL;
}
