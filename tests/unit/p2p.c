/*
 * Messages of the program in simulation: when a send ends in each mode and what
 * that does to deadlocks, whom a receive from any source hears, what a batch
 * refuses. On star4 a message of n bytes takes 2 us + n / 12.5 GB/s.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#include "check/record.h"
#include "lockstep/dist.h"
#include "sim/platform/platform.h"
#include "tests/support/group.h"
#include "tests/support/leaks.h"
#include "tests/support/seat.h"

static struct dist_tensor floats(void *data, size_t numel)
{
	return dist_tensor(data, numel, DIST_FLOAT32);
}

/* A megabyte without bytes. */
static struct dist_tensor megabyte(void)
{
	return floats(NULL, MEGABYTE / 4);
}

static int simulate(const char *mode, int ranks, int (*program)(void *),
		    void *arg)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.world_size = ranks,
		.platform = STAR4,
		.p2p = mode,
		.timeout_ns = (int64_t)100 * 1000000000,
	};
	int status = dist_launch(&options, program, arg);

	cr_expect_eq(leaks_found(), 0);
	return status;
}

static void finish(struct dist_work *work)
{
	cr_expect_eq(dist_work_wait(work, DIST_TIMEOUT_OF_GROUP), DIST_OK);
	dist_work_free(work);
}

/* ---- when a send ends ------------------------------------------------- */

/* Both ranks send arg elements, then receive: fine only when buffered. */
static int send_first(void *arg)
{
	size_t numel = *(size_t *)arg;
	struct dist_group *group = join();
	int peer = 1 - dist_get_rank(group);
	float *data = calloc(2 * numel, sizeof *data);
	enum dist_error error;

	cr_assert(data);
	data[0] = (float)peer;
	error = dist_send(group, floats(data, numel), peer, 0);
	if (!error)
		error = dist_recv(group, floats(data + numel, numel), peer, 0);
	if (!error)
		cr_expect_eq(data[numel], (float)dist_get_rank(group));
	free(data);
	return leave(group, error);
}

static int send_first_in(const char *mode, size_t numel)
{
	return simulate(mode, 2, send_first, &numel);
}

/* Whether it would end if buffered is found out by a copy. */
static void expect_hang(const char *mode, size_t numel)
{
	cr_redirect_stderr();
	cr_assert_eq(send_first_in(mode, numel), dist__platform_can_copy()
							 ? DIST_EXIT_BUFFERING
							 : DIST_EXIT_DEADLOCK);
}

Test(p2p, both_send_first_hangs_in_rendezvous)
{
	expect_hang("rendezvous", 1);
}

Test(p2p, both_send_first_hangs_by_default)
{
	expect_hang(NULL, 1);
}

Test(p2p, both_send_first_is_fine_when_buffered)
{
	cr_assert_eq(send_first_in("buffered", 100000), DIST_EXIT_OK);
}

Test(p2p, eager_is_buffered_up_to_its_size)
{
	cr_assert_eq(send_first_in("eager:400", 100), DIST_EXIT_OK);
}

Test(p2p, eager_is_rendezvous_above_its_size)
{
	expect_hang("eager:400", 101);
}

/* Rank 1 receives late. A buffered send has ended and travelled long since. */
static int late_receive(void *arg)
{
	bool buffered = *(bool *)arg;
	struct dist_group *group = join();
	int64_t end_ns = MS + (buffered ? 0 : MEGABYTE_NS);

	if (dist_get_rank(group) == 0) {
		cr_expect_eq(dist_send(group, megabyte(), 1, 3), DIST_OK);
		cr_expect_eq(dist_now_ns(group), buffered ? 0 : end_ns);
	} else {
		cr_expect_eq(dist_compute(group, MS, NULL), DIST_OK);
		cr_expect_eq(dist_recv(group, megabyte(), 0, 3), DIST_OK);
		cr_expect_eq(dist_now_ns(group), end_ns);
	}
	return leave(group, DIST_OK);
}

Test(p2p, a_buffered_send_ends_at_once_and_travels)
{
	bool buffered = true;

	cr_assert_eq(simulate("buffered", 2, late_receive, &buffered), 0);
}

Test(p2p, a_rendezvous_starts_when_both_are_there)
{
	bool buffered = false;

	cr_assert_eq(simulate("rendezvous", 2, late_receive, &buffered), 0);
}

