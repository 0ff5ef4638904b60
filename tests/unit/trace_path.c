/* The critical path of traces whose reasons are known. */

#include "tests/support/okay.h"
#include "trace/path.h"

#define MS        INT64_C(1000000)
#define MOST      8
#define COUNT(of) (sizeof(of) / sizeof((of)[0]))

struct story {
	struct dist__trace_call calls[MOST];
	size_t num_calls;
	struct dist__trace_span spans[MOST];
	size_t num_spans;
	int ranks[3];
	struct dist__trace trace;
};

/* What a leg is expected to be; times in ms. */
struct expected {
	enum dist__leg_kind kind;
	int rank;
	int from, to;
	bool queued;
};

static void span(struct story *s, int rank, const char *label, int from, int to)
{
	s->spans[s->num_spans++] = (struct dist__trace_span){
		rank, label, from * MS, to * MS, false};
}

static struct dist__trace_call *call(struct story *s, int rank, const char *op,
				     int issued, int started, int ended)
{
	struct dist__trace_call *c = &s->calls[s->num_calls++];

	*c = (struct dist__trace_call){.rank = rank,
				       .group = "0",
				       .op = op,
				       .root = -1,
				       .peer = -1,
				       .tag = -1,
				       .issued_ns = issued * MS,
				       .started_ns = started * MS,
				       .ended_ns = ended * MS};
	return c;
}

static void expect(struct story *s, int from, const struct expected *expected,
		   size_t num)
{
	struct dist__path path;

	s->trace = (struct dist__trace){.calls = s->calls,
					.num_calls = s->num_calls,
					.spans = s->spans,
					.num_spans = s->num_spans,
					.ranks = s->ranks,
					.num_ranks = COUNT(s->ranks)};
	okay(dist__trace_order(&s->trace));
	okay(dist__path_find(&s->trace, from * MS, INT64_MAX, &path));
	cr_assert_eq(path.num_legs, num, "%zu legs", path.num_legs);
	for (size_t i = 0; i < num; i++) {
		const struct dist__leg *leg = &path.legs[i];

		cr_assert_eq(leg->kind, expected[i].kind, "leg %zu", i);
		cr_assert_eq(leg->rank, expected[i].rank, "leg %zu", i);
		cr_assert_eq(leg->started_ns, expected[i].from * MS, "leg %zu",
			     i);
		cr_assert_eq(leg->ended_ns, expected[i].to * MS, "leg %zu", i);
		cr_assert_eq(leg->queued, expected[i].queued, "leg %zu", i);
	}
	dist__path_release(&path);
}

/* Rank 1 computes longest; what the others do meanwhile is not on the path. */
Test(path, goes_by_the_late_rank)
{
	struct story s = {.ranks = {0, 1, 2}};
	const struct expected expected[] = {
		{DIST__LEG_COMPUTE, 1, 0, 9, false},
		{DIST__LEG_MOVE, 1, 9, 12, false},
		{DIST__LEG_COMPUTE, 0, 12, 13, false},
	};

	span(&s, 0, "forward", 0, 4);
	span(&s, 1, "forward", 0, 4);
	span(&s, 1, "forward", 4, 9);
	span(&s, 2, "forward", 0, 5);
	for (int rank = 0; rank < 3; rank++)
		call(&s, rank, "all_reduce", rank == 1 ? 9 : 4 + rank / 2,
		     rank == 1 ? 9 : 4 + rank / 2, 12);
	span(&s, 0, "optimizer", 12, 13);
	expect(&s, 0, expected, COUNT(expected));
}

/* The second was issued while the first was under way, and the rank computed
 * on: the path follows the queue and not the computing. */
Test(path, follows_a_queue_to_its_head)
{
	struct story s = {.ranks = {0, 1, 2}};
	const struct expected expected[] = {
		{DIST__LEG_COMPUTE, 0, 0, 2, false},
		{DIST__LEG_MOVE, 0, 2, 10, false},
		{DIST__LEG_MOVE, 0, 10, 15, true},
		{DIST__LEG_OTHER, 0, 15, 16, false},
		{DIST__LEG_COMPUTE, 0, 16, 17, false},
	};

	for (int rank = 0; rank < 2; rank++) {
		span(&s, rank, "backward", 0, 2);
		call(&s, rank, "all_reduce", 2, 2, 10);
		call(&s, rank, "all_reduce", 4, 10, 15);
	}
	span(&s, 0, "backward", 2, 6);
	span(&s, 0, "optimizer", 16, 17);
	expect(&s, 0, expected, COUNT(expected));
}

/* A receive waits for its sender: the second message, not the first. */
Test(path, crosses_to_the_sender)
{
	struct story s = {.ranks = {0, 1, 2}};
	const struct expected expected[] = {
		{DIST__LEG_COMPUTE, 0, 3, 7, false},
		{DIST__LEG_MOVE, 0, 7, 9, false},
		{DIST__LEG_COMPUTE, 1, 9, 11, false},
	};

	span(&s, 0, "stage", 0, 1);
	call(&s, 0, "send", 1, 1, 3)->peer = 1;
	span(&s, 0, "stage", 3, 7);
	call(&s, 0, "send", 7, 7, 9)->peer = 1;
	call(&s, 1, "recv", 0, 0, 3)->peer = 0;
	call(&s, 1, "recv", 3, 3, 9)->peer = 0;
	span(&s, 1, "stage", 9, 11);
	expect(&s, 3, expected, COUNT(expected));
}

Test(path, of_nothing_is_empty)
{
	struct story s = {.ranks = {0, 1, 2}};

	expect(&s, 0, NULL, 0);
}
