/* Predicted against measured: order first, then time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/recording.h"
#include "cli/comparison.h"
#include "trace/compare.h"
#include "trace/read.h"
#include "trace/recorder.h"
#include "base/statistics.h"
#include "tests/support/okay.h"

TestSuite(compare, .fini = recording_clean);

#define BROADCAST(root)                                                        \
	{                                                                      \
		.kind = DIST__BROADCAST, .tensor = {NULL, 8, DIST_FLOAT32},    \
		.peer = (root), .tag = -1, .site = {                           \
			"p.c",                                                 \
			1                                                      \
		}                                                              \
	}
#define ALL_REDUCE(numel, dtype, op)                                           \
	{                                                                      \
		.kind = DIST__ALL_REDUCE, .tensor = {NULL, numel, dtype},      \
		.reduce_op = (op), .peer = -1, .tag = -1, .site = {            \
			"p.c",                                                 \
			2                                                      \
		}                                                              \
	}

/* Two ranks that broadcast, all-reduce and exchange a message. */
static const struct dist__op step[] = {
	BROADCAST(0),
	ALL_REDUCE(8, DIST_FLOAT32, DIST_SUM),
	{.kind = DIST__BARRIER, .peer = -1, .tag = -1, .site = {"p.c", 3}},
};

#define STEP_CALLS (sizeof step / sizeof *step)

/* One of the step's calls, as rank 1 makes it, is replaced. */
struct change {
	int call; /* -1: none; STEP_CALLS: the message */
	struct dist__op op;
	int64_t duration_ns;
	bool drop;
};

static void record(struct dist__trace *trace, const struct change *change)
{
	struct dist__op message = {.kind = DIST__SEND,
				   .tensor = {NULL, 4, DIST_INT32},
				   .peer = 1,
				   .tag = 5,
				   .site = {"p.c", 4}};
	struct dist_message text = {""};
	struct recording r;
	char path[128];

	recording_path(path, sizeof path, "t.json");
	recording_start(&r, path, -1, 2);
	r.duration_ns = change->duration_ns;
	for (size_t i = 0; i < STEP_CALLS; i++) {
		recording_op(&r, 0, step[i]);
		if (change->call != (int)i)
			recording_op(&r, 1, step[i]);
		else if (!change->drop)
			recording_op(&r, 1, change->op);
		r.now_ns += r.duration_ns;
	}
	recording_op(&r, 0, message);
	message.kind = DIST__RECV;
	message.peer = 0;
	recording_op(&r, 1,
		     change->call == (int)STEP_CALLS ? change->op : message);
	recording_compute(&r, 0, 10 * r.duration_ns, "backward");
	recording_finish(&r);
	okay_or(dist__trace_read(path, trace, &text), text);
}

/* What a test compares. */
static struct dist__trace p, m;
static struct dist__comparison c;

static void release(void)
{
	dist__comparison_release(&c);
	dist__trace_release(&p);
	dist__trace_release(&m);
}

