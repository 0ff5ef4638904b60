/* The order of sync points: from a trace to a text and back, and compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/okay.h"
#include "trace/points.h"

/* Rank calls op, with numel elements, on group. */
static struct dist__trace_call call(int rank, const char *group, const char *op,
				    int64_t numel)
{
	return (struct dist__trace_call){.rank = rank,
					 .group = group,
					 .op = op,
					 .dtype = "float32",
					 .numel = numel,
					 .root = -1,
					 .peer = -1,
					 .tag = -1,
					 .file = "src/train.c",
					 .line = 10 + rank};
}

static struct dist__points points_of(struct dist__trace_call *calls, size_t num)
{
	const struct dist__trace trace = {.calls = calls, .num_calls = num};
	struct dist__points points;

	okay(dist__points_of(&trace, &points));
	return points;
}

static char *print(const struct dist__points *points)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	dist__points_print(out, points);
	fclose(out);
	return text;
}

/* Reads text as a file would be. */
static enum dist_error read_text(const char *text, struct dist__points *points,
				 struct dist_message *message)
{
	char path[] = "/tmp/points-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	enum dist_error error;

	cr_assert(file);
	fputs(text, file);
	fclose(file);
	error = dist__points_read(path, points, message);
	unlink(path);
	return error;
}

/* What is said of got where text was expected. */
static char *difference(const char *text, const struct dist__points *got)
{
	struct dist_message message;
	struct dist__points expected;
	char *said = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&said, &len);
	bool differs;

	okay(read_text(text, &expected, &message));
	differs = dist__points_compare(out, "order", &expected, got);
	fclose(out);
	cr_expect_eq(differs, len > 0);
	dist__points_release(&expected);
	return said;
}

#define THREE_RANKS                                                            \
	"group default, ranks 0,2\n"                                           \
	"  2 x all_reduce(float32 x 4) in train.c\n"                           \
	"group dp, ranks 0-2\n"                                                \
	"  all_to_all() in train.c\n"                                          \
	"group default, ranks 1\n"                                             \
	"  all_reduce(float32 x 4) in train.c\n"                               \
	"  broadcast(float32 x 4) in train.c\n"

static struct dist__points three_ranks(struct dist__trace_call calls[10])
{
	const struct dist__trace_call all[10] = {
		call(0, "0", "all_reduce", 4),  call(0, "0", "send", 1),
		call(0, "0", "all_reduce", 4),  call(0, "dp", "all_to_all", 7),
		call(1, "0", "all_reduce", 4),  call(1, "0", "broadcast", 4),
		call(1, "dp", "all_to_all", 9), call(2, "0", "all_reduce", 4),
		call(2, "0", "all_reduce", 4),  call(2, "dp", "all_to_all", 8)};

	memcpy(calls, all, sizeof all);
	return points_of(calls, 10);
}

Test(points, equal_ranks_share_a_block_and_equal_calls_a_line)
{
	struct dist__trace_call calls[10];
	struct dist__points points = three_ranks(calls);
	char *text = print(&points);

	cr_expect_str_eq(text, THREE_RANKS);
	free(text);
	dist__points_release(&points);
}

Test(points, what_was_recorded_is_no_difference)
{
	struct dist__trace_call calls[10];
	struct dist__points points = three_ranks(calls);
	char *said = difference("# by hand\n\n" THREE_RANKS, &points);

	cr_expect_str_eq(said, "");
	free(said);
	dist__points_release(&points);
}

/* Every other rank: a line longer than any buffer. */
Test(points, a_block_may_name_many_ranks)
{
	enum { RANKS = 1024 };
	struct dist__trace_call calls[RANKS];
	struct dist__points points;
	char *text, *said;

	for (int rank = 0; rank < RANKS; rank++)
		calls[rank] =
			call(rank, "0", rank % 2 ? "barrier" : "all_reduce", 4);
	points = points_of(calls, RANKS);
	text = print(&points);
	said = difference(text, &points);
	cr_expect_str_eq(said, "");
	free(said);
	free(text);
	dist__points_release(&points);
}

static void expect_difference(const char *text, const char *words)
{
	struct dist__trace_call calls[] = {call(0, "0", "barrier", 0),
					   call(1, "0", "barrier", 0)};
	struct dist__points got = points_of(calls, 2);
	char *said = difference(text, &got);

	cr_expect(strstr(said, words), "%s", said);
	free(said);
	dist__points_release(&got);
}

