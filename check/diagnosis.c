#include "check/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "check/proof.h"
#include "lockstep/types.h"

/* ---- gathering ---------------------------------------------------------- */

static bool open_board(struct check_diagnosis *d, const struct check_dump *dump)
{
	d->board = calloc(1, check_board_bytes(dump->world_size));
	if (!d->board)
		return false;
	check_board_init(d->board, dump->world_size);
	for (uint32_t rank = 0; rank < dump->world_size; rank++)
		d->board->slots[rank].state = CHECK_RANK_UNKNOWN;
	memcpy(d->job, dump->job, sizeof d->job);
	memcpy(d->world, dump->world, sizeof d->world);
	d->attempt = dump->attempt;
	d->facts.now_ns = -1;
	d->facts.lost_rank = -1;
	return true;
}

/* Puts the times of the slot onto the clock that all machines have. */
static void shift_times(struct check_slot *slot, int64_t by_ns)
{
	for (uint32_t i = 0; i < check_ring(slot); i++) {
		struct check_call *call = &slot->ring[i];

		if (!call->number)
			continue;
		call->issued_ns += by_ns;
		call->ended_ns += by_ns;
	}
}

bool check_diagnosis_add(struct check_diagnosis *d,
			 const struct check_dump *dump, char message[256])
{
	if (!d->board && !open_board(d, dump)) {
		snprintf(message, 256, "no memory for %u ranks",
			 dump->world_size);
		return false;
	}
	if (strcmp(dump->job, d->job) != 0 || dump->attempt != d->attempt ||
	    dump->world_size != d->board->world_size) {
		snprintf(message, 256,
			 "of job %s, start %u, world of %u: expected one of "
			 "job %s, start %u, world of %u, as before",
			 dump->job, dump->attempt, dump->world_size, d->job,
			 d->attempt, d->board->world_size);
		return false;
	}
	if (!check_diagnosis_missing(d, dump->rank)) {
		snprintf(message, 256, "a second dump of rank %u", dump->rank);
		return false;
	}
	d->board->slots[dump->rank] = dump->slot;
	shift_times(&d->board->slots[dump->rank],
		    dump->time_ns - dump->clock_ns);
	if (dump->timeout_ns > d->facts.timeout_ns)
		d->facts.timeout_ns = dump->timeout_ns;
	if (dump->cause.weight > d->cause.weight)
		d->cause = dump->cause;
	return true;
}

bool check_diagnosis_missing(const struct check_diagnosis *d, uint32_t rank)
{
	return d->board->slots[rank].state == CHECK_RANK_UNKNOWN;
}

/* ---- dumps that ranks wrote one by one ---------------------------------- */

/* When the first rank gave up a call at its deadline; INT64_MAX: none did. */
static int64_t first_timeout(const struct check_board *board)
{
	int64_t first_ns = INT64_MAX;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_call *call =
			check_failed_call(&board->slots[rank]);

		if (call && call->error == DIST_ERR_TIMEOUT &&
		    call->ended_ns < first_ns)
			first_ns = call->ended_ns;
	}
	return first_ns;
}

/* Takes the rank's last call back. */
static void forget_last(struct check_slot *slot)
{
	struct check_call *call =
		&slot->ring[check_ring_place(slot, slot->calls)];

	if (slot->waiting == call->number)
		check_resume(slot);
	if (slot->parts.number == call->number)
		slot->parts.number = 0;
	if (call->tag < 0 && call->state != CHECK_CALL_QUEUED)
		check_set_collectives(slot, call->group_id, call->index);
	memset(call, 0, sizeof *call);
	slot->calls--;
}

/* What has become of the ranks, by what they wrote alone. */
struct ends {
	/* First of each; -1: none. Of a silent rank's end there is no dump, or
	 * only one of earlier. A refused one ended with a call
	 * that was refused; a stricken one by an error of its own. */
	int64_t missing, silent, refused, failed, bereft, stricken;
	uint32_t num_silent;
	bool timed_out; /* one of them at least */
	bool all_finished;
};

static struct ends ends_of(const struct check_board *board)
{
	struct ends ends = {-1, -1, -1, -1, -1, -1, 0, false, true};

