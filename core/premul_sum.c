/*
 * premul_sum.c - reduce ops that belong to one group: a sum with a factor.
 * Number i of the group is the value after DIST_PREMUL_SUM + i.
 */
#include "base/array.h"
#include "core/state.h"

#include <math.h>

#define FIRST ((size_t)DIST_PREMUL_SUM + 1)

/* The factor that op stands for, or NULL. */
static double *find(const struct dist_group *group, enum dist_reduce_op op)
{
	size_t i = (size_t)op - FIRST;

	if ((size_t)op < FIRST || i >= group->num_factors)
		return NULL;
	return isnan(group->factors[i]) ? NULL : &group->factors[i];
}

enum dist_error(dist_make_premul_sum)(struct dist_group *group, double factor,
				      enum dist_reduce_op *op)
{
	size_t i = 0;

	if (!group || !op)
		return DIST_ERR_INVALID_ARGUMENT;
	if (isnan(factor))
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "make_premul_sum: factor is not a number");
	while (i < group->num_factors && !isnan(group->factors[i]))
		i++;
	if (i < group->num_factors)
		group->factors[i] = factor;
	else if (!dist__array_add(&group->factors, &group->num_factors, &factor,
				  sizeof factor))
		return DIST_ERR_NO_MEMORY;
	(void)dist__site_take(group);
	*op = (enum dist_reduce_op)(FIRST + i);
	return DIST_OK;
}

enum dist_error dist_free_premul_sum(struct dist_group *group,
				     enum dist_reduce_op op)
{
	double *factor = group ? find(group, op) : NULL;

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!factor)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "free_premul_sum: reduce op %d: expected "
				  "what dist_make_premul_sum() gave",
				  (int)op);
	*factor = NAN;
	return DIST_OK;
}

enum dist_error dist__factor_find(struct dist_group *group, struct dist__op *op)
{
	const double *factor = find(group, op->reduce_op);

	if (op->reduce_op == DIST_PREMUL_SUM)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: premul_sum has no factor: expected what "
				  "dist_make_premul_sum() gave",
				  dist__op_name(op->kind));
	if (factor) {
		op->factor = *factor;
		op->reduce_op = DIST_PREMUL_SUM;
	}
	return DIST_OK;
}
