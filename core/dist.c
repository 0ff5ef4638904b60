/*
 * dist.c - the entry points of the collectives: each describes its operation
 * and submits it.
 */
#include "core/state.h"

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

/* Submits an operation about tensor, on which it has sides or NULL; root -1:
 * none. */
static enum dist_error submit(struct dist_group *group, enum dist__op_kind kind,
			      struct dist_tensor tensor, int root,
			      enum dist_reduce_op op, struct dist__sides *sides,
			      struct dist_work **work)
{
	struct dist__op request = {.kind = kind,
				   .tensor = tensor,
				   .reduce_op = op,
				   .sides = sides,
				   .peer = root,
				   .tag = -1};

	return dist__submit(group, &request, work);
}

enum dist_error dist_all_reduce(struct dist_group *group,
				struct dist_tensor tensor,
				enum dist_reduce_op op, struct dist_work **work)
{
	return submit(group, DIST__ALL_REDUCE, tensor, -1, op, NULL, work);
}

enum dist_error dist_reduce(struct dist_group *group, struct dist_tensor tensor,
			    int dst, enum dist_reduce_op op,
			    struct dist_work **work)
{
	return submit(group, DIST__REDUCE, tensor, dst, op, NULL, work);
}

enum dist_error dist_broadcast(struct dist_group *group,
			       struct dist_tensor tensor, int src,
			       struct dist_work **work)
{
	return submit(group, DIST__BROADCAST, tensor, src, DIST_SUM, NULL,
		      work);
}

enum dist_error dist_barrier(struct dist_group *group, struct dist_work **work)
{
	return submit(group, DIST__BARRIER, (struct dist_tensor){.data = NULL},
		      -1, DIST_SUM, NULL, work);
}

/* ---- a part for each rank --------------------------------------------- */

/* Parts that follow each other in whole; splits may be NULL. */
static struct dist__parts cut(const struct dist_group *group,
			      struct dist_tensor whole, const size_t *splits)
{
	return (struct dist__parts){.count = dist_get_world_size(group),
				    .whole = whole,
				    .splits = splits};
}

/* The parts of a list; there are none when it is NULL. */
static struct dist__parts listed(const struct dist_group *group,
				 const struct dist_tensor *list)
{
	return (struct dist__parts){
		.count = list ? dist_get_world_size(group) : 0, .list = list};
}

/* Refuses a list that is missing on a rank that needs one, or given on one
 * that must not; and no group. */
static enum dist_error check_list(struct dist_group *group,
				  enum dist__op_kind kind, const char *name,
				  const struct dist_tensor *list, bool needed)
{
	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (needed == (list != NULL))
		return DIST_OK;
	if (!needed)
		return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
				  "%s: %s: expected NULL on every rank but "
				  "the root",
				  dist__op_name(kind), name);
	return dist__fail(group, DIST_ERR_INVALID_ARGUMENT,
			  "%s: %s is NULL: expected a tensor for each of %d "
			  "ranks",
			  dist__op_name(kind), name, group->members.world_size);
}

enum dist_error dist_all_gather_single(struct dist_group *group,
				       struct dist_tensor out,
				       struct dist_tensor in,
				       struct dist_work **work)
{
	struct dist__sides sides = {.out = cut(group, out, NULL)};

	return submit(group, DIST__ALL_GATHER, in, -1, DIST_SUM, &sides, work);
}

enum dist_error dist_all_gather(struct dist_group *group,
				const struct dist_tensor *out_list,
				struct dist_tensor in, struct dist_work **work)
{
	struct dist__sides sides = {.out = listed(group, out_list)};

	if (check_list(group, DIST__ALL_GATHER, "out_list", out_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	return submit(group, DIST__ALL_GATHER, in, -1, DIST_SUM, &sides, work);
}

enum dist_error dist_reduce_scatter_single(struct dist_group *group,
					   struct dist_tensor out,
					   struct dist_tensor in,
					   enum dist_reduce_op op,
					   struct dist_work **work)
{
	struct dist__sides sides = {.in = cut(group, in, NULL)};

	return submit(group, DIST__REDUCE_SCATTER, out, -1, op, &sides, work);
}

enum dist_error dist_reduce_scatter(struct dist_group *group,
				    struct dist_tensor out,
				    const struct dist_tensor *in_list,
				    enum dist_reduce_op op,
				    struct dist_work **work)
{
	struct dist__sides sides = {.in = listed(group, in_list)};

	if (check_list(group, DIST__REDUCE_SCATTER, "in_list", in_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	return submit(group, DIST__REDUCE_SCATTER, out, -1, op, &sides, work);
}

enum dist_error
dist_all_to_all_single(struct dist_group *group, struct dist_tensor out,
		       struct dist_tensor in, const size_t *out_splits,
		       const size_t *in_splits, struct dist_work **work)
{
	const struct dist_tensor like = {.dtype = in.dtype};
	struct dist__sides sides = {.in = cut(group, in, in_splits),
				    .out = cut(group, out, out_splits)};

	return submit(group, DIST__ALL_TO_ALL, like, -1, DIST_SUM, &sides,
		      work);
}

enum dist_error dist_all_to_all(struct dist_group *group,
				const struct dist_tensor *out_list,
				const struct dist_tensor *in_list,
				struct dist_work **work)
{
	struct dist__sides sides = {.in = listed(group, in_list),
				    .out = listed(group, out_list)};

	if (check_list(group, DIST__ALL_TO_ALL, "out_list", out_list, true) ||
	    check_list(group, DIST__ALL_TO_ALL, "in_list", in_list, true))
		return DIST_ERR_INVALID_ARGUMENT;
	return submit(group, DIST__ALL_TO_ALL,
		      (struct dist_tensor){.dtype = in_list[0].dtype}, -1,
		      DIST_SUM, &sides, work);
}

enum dist_error dist_gather(struct dist_group *group, struct dist_tensor in,
			    const struct dist_tensor *out_list, int dst,
			    struct dist_work **work)
{
	struct dist__sides sides = {.out = listed(group, out_list)};

	if (check_list(group, DIST__GATHER, "out_list", out_list,
		       dst == dist_get_rank(group)))
		return DIST_ERR_INVALID_ARGUMENT;
	return submit(group, DIST__GATHER, in, dst, DIST_SUM, &sides, work);
}

enum dist_error dist_scatter(struct dist_group *group, struct dist_tensor out,
			     const struct dist_tensor *in_list, int src,
			     struct dist_work **work)
{
	struct dist__sides sides = {.in = listed(group, in_list)};

	if (check_list(group, DIST__SCATTER, "in_list", in_list,
		       src == dist_get_rank(group)))
		return DIST_ERR_INVALID_ARGUMENT;
	return submit(group, DIST__SCATTER, out, src, DIST_SUM, &sides, work);
}