	for (int64_t rank = board->world_size - 1; rank >= 0; rank--) {
		const struct check_slot *slot = &board->slots[rank];
		const struct check_call *call = check_failed_call(slot);

		if (slot->state == CHECK_RANK_UNKNOWN)
			ends.missing = rank;
		if (!call && slot->state != CHECK_RANK_FINISHED) {
			ends.silent = rank;
			ends.num_silent++;
		}
		if (!call && check_last_refusal(slot))
			ends.refused = rank;
		else if (!call && slot->crash.site.file[0])
			ends.stricken = rank;
		if (call)
			ends.failed = rank;
		if (call && call->error == DIST_ERR_PEER_LOST)
			ends.bereft = rank;
		ends.timed_out |= call && call->error == DIST_ERR_TIMEOUT;
		ends.all_finished &= slot->state == CHECK_RANK_FINISHED;
	}
	return ends;
}

/* The cause is a rank that an error of its own ended; else one that others
 * lost, and of whose end there is no dump; else one that ended because a call
 * was refused; else one that failed. Who gave up at a deadline is lost to the
 * others, too. */
static void find_cause(struct check_cause *cause, const struct ends *ends)
{
	int64_t gone = ends->missing >= 0 ? ends->missing : ends->silent;
	bool lost = gone >= 0 && ends->bereft >= 0 && !ends->timed_out;

	if (ends->stricken >= 0)
		*cause = (struct check_cause){3, (int32_t)ends->stricken, true,
					      "ended by an error of its own"};
	else if (lost)
		*cause = (struct check_cause){
			3, (int32_t)gone, true,
			"left its peers, and no record of its end"};
	else if (ends->failed >= 0 && ends->refused >= 0)
		*cause = (struct check_cause){2, (int32_t)ends->refused, true,
					      "gave up"};
	else if (ends->failed >= 0)
		*cause = (struct check_cause){2, (int32_t)ends->failed, false,
					      "gave up"};
}

static struct check_verdict judge(struct check_diagnosis *d)
{
	d->facts.nothing_moves = d->cause.weight == CHECK_CAUSE_PROVED;
	d->facts.endless_ns = check_endless(&d->cause, d->facts.timeout_ns);
	d->facts.lost_rank = d->cause.lost ? d->cause.rank : -1;
	memcpy(d->facts.lost_how, d->cause.how, sizeof d->facts.lost_how);
	if (d->cause.lost)
		d->facts.lost_at = d->board->slots[d->cause.rank].crash;
	return check_judge_cause(d->board, &d->facts, &d->cause);
}

struct check_verdict check_diagnose(struct check_diagnosis *d)
{
	int64_t until_ns = first_timeout(d->board);
	struct check_verdict verdict;
	struct ends ends;
	bool unclear;

	if (d->cause.weight > 0)
		return judge(d);
	ends = ends_of(d->board);
	find_cause(&d->cause, &ends);
	if (ends.stricken >= 0)
		d->board->slots[ends.stricken].state = CHECK_RANK_LOST;
	if (d->cause.weight == 0 && !ends.all_finished) {
		/* Nobody has to fail for it to be known that they disagree, or
		 * spoilt their memory. */
		verdict = check_prove(
			d->board,
			&(struct check_rules){.timeout_ns = INT64_MAX});
		if (verdict.kind == CHECK_MISMATCH)
			return verdict;
		verdict = judge(d);
		return verdict.kind == CHECK_HAZARD
			       ? verdict
			       : (struct check_verdict){CHECK_STATUS, -1};
	}
	/* A program that started the ranks ends them when one is gone: by their
	 * records, all are. */
	unclear = d->board->own_job && d->cause.lost && ends.refused < 0 &&
		  ends.stricken < 0 && ends.num_silent > 1;
	verdict = judge(d);
	if (unclear && verdict.kind == CHECK_LOST)
		return (struct check_verdict){CHECK_STATUS, -1};
	/* Who disagreed did so whenever it was. */
	if (check_is_certain(&verdict) || until_ns == INT64_MAX)
		return verdict;
	/* Takes back what ranks called after until_ns. */
	for (uint32_t rank = 0; rank < d->board->world_size; rank++) {
		struct check_slot *slot = &d->board->slots[rank];
		const struct check_call *last =
			check_call_find(slot, slot->calls);

		while (last && last->issued_ns > until_ns) {
			forget_last(slot);
			last = check_call_find(slot, slot->calls);
		}
	}
	return judge(d);
}

void check_diagnosis_release(struct check_diagnosis *d)
{
	free(d->board);
	d->board = NULL;
}
