/* A call that is like one before to the last argument is not looked into again;
 * one that only looks like it is. Ranks make their calls by one line. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "check/record.h"
#include "core/backend.h"
#include "lockstep/dist.h"

/* One call of a row, and what comes of it on 2 ranks that put in 1 and 2. */
struct row_call {
	enum dist_dtype dtype;
	size_t offset, numel; /* of the tensor in memory, in elements */
	enum dist_reduce_op op;
	int root;      /* of broadcasts; -1: an all-reduce */
	int32_t gives; /* 0: it is refused; checked of int32 alone */
};

static const struct row_call row[] = {
	{DIST_INT32, 0, 4, DIST_SUM, -1, 3},
	{DIST_INT32, 0, 4, DIST_SUM, -1, 3},
	{DIST_INT32, 0, 4, DIST_MAX, -1, 2},
	{DIST_INT32, 0, 3, DIST_MAX, -1, 2},
	{DIST_INT32, 1, 3, DIST_MAX, -1, 2},
	{DIST_INT8, 1, 3, DIST_MAX, -1, 2},
	{DIST_FLOAT32, 1, 3, DIST_MAX, -1, 2},
	{DIST_FLOAT32, 1, 3, DIST_BAND, -1, 0},
	{DIST_FLOAT32, 1, 3, DIST_MAX, -1, 2},
	{DIST_INT32, 0, 4, DIST_SUM, 0, 1},
	{DIST_INT32, 0, 4, DIST_SUM, 1, 2},
	{DIST_INT32, 0, 4, DIST_SUM, 2, 0},
	{DIST_INT32, 0, 4, DIST_SUM, 1, 2},
	{DIST_INT32, 0, 4, DIST_PREMUL_SUM, -1, 0},
	{DIST_INT32, 0, PTRDIFF_MAX, DIST_SUM, -1, 0},
};

/* By the line that it stands in. */
#define CALL(group, c, tensor)                                                 \
	((c)->root < 0 ? dist_all_reduce(group, tensor, (c)->op, NULL)         \
		       : dist_broadcast(group, tensor, (c)->root, NULL))

/* Makes c; returns whether another thing comes of it. */
static int is_wrong(struct dist_group *group, const struct row_call *c)
{
	int32_t memory[8];
	enum dist_error error;
	bool good;

	for (int i = 0; i < 8; i++)
		memory[i] = dist_get_rank(group) + 1;
	error = CALL(group, c,
		     dist_tensor(memory + c->offset, c->numel, c->dtype));
	good = c->gives ? error == DIST_OK : error == DIST_ERR_INVALID_ARGUMENT;
	if (good && c->gives && c->dtype == DIST_INT32)
		good = memory[c->offset] == c->gives;
	if (!good)
		fprintf(stderr, "%s of %zu: %s\n", dist_dtype_name(c->dtype),
			c->numel, dist_error_message(group));
	return !good;
}