/* Rank 1 receives early: every mode takes the same time. */
static int early_receive(void *arg)
{
	struct dist_group *group = join();

	(void)arg;
	if (dist_get_rank(group) == 0) {
		cr_expect_eq(dist_compute(group, MS, NULL), DIST_OK);
		cr_expect_eq(dist_send(group, megabyte(), 1, 3), DIST_OK);
	} else {
		cr_expect_eq(dist_recv(group, megabyte(), 0, 3), DIST_OK);
		cr_expect_eq(dist_now_ns(group), MS + MEGABYTE_NS);
	}
	return leave(group, DIST_OK);
}

Test(p2p, an_awaited_message_takes_as_long_buffered)
{
	cr_assert_eq(simulate("buffered", 2, early_receive, NULL), 0);
}

Test(p2p, an_awaited_message_takes_as_long_in_rendezvous)
{
	cr_assert_eq(simulate("rendezvous", 2, early_receive, NULL), 0);
}

/* Rank 0 sends and is gone before rank 1 asks. */
static int send_and_go(void *arg)
{
	float x = 7;
	struct dist_group *group = join();

	(void)arg;
	if (dist_get_rank(group) == 0) {
		cr_expect_eq(dist_send(group, floats(&x, 1), 1, 0), DIST_OK);
		return leave(group, DIST_OK);
	}
	x = 0;
	cr_expect_eq(dist_compute(group, MS, NULL), DIST_OK);
	cr_expect_eq(dist_recv(group, floats(&x, 1), 0, 0), DIST_OK);
	cr_expect_eq(x, 7);
	return leave(group, DIST_OK);
}

Test(p2p, a_buffered_message_outlives_its_sender)
{
	cr_assert_eq(simulate("buffered", 2, send_and_go, NULL), 0);
}

/* A long message, then a short one of the same tag, received in that order,
 * though the short one is through first. */
static int overtake(void *arg)
{
	struct dist_group *group = join();
	struct dist_work *works[2];

	(void)arg;
	if (dist_get_rank(group) == 0) {
		cr_expect_eq(dist_isend(group, megabyte(), 1, 0, &works[0]), 0);
		cr_expect_eq(
			dist_isend(group, floats(NULL, 1), 1, 0, &works[1]), 0);
	} else {
		cr_expect_eq(dist_irecv(group, megabyte(), 0, 0, &works[0]), 0);
		cr_expect_eq(
			dist_irecv(group, floats(NULL, 1), 0, 0, &works[1]), 0);
	}
	finish(works[1]);
	finish(works[0]);
	return leave(group, DIST_OK);
}

Test(p2p, a_short_message_does_not_overtake_when_buffered)
{
	cr_assert_eq(simulate("buffered", 2, overtake, NULL), 0);
}

Test(p2p, nor_when_it_is_the_only_eager_one)
{
	cr_assert_eq(simulate("eager:100", 2, overtake, NULL), 0);
}

/* ---- in flight, and nobody waits -------------------------------------- */

/* Each rank is blocked in a send, or a receive, while what the other needs has
 * been posted and left to itself. */
static int posted_and_left(void *arg)
{
	bool any = *(bool *)arg;
	struct dist_group *group = join();
	int rank = dist_get_rank(group), peer = 1 - rank;
	float in = 0, out = (float)rank;
	struct dist_work *work = NULL;

	if (rank == 0) {
		cr_expect_eq(dist_irecv(group, floats(&in, 1),
					any ? DIST_ANY_SOURCE : 1, 1, &work),
			     0);
		cr_expect_eq(dist_send(group, floats(&out, 1), 1, 2), 0);
	} else {
		cr_expect_eq(dist_send(group, floats(&out, 1), 0, 1), 0);
		cr_expect_eq(dist_recv(group, floats(&in, 1), 0, 2), 0);
	}
	if (work)
		finish(work);
	cr_expect_eq(in, (float)peer);
	return leave(group, DIST_OK);
}

Test(p2p, a_receive_nobody_waits_for_lets_the_sender_go_on)
{
	bool any = false;

	cr_assert_eq(simulate("rendezvous", 2, posted_and_left, &any), 0);
}

Test(p2p, so_does_one_from_any_source)
{
	bool any = true;

	cr_assert_eq(simulate("rendezvous", 2, posted_and_left, &any), 0);
}

/* ---- any source ------------------------------------------------------- */

