/*
 * dist.c - the entry points of the collectives: each describes its operation
 * and submits it.
 */
#include "core/group.h"

/* The macros of dist.h note the caller's line; here are the functions. */
#undef dist_all_reduce
#undef dist_reduce
#undef dist_broadcast
#undef dist_barrier
#undef dist_all_gather_single
#undef dist_all_gather
#undef dist_reduce_scatter_single
#undef dist_reduce_scatter
#undef dist_all_to_all_single
#undef dist_all_to_all
#undef dist_gather
#undef dist_scatter

enum dist_error dist_all_reduce(struct dist_group *group,
				struct dist_tensor tensor,
				enum dist_reduce_op op, struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__ALL_REDUCE,
				   .tensor = tensor,
				   .reduce_op = op,
				   .peer = -1,
				   .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_reduce(struct dist_group *group, struct dist_tensor tensor,
			    int dst, enum dist_reduce_op op,
			    struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__REDUCE,
				   .tensor = tensor,
				   .reduce_op = op,
				   .peer = dst,
				   .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_broadcast(struct dist_group *group,
			       struct dist_tensor tensor, int src,
			       struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__BROADCAST,
				   .tensor = tensor,
				   .peer = src,
				   .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error dist_barrier(struct dist_group *group, struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__BARRIER, .peer = -1, .tag = -1};

	return group ? dist__submit(group, &request, work)
		     : DIST_ERR_INVALID_ARGUMENT;
}

/* ---- a part for each rank --------------------------------------------- */

/* Parts that follow each other in whole; splits may be NULL. */
static struct dist__parts cut(const struct dist_group *group,
			      struct dist_tensor whole, const size_t *splits)
{
	return (struct dist__parts){.count = group->members.world_size,
				    .whole = whole,
				    .splits = splits};
}

/* The parts of a list; there are none when it is NULL. */
static struct dist__parts listed(const struct dist_group *group,
				 const struct dist_tensor *list)
{
	return (struct dist__parts){
		.count = list ? group->members.world_size : 0, .list = list};
}

/* Refuses a list that is missing on a rank that needs one, or given on one
 * that must not. */
static enum dist_error check_list(struct dist_group *group,
				  enum dist__op_kind kind, const char *name,
				  const struct dist_tensor *list, bool needed)
{
	if (needed == (list != NULL))
		return DIST_OK;
	return dist__fail(
		group, DIST_ERR_INVALID_ARGUMENT,
		needed ? "%s: %s is NULL: expected a tensor for each "
			 "of %d ranks"
		       : "%s: %s: expected NULL, on every of %d ranks "
			 "but the root",
		dist__op_name(kind), name, group->members.world_size);
}

enum dist_error dist_all_gather_single(struct dist_group *group,
				       struct dist_tensor out,
				       struct dist_tensor in,
				       struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__ALL_GATHER, .tensor = in, .peer = -1, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides = &(struct dist__sides){.out = cut(group, out, NULL)};
	return dist__submit(group, &request, work);
}

enum dist_error dist_all_gather(struct dist_group *group,
				const struct dist_tensor *out_list,
				struct dist_tensor in, struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__ALL_GATHER, .tensor = in, .peer = -1, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "out_list", out_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides = &(struct dist__sides){.out = listed(group, out_list)};
	return dist__submit(group, &request, work);
}

enum dist_error dist_reduce_scatter_single(struct dist_group *group,
					   struct dist_tensor out,
					   struct dist_tensor in,
					   enum dist_reduce_op op,
					   struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__REDUCE_SCATTER,
				   .tensor = out,
				   .reduce_op = op,
				   .peer = -1,
				   .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides = &(struct dist__sides){.in = cut(group, in, NULL)};
	return dist__submit(group, &request, work);
}

enum dist_error dist_reduce_scatter(struct dist_group *group,
				    struct dist_tensor out,
				    const struct dist_tensor *in_list,
				    enum dist_reduce_op op,
				    struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__REDUCE_SCATTER,
				   .tensor = out,
				   .reduce_op = op,
				   .peer = -1,
				   .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "in_list", in_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides = &(struct dist__sides){.in = listed(group, in_list)};
	return dist__submit(group, &request, work);
}

enum dist_error
dist_all_to_all_single(struct dist_group *group, struct dist_tensor out,
		       struct dist_tensor in, const size_t *out_splits,
		       const size_t *in_splits, struct dist_work **work)
{
	struct dist__op request = {.kind = DIST__ALL_TO_ALL,
				   .tensor = {.dtype = in.dtype},
				   .peer = -1,
				   .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides =
		&(struct dist__sides){.in = cut(group, in, in_splits),
				      .out = cut(group, out, out_splits)};
	return dist__submit(group, &request, work);
}

enum dist_error dist_all_to_all(struct dist_group *group,
				const struct dist_tensor *out_list,
				const struct dist_tensor *in_list,
				struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__ALL_TO_ALL, .peer = -1, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "out_list", out_list, true) ||
	    check_list(group, request.kind, "in_list", in_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides = &(struct dist__sides){.in = listed(group, in_list),
					      .out = listed(group, out_list)};
	request.tensor.dtype = in_list[0].dtype;
	return dist__submit(group, &request, work);
}

enum dist_error dist_gather(struct dist_group *group, struct dist_tensor in,
			    const struct dist_tensor *out_list, int dst,
			    struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__GATHER, .tensor = in, .peer = dst, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "out_list", out_list,
		       dst == group->members.rank))
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides = &(struct dist__sides){.out = listed(group, out_list)};
	return dist__submit(group, &request, work);
}

enum dist_error dist_scatter(struct dist_group *group, struct dist_tensor out,
			     const struct dist_tensor *in_list, int src,
			     struct dist_work **work)
{
	struct dist__op request = {
		.kind = DIST__SCATTER, .tensor = out, .peer = src, .tag = -1};

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (check_list(group, request.kind, "in_list", in_list,
		       src == group->members.rank))
		return DIST_ERR_INVALID_ARGUMENT;
	request.sides = &(struct dist__sides){.in = listed(group, in_list)};
	return dist__submit(group, &request, work);
}
