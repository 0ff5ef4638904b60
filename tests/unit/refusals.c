/* Types and operations that are none: said in words, and nothing happens. */
#include <criterion/criterion.h>
#include <string.h>

#include "lockstep/dist.h"

#define PLATFORM "scenarios/platforms/star-8.xml"

/* Expects one refusal with the words, and the next good call to do well. */
static int expect_words(struct dist_group *group, int dtype, int op,
			const char *words)
{
	uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct dist_tensor bad = dist_tensor(data, 1, (enum dist_dtype)dtype);
	struct dist_work *work = NULL;

	if (dist_all_reduce(group, bad, (enum dist_reduce_op)op, &work) !=
		    DIST_ERR_INVALID_ARGUMENT ||
	    strcmp(dist_error_message(group), words)) {
		cr_log_error("expected \"%s\", got \"%s\"", words,
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

static int refused_rank(void *arg)
{
	struct dist_group *group;
	int wrong = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	wrong += expect_words(group, DIST_NUM_DTYPES, DIST_SUM,
			      "all_reduce: dtype 9 is none: expected float16, "
			      "bfloat16, float32, float64, int8, uint8, int32, "
			      "int64 or bool");
	wrong += expect_words(group, -1, DIST_SUM,
			      "all_reduce: dtype -1 is none: expected float16, "
			      "bfloat16, float32, float64, int8, uint8, int32, "
			      "int64 or bool");
	wrong += expect_words(group, DIST_INT8, DIST_NUM_REDUCE_OPS,
			      "all_reduce: reduce op 8 is none: expected sum, "
			      "avg, product, min, max, band, bor or bxor");
	wrong += expect_words(group, DIST_FLOAT32, DIST_BAND,
			      "all_reduce: band of float32: expected int8, "
			      "uint8, int32, int64 or bool");
	wrong += expect_words(group, DIST_BOOL, DIST_AVG,
			      "all_reduce: avg of bool: expected float16, "
			      "bfloat16, float32, float64, int8, uint8, int32 "
			      "or int64");
	if (dist_destroy_process_group(group))
		return 1;
	return wrong;
}

Test(refusals, what_is_no_type_or_operation_is_refused)
{
	const struct dist_launch_options options = {
		.backend = "sim", .world_size = 2, .platform = PLATFORM};

	cr_assert_eq(dist_launch(&options, refused_rank, NULL), DIST_EXIT_OK);
}