/* Ranks 1 to 3 send, in the order that rank 0 expects. */
struct arrivals {
	int64_t delay_ns[4];
	size_t bytes[4];
	int expected[3];
};

static int hear_all(void *arg)
{
	const struct arrivals *arrivals = arg;
	struct dist_group *group = join();
	int rank = dist_get_rank(group), src = -1;

	if (rank > 0) {
		if (arrivals->delay_ns[rank])
			cr_expect_eq(dist_compute(group,
						  arrivals->delay_ns[rank],
						  NULL),
				     0);
		cr_expect_eq(dist_send(group,
				       dist_tensor(NULL, arrivals->bytes[rank],
						   DIST_INT8),
				       0, 5),
			     0);
	}
	for (int i = 0; rank == 0 && i < 3; i++) {
		size_t bytes = arrivals->bytes[arrivals->expected[i]];

		cr_expect_eq(dist_recv_any(group,
					   dist_tensor(NULL, bytes, DIST_INT8),
					   5, &src),
			     0);
		cr_expect_eq(src, arrivals->expected[i]);
	}
	return leave(group, DIST_OK);
}

static void expect_order(const char *mode, struct arrivals arrivals)
{
	cr_expect_eq(simulate(mode, 4, hear_all, &arrivals), DIST_EXIT_OK);
}

Test(p2p, any_source_hears_the_first_first)
{
	expect_order("rendezvous", (struct arrivals){{0, 3000, 1000, 2000},
						     {0, 8, 8, 8},
						     {2, 3, 1}});
}

Test(p2p, any_source_hears_the_lower_rank_of_an_instant)
{
	expect_order("rendezvous", (struct arrivals){{0, 1000, 1000, 1000},
						     {0, 8, 8, 8},
						     {1, 2, 3}});
}

Test(p2p, buffered_what_is_through_first_arrives_first)
{
	expect_order("buffered", (struct arrivals){{0, 0, 1000, 2000},
						   {0, 10000000, 800, 8},
						   {2, 3, 1}});
}

/* 12,500 bytes take a microsecond: all three are through in one instant. */
Test(p2p, buffered_the_lower_rank_of_an_instant_arrives_first)
{
	expect_order("buffered", (struct arrivals){{0, 3000, 3000, 3000},
						   {0, 0, 0, 0},
						   {1, 2, 3}});
}

/* Receives from any source and from rank 1 take its messages in the order
 * posted, whoever is waited for first. */
static int mixed(void *arg)
{
	static const int sources[3] = {DIST_ANY_SOURCE, 1, DIST_ANY_SOURCE};
	struct dist_group *group = join();
	struct dist_work *works[3];
	float values[3] = {0};

	(void)arg;
	for (int i = 0; i < 3; i++) {
		if (dist_get_rank(group) == 1) {
			values[i] = (float)i + 1;
			cr_expect_eq(dist_isend(group, floats(&values[i], 1), 0,
						0, &works[i]),
				     0);
		} else {
			cr_expect_eq(dist_irecv(group, floats(&values[i], 1),
						sources[i], 0, &works[i]),
				     0);
			cr_expect_eq(dist_work_source(works[i]), -1);
		}
	}
	for (int i = 3; i-- > 0;) {
		cr_expect_eq(dist_work_wait(works[i], DIST_TIMEOUT_NEVER), 0);
		cr_expect_eq(dist_work_source(works[i]),
			     dist_get_rank(group) == 1 ? -1 : 1);
		cr_expect_eq(values[i], (float)i + 1);
		dist_work_free(works[i]);
	}
	return leave(group, DIST_OK);
}

Test(p2p, receives_are_served_as_posted_in_rendezvous)
{
	cr_assert_eq(simulate("rendezvous", 2, mixed, NULL), 0);
}

Test(p2p, receives_are_served_as_posted_when_buffered)
{
	cr_assert_eq(simulate("buffered", 2, mixed, NULL), 0);
}

