/* Gradients on their way: of 1, 1, 3 and 1 MiB, ready at 1, 2, 3 and 6.5 ms,
 * and an all-reduce of 2 ms and 1 ms a MiB. */
#include <criterion/criterion.h>

#include "model/training/stream.h"

#define MS  1e6
#define MIB ((size_t)1 << 20)

static const struct stream_gradient gradients[] = {
	{1 * MS, MIB}, {2 * MS, MIB}, {3 * MS, 3 * MIB}, {6.5 * MS, MIB}};

static double two_and_one(const void *arg, size_t bytes)
{
	(void)arg;
	return (2 + (double)bytes / (double)MIB) * MS;
}

static double end_ms(enum stream_schedule schedule)
{
	const struct stream stream = {
		.gradients = gradients,
		.num = 4,
		.cost_ns = two_and_one,
		.first_bytes = 1,
		.rest_bytes = 1.5 * (double)MIB,
	};

	return stream_end_ns(&stream, schedule) / MS;
}

Test(stream, schedules_group_as_they_say)
{
	cr_expect_eq(end_ms(STREAM_LOCAL), 0);
	/* All from 6.5 on. */
	cr_expect_float_eq(end_ms(STREAM_ONE), 14.5, 1e-9);
	/* From 1, 4, 7 and 12 on. */
	cr_expect_float_eq(end_ms(STREAM_PER_TENSOR), 15, 1e-9);
	/* One from 1 on, two from 4, one from 10. */
	cr_expect_float_eq(end_ms(STREAM_BUCKETED), 13, 1e-9);
	/* Three of them are there when it looks at 5, the last one at 15. */
	cr_expect_float_eq(end_ms(STREAM_FUSED), 18, 1e-9);
	/* The third is worth waiting for, the fourth is not: from 3 and 10. */
	cr_expect_float_eq(end_ms(STREAM_MERGED), 13, 1e-5);
}

Test(stream, names_are_those_of_the_tables)
{
	for (int i = 0; i < STREAM_SCHEDULES; i++)
		cr_expect_eq(stream_schedule_of(stream_schedule_name(
				     (enum stream_schedule)i)),
			     i);
	cr_expect_eq(stream_schedule_of("server"), STREAM_SCHEDULES);
	cr_expect(stream_overlaps(STREAM_BUCKETED));
	cr_expect_not(stream_overlaps(STREAM_ONE));
}
