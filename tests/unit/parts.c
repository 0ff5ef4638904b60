/* Calls with a part for each rank that are refused, and ranks that disagree
 * about one. */
#include <criterion/criterion.h>
#include <string.h>

#include "lockstep/dist.h"
#include "tests/support/seat.h"
#include "tests/support/simulate.h"

enum { WORLD = 3 };

/* ---- refused ----------------------------------------------------------- */

static void refused(struct dist_group *group, enum dist_error error,
		    const char *text)
{
	cr_expect_eq(error, DIST_ERR_INVALID_ARGUMENT, "%s: %s", text,
		     dist_error_string(error));
	cr_expect(strstr(dist_error_message(group), text),
		  "\"%s\" is not in \"%s\"", text, dist_error_message(group));
}

static struct dist_tensor floats(float *data, size_t numel)
{
	return dist_tensor(data, numel, DIST_FLOAT32);
}

static void refuse_lengths(struct dist_group *g)
{
	float a[8] = {0}, b[8] = {0};
	const size_t short_splits[] = {1, 1, 0}, long_splits[] = {1, 1, 2};
	const size_t shifted[] = {0, 3, 0}, equal[] = {1, 1, 1};

	refused(g, dist_all_gather_single(g, floats(a, 7), floats(b, 2), NULL),
		"out has 7 elements: expected a multiple of the 3 ranks");
	refused(g, dist_all_gather_single(g, floats(a, 6), floats(b, 3), NULL),
		"in out has 2 elements: expected 3");
	refused(g,
		dist_reduce_scatter_single(g, floats(a, 1), floats(b, 6),
					   DIST_SUM, NULL),
		"in in has 2 elements: expected 1");
	refused(g,
		dist_all_to_all_single(g, floats(a, 3), floats(b, 3), NULL,
				       short_splits, NULL),
		"the splits of in leave 1 of its 3 elements over");
	refused(g,
		dist_all_to_all_single(g, floats(a, 3), floats(b, 3),
				       long_splits, NULL, NULL),
		"the splits of out are more than its 3 elements");
	refused(g,
		dist_all_to_all_single(g, floats(a, 3), floats(b, 3), shifted,
				       equal, NULL),
		"has");
	refused(g,
		dist_all_gather_single(
			g,
			dist_tensor(NULL, SIZE_MAX / 16 / 3 * 3, DIST_FLOAT32),
			dist_tensor(NULL, SIZE_MAX / 16, DIST_FLOAT32), NULL),
		"than memory holds");
}

static void refuse_lists(struct dist_group *g)
{
	float a[9] = {0}, b[9] = {0};
	struct dist_tensor list[WORLD] = {floats(a, 2), floats(a + 2, 2),
					  floats(a + 4, 2)};
	struct dist_tensor other[WORLD] = {floats(b, 2), floats(b + 2, 2),
					   floats(b + 4, 2)};
	int rank = dist_get_rank(g);

	refused(g, dist_all_gather(g, NULL, floats(b, 2), NULL),
		"out_list is NULL");
	refused(g, dist_all_to_all(g, list, NULL, NULL), "in_list is NULL");
	refused(g, dist_gather(g, floats(b, 2), NULL, rank, NULL),
		"out_list is NULL");
	refused(g, dist_gather(g, floats(b, 2), list, (rank + 1) % WORLD, NULL),
		"out_list: expected NULL");
	refused(g, dist_scatter(g, floats(b, 3), list, rank, NULL),
		"the part of rank 0 in in has 2 elements: expected 3");
	refused(g, dist_scatter(g, floats(b, 3), NULL, WORLD, NULL),
		"src is 3: expected 0 to 2");
	list[2].dtype = DIST_INT32;
	refused(g, dist_all_to_all(g, list, other, NULL),
		"out is of dtype int32: expected float32");
	list[2] = floats(NULL, 2);
	refused(g, dist_all_to_all(g, list, other, NULL), "phantoms");
}

static void refuse_overlaps(struct dist_group *g)
{
	float a[18] = {0};
	size_t other = (size_t)(dist_get_rank(g) + 1) % WORLD;
	struct dist_tensor list[WORLD] = {floats(a, 2), floats(a + 2, 2),
					  floats(a + 4, 2)};

	refused(g,
		dist_all_to_all_single(g, floats(a, 6), floats(a, 6), NULL,
				       NULL, NULL),
		"overlap");
	refused(g,
		dist_all_to_all_single(g, floats(a, 6), floats(a + 5, 6), NULL,
				       NULL, NULL),
		"overlap");
	refused(g, dist_all_to_all(g, list, list, NULL), "overlap");
	refused(g,
		dist_all_gather_single(g, floats(a, 6),
				       floats(a + 2 * other, 2), NULL),
		"overlap");
	refused(g,
		dist_reduce_scatter(g, floats(a + 2 * other + 1, 2), list,
				    DIST_SUM, NULL),
		"overlap");
	/* Side by side is apart. */
	cr_expect_eq(dist_all_to_all_single(g, floats(a, 6), floats(a + 6, 6),
					    NULL, NULL, NULL),
		     DIST_OK);
}

static int refuse_all(void *arg)
{
	struct dist_group *group;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	refuse_lengths(group);
	refuse_lists(group);
	refuse_overlaps(group);
	/* Nothing of this counts as a collective, or harms the group. */
	if (dist_barrier(group, NULL))
		return 1;
	return dist_destroy_process_group(group) != DIST_OK;
}

Test(parts, what_does_not_fit_is_refused)
{
	struct dist_group *none = NULL;
	struct dist_tensor empty = dist_tensor(NULL, 0, DIST_FLOAT32);

	cr_assert_eq(launch_ranks("sim", STAR4, WORLD, refuse_all, NULL),
		     DIST_EXIT_OK);
	cr_expect_eq(dist_all_gather_single(none, empty, empty, NULL),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_eq(dist_scatter(none, empty, &empty, 0, NULL),
		     DIST_ERR_INVALID_ARGUMENT);
}

/* ---- disagreements ----------------------------------------------------- */

static int join(struct dist_group **group)
{
	return dist_init_process_group(NULL, group);
}

static int leave(struct dist_group *group, enum dist_error error)
{
	(void)dist_destroy_process_group(group);
	return error != DIST_OK;
}

/* Ranks 0 and 1 agree with each other, and so do 2 and 3; every message that
 * passes between the pairs is as long as awaited. */
static int reduce_in_another_order(void *arg)
{
	float in[6] = {0}, out[2] = {0};
	struct dist_tensor list[4] = {floats(in, 1), floats(in + 1, 2),
				      floats(in + 3, 2), floats(in + 5, 1)};
	struct dist_group *group;
	int rank;

	(void)arg;
	if (join(&group))
		return 1;
	rank = dist_get_rank(group);
	if (rank < 2) {
		list[0] = floats(in, 2);
		list[1] = floats(in + 2, 1);
	}
	return leave(group,
		     dist_reduce_scatter(group, floats(out, list[rank].numel),
					 list, DIST_SUM, NULL));
}

Test(parts, unequal_lists_are_seen_where_messages_fit)
{
	struct dist_launch_options options = {
		.backend = "sim",
		.platform = STAR4,
		.world_size = 4,
		.algorithm = "reduce_scatter=recursive_halving"};

	cr_assert_eq(dist_launch(&options, reduce_in_another_order, NULL),
		     DIST_EXIT_MISMATCH);
}
