/* Which way a long message goes through memory: the cheaper one as measured,
 * the same for all messages of a collective, and now and then the other. */
#include <criterion/criterion.h>

#include "core/op.h"
#include "realbackend/wire/pace.h"

struct scene {
	struct dist__pace pace;
	struct dist__pace_shown shown[2]; /* ours first */
	struct dist__op op;
	struct dist__message m;
	int cell;
};

static struct scene scene_of(enum dist__op_kind kind, size_t bytes)
{
	struct scene s = {.op.kind = kind};

	s.m = (struct dist__message){.tag = -1, .bytes = bytes, .op = &s.op};
	s.cell = dist__pace_cell(&s.m);
	return s;
}

static void note(struct scene *s, enum dist__pace_kind kind, int64_t ns)
{
	dist__pace_note(&s->pace, &s->shown[0], s->cell, kind, 65536, ns);
}

static bool lends(struct scene *s, bool crowded)
{
	return dist__pace_lends(&s->pace, s->shown, &s->m, s->cell, crowded);
}

/* Measures often enough to be believed, once both ways were tried. */
static void measure(struct scene *s, int64_t put_ns, int64_t take_ns,
		    int64_t read_ns)
{
	for (; s->m.seq < 16; s->m.seq++)
		(void)lends(s, false);
	for (int i = 0; i < 200; i++) {
		note(s, DIST__PACE_PUT, put_ns);
		note(s, DIST__PACE_TAKE, take_ns);
		note(s, DIST__PACE_READ, read_ns);
	}
}

/* Of 1,024 collectives, how many lend. */
static int lent(struct scene *s, bool crowded)
{
	int n = 0;

	for (int i = 0; i < 1024; i++) {
		n += lends(s, crowded);
		s->m.seq++;
	}
	return n;
}

Test(pace, short_messages_and_the_programs_own_are_never_lent)
{
	struct scene s = scene_of(DIST__ALL_REDUCE, 1 << 20);

	cr_assert_geq(s.cell, 0);
	s.m.bytes = DIST__PACE_LEAST - 1;
	cr_assert_lt(dist__pace_cell(&s.m), 0);
	s.m.bytes = 1 << 20;
	s.m.tag = 0;
	cr_assert_lt(dist__pace_cell(&s.m), 0);
	s.m.tag = -1;
	s.m.op = NULL;
	cr_assert_lt(dist__pace_cell(&s.m), 0);
	cr_assert_lt(scene_of(DIST__ALL_REDUCE, 64 << 10).cell, 0);
	cr_assert_geq(scene_of(DIST__ALL_GATHER, 64 << 10).cell, 0);
}

Test(pace, every_length_has_its_place)
{
	bool seen[DIST__PACE_CELLS] = {false};
	int num = 0;

	for (int kind = 0; kind < DIST__OP_KINDS; kind++)
		for (size_t n = DIST__PACE_LEAST; n <= SIZE_MAX / 4; n *= 2) {
			struct scene s = scene_of((enum dist__op_kind)kind, n);

			if (s.cell < 0)
				continue;
			cr_assert_lt(s.cell, DIST__PACE_CELLS);
			num += !seen[s.cell];
			seen[s.cell] = true;
		}
	/* Of the three that reduce the shortest are not lent. */
	cr_assert_eq(num, DIST__PACE_CELLS - 3);
}

/* So that a program of few calls has soon what is better for it. A collective
 * of many messages counts as one: its first meet fresh pages. */
Test(pace, both_ways_are_tried_one_after_the_other)
{
	struct scene s = scene_of(DIST__ALL_GATHER, 1 << 20);

	for (int i = 0; i < 16; i++, s.m.seq++)
		for (int k = 0; k < 3; k++) {
			cr_assert_eq(lends(&s, false), i < 8, "%d", i);
			note(&s, i < 8 ? DIST__PACE_READ : DIST__PACE_PUT,
			     5000);
		}
	cr_assert(lends(&s, false), "read for 5000, not put and take for as "
				    "much each");
}

/* Nothing is measured that comes as a whole, or nobody waits for. */
Test(pace, what_is_not_known_is_tried_on)
{
	struct scene s = scene_of(DIST__ALL_GATHER, 1 << 20);

	for (int i = 0; i < 16; i++, s.m.seq++)
		(void)lends(&s, false);
	cr_assert(lends(&s, false));
	for (int i = 0; i < 16; i++)
		note(&s, DIST__PACE_READ, 5000);
	cr_assert_not(lends(&s, false));
	for (int i = 0; i < 16; i++)
		note(&s, DIST__PACE_PUT, 5000);
	cr_assert(lends(&s, false));
}

