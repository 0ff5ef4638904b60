/* A trace of what a recorder keeps: the one that its file holds. */

#include "tests/support/okay.h"
#include "tests/support/recording.h"
#include "trace/events.h"
#include "trace/read.h"

TestSuite(trace_events, .fini = recording_clean);

static void expect_text(const char *got, const char *wanted)
{
	cr_expect_eq(!got, !wanted);
	if (got && wanted)
		cr_expect_str_eq(got, wanted);
}

static void expect_call(const struct dist__trace_call *got,
			const struct dist__trace_call *wanted)
{
	expect_text(got->group, wanted->group);
	expect_text(got->op, wanted->op);
	expect_text(got->dtype, wanted->dtype);
	expect_text(got->reduce_op, wanted->reduce_op);
	expect_text(got->algorithm, wanted->algorithm);
	expect_text(got->file, wanted->file);
	expect_text(got->error, wanted->error);
	cr_expect_eq(got->rank, wanted->rank);
	cr_expect_eq(got->group_size, wanted->group_size);
	cr_expect_eq(got->order, wanted->order);
	cr_expect_eq(got->seq, wanted->seq);
	cr_expect_eq(got->numel, wanted->numel);
	cr_expect_eq(got->bytes, wanted->bytes);
	cr_expect_eq(got->root, wanted->root);
	cr_expect_eq(got->peer, wanted->peer);
	cr_expect_eq(got->tag, wanted->tag);
	cr_expect_eq(got->issued_ns, wanted->issued_ns);
	cr_expect_eq(got->started_ns, wanted->started_ns);
	cr_expect_eq(got->ended_ns, wanted->ended_ns);
	cr_expect_eq(got->line, wanted->line);
	cr_expect_eq(got->thread, wanted->thread);
}

static void expect_span(const struct dist__trace_span *got,
			const struct dist__trace_span *wanted)
{
	expect_text(got->label, wanted->label);
	cr_expect_eq(got->rank, wanted->rank);
	cr_expect_eq(got->started_ns, wanted->started_ns);
	cr_expect_eq(got->ended_ns, wanted->ended_ns);
}

static void expect_trace(const struct dist__trace *got,
			 const struct dist__trace *wanted)
{
	expect_text(got->backend, wanted->backend);
	cr_expect_eq(got->world_size, wanted->world_size);
	cr_assert_eq(got->num_facts, wanted->num_facts);
	for (size_t i = 0; i < got->num_facts; i++) {
		expect_text(got->facts[i].key, wanted->facts[i].key);
		expect_text(got->facts[i].value, wanted->facts[i].value);
	}
	cr_assert_eq(got->num_ranks, wanted->num_ranks);
	for (size_t i = 0; i < got->num_ranks; i++)
		cr_expect_eq(got->ranks[i], wanted->ranks[i]);
	cr_assert_eq(got->num_calls, wanted->num_calls, "%zu, not %zu",
		     got->num_calls, wanted->num_calls);
	for (size_t i = 0; i < got->num_calls; i++)
		expect_call(&got->calls[i], &wanted->calls[i]);
	cr_assert_eq(got->num_spans, wanted->num_spans);
	for (size_t i = 0; i < got->num_spans; i++)
		expect_span(&got->spans[i], &wanted->spans[i]);
}

/* One op of every kind, some of them in flight at the same time. */
static void record_all(struct recording *r)
{
	static const struct dist_tensor parts[] = {{NULL, 3, DIST_FLOAT64},
						   {NULL, 4, DIST_FLOAT64}};
	struct dist__sides list = {.in = {.count = 2, .list = parts},
				   .out = {.count = 2, .list = parts}};
	struct dist__sides one = {
		.in = {.count = 2, .whole = {NULL, 10, DIST_FLOAT64}},
		.out = {.count = 2, .whole = {NULL, 10, DIST_FLOAT64}}};

	recording_compute(r, 1, 2345, "forward");
	for (int kind = 0; kind < DIST__OP_KINDS; kind++) {
		struct dist__op op = {.kind = (enum dist__op_kind)kind,
				      .tensor = {NULL, 5, DIST_FLOAT64},
				      .sides = &one,
				      .reduce_op = DIST_MAX,
				      .site = {"a.c", 7},
				      .peer = 1,
				      .tag = 3};

		recording_op(r, 0, op);
		op.sides = &list;
		op.site = (struct dist__site){NULL, 0};
		recording_op(r, 0, op);
		if (kind % 3 == 0)
			recording_compute(r, 0, 777, "backward");
	}
	recording_all_reduce(r, 12);
	r->error = DIST_ERR_TIMEOUT;
	recording_all_reduce(r, 13);
}

Test(trace_events, are_those_of_the_file)
{
	struct dist__trace got, wanted;
	struct dist_message message;
	struct recording r;
	char path[128];

	recording_path(path, sizeof path, "t.json");
	recording_start(&r, path, -1, 3);
	record_all(&r);
	okay(dist__recorder_trace(r.recorder, &got));
	recording_finish(&r);
	okay_or(dist__trace_read(path, &wanted, &message), message);
	expect_trace(&got, &wanted);
	dist__trace_release(&got);
	dist__trace_release(&wanted);
}

Test(trace_events, without_any_there_is_an_empty_trace)
{
	struct dist__trace trace;
	struct recording r;

	recording_start(&r, NULL, -1, 2);
	okay(dist__recorder_trace(r.recorder, &trace));
	cr_expect_eq(trace.num_ranks, 2);
	cr_expect_eq(trace.num_calls, 0);
	dist__trace_release(&trace);
	recording_finish(&r);
}