Test(compare, finds_what_differs)
{
	static const struct {
		struct change change;
		const char *expected[4];
	} cases[] = {
		{{1, .op = BROADCAST(0)},
		 {"rank 1, group 0, call 1",
		  "predicted all_reduce(float32 x 8, sum) at p.c:2",
		  "measured broadcast(float32 x 8, root 0) at p.c:1"}},
		{{1, .op = ALL_REDUCE(8, DIST_INT32, DIST_SUM)},
		 {"rank 1", "call 1", "int32 x 8"}},
		{{1, .op = ALL_REDUCE(9, DIST_FLOAT32, DIST_SUM)},
		 {"rank 1", "call 1", "float32 x 9"}},
		{{1, .op = ALL_REDUCE(8, DIST_FLOAT32, DIST_MAX)},
		 {"rank 1", "call 1", ", max)"}},
		{{0, .op = BROADCAST(1)}, {"rank 1", "call 0", "root 1"}},
		{{STEP_CALLS, .op = {.kind = DIST__RECV,
				     .tensor = {NULL, 4, DIST_INT32},
				     .tag = 6}},
		 {"rank 1", "call 3", "recv(int32 x 4, from 0, tag 6)"}},
		{{2, .drop = true},
		 {"rank 1", "call 2", "predicted barrier()", "measured recv"}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct change change = cases[i].change;

		change.duration_ns = 1000;
		record(&p, &(struct change){.call = -1, .duration_ns = 1000});
		record(&m, &change);
		okay(dist__compare(&p, &m, &c));
		cr_assert_not(c.comparable);
		for (int k = 0; k < 4 && cases[i].expected[k]; k++)
			cr_expect(strstr(c.reason, cases[i].expected[k]),
				  "expected \"%s\" in: %s",
				  cases[i].expected[k], c.reason);
		release();
	}
}

/* A trace of world_size ranks that all-reduce num_calls times. */
static void record_reduces(struct dist__trace *trace, int world_size, int part,
			   int num_calls)
{
	struct dist_message text = {""};
	struct recording r;
	char path[128];

	recording_path(path, sizeof path, "t.json");
	recording_start(&r, path, part, world_size);
	for (int i = 0; i < num_calls; i++)
		recording_all_reduce(&r, 4);
	recording_finish(&r);
	if (part >= 0)
		okay(dist__recorder_merge(path, world_size, 0, &text));
	okay_or(dist__trace_read(path, trace, &text), text);
}

static void compare_reduces(const char *expected)
{
	okay(dist__compare(&p, &m, &c));
	cr_assert_not(c.comparable);
	cr_assert(strstr(c.reason, expected), "expected \"%s\" in: %s",
		  expected, c.reason);
	release();
}

Test(compare, finds_calls_at_the_end_of_one_trace)
{
	record_reduces(&p, 2, -1, 2);
	record_reduces(&m, 2, -1, 3);
	compare_reduces("rank 0, group 0, call 2: predicted nothing");
	record_reduces(&p, 2, -1, 3);
	record_reduces(&m, 2, -1, 2);
	compare_reduces("measured nothing");
}

Test(compare, finds_another_world)
{
	record_reduces(&p, 2, -1, 1);
	record_reduces(&m, 3, -1, 1);
	compare_reduces("world sizes differ: predicted 2, measured 3");
}

Test(compare, finds_a_missing_rank)
{
	record_reduces(&p, 2, -1, 1);
	record_reduces(&m, 2, 1, 1);
	compare_reduces("measured trace tells nothing of rank 0");
}

/* ---- times ------------------------------------------------------------ */

static void compare_durations(int64_t predicted_ns, int64_t measured_ns)
{
	const struct change predicted = {.call = -1,
					 .duration_ns = predicted_ns};
	const struct change measured = {.call = -1, .duration_ns = measured_ns};

	record(&p, &predicted);
	record(&m, &measured);
	okay(dist__compare(&p, &m, &c));
	cr_assert(c.comparable, "%s", c.reason);
}

Test(compare, tells_ratio_and_error)
{
	compare_durations(1200, 1000);
	cr_assert_eq(c.num_rows, 4);
	cr_assert_str_eq(c.rows[0].predicted->op, "all_reduce");
	cr_assert_str_eq(c.rows[3].predicted->op, "recv");
	cr_assert_eq(c.num_calls, 4);
	for (size_t i = 0; i < c.num_rows; i++) {
		cr_assert_eq(c.rows[i].num_calls, 1);
		cr_assert_eq(c.rows[i].time.predicted_ns, 1200);
		cr_assert_eq(c.rows[i].time.measured_ns, 1000);
	}
	cr_assert_float_eq(c.geometric_mean, 1.2, 1e-12);
	cr_assert_float_eq(c.median_error, 0.2, 1e-12);
	cr_assert_float_eq(c.worst_error, 0.2, 1e-12);
	cr_assert_eq(c.num_labels, 1);
	cr_assert_str_eq(c.labels[0].label, "backward");
	cr_assert_float_eq(c.labels[0].time.ratio, 1.2, 1e-12);
	cr_assert_float_eq(c.wall.ratio, 1.2, 1e-12);
	release();
}

Test(compare, max_error_judges_the_worst_row)
{
	struct comparison_story story = {&p, &m, &c, false, -1};

	compare_durations(1200, 1000);
	cr_assert(comparison_passes(&story), "no limit");
	story.max_error = 0.21;
	cr_assert(comparison_passes(&story));
	story.max_error = 0.19;
	cr_assert_not(comparison_passes(&story));
	release();
}

Test(compare, a_measured_zero_is_infinitely_wrong)
{
	struct comparison_story story = {&p, &m, &c, false, 1e9};

	compare_durations(1200, 0);
	cr_assert(isinf(c.worst_error));
	cr_assert_eq(c.num_ratios, 0);
	cr_assert_not(comparison_passes(&story));
	release();
	compare_durations(0, 0);
	cr_assert_eq(c.worst_error, 0);
	release();
}

/* Ends the recording, and compares its trace with itself. */
static void compare_itself(struct recording *r, const char *path)
{
	struct dist_message text = {""};

	recording_finish(r);
	okay_or(dist__trace_read(path, &p, &text), text);
	okay(dist__compare(&p, &p, &c));
}

/* A collective lasts from the last entry to the last exit. */
Test(compare, collective_starts_with_its_last_rank)
{
	const int64_t entry_ns[] = {0, 400, 100}, length_ns[] = {900, 200, 600};
	struct recording r;
	char path[128];

	recording_path(path, sizeof path, "t.json");
	recording_start(&r, path, -1, 3);
	for (int rank = 0; rank < 3; rank++) {
		r.now_ns = 1000 + entry_ns[rank];
		r.duration_ns = length_ns[rank];
		recording_op(&r, rank, step[2]);
	}
	compare_itself(&r, path);
	cr_assert_eq(c.num_calls, 1);
	cr_assert_eq(c.calls[0].time.measured_ns, 900 - 400);
	release();
}

/* Five calls of one size: median and spread of the measured times. */
Test(compare, row_tells_the_spread)
{
	const int64_t times_ns[] = {500, 100, 300, 200, 400};
	struct recording r;
	char path[128];

	recording_path(path, sizeof path, "t.json");
	recording_start(&r, path, -1, 2);
	for (size_t i = 0; i < 5; i++) {
		r.duration_ns = times_ns[i];
		recording_all_reduce(&r, 4);
	}
	compare_itself(&r, path);
	cr_assert_eq(c.num_rows, 1);
	cr_assert_eq(c.rows[0].num_calls, 5);
	cr_assert_eq(c.rows[0].time.measured_ns, 300);
	cr_assert_eq(c.rows[0].measured_min_ns, 100);
	cr_assert_eq(c.rows[0].measured_p25_ns, 200);
	cr_assert_eq(c.rows[0].measured_p75_ns, 400);
	cr_assert_eq(c.rows[0].measured_max_ns, 500);
	release();
}

Test(compare, failed_calls_have_no_time)
{
	struct dist__op op = step[2];
	struct recording r;
	char path[128];

	recording_path(path, sizeof path, "t.json");
	recording_start(&r, path, -1, 1);
	r.error = DIST_ERR_TIMEOUT;
	cr_assert_eq(r.ranks[0]->ops->run(r.ranks[0], &op), DIST_ERR_TIMEOUT);
	compare_itself(&r, path);
	cr_assert(c.comparable);
	cr_assert_eq(c.num_failed, 1);
	cr_assert_eq(c.num_rows, 0);
	release();
}

Test(compare, quantiles_interpolate)
{
	double numbers[] = {4, 1, 3, 2};

	dist__sort_numbers(numbers, 4);
	cr_assert_eq(dist__quantile(numbers, 4, 0), 1);
	cr_assert_eq(dist__quantile(numbers, 4, 1), 4);
	cr_assert_eq(dist__quantile(numbers, 4, 0.5), 2.5);
	cr_assert_float_eq(dist__quantile(numbers, 4, 0.25), 1.75, 1e-12);
	cr_assert_eq(dist__quantile(numbers, 1, 0.9), 1);
}
