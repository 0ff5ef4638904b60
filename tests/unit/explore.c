/*
 * Exploring simulated jobs: how many schedules there are, what they lead to,
 * and the words of tokens and bounds.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "sim/explore/bounds.h"
#include "sim/plan.h"
#include "tests/support/group.h"
#include "tests/support/leaks.h"
#include "tests/support/seat.h"
#include "tests/support/thin.h"
#include "base/random.h"

/* ---- words ------------------------------------------------------------ */

Test(explore, tokens_are_read_as_they_are_written)
{
	const char *tokens[] = {"v1",
				"v1/any",
				"v1/any:0.1",
				"v1/p2p:eager:4096/any:2.1,5.3,4294967294.7",
				"v1/p2p:buffered/skew:18446744073709551615",
				"v1/any/skew:3"};

	for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
		struct dist__sim_plan plan = {.skew = 0};
		char *token;

		cr_assert(dist__sim_plan_parse(&plan, tokens[i]));
		token = dist__sim_plan_token(&plan);
		cr_expect_str_eq(token, tokens[i]);
		free(token);
		dist__sim_plan_release(&plan);
	}
}

Test(explore, what_is_no_token_is_refused)
{
	const char *tokens[] = {
		"",           "v2/any",      "any:0.1",     "v1any",
		"v1/",        "v1/any/",     "v1/any:",     "v1/any:1",
		"v1/any:1.",  "v1/any:-1.1", "v1/any:1.1,", "v1/any:2.1,1.1",
		"v1/any/any", "v1/skew:",    "v1/skew:0",   "v1/skew:1x",
		"v1/p2p:",    "v1/any:1.1 "};

	for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
		struct dist__sim_plan plan = {.skew = 0};

		cr_expect_not(dist__sim_plan_parse(&plan, tokens[i]), "%s",
			      tokens[i]);
		dist__sim_plan_release(&plan);
	}
}

Test(explore, bounds_have_defaults)
{
	struct dist__sim_bounds bounds;

	cr_assert(dist__sim_bounds_parse(&bounds, ""));
	cr_expect_eq(bounds.runs, 10000);
	cr_expect_not(bounds.values);
	cr_assert(dist__sim_bounds_parse(&bounds, "values,skew=0,max-runs=7"));
	cr_expect_eq(bounds.runs, 7);
	cr_expect_eq(bounds.skews, 0);
	cr_expect_eq(bounds.seconds, 60);
	cr_expect(bounds.values);
	cr_expect_not(dist__sim_bounds_parse(&bounds, "max-runs"));
	cr_expect_not(dist__sim_bounds_parse(&bounds, "max-seconds=0"));
}

/* ---- schedules -------------------------------------------------------- */

static struct dist_tensor number(float *value)
{
	return dist_tensor(value, 1, DIST_FLOAT32);
}

static int explore(int ranks, int (*program)(void *), void *arg)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.world_size = ranks,
		.platform = STAR4,
		.p2p = "rendezvous",
		.explore = "skew=2",
		.timeout_ns = (int64_t)100 * 1000000000,
	};
	int status;

	cr_redirect_stderr();
	status = dist_launch(&options, program, arg);
	cr_expect_eq(leaks_found(), 0);
	return status;
}

/* Rank 0 hears all others, *arg times each. */
static int gather(void *arg)
{
	struct dist_group *group = join();
	int times = *(int *)arg, rank = dist_get_rank(group), source;
	int count = rank > 0 ? times : times * (dist_get_world_size(group) - 1);
	enum dist_error error = DIST_OK;
	float value = 1;

	for (int i = 0; i < count && !error; i++)
		error = rank > 0 ? dist_send(group, number(&value), 0, 0)
				 : dist_recv_any(group, number(&value), 0,
						 &source);
	return leave(group, error);
}