/* Rank 0 hears nobody: ranks 1 and 2 wait for it, rank 3 is gone. */
static int nobody_speaks(void *arg)
{
	struct dist_group *group = join();
	int rank = dist_get_rank(group), src = 4711;
	enum dist_error error = DIST_OK;
	float x = 0;

	(void)arg;
	if (rank == 0)
		error = dist_recv_any(group, floats(&x, 1), 0, &src);
	else if (rank < 3)
		error = dist_recv(group, floats(&x, 1), 0, 9);
	else
		cr_expect_eq(dist_compute(group, MS, NULL), 0);
	cr_expect_eq(error, rank < 3 ? DIST_ERR_DEADLOCK : DIST_OK,
		     "rank %d: %s", rank, dist_error_message(group));
	cr_expect_eq(src, 4711);
	if (rank < 3)
		cr_expect_eq(dist_now_ns(group), MS);
	return leave(group, error);
}

static char *captured_stderr(void)
{
	static char text[4096];
	FILE *err = cr_get_redirected_stderr();
	size_t n;

	fflush(stderr);
	n = fread(text, 1, sizeof text - 1, err);
	text[n] = '\0';
	return text;
}

Test(p2p, any_source_without_a_sender_left_names_them_all)
{
	const char *text;

	cr_redirect_stderr();
	cr_assert_eq(simulate(NULL, 4, nobody_speaks, NULL),
		     DIST_EXIT_DEADLOCK);
	text = captured_stderr();
	cr_expect(strstr(text, "recv(any source, tag 0, float32, 1)"), "%s",
		  text);
	cr_expect(strstr(text,
			 "for one of ranks 1-3 (3), of which rank 1 waits "
			 "in recv"),
		  "%s", text);
	cr_expect(strstr(text, "for rank 0: a cycle"), "%s", text);
}

/* Of ranks 1 and 3, a group of their own: rank 0 of it hears rank 1 of it, and
 * not what rank 0 of the job sends with the same tag. */
static int in_a_group(void *arg)
{
	const int members[2] = {1, 3};
	struct dist_group *group = join(), *sub = NULL;
	int rank = dist_get_rank(group), src = -1;
	float x = (float)rank;

	(void)arg;
	cr_expect_eq(dist_new_group(group, members, 2, NULL, &sub), DIST_OK);
	if (rank == 0)
		cr_expect_eq(dist_send(group, floats(&x, 1), 1, 0), DIST_OK);
	if (rank == 3)
		cr_expect_eq(dist_send(sub, floats(&x, 1), 0, 0), DIST_OK);
	if (rank == 1) {
		cr_expect_eq(dist_compute(group, MS, NULL), DIST_OK);
		cr_expect_eq(dist_recv_any(sub, floats(&x, 1), 0, &src), 0);
		cr_expect_eq(src, 1);
		cr_expect_eq(x, 3);
		cr_expect_eq(dist_recv_any(group, floats(&x, 1), 0, &src), 0);
		cr_expect_eq(src, 0);
		cr_expect_eq(x, 0);
	}
	if (sub)
		cr_expect_eq(dist_destroy_process_group(sub), DIST_OK);
	return leave(group, DIST_OK);
}

Test(p2p, any_source_is_any_of_the_group)
{
	cr_assert_eq(simulate("buffered", 4, in_a_group, NULL), 0);
}

/* Rank 3 aborts: the receive from any source hears of it at once. */
static int one_aborts(void *arg)
{
	struct dist_group *group = join();
	int rank = dist_get_rank(group), src = 4711;
	float x = 0;

	(void)arg;
	if (rank == 0) {
		cr_expect_eq(dist_recv_any(group, floats(&x, 1), 0, &src),
			     DIST_ERR_PEER_LOST);
		cr_expect_eq(dist_now_ns(group), MS);
		cr_expect_eq(src, 4711);
	} else if (rank == 3) {
		cr_expect_eq(dist_compute(group, MS, NULL), 0);
		dist_abort(group);
	} else {
		cr_expect_eq(dist_compute(group, 2 * MS, NULL), 0);
	}
	(void)dist_destroy_process_group(group);
	return 0;
}

Test(p2p, any_source_fails_when_one_aborts)
{
	cr_assert_eq(simulate(NULL, 4, one_aborts, NULL), 0);
}

/* ---- what goes wrong -------------------------------------------------- */

/* Rank 0's message is longer than rank 1 expects. */
static int disagree(void *arg)
{
	bool any = *(bool *)arg;
	struct dist_group *group = join();
	enum dist_error error = DIST_OK;
	float data[2] = {0};

	if (dist_get_rank(group) == 0) {
		(void)!dist_send(group, floats(data, 2), 1, 0);
	} else {
		cr_expect_eq(dist_compute(group, MS, NULL), 0);
		error = dist_recv(group, floats(data, 1),
				  any ? DIST_ANY_SOURCE : 0, 0);
		cr_expect_eq(error, DIST_ERR_MISMATCH);
	}
	(void)dist_destroy_process_group(group);
	return error != DIST_OK;
}

