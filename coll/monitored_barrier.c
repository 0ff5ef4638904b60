/*
 * monitored_barrier.c - every rank reports to rank 0, which replies with the
 * ranks that are missing.
 *
 * Every rank sends an empty message to rank 0 and waits for the reply: a flag
 * for each rank that did not come. Rank 0 receives the reports in the order of
 * the ranks, until the deadline, then replies to those that came, one by one.
 *
 *	5 ranks:  1>0 2>0 3>0 4>0   0>1  0>2  0>3  0>4
 *
 * No rank depends on another one than rank 0, so a missing rank does not hide
 * others. p steps, p bytes to each rank.
 */
#include "coll/algorithms.h"
#include "base/clock.h"
#include "coll/pattern.h"

#include <stdlib.h>

enum step { REPORT, ANSWER };

/* When a rank stops waiting for rank 0. That may come as late as at the
 * deadline of the rank, and has the whole timeout from then on. */
static int64_t patience(const struct dist__op *op)
{
	return dist__deadline_ns(op->deadline_ns,
				 op->deadline_ns - op->issued_ns);
}

static struct dist__span answer_of(const struct dist__coll *coll)
{
	return (struct dist__span){coll->op->missing, (size_t)coll->world_size};
}

static struct dist__message message(const struct dist__coll *coll,
				    enum step step, int peer,
				    struct dist__span span)
{
	struct dist__message m = dist__message_of(coll, step, peer, span);

	m.gives_up = true;
	return m;
}

/* ---- the others -------------------------------------------------------- */

static enum dist_error report(const struct dist__coll *coll)
{
	struct dist__transport *t = coll->transport;
	int64_t until_ns = patience(coll->op);
	struct dist__request *answer, *sending;
	struct dist__message m;
	enum dist_error error, answered;

	m = message(coll, ANSWER, 0, answer_of(coll));
	error = t->ops->irecv(t, &m, &answer);
	if (error)
		return error;
	m = message(coll, REPORT, 0, (struct dist__span){NULL, 0});
	error = t->ops->isend(t, &m, &sending);
	if (!error)
		error = t->ops->wait(t, sending, until_ns);
	answered = t->ops->wait(t, answer, error ? 0 : until_ns);
	return error ? error : answered;
}

static enum dist_error run_other(const struct dist__coll *coll)
{
	enum dist_error error = report(coll);

	coll->op->missing[0] |= error != DIST_OK;
	for (int rank = 0; rank < coll->world_size && !error; rank++)
		if (coll->op->missing[rank])
			error = DIST_ERR_TIMEOUT;
	return error;
}

/* ---- rank 0 ------------------------------------------------------------ */

/* Asks every rank for its report. Errors: the first. */
static enum dist_error ask(const struct dist__coll *coll,
			   struct dist__request **requests)
{
	struct dist__transport *t = coll->transport;
	enum dist_error error = DIST_OK, one;

	for (int rank = 1; rank < coll->world_size; rank++) {
		struct dist__message m = message(coll, REPORT, rank,
						 (struct dist__span){NULL, 0});

		one = t->ops->irecv(t, &m, &requests[rank]);
		coll->op->missing[rank] = one && (!error || coll->op->wait_all);
		error = error ? error : one;
	}
	return error;
}

/* Waits for the reports that were asked for. Once one is missing and that is
 * enough, looks only which of the others are there already. requests becomes
 * NULL for those that are not. Errors: the first, error if there is one. */
static enum dist_error take_reports(const struct dist__coll *coll,
				    struct dist__request **requests,
				    enum dist_error error)
{
	struct dist__transport *t = coll->transport;
	struct dist__op *op = coll->op;

	for (int rank = 1; rank < coll->world_size; rank++) {
		bool enough = error && !op->wait_all;
		enum dist_error one = DIST_OK;

		if (requests[rank])
			one = t->ops->wait(t, requests[rank],
					   enough ? 0 : op->deadline_ns);
		if (!one)
			continue;
		requests[rank] = NULL;
		op->missing[rank] |= !enough;
		error = error ? error : one;
	}
	return error;
}

/* Tells those who came, whoever of them has gone since. Errors: the first. */
static enum dist_error send_answers(const struct dist__coll *coll,
				    struct dist__request *const *came)
{
	struct dist__transport *t = coll->transport;
	enum dist_error error = DIST_OK, one;

	for (int rank = 1; rank < coll->world_size; rank++) {
		struct dist__message m =
			message(coll, ANSWER, rank, answer_of(coll));
		struct dist__request *request;

		if (!came[rank])
			continue;
		one = t->ops->isend(t, &m, &request);
		if (!one)
			one = t->ops->wait(t, request, patience(coll->op));
		error = error ? error : one;
	}
	return error;
}

static enum dist_error run_first(const struct dist__coll *coll)
{
	struct dist__request **requests = calloc(
		(size_t)coll->world_size, sizeof(struct dist__request *));
	enum dist_error error, answered;

	if (!requests)
		return DIST_ERR_NO_MEMORY;
	error = take_reports(coll, requests, ask(coll, requests));
	answered = send_answers(coll, requests);
	free(requests);
	return error ? error : answered;
}

static enum dist_error run_monitored_barrier(const struct dist__coll *coll)
{
	return coll->rank == 0 ? run_first(coll) : run_other(coll);
}

/* T = alpha + (p - 1) (alpha + p beta). */
static double cost_monitored_barrier_ns(const struct dist__cost *cost, int p,
					size_t numel, size_t element_bytes)
{
	(void)numel;
	(void)element_bytes;
	if (p == 1)
		return 0;
	return dist__cost_message(cost, 0) +
	       (p - 1) * dist__cost_message(cost, p);
}

DIST__ALGORITHM(linear, monitored_barrier, MONITORED_BARRIER, "linear",
		"p steps, all to rank 0, which answers one by one",
		"alpha + (p-1) (alpha + p beta)", .flow = NULL);