Test(explore, every_order_of_senders_is_a_schedule)
{
	int times = 1;

	cr_expect_eq(explore(4, gather, &times), DIST_EXIT_OK);
	cr_assert_stderr_eq_str("lockstep: explored, sends rendezvous: all 6 "
				"schedules, 16 states; 2 with delays\n");
}

/* 6! / (2! 2! 2!): messages of one sender stay in their order. */
Test(explore, messages_of_one_sender_do_not_overtake)
{
	int times = 2;

	cr_expect_eq(explore(4, gather, &times), DIST_EXIT_OK);
	cr_assert_stderr_eq_str("lockstep: explored, sends rendezvous: all 90 "
				"schedules, 271 states; 2 with delays\n");
}

/* In a ring only one can be heard, in whatever order the ranks are served. */
static int ring(void *arg)
{
	struct dist_group *group = join();
	int rank = dist_get_rank(group), size = dist_get_world_size(group);
	enum dist_error error = DIST_OK;
	float in = 0, out = 1;

	(void)arg;
	for (int i = 0; i < 3 && !error; i++) {
		struct dist_work *work;

		error = dist_irecv(group, number(&in), DIST_ANY_SOURCE, i,
				   &work);
		if (!error)
			error = dist_send(group, number(&out),
					  (rank + 1) % size, i);
		if (!error)
			error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
		dist_work_free(work);
	}
	return leave(group, error);
}

Test(explore, what_commutes_is_tried_in_one_order)
{
	cr_expect_eq(explore(4, ring, NULL), DIST_EXIT_OK);
	cr_assert_stderr_eq_str("lockstep: explored, sends rendezvous: all 1 "
				"schedule, 13 states; 2 with delays\n");
}

/* Rank 3 can send to rank 0 only when it has itself heard rank 2. */
static int hidden(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error = DIST_OK;
	float value = 1;
	int source;

	(void)arg;
	switch (dist_get_rank(group)) {
	case 0:
		error = dist_recv_any(group, number(&value), 0, &source);
		if (!error)
			error = dist_recv(group, number(&value), 3, 0);
		break;
	case 3:
		error = dist_recv_any(group, number(&value), 0, &source);
		if (!error)
			error = dist_send(group, number(&value), 0, 0);
		break;
	case 2:
		error = dist_send(group, number(&value), 3, 0);
		break;
	default:
		error = dist_send(group, number(&value), 0, 0);
	}
	return leave(group, error);
}

Test(explore, a_sender_that_comes_later_is_tried_too)
{
	cr_expect_eq(explore(4, hidden, NULL), DIST_EXIT_RACE);
}

/* Rank 0 looks until all have come: 2! orders, in each of which it may look too
 * early or not, twice. */
static int look(void *arg)
{
	struct dist_group *group = join();
	int rank = dist_get_rank(group), size = dist_get_world_size(group);
	enum dist_error error = DIST_OK;
	struct dist_work *work;
	float value = 1;

	(void)arg;
	if (rank > 0)
		return leave(group, dist_send(group, number(&value), 0, 0));
	for (int i = 1; i < size && !error; i++) {
		error = dist_irecv(group, number(&value), DIST_ANY_SOURCE, 0,
				   &work);
		while (!error && !dist_work_is_completed(work))
			;
		dist_work_free(work);
	}
	return leave(group, error);
}

Test(explore, who_looks_is_served_and_proves_nothing)
{
	cr_expect_eq(explore(3, look, NULL), DIST_EXIT_OK);
	cr_assert_stderr_eq_str(
		"lockstep: explored, sends rendezvous: 8 schedules, 25 states, "
		"maybe not all: a rank looks whether work is complete, and "
		"what it sees depends on time; 2 with delays\n");
}

/* Rank 2 is there at once, rank 1 not before the deadline of rank 0. */
static int late(void *arg)
{
	struct dist_group *group = join();
	int64_t second = 1000000000;
	enum dist_error error = DIST_OK;
	float value = 1;
	int source;

	(void)arg;
	switch (dist_get_rank(group)) {
	case 0:
		error = dist_recv_any(group, number(&value), 0, &source);
		if (!error)
			error = dist_compute(group, 90 * second, "work");
		if (!error)
			error = dist_recv_any(group, number(&value), 0,
					      &source);
		break;
	case 1:
		error = dist_compute(group, 120 * second, "work");
		/* fall through */
	default:
		if (!error)
			error = dist_send(group, number(&value), 0, 0);
	}
	return leave(group, error);
}

