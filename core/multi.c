/*
 * multi.c - the entry points that take several tensors: coalesced operations,
 * and one tensor for each device of a process.
 */
#include "core/state.h"

/* The macros of dist.h note the caller's line; here are the functions. */
#undef dist_all_reduce_coalesced
#undef dist_broadcast_coalesced
#undef dist_all_gather_single_coalesced
#undef dist_reduce_scatter_single_coalesced
#undef dist_all_reduce_multigpu
#undef dist_reduce_multigpu
#undef dist_broadcast_multigpu
#undef dist_all_gather_multigpu
#undef dist_reduce_scatter_multigpu

/* Tensors of a call, `num` of them. */
#define BUNDLE(is, ...)                                                        \
	((struct dist__bundle){.kind = (is), .num = num, __VA_ARGS__})

/* Submits the operation that is about a bundle. */
static enum dist_error submit(struct dist_group *group, enum dist__op_kind kind,
			      struct dist__bundle bundle, int root,
			      enum dist_reduce_op op, struct dist_work **work)
{
	struct dist__sides sides = {.bundle = bundle};
	struct dist__op request = {.kind = kind,
				   .reduce_op = op,
				   .sides = &sides,
				   .peer = root,
				   .tag = -1};

	return dist__submit(group, &request, work);
}

/* ---- coalesced --------------------------------------------------------- */

enum dist_error dist_all_reduce_coalesced(struct dist_group *group,
					  const struct dist_tensor *tensors,
					  size_t num, enum dist_reduce_op op,
					  struct dist_work **work)
{
	return submit(group, DIST__ALL_REDUCE,
		      BUNDLE(DIST__COALESCED, .in = tensors), -1, op, work);
}

enum dist_error dist_broadcast_coalesced(struct dist_group *group,
					 const struct dist_tensor *tensors,
					 size_t num, int src,
					 struct dist_work **work)
{
	return submit(group, DIST__BROADCAST,
		      BUNDLE(DIST__COALESCED, .in = tensors), src, DIST_SUM,
		      work);
}

enum dist_error dist_all_gather_single_coalesced(struct dist_group *group,
						 const struct dist_tensor *out,
						 const struct dist_tensor *in,
						 size_t num,
						 struct dist_work **work)
{
	return submit(group, DIST__ALL_GATHER,
		      BUNDLE(DIST__COALESCED, .in = in, .out = out), -1,
		      DIST_SUM, work);
}

enum dist_error dist_reduce_scatter_single_coalesced(
	struct dist_group *group, const struct dist_tensor *out,
	const struct dist_tensor *in, size_t num, enum dist_reduce_op op,
	struct dist_work **work)
{
	return submit(group, DIST__REDUCE_SCATTER,
		      BUNDLE(DIST__COALESCED, .in = in, .out = out), -1, op,
		      work);
}

/* ---- a tensor for each device ------------------------------------------ */

enum dist_error dist_all_reduce_multigpu(struct dist_group *group,
					 const struct dist_tensor *tensors,
					 size_t num, enum dist_reduce_op op,
					 struct dist_work **work)
{
	return submit(group, DIST__ALL_REDUCE,
		      BUNDLE(DIST__DEVICES, .in = tensors), -1, op, work);
}

enum dist_error dist_reduce_multigpu(struct dist_group *group,
				     const struct dist_tensor *tensors,
				     size_t num, int dst, int dst_device,
				     enum dist_reduce_op op,
				     struct dist_work **work)
{
	return submit(
		group, DIST__REDUCE,
		BUNDLE(DIST__DEVICES, .in = tensors, .chosen = dst_device), dst,
		op, work);
}

enum dist_error dist_broadcast_multigpu(struct dist_group *group,
					const struct dist_tensor *tensors,
					size_t num, int src, int src_device,
					struct dist_work **work)
{
	return submit(
		group, DIST__BROADCAST,
		BUNDLE(DIST__DEVICES, .in = tensors, .chosen = src_device), src,
		DIST_SUM, work);
}

enum dist_error dist_all_gather_multigpu(
	struct dist_group *group, const struct dist_tensor *const *out_lists,
	const struct dist_tensor *in, size_t num, struct dist_work **work)
{
	return submit(group, DIST__ALL_GATHER,
		      BUNDLE(DIST__DEVICES, .in = in, .out_lists = out_lists),
		      -1, DIST_SUM, work);
}

enum dist_error dist_reduce_scatter_multigpu(
	struct dist_group *group, const struct dist_tensor *out,
	const struct dist_tensor *const *in_lists, size_t num,
	enum dist_reduce_op op, struct dist_work **work)
{
	return submit(group, DIST__REDUCE_SCATTER,
		      BUNDLE(DIST__DEVICES, .in_lists = in_lists, .out = out),
		      -1, op, work);
}
