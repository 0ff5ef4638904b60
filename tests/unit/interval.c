/* Intervals around predictions, of the blind errors that come with Lockstep. */

#include "model/validation/interval.h"
#include "tests/support/okay.h"

static struct intervals intervals;

static void load(void)
{
	struct dist_message message;

	okay_or(intervals_load(&intervals, &message), message);
	cr_assert_gt(intervals.tsv.num_rows, 100);
}

static void release(void)
{
	dist__tsv_release(&intervals.tsv);
}

TestSuite(interval, .init = load, .fini = release);

/* An interval is made of other machines' errors, and holds about the share that
 * it says: no fewer, lest it be a lie, and no more, lest it say nothing. */
static void expect_coverage(bool steps, bool is_calibrated, double least,
			    double most)
{
	double share;

	okay(intervals_coverage(&intervals, steps, is_calibrated, &share));
	cr_expect(share >= least && share <= most,
		  "steps %d, calibrated %d: %.3f", steps, is_calibrated, share);
}

Test(interval, holds_the_share_that_it_says)
{
	expect_coverage(false, false, 0.75, 0.85);
	expect_coverage(false, true, 0.75, 0.85);
	expect_coverage(true, false, 0.75, 0.9);
}

static struct interval find(const char *what, const char *library,
			    const char *transport, enum accuracy_range range,
			    bool is_calibrated)
{
	const struct interval_case of = {
		.what = what,
		.library = library,
		.is_one_node = !*transport,
		.transport = transport,
		.range = range,
		.is_calibrated = is_calibrated,
	};
	struct interval found;

	okay(intervals_find(&intervals, &of, NULL, &found));
	return found;
}

Test(interval, is_of_like_cases)
{
	struct interval far = find("all_reduce", "nccl", "ib", ACCURACY_LARGE,
				   false),
			near = find("all_reduce", "nccl", "ib", ACCURACY_LARGE,
				    true);

	cr_expect(far.is_alike && near.is_alike);
	cr_expect_geq(far.machines, INTERVAL_MACHINES);
	/* What a machine was seen to do narrows it. */
	cr_expect_lt(near.factor, far.factor);
	cr_expect_gt(near.factor, 1);
	cr_expect_str_eq(near.like, "all_reduce by nccl, several nodes not by "
				    "sockets, above, calibrated");
	/* Few machines were measured with MPI: others stand in. */
	cr_expect_str_eq(
		find("broadcast", "openmpi", "ib", ACCURACY_SMALL, false).like,
		"collectives by any library, to 32 KiB");
}

Test(interval, without_like_cases_is_the_widest)
{
	const char *const known[] = {"all_reduce", "all_gather"};
	struct interval none =
		find("all_to_all", "nccl", "ib", ACCURACY_LARGE, false);

	cr_expect_not(none.is_alike);
	for (int i = 0; i < 2; i++)
		for (int r = 0; r < ACCURACY_ALL; r++)
			cr_expect_geq(none.factor,
				      find(known[i], "nccl", "ib",
					   (enum accuracy_range)r, false)
					      .factor);
	cr_expect_not(
		find("all_reduce", "lockstep", "ib", ACCURACY_LARGE, false)
			.is_alike);
	cr_expect_not(find(NULL, "", "", ACCURACY_ALL, false).is_alike);
	cr_expect(find("bucketed", "", "", ACCURACY_ALL, false).is_alike);
}
