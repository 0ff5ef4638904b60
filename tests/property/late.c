/*
 * late.c - right programs on ranks so slow that calls run out of time: the
 * records of what follows show a timeout, whenever they are read, and never a
 * deadlock. No process is started: the records are written as ranks would.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "check/cause.h"
#include "tests/property/program.h"
#include "tests/support/board.h"

#define USUAL 300 /* programs */
#define CUTS  20  /* runs of each */

/* An operation that a rank has called. */
struct made {
	const struct call *call;
	uint32_t number; /* in the records */
	int index;       /* among those that it may meet */
	bool ended;
};

struct late_rank {
	int next; /* call */
	struct made made[MOST_CALLS];
	int num_made;
	struct made *waits; /* NULL: it runs */
	bool over;          /* it ended, or gave up */
};

struct late_job {
	const struct program *program;
	struct check_board *board;
	struct late_rank ranks[MOST_RANKS];
	uint64_t state;
	int64_t now_ns;
	int first; /* rank of which a call failed; -1: none */
};

static bool chance(struct late_job *job, int percent)
{
	return program_lot(&job->state, 100) < percent;
}

static struct check_slot *slot_of(const struct late_job *job, int rank)
{
	return &job->board->slots[rank];
}

/* ---- what meets -------------------------------------------------------- */

/* Whether b, a call of rank_b, is at the other end of a, or the same
 * collective, if they are of one index. */
static bool may_meet(const struct call *a, int rank_a, const struct call *b,
		     int rank_b)
{
	if (a->group != b->group ||
	    program_is_message(a->act) != program_is_message(b->act))
		return false;
	return !program_is_message(a->act) ||
	       (a->act != b->act && a->tag == b->tag && a->peer == rank_b &&
		b->peer == rank_a);
}

static bool is_met(const struct late_job *job, int rank_a, const struct made *a,
		   int rank_b)
{
	const struct late_rank *other = &job->ranks[rank_b];

	for (int i = 0; i < other->num_made; i++)
		if (may_meet(a->call, rank_a, other->made[i].call, rank_b) &&
		    other->made[i].index == a->index)
			return true;
	return false;
}

static bool can_end(const struct late_job *job, int rank, const struct made *a)
{
	unsigned members = job->program->members[a->call->group];

	if (program_is_message(a->call->act))
		return is_met(job, rank, a, a->call->peer);
	for (int other = 0; other < job->program->world_size; other++)
		if (members >> other & 1U && !is_met(job, rank, a, other))
			return false;
	return true;
}

/* ---- what a rank does -------------------------------------------------- */

static struct made *make(struct late_job *job, int rank,
			 const struct call *call)
{
	struct late_rank *r = &job->ranks[rank];
	struct made *made = &r->made[r->num_made];
	bool message = program_is_message(call->act);
	unsigned members = job->program->members[call->group];
	struct check_call record = {.group_id = (uint32_t)call->group,
				    .leader = (uint32_t)__builtin_ctz(members),
				    .peer = call->peer,
				    .peer_rank = call->peer,
				    .tag = message ? call->tag : -1,
				    .numel = call->numel,
				    .issued_ns = ++job->now_ns};

	*made = (struct made){.call = call};
	for (int i = 0; i < r->num_made; i++)
		made->index +=
			message ? r->made[i].call->act == call->act &&
					  r->made[i].call->group ==
						  call->group &&
					  r->made[i].call->tag == call->tag &&
					  r->made[i].call->peer == call->peer
				: may_meet(call, rank, r->made[i].call, rank);
	if (!message)
		record.index = (uint32_t)made->index;
	snprintf(record.op, sizeof record.op, "%s", act_name(call->act));
	check_site_set(&record.site, PROGRAM_FILE, call->line);
	made->number = check_issue(slot_of(job, rank), &record);
	r->num_made++;
	return made;
}

static void end(struct late_job *job, int rank, struct made *made)
{
	struct check_slot *slot = slot_of(job, rank);
	const struct call *call = made->call;

	made->ended = true;
	check_end(slot, made->number, 0, ++job->now_ns);
	check_resume(slot);
	job->ranks[rank].waits = NULL;
	if (call->act == ACT_NEW_GROUP && call->members >> rank & 1U)
		check_join(slot, (uint32_t)call->made,
			   (uint32_t)__builtin_ctz(call->members));
}

static void wait(struct late_job *job, int rank, struct made *made)
{
	check_wait(slot_of(job, rank), made->number, NULL);
	job->ranks[rank].waits = made;
}

/* The call fails, and with it whatever else the rank had begun; the rank
 * returns, mostly with that as its status. */
static void fail(struct late_job *job, int rank, struct made *made,
		 enum dist_error error)
{
	struct check_slot *slot = slot_of(job, rank);
	struct late_rank *r = &job->ranks[rank];