static void expect_disagreement(const char *mode, bool any)
{
	const char *text;

	cr_redirect_stderr();
	cr_assert_eq(simulate(mode, 2, disagree, &any), DIST_EXIT_MISMATCH);
	text = captured_stderr();
	cr_expect(strstr(text, any ? "rank 1 called recv(any source, tag 0, "
				     "float32, 1)"
				   : "rank 1 called recv(src 0, tag 0, "
				     "float32, 1)"),
		  "%s", text);
	cr_expect(strstr(text, "rank 0 called send(dst 1, tag 0, float32, 2)"),
		  "%s", text);
}

Test(p2p, another_size_is_a_mismatch_in_rendezvous)
{
	expect_disagreement("rendezvous", false);
}

Test(p2p, another_size_is_a_mismatch_when_buffered)
{
	expect_disagreement("buffered", false);
}

Test(p2p, another_size_is_a_mismatch_from_any_source)
{
	expect_disagreement("buffered", true);
}

/* A message of another tag is no answer: a deadlock, buffered or not. */
static int other_tag(void *arg)
{
	struct dist_group *group = join();
	enum dist_error error;
	float x = 0;

	(void)arg;
	if (dist_get_rank(group) == 0)
		error = dist_send(group, floats(&x, 1), 1, 1);
	else
		error = dist_recv(group, floats(&x, 1), 0, 2);
	return leave(group, error);
}

Test(p2p, another_tag_is_a_deadlock_when_buffered)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate("buffered", 2, other_tag, NULL),
		     DIST_EXIT_DEADLOCK);
}

/* Late on both sides, before anything came and while it is on its way. */
static int late(void *arg)
{
	bool under_way = *(bool *)arg;
	struct dist_group *group = join();
	struct dist_work *work;

	if (dist_get_rank(group) == 0) {
		cr_expect_eq(dist_irecv(group, megabyte(), DIST_ANY_SOURCE, 0,
					&work),
			     0);
		cr_expect_eq(dist_work_wait(work, 50 * US), DIST_ERR_TIMEOUT);
		cr_expect_eq(dist_now_ns(group), 50 * US);
		cr_expect_eq(dist_work_source(work), -1);
		dist_work_free(work);
	} else {
		if (!under_way)
			cr_expect_eq(dist_compute(group, MS, NULL), 0);
		cr_expect_eq(dist_send(group, megabyte(), 0, 0),
			     DIST_ERR_PEER_LOST);
	}
	(void)dist_destroy_process_group(group);
	return 1;
}

Test(p2p, late_before_anything_came)
{
	bool under_way = false;

	cr_redirect_stderr();
	cr_assert_eq(simulate("rendezvous", 2, late, &under_way),
		     DIST_EXIT_TIMEOUT);
}

Test(p2p, late_while_it_is_on_its_way)
{
	bool under_way = true;

	cr_redirect_stderr();
	cr_assert_eq(simulate("rendezvous", 2, late, &under_way),
		     DIST_EXIT_TIMEOUT);
}

/* ---- batches ---------------------------------------------------------- */