Test(explore, a_deadline_that_a_plan_lets_pass_is_no_verdict)
{
	cr_expect_eq(explore(3, late, NULL), DIST_EXIT_OK);
}

/* ---- right programs --------------------------------------------------- */

enum { RANKS = 4, PHASES = 3, MOST_MESSAGES = 4 };

struct message {
	int src, dst;
};

/* In each phase messages fly, and are summed up by all. A rank receives all of
 * a phase from any source or each by its name, waits or looks. */
struct right {
	uint64_t seed;
	int count[PHASES];
	struct message messages[PHASES][MOST_MESSAGES];
};

static void draw(struct right *right, uint64_t seed)
{
	right->seed = seed;
	for (int phase = 0; phase < PHASES; phase++) {
		right->count[phase] =
			1 + (int)(dist__random_next(&seed) % MOST_MESSAGES);
		for (int i = 0; i < right->count[phase]; i++) {
			struct message *m = &right->messages[phase][i];

			m->src = (int)(dist__random_next(&seed) % RANKS);
			m->dst = (m->src + 1 +
				  (int)(dist__random_next(&seed) %
					(RANKS - 1))) %
				 RANKS;
		}
	}
}

static enum dist_error finish(struct dist_work *work, bool looks)
{
	enum dist_error error;

	while (looks && !dist_work_is_completed(work))
		;
	error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	return error;
}

static enum dist_error exchange(struct dist_group *group,
				const struct right *right, int phase)
{
	int rank = dist_get_rank(group), count = 0;
	uint64_t seed = right->seed ^ (uint64_t)(100 * phase + rank);
	bool any = dist__random_next(&seed) % 2,
	     looks = dist__random_next(&seed) % 4 == 0;
	struct dist_work *works[MOST_MESSAGES];
	float out = (float)rank, in[MOST_MESSAGES] = {0}, sum = 0;
	enum dist_error error = dist_compute(
		group, (int64_t)(dist__random_next(&seed) % 100000), "work");

	for (int i = 0; i < right->count[phase] && !error; i++) {
		const struct message *m = &right->messages[phase][i];

		if (m->src == rank)
			error = dist_isend(group, number(&out), m->dst, phase,
					   &works[count++]);
		else if (m->dst == rank)
			error = dist_irecv(group, number(&in[i]),
					   any ? DIST_ANY_SOURCE : m->src,
					   phase, &works[count++]);
	}
	for (int i = 0; i < count && !error; i++)
		error = finish(works[i], looks);
	for (int i = 0; i < MOST_MESSAGES; i++)
		sum += in[i];
	return error ? error
		     : dist_all_reduce(group, number(&sum), DIST_SUM, NULL);
}

static int right_program(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error = DIST_OK;

	for (int phase = 0; phase < PHASES && !error; phase++)
		error = exchange(group, arg, phase);
	return leave(group, error);
}

Test(explore, nothing_is_said_of_a_right_program)
{
	cr_redirect_stderr();
	for (uint64_t seed = 1; seed <= 20; seed += (uint64_t)thin_step(4)) {
		struct dist_launch_options options = {
			.backend = "sim",
			.world_size = RANKS,
			.platform = STAR4,
			.explore = "skew=3,max-runs=40,values",
		};
		struct right right;
		int status;
		pid_t child;

		draw(&right, seed);
		fflush(NULL);
		child = fork();
		cr_assert_geq(child, 0);
		if (child == 0)
			_exit(dist_launch(&options, right_program, &right));
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0,
			  "seed %d: status %#x", (int)seed, (unsigned)status);
	}
}