static int row_rank(void *arg)
{
	struct dist_group *group;
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	for (int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
			wrong += is_wrong(group, &row[i]);
	if (dist_destroy_process_group(group))
		return 1;
	return wrong;
}

static const struct dist_launch_options two_ranks = {.backend = "tcp",
						     .world_size = 2};

Test(known, calls_by_one_line_are_told_apart)
{
	cr_assert_eq(dist_launch(&two_ranks, row_rank, NULL), DIST_EXIT_OK);
}

/* What lies in a list may change where the list does not. */
static int lists_rank(void *arg)
{
	struct dist_group *group;
	float in = 1, memory[4];
	struct dist_tensor out[2] = {dist_tensor(memory, 1, DIST_FLOAT32),
				     dist_tensor(memory + 1, 1, DIST_FLOAT32)};
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	for (int i = 0; i < 8; i++) {
		enum dist_error expected =
			i == 2 ? DIST_ERR_INVALID_ARGUMENT : DIST_OK;
		float *last = memory + 1 + i % 3;

		*last = 0;
		out[1] = dist_tensor(last, 1,
				     i == 2 ? DIST_INT32 : DIST_FLOAT32);
		wrong += dist_all_gather(group, out,
					 dist_tensor(&in, 1, DIST_FLOAT32),
					 NULL) != expected;
		wrong += (*last == 1) != (expected == DIST_OK);
	}
	if (dist_destroy_process_group(group))
		return 1;
	return wrong;
}

Test(known, lists_are_told_apart_by_what_they_hold)
{
	cr_assert_eq(dist_launch(&two_ranks, lists_rank, NULL), DIST_EXIT_OK);
}

/* ---- where the program was ----------------------------------------------- */

/* One line of a library, called again and again from lines of a program. */
static int from_rank(void *arg)
{
	static const int lines[] = {12, 12, 13, 41, 12};
	const struct check_slot *slot;
	struct dist_group *group;
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	slot = dist__records_here();
	for (int i = 0; i < 5; i++) {
		bool itself = lines[i] == 41;
		const struct check_call *call = &slot->ring[i];

		wrong += (dist_barrier)(dist_at_from(group, "model.py", 41,
						     itself ? "model.py"
							    : "train.py",
						     lines[i]),
					NULL) != DIST_OK;
		wrong += call->site.line != 41 ||
			 call->from.line != (itself ? 0 : lines[i]) ||
			 strcmp(call->from.file, itself ? "" : "train.py") != 0;
	}
	/* The next call has none but its own. */
	wrong += dist_barrier(group, NULL) != DIST_OK;
	wrong += slot->ring[5].from.file[0] != '\0';
	return dist_destroy_process_group(group) != DIST_OK || wrong;
}

Test(known, the_line_that_led_there_is_written_down)
{
	cr_assert_eq(dist_launch(&two_ranks, from_rank, NULL), DIST_EXIT_OK);
}

/* ---- what the records hold ----------------------------------------------- */

/* A reduction, a barrier or, by a handle, a broadcast; stores its line. */
static enum dist_error make_call(struct dist_group *group, int kind, int *line)
{
	static float data[4];
	const struct dist_tensor tensor = dist_tensor(data, 4, DIST_FLOAT32);
	struct dist_work *work = NULL;
	enum dist_error error;

	if (kind == 0) {
		*line = __LINE__ + 1;
		return dist_all_reduce(group, tensor, DIST_MAX, NULL);
	}
	if (kind == 1) {
		*line = __LINE__ + 1;
		return dist_barrier(group, NULL);
	}
	*line = __LINE__ + 1;
	error = dist_broadcast(group, tensor, 1, &work);
	return error ? error : dist_work_wait(work, DIST_TIMEOUT_NEVER);
}

static bool is_written(const struct check_call *call, int kind, int line,
		       uint32_t index)
{
	static const char *const ops[] = {"all_reduce", "barrier", "broadcast"};

	return strcmp(call->op, ops[kind]) == 0 && call->index == index &&
	       strcmp(call->reduce_op, kind == 0 ? "max" : "") == 0 &&
	       call->numel == (kind == 1 ? 0 : 4) && call->tag == -1 &&
	       call->peer == (kind == 2 ? 1 : -1) && call->source == -1 &&
	       call->state == CHECK_CALL_DONE && call->held == 0 &&
	       call->error == 0 && call->issued_ns > 0 &&
	       call->ended_ns >= call->issued_ns && call->site.line == line;
}

/* Goes round the ring, now with the call that stood there before, now with
 * another one. */
static int records_rank(void *arg)
{
	const struct check_slot *slot;
	struct dist_group *group;
	int wrong = 0, line;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	slot = dist__records_here();
	for (int i = 0; i < 8 * CHECK_RING; i++) {
		int kind = (i + i / (3 * CHECK_RING)) % 32 / 8 % 3;
		const struct check_call *call =
			&slot->ring[slot->calls % CHECK_RING];

		wrong += make_call(group, kind, &line) != DIST_OK;
		wrong += call->number != slot->calls ||
			 !is_written(call, kind, line, (uint32_t)i);
	}
	return dist_destroy_process_group(group) != DIST_OK || wrong;
}

Test(known, each_call_stands_in_the_records_as_a_whole)
{
	cr_assert_eq(dist_launch(&two_ranks, records_rank, NULL), DIST_EXIT_OK);
}