static void expect_refusal(struct dist_group *group,
			   const struct dist_p2p_op *ops, size_t num,
			   const char *text)
{
	struct dist_work *works[3] = {NULL, NULL, NULL};

	cr_expect_eq(dist_batch_isend_irecv(group, ops, num, works),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_str_eq(dist_error_message(group), text);
	for (size_t i = 0; i < 3; i++)
		cr_expect_null(works[i]);
}

/* A bad op anywhere: nothing is posted, and the group goes on. */
static int refuse_batch(void *arg)
{
	struct dist_group *group = join();
	int rank = dist_get_rank(group), peer = 1 - rank;
	float in = 0, out = (float)rank;
	struct dist_p2p_op ops[3] = {
		{DIST_ISEND, floats(&out, 1), peer, 0},
		{DIST_IRECV, floats(&in, 1), peer, 0},
		{DIST_ISEND, floats(&out, 1), 2, 0},
	};
	struct dist_work *works[3] = {NULL};

	(void)arg;
	expect_refusal(group, ops, 3,
		       "batch_isend_irecv: op 2: send: dst is 2: expected 0 "
		       "to 1, a rank in group default");
	ops[2].kind = (enum dist_p2p_kind)7;
	expect_refusal(group, ops, 3,
		       "batch_isend_irecv: op 2: no kind 7: expected "
		       "DIST_ISEND or DIST_IRECV");
	ops[2] = (struct dist_p2p_op){DIST_ISEND, floats(&out, 1),
				      DIST_ANY_SOURCE, 0};
	expect_refusal(group, ops, 3,
		       "batch_isend_irecv: op 2: send: dst is -1: expected 0 "
		       "to 1, a rank in group default");
	ops[2] = (struct dist_p2p_op){DIST_ISEND, floats(&out, 1), peer, -1};
	expect_refusal(group, ops, 3,
		       "batch_isend_irecv: op 2: send: tag is -1: expected 0 "
		       "to 2147483644");
	ops[2].tag = CHECK_TAG_STORE;
	expect_refusal(group, ops, 3,
		       "batch_isend_irecv: op 2: send: tag is 2147483645: "
		       "expected 0 to 2147483644");
	ops[2] = (struct dist_p2p_op){DIST_IRECV, floats(&in, 1), rank, 0};
	cr_expect_eq(dist_batch_isend_irecv(group, ops, 3, works),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_eq(dist_batch_isend_irecv(group, NULL, 3, works),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_eq(dist_batch_isend_irecv(group, NULL, 0, NULL), DIST_OK);
	cr_expect_eq(dist_batch_isend_irecv(group, ops, 2, works), DIST_OK);
	finish(works[0]);
	finish(works[1]);
	cr_expect_eq(in, (float)peer);
	return leave(group, DIST_OK);
}

Test(p2p, a_batch_is_refused_whole)
{
	cr_assert_eq(simulate(NULL, 2, refuse_batch, NULL), 0);
}

/* Posting fails half way: what had been posted is taken back. */
static int lost_batch(void *arg)
{
	struct dist_group *group = join();
	struct dist_work *works[2] = {NULL, NULL};
	float in = 0, out = 0;
	struct dist_p2p_op ops[2] = {
		{DIST_IRECV, floats(&in, 1), 1, 0},
		{DIST_ISEND, floats(&out, 1), 2, 0},
	};

	(void)arg;
	if (dist_get_rank(group) == 2)
		dist_abort(group);
	cr_expect_eq(dist_compute(group, MS, NULL), 0);
	if (dist_get_rank(group) == 0) {
		cr_expect_eq(dist_batch_isend_irecv(group, ops, 2, works),
			     DIST_ERR_PEER_LOST);
		cr_expect_null(works[0]);
		cr_expect_null(works[1]);
		cr_expect(strstr(dist_error_message(group),
				 "batch_isend_irecv: op 1: send: "),
			  "%s", dist_error_message(group));
		cr_expect_eq(dist_batch_isend_irecv(group, ops, 2, works),
			     DIST_ERR_ABORTED);
	}
	(void)dist_destroy_process_group(group);
	return 0;
}

Test(p2p, a_batch_that_fails_half_way_is_taken_back)
{
	cr_assert_eq(simulate(NULL, 3, lost_batch, NULL), 0);
}

static int alone(void *arg)
{
	struct dist_group *group = join();
	float x = 0;

	(void)arg;
	cr_expect_eq(dist_recv(group, floats(&x, 1), DIST_ANY_SOURCE, 0),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_str_eq(dist_error_message(group),
			 "recv: from any source: there is no other rank in a "
			 "group of 1");
	cr_expect_eq(dist_recv_any(group, floats(&x, 1), 0, NULL),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_eq(dist_work_source(NULL), -1);
	return leave(group, DIST_OK);
}

Test(p2p, alone_there_is_no_source)
{
	cr_assert_eq(simulate(NULL, 1, alone, NULL), 0);
}

Test(p2p, a_mode_that_is_none_is_refused)
{
	cr_redirect_stderr();
	cr_assert_eq(simulate("eager", 1, alone, NULL), DIST_EXIT_USAGE);
	cr_expect_str_eq(captured_stderr(),
			 "lockstep: p2p: expected rendezvous, buffered or "
			 "eager:BYTES, not \"eager\"\n");
}
