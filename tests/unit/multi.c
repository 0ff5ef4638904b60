/* Several tensors in one call: what is refused, what is a mismatch, what it
 * saves. That the results are right, the conformance table shows. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lockstep/dist.h"
#include "tests/support/seat.h"

#define WORLD 3

static struct dist_tensor floats(float *data, size_t numel)
{
	return dist_tensor(data, numel, DIST_FLOAT32);
}

static int launch(const char *backend, int (*program)(void *arg))
{
	struct dist_launch_options options = {
		.backend = backend,
		.platform = STAR4,
		.world_size = WORLD,
		.timeout_ns = (int64_t)60 * 1000000000,
	};

	return dist_launch(&options, program, NULL);
}

static bool refused(struct dist_group *group, enum dist_error error,
		    const char *text)
{
	if (error == DIST_ERR_INVALID_ARGUMENT &&
	    strstr(dist_error_message(group), text))
		return true;
	fprintf(stderr, "expected \"%s\", got %d: %s\n", text, (int)error,
		dist_error_message(group));
	return false;
}

/* ---- refusals ---------------------------------------------------------- */

static bool refuses_lists(struct dist_group *group)
{
	float x[32] = {0};
	struct dist_tensor two[2] = {floats(x, 2), floats(x + 2, 3)};
	struct dist_tensor other[2] = {floats(x, 2),
				       dist_tensor(x, 2, DIST_INT32)};
	struct dist_tensor whole[2] = {floats(x + 8, 6), floats(x + 14, 8)};

	return refused(group,
		       dist_all_reduce_coalesced(group, NULL, 2, DIST_SUM,
						 NULL),
		       "all_reduce: in is NULL") &&
	       refused(group,
		       dist_all_reduce_coalesced(group, two, 0, DIST_SUM, NULL),
		       "num is 0: expected 1 or more") &&
	       refused(group,
		       dist_broadcast_coalesced(group, other, 2, 0, NULL),
		       "in[1] is of dtype int32: expected float32") &&
	       refused(group, dist_broadcast_coalesced(group, two, 2, 3, NULL),
		       "src is 3: expected 0 to 2") &&
	       refused(group,
		       dist_all_gather_single_coalesced(group, whole, two, 2,
							NULL),
		       "out[1] has 8 elements: expected 9") &&
	       refused(group,
		       dist_reduce_scatter_single_coalesced(group, two, whole,
							    2, DIST_SUM, NULL),
		       "in[1] has 8 elements: expected 9");
}

static bool refuses_devices(struct dist_group *group)
{
	float x[32] = {0};
	struct dist_tensor two[2] = {floats(x, 2), floats(x + 2, 3)};
	struct dist_tensor even[2] = {floats(x, 2), floats(x + 2, 2)};
	struct dist_tensor parts[2 * WORLD] = {even[0], even[0], even[0],
					       even[0], even[0], two[1]};
	const struct dist_tensor *lists[2] = {parts, NULL};

	if (!refused(group,
		     dist_all_reduce_multigpu(group, two, 2, DIST_SUM, NULL),
		     "in[1] has 3 elements: expected 2") ||
	    !refused(group, dist_broadcast_multigpu(group, even, 2, 0, 2, NULL),
		     "device 2: expected 0 to 1") ||
	    !refused(group,
		     dist_all_gather_multigpu(group, lists, even, 2, NULL),
		     "out_lists[5] has 3 elements: expected 2"))
		return false;
	parts[5] = even[0];
	return refused(group,
		       dist_reduce_scatter_multigpu(group, even, lists, 2,
						    DIST_SUM, NULL),
		       "in_lists is NULL");
}

static int refusing_rank(void *arg)
{
	struct dist_group *group;
	float x = 1;
	bool well;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	well = refuses_lists(group) && refuses_devices(group);
	/* Nothing was sent, and the group goes on. */
	well = well && !dist_all_reduce(group, floats(&x, 1), DIST_SUM, NULL) &&
	       x == WORLD;
	return dist_destroy_process_group(group) || !well;
}

Test(multi, tensors_that_do_not_fit_are_refused)
{
	cr_assert_eq(launch("sim", refusing_rank), DIST_EXIT_OK);
}

/* ---- what it is good for ------------------------------------------------ */

/* The time that a rank needs for one call on numel elements, or for as many in
 * num tensors, from the moment when all begin. */
static int64_t time_of(struct dist_group *group, size_t num, bool coalesced,
		       bool *failed)
{
	struct dist_tensor list[10];
	int64_t start_ns;

	*failed |= dist_barrier(group, NULL) != DIST_OK;
	start_ns = dist_now_ns(group);
	for (size_t i = 0; i < num; i++) {
		list[i] = floats(NULL, 1000 / num);
		if (!coalesced)
			*failed |= dist_all_reduce(group, list[i], DIST_SUM,
						   NULL) != DIST_OK;
	}
	if (coalesced)
		*failed |= dist_all_reduce_coalesced(group, list, num, DIST_SUM,
						     NULL) != DIST_OK;
	return dist_now_ns(group) - start_ns;
}

/* Ten phantoms in one call take the time of one as long as all, and much less
 * than ten calls. */
static int timing_rank(void *arg)
{
	int64_t one_ns, ten_ns, coalesced_ns;
	struct dist_group *group;
	bool failed = false;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	one_ns = time_of(group, 1, false, &failed);
	ten_ns = time_of(group, 10, false, &failed);
	coalesced_ns = time_of(group, 10, true, &failed);
	failed |= coalesced_ns != one_ns || ten_ns < 5 * one_ns;
	return dist_destroy_process_group(group) || failed;
}

Test(multi, coalesced_tensors_pay_the_latency_once)
{
	cr_assert_eq(launch("sim", timing_rank), DIST_EXIT_OK);
}

/* ---- sums with a factor ------------------------------------------------- */

/* Every rank has a factor of its own; a number that was given back is used
 * again, and not known in between. */
static int weighing_rank(void *arg)
{
	enum dist_reduce_op first, op, again;
	struct dist_group *group;
	float x = 8;
	bool well;
	int rank;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	rank = dist_get_rank(group);
	well = !dist_make_premul_sum(group, 100, &first) &&
	       !dist_make_premul_sum(group, 1.0 / (1 << rank), &op) &&
	       !dist_all_reduce(group, floats(&x, 1), op, NULL) &&
	       x == 8 + 4 + 2 && !dist_free_premul_sum(group, op) &&
	       refused(group, dist_free_premul_sum(group, op),
		       "expected what dist_make_premul_sum() gave") &&
	       refused(group, dist_all_reduce(group, floats(&x, 1), op, NULL),
		       "no reduce op 10: expected sum") &&
	       refused(group, dist_free_premul_sum(group, DIST_SUM),
		       "reduce op 0") &&
	       !dist_make_premul_sum(group, 2, &again) && again == op &&
	       again != first;
	x = 1;
	well = well && !dist_all_reduce(group, floats(&x, 1), again, NULL) &&
	       x == 2 * WORLD;
	return dist_destroy_process_group(group) || !well;
}

Test(multi, each_rank_has_a_factor_of_its_own)
{
	cr_expect_eq(launch("sim", weighing_rank), DIST_EXIT_OK);
	cr_expect_eq(launch("tcp", weighing_rank), DIST_EXIT_OK);
}
