/* Types and operations that are none: said in words, and nothing happens. */
#include <criterion/criterion.h>
#include <string.h>

#include "lockstep/dist.h"
#include "tests/support/simulate.h"

#define PLATFORM "scenarios/platforms/star-8.xml"

/* Expects one refusal with the words, and the next good call to do well. */
static int expect_words(struct dist_group *group, int dtype, int op,
			const char *text)
{
	uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct dist_tensor bad = dist_tensor(data, 1, (enum dist_dtype)dtype);
	struct dist_work *work = NULL;

	if (dist_all_reduce(group, bad, (enum dist_reduce_op)op, &work) !=
		    DIST_ERR_INVALID_ARGUMENT ||
	    strcmp(dist_error_message(group), text)) {
		cr_log_error("expected \"%s\", got \"%s\"", text,
			     dist_error_message(group));
		return 1;
	}
	if (work || data[0] != 1 || data[7] != 8)
		return 1;
	if (dist_all_reduce(group, dist_tensor(data, 8, DIST_UINT8), DIST_SUM,
			    NULL))
		return 1;
	return data[0] != 2 || data[7] != 16;
}

#define DTYPES                                                                 \
	"float16, bfloat16, float32, float64, int8, uint8, int32, int64, "     \
	"bool, int16, uint16, uint32, uint64, float8_e4m3fn, float8_e5m2, "    \
	"complex64 or complex128"

static int refused_rank(void *arg)
{
	struct dist_group *group;
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	wrong += expect_words(group, DIST_NUM_DTYPES, DIST_SUM,
			      "all_reduce: no dtype 17: expected " DTYPES);
	wrong += expect_words(group, -1, DIST_SUM,
			      "all_reduce: no dtype -1: expected " DTYPES);
	wrong += expect_words(group, DIST_INT8, DIST_NUM_REDUCE_OPS,
			      "all_reduce: no reduce op 9: expected sum, "
			      "avg, product, min, max, band, bor, bxor or "
			      "premul_sum");
	wrong += expect_words(group, DIST_FLOAT32, DIST_PREMUL_SUM,
			      "all_reduce: premul_sum has no factor: expected "
			      "what dist_make_premul_sum() gave");
	wrong += expect_words(group, DIST_FLOAT32, DIST_BAND,
			      "all_reduce: band of float32: expected int8, "
			      "uint8, int32, int64, bool, int16, uint16, "
			      "uint32 or uint64");
	wrong += expect_words(group, DIST_BOOL, DIST_AVG,
			      "all_reduce: avg of bool: expected float16, "
			      "bfloat16, float32, float64, int8, uint8, int32, "
			      "int64, int16, uint16, uint32, uint64, complex64 "
			      "or complex128");
	wrong += expect_words(
		group, DIST_FLOAT8_E5M2, DIST_SUM,
		"all_reduce: sum of float8_e5m2: expected float16, "
		"bfloat16, float32, float64, int8, uint8, int32, "
		"int64, bool, int16, uint16, uint32, uint64, "
		"complex64 or complex128");
	if (dist_destroy_process_group(group))
		return 1;
	return wrong;
}

Test(refusals, what_is_no_type_or_operation_is_refused)
{
	cr_assert_eq(launch_ranks("sim", PLATFORM, 2, refused_rank, NULL),
		     DIST_EXIT_OK);
}

/* ---- groups ----------------------------------------------------------- */

static int refused(struct dist_group *group, enum dist_error error,
		   const char *text)
{
	if (error == DIST_ERR_INVALID_ARGUMENT &&
	    strcmp(dist_error_message(group), text) == 0)
		return 0;
	cr_log_error("expected \"%s\", got \"%s\"", text,
		     dist_error_message(group));
	return 1;
}