Test(points, a_difference_has_rank_and_index_and_both_sides)
{
	expect_difference("group default, ranks 0-1\n  barrier()\n",
			  "rank 0, #0 of group default: expected barrier() "
			  "(order:2), got barrier() in train.c at line 10\n"
			  "  ranks and groups that differ besides: 1\n");
	expect_difference("group default, ranks 0-1\n"
			  "  2 x barrier() in train.c\n",
			  "#1 of group default: expected barrier() in train.c "
			  "(order:2), got no more\n");
	expect_difference("group default, ranks 0\n  barrier() in train.c\n",
			  "rank 1, #0 of group default: expected no more, got "
			  "barrier() in train.c at line 11\n");
	expect_difference("group default, ranks 0-1\n  barrier() in train.c\n"
			  "group dp, ranks 1\n  barrier() in train.c\n",
			  "rank 1, #0 of group dp: expected barrier() in "
			  "train.c (order:4), got no more\n");
}

Test(points, a_line_that_is_neither_is_refused)
{
	const char *bad[] = {"barrier()\n",
			     "  barrier()\n",
			     "group default\n",
			     "group default, ranks\n",
			     "group default, ranks x\n",
			     "group default, ranks 0-\n",
			     "group default, ranks 0;1\n",
			     "group default, ranks 0-99999999\n",
			     "group default, ranks 0\n  2 y barrier()\n",
			     "group default, ranks 0\n  99999999 x b()\n",
			     "group default, ranks 0\n  0 x barrier()\n",
			     "group default, ranks 0\n  -1 x barrier()\n",
			     "group default, ranks 1-0\n  barrier()\n",
			     "no collectives\ngroup default, ranks 0\n  b()\n",
			     "# cut off\n",
			     ""};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct dist_message message = {""};
		struct dist__points points;

		cr_expect_eq(read_text(bad[i], &points, &message),
			     DIST_ERR_INVALID_ARGUMENT, "%s", bad[i]);
		cr_expect(strstr(message.text, ": expected \"group NAME"), "%s",
			  message.text);
		dist__points_release(&points);
	}
}

static void expect_refusal(const char *text, const char *words)
{
	struct dist_message message = {""};
	struct dist__points points;

	cr_expect_eq(read_text(text, &points, &message),
		     DIST_ERR_INVALID_ARGUMENT, "%s", text);
	cr_expect(strstr(message.text, words), "%s", message.text);
	dist__points_release(&points);
}

/* A file that lacks its end, or has it twice, is not one of fewer calls. */
Test(points, a_block_without_calls_or_twice_is_refused)
{
	expect_refusal("group default, ranks 0-1\n",
		       ":1: expected, indented, a call");
	expect_refusal("group a, ranks 0\ngroup b, ranks 0\n  b()\n",
		       ":2: expected, indented, a call");
	expect_refusal("group a, ranks 0-1\n  b()\ngroup a, ranks 1\n  b()\n",
		       ":3: a rank stands there twice");
}

Test(points, no_collectives_are_a_line)
{
	struct dist__points points = points_of(NULL, 0);
	char *text = print(&points), *said = difference(text, &points);

	cr_expect_str_eq(text, "no collectives\n");
	cr_expect_str_eq(said, "");
	free(said);
	free(text);
	dist__points_release(&points);
	expect_difference("no collectives\n",
			  "#0 of group default: expected no more, got barrier");
}

/* Reads the same call of so many ranks and holds it against itself; returns the
 * processor time. */
static double seconds_of(int ranks)
{
	struct dist_message message = {""};
	struct dist__points points;
	clock_t began = clock();
	char text[64], *said;

	snprintf(text, sizeof text, "group a, ranks 0-%d\n  b()\n", ranks - 1);
	okay(read_text(text, &points, &message));
	cr_expect_eq(points.num, (size_t)ranks);
	said = difference(text, &points);
	cr_expect_str_eq(said, "");
	free(said);
	dist__points_release(&points);
	return (double)(clock() - began) / CLOCKS_PER_SEC;
}

/* Eight times as many ranks take 64 times as long where each looks at all. */
Test(points, many_ranks_take_time_in_proportion)
{
	double few = seconds_of(25000), many = seconds_of(200000);

	cr_expect_lt(many, 32 * few, "%g s, then %g s", few, many);
}