	made->ended = r->over = true;
	check_end(slot, made->number, error, ++job->now_ns);
	for (int i = 0; i < r->num_made; i++)
		if (!r->made[i].ended)
			check_end(slot, r->made[i].number, DIST_ERR_ABORTED,
				  ++job->now_ns);
	if (slot->state == CHECK_RANK_RUNNING || chance(job, 10))
		slot->state = CHECK_RANK_FINISHED;
	if (job->first < 0)
		job->first = rank;
}

static void go_on(struct late_job *job, int rank)
{
	struct late_rank *r = &job->ranks[rank];
	const struct rank_program *list = &job->program->ranks[rank];
	const struct call *call = &list->calls[r->next];
	struct made *made;

	if (r->next == list->num_calls) {
		slot_of(job, rank)->state = CHECK_RANK_FINISHED;
		r->over = true;
		return;
	}
	r->next++;
	if (program_is_op(call->act)) {
		made = make(job, rank, call);
		if (job->first >= 0 && chance(job, 20))
			fail(job, rank, made, DIST_ERR_PEER_LOST);
		else if (!call->async)
			wait(job, rank, made);
		return;
	}
	for (int i = 0; call->act == ACT_WAIT && i < r->num_made; i++)
		if (r->made[i].call->step == call->step && !r->made[i].ended)
			wait(job, rank, &r->made[i]);
}

/* A rank in its own code looks at what it began, and finds that failed. */
static bool look(struct late_job *job, int rank)
{
	struct late_rank *r = &job->ranks[rank];

	for (int i = 0; i < r->num_made; i++)
		if (!r->made[i].ended) {
			check_look(slot_of(job, rank), r->made[i].number);
			fail(job, rank, &r->made[i], DIST_ERR_PEER_LOST);
			return true;
		}
	return false;
}

/* One rank makes its next step. From some time on, calls fail. */
static void step(struct late_job *job, bool late)
{
	int rank = program_lot(&job->state, job->program->world_size);
	struct late_rank *r = &job->ranks[rank];

	if (r->over)
		return;
	if (!r->waits) {
		if (job->first < 0 || !chance(job, 10) || !look(job, rank))
			go_on(job, rank);
	} else if (late && chance(job, job->first < 0 ? 100 : 30))
		fail(job, rank, r->waits,
		     job->first < 0 || chance(job, 50) ? DIST_ERR_TIMEOUT
						       : DIST_ERR_PEER_LOST);
	else if (can_end(job, rank, r->waits))
		end(job, rank, r->waits);
}

/* ---- what is said of it ------------------------------------------------ */

/* Whether a rank stands in a call that ran out of time. */
static bool any_timeout(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_slot *slot = &board->slots[rank];
		const struct check_call *call = check_failed_call(slot);

		if (slot->state == CHECK_RANK_WAITING && call &&
		    call->error == DIST_ERR_TIMEOUT)
			return true;
	}
	return false;
}

static void expect_timeout(const struct late_job *job, int cut)
{
	const struct check_facts facts = {.lost_rank = -1};
	const struct check_cause cause = {2, job->first, false,
					  "exited with status 1"};
	struct check_verdict verdict =
		check_judge_cause(job->board, &facts, &cause);
	char *text;

	if (verdict.kind ==
	    (any_timeout(job->board) ? CHECK_TIMEOUT : CHECK_FAILED))
		return;
	text = board_report(job->board, &facts, &verdict);
	cr_expect_fail("seed %llu, cut %d: %s:\n%s",
		       (unsigned long long)job->program->seed, cut,
		       check_verdict_name(verdict.kind), text);
	free(text);
}

static void run_late(const struct program *program, int cut)
{
	struct late_job job = {.program = program,
			       .state = program->seed ^ (uint64_t)cut << 32,
			       .first = -1};
	uint32_t n = (uint32_t)program->world_size;
	int steps = program_lot(&job.state, 60 * program->world_size);
	int after = program_lot(&job.state, 20 * program->world_size);

	job.board = calloc(1, check_board_bytes(n));
	cr_assert(job.board);
	check_board_init(job.board, n);
	for (uint32_t rank = 0; rank < n; rank++) {
		job.board->slots[rank].state = CHECK_RANK_RUNNING;
		check_join(&job.board->slots[rank], 0, 0);
	}
	for (int i = 0; i < steps; i++)
		step(&job, false);
	for (int i = 0; i < 100 && job.first < 0; i++)
		step(&job, true);
	for (int i = 0; i < after; i++)
		step(&job, true);
	if (job.first >= 0)
		expect_timeout(&job, cut);
	free(job.board);
}

Test(late, right_programs_run_out_of_time_and_are_never_stuck)
{
	const char *from = getenv("SEED"), *number = getenv("PROGRAMS");
	uint64_t seed = from ? strtoull(from, NULL, 0) : 1;
	uint64_t n = number ? strtoull(number, NULL, 0) : USUAL;
	struct program program;

	for (uint64_t i = 0; i < n; i++) {
		program_draw(&program, seed + i);
		for (int cut = 0; cut < CUTS; cut++)
			run_late(&program, cut);
	}
}