/* Where ranks share a processor they hand it over more often the longer a
 * message is. */
Test(pace, what_a_ring_does_not_hold_is_sooner_lent_where_ranks_share)
{
	struct scene s = scene_of(DIST__ALL_GATHER, (128 << 10) + 1);

	measure(&s, 2000, 4500, 8000);
	cr_assert_eq(lent(&s, false), 16);
	cr_assert_eq(lent(&s, true), 1024 - 16);
	s.m.bytes--;
	cr_assert_eq(lent(&s, true), 16);
	s.m.bytes++;
	measure(&s, 2000, 4500, 10000);
	cr_assert_eq(lent(&s, true), 16);
}

Test(pace, the_cheaper_way_is_taken_and_the_other_now_and_then)
{
	struct scene s = scene_of(DIST__ALL_GATHER, 1 << 20);

	measure(&s, 5000, 5000, 9000);
	cr_assert_eq(lent(&s, false), 1024 - 16);
	measure(&s, 5000, 5000, 11000);
	cr_assert_eq(lent(&s, false), 16);
	measure(&s, 5000, 5000, 9000);
	cr_assert_eq(lent(&s, false), 1024 - 16, "and back");
}

Test(pace, what_goes_one_way_is_copied_by_two_at_once)
{
	struct scene s = scene_of(DIST__BROADCAST, 1 << 20);

	measure(&s, 5000, 6000, 9000);
	cr_assert_eq(lent(&s, false), 16);
	cr_assert_eq(lent(&s, true), 1024 - 16,
		     "not where they share a processor");
}

/* Of two that exchange one may measure what the other does not. */
Test(pace, both_sides_decide_alike)
{
	struct scene s = scene_of(DIST__ALL_GATHER, 1 << 20), other = s;

	measure(&s, 5000, 5000, 9000);
	measure(&other, 5000, 5000, 13000);
	s.shown[1] = other.shown[0];
	other.shown[1] = s.shown[0];
	cr_assert_eq(lent(&s, false), 16);
	cr_assert_eq(lent(&other, false), 16);
}

Test(pace, collectives_in_a_row_go_one_way)
{
	struct scene s = scene_of(DIST__ALL_GATHER, 1 << 20);
	bool first;

	measure(&s, 5000, 5000, 9000);
	first = lends(&s, false);
	measure(&s, 1, 1, 90000);
	s.m.seq++;
	cr_assert_eq(lends(&s, false), first);
	s.m.group++;
	cr_assert_neq(lends(&s, false), first);
}

/* A rank that lost its processor while it copied. */
Test(pace, one_long_copy_is_not_believed)
{
	struct scene s = scene_of(DIST__ALL_REDUCE, 1 << 20);

	measure(&s, 5000, 5000, 8000);
	note(&s, DIST__PACE_READ, 9000000);
	cr_assert_eq(lent(&s, false), 1024 - 16);
}

/* Messages that come as a whole with their frame. */
Test(pace, what_takes_no_measure_takes_as_long_as_to_put)
{
	struct scene s = scene_of(DIST__ALL_GATHER, 16 << 10);

	for (; s.m.seq < 16; s.m.seq++)
		(void)lends(&s, false);
	for (int i = 0; i < 200; i++) {
		note(&s, DIST__PACE_PUT, 5000);
		note(&s, DIST__PACE_READ, 9000);
	}
	cr_assert_eq(lent(&s, false), 1024 - 16);
}

Test(pace, what_is_known_is_measured_in_a_quarter_of_the_times)
{
	struct scene s = scene_of(DIST__ALL_REDUCE, 1 << 20);
	int due[3] = {0};

	cr_assert(dist__pace_is_due(&s.pace, s.cell, DIST__PACE_TAKE));
	cr_assert(dist__pace_is_due(&s.pace, s.cell, DIST__PACE_TAKE));
	measure(&s, 5000, 5000, 8000);
	for (int i = 0; i < 3000; i++)
		due[i % 3] +=
			dist__pace_is_due(&s.pace, s.cell, DIST__PACE_TAKE);
	for (int i = 0; i < 3; i++)
		cr_assert(due[i] > 200 && due[i] < 300, "%d", due[i]);
}