/* What is wrong with the lists and options. */
static int expect_refusals(struct dist_group *all)
{
	static const int outside[] = {0, 4}, twice[] = {1, 1}, pair[] = {0, 1};
	const struct dist_rank_list lists[] = {{pair, 2}, {pair, 1}};
	const struct dist_rank_list empty[] = {{pair, 2}, {pair, 0}};
	const struct dist_group_options lengthy = {
		.name = "a name of twenty-four b."};
	const struct dist_group_options negative = {.timeout_ns = -1};
	struct dist_group *sub = all;
	int wrong = 0;

	wrong += refused(all, dist_new_group(all, outside, 2, NULL, &sub),
			 "new_group: rank 4 is not in group default, of 4 "
			 "ranks");
	wrong += refused(all, dist_new_group(all, twice, 2, NULL, &sub),
			 "new_group: rank 1 is listed twice");
	wrong += refused(all, dist_new_group(all, pair, 0, NULL, &sub),
			 "new_group: a list of 0 ranks: expected 1 or more");
	wrong += refused(all, dist_new_group(all, pair, 2, NULL, NULL),
			 "new_group: sub is NULL: expected where to store the "
			 "group");
	wrong += refused(all, dist_new_group(all, pair, 2, &lengthy, &sub),
			 "new_group: the name \"a name of twenty-four b.\" is "
			 "too long: expected up to 23 bytes");
	wrong += refused(all, dist_new_group(all, pair, 2, &negative, &sub),
			 "new_group: timeout_ns is -1: expected 0 or more");
	wrong += refused(all, dist_new_subgroups(all, 3, NULL, &sub),
			 "new_subgroups: group_size is 3: expected a divisor "
			 "of 4");
	wrong += refused(all, dist_split_group(all, lists, 2, NULL, &sub),
			 "split_group: rank 0 is listed twice");
	wrong += refused(all, dist_split_group(all, empty, 2, NULL, &sub),
			 "split_group: a list of 0 ranks: expected 1 or more");
	wrong += refused(all, dist_split_group(all, lists, 0, NULL, &sub),
			 "split_group: 0 lists: expected 1 or more");
	return wrong + (sub != all);
}

static int grouped_rank(void *arg)
{
	static const int pair[] = {1, 2}, one[] = {0};
	struct dist_group *all, *sub, *none;
	uint8_t data[1] = {0};
	int wrong;

	(void)arg;
	if (dist_init_process_group(NULL, &all))
		return 1;
	wrong = expect_refusals(all);
	/* Nothing was sent: the group goes on. */
	if (dist_new_group(all, pair, 2, NULL, &sub))
		return 1;
	if (sub) {
		wrong += refused(
			sub,
			dist_broadcast(sub, dist_tensor(data, 1, DIST_UINT8), 2,
				       NULL),
			"broadcast: src is 2: expected 0 to 1, a rank "
			"in group 1");
		wrong += refused(sub, dist_new_group(sub, one, 1, NULL, &none),
				 "new_group: rank 0 is not in group 1, of 2 "
				 "ranks");
	}
	return dist_destroy_process_group(all) || wrong;
}

Test(refusals, lists_of_ranks_that_are_none_are_refused)
{
	cr_assert_eq(launch_ranks("sim", PLATFORM, 4, grouped_rank, NULL),
		     DIST_EXIT_OK);
}

/* ---- whose a group is ------------------------------------------------- */

/* What a program keeps in a global variable is the last rank's. */
static struct dist_group *shared;

static const char not_own[] = "the group is destroyed, or another rank's: what "
			      "is global or static, simulated ranks share";

static int sharing_rank(void *arg)
{
	struct dist_group *mine, *sub;
	int rank, wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &shared))
		return 1;
	mine = shared;
	rank = dist_get_rank(mine);
	if (dist_new_group(mine, NULL, 0, NULL, &sub) ||
	    dist_barrier(sub, NULL))
		return 1;
	if (rank != 3) {
		wrong += refused(shared, dist_barrier(shared, NULL), not_own);
		wrong +=
			refused(shared, dist_compute(shared, 1, NULL), not_own);
		wrong += refused(shared, dist_destroy_process_group(shared),
				 not_own);
	}
	/* The other ranks are through with it, and only they were refused. */
	if (dist_barrier(sub, NULL) || dist_destroy_process_group(sub) ||
	    dist_barrier(mine, NULL) || dist_destroy_process_group(mine))
		return 1;
	wrong += refused(mine, dist_barrier(mine, NULL), not_own);
	wrong += refused(sub, dist_barrier(sub, NULL), not_own);
	return wrong + refused(mine, dist_destroy_process_group(mine), not_own);
}

Test(refusals, a_group_of_another_rank_or_destroyed_is_refused)
{
	cr_assert_eq(launch_ranks("sim", PLATFORM, 4, sharing_rank, NULL),
		     DIST_EXIT_OK);
}
