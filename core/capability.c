/* capability.c - the table of calls, and what each needs of a world. */
#include "core/capability.h"

#include "core/reduce.h"

static const struct dist__capability capabilities[] = {
	{"all_reduce", DIST__NEEDS_NOTHING},
	{"reduce", DIST__NEEDS_NOTHING},
	{"broadcast", DIST__NEEDS_NOTHING},
	{"barrier", DIST__NEEDS_NOTHING},
	{"monitored_barrier", DIST__NEEDS_NOTHING},
	{"all_gather_single", DIST__NEEDS_NOTHING},
	{"all_gather", DIST__NEEDS_NOTHING},
	{"reduce_scatter_single", DIST__NEEDS_NOTHING},
	{"reduce_scatter", DIST__NEEDS_NOTHING},
	{"all_to_all_single", DIST__NEEDS_NOTHING},
	{"all_to_all", DIST__NEEDS_NOTHING},
	{"gather", DIST__NEEDS_NOTHING},
	{"scatter", DIST__NEEDS_NOTHING},
	{"send", DIST__NEEDS_NOTHING},
	{"recv", DIST__NEEDS_NOTHING},
	{"recv_any", DIST__NEEDS_NOTHING},
	{"isend", DIST__NEEDS_NOTHING},
	{"irecv", DIST__NEEDS_NOTHING},
	{"batch_isend_irecv", DIST__NEEDS_NOTHING},
	{"all_reduce_coalesced", DIST__NEEDS_NOTHING},
	{"broadcast_coalesced", DIST__NEEDS_NOTHING},
	{"all_gather_single_coalesced", DIST__NEEDS_NOTHING},
	{"reduce_scatter_single_coalesced", DIST__NEEDS_NOTHING},
	{"all_reduce_multigpu", DIST__NEEDS_DEVICES},
	{"reduce_multigpu", DIST__NEEDS_DEVICES},
	{"broadcast_multigpu", DIST__NEEDS_DEVICES},
	{"all_gather_multigpu", DIST__NEEDS_DEVICES},
	{"reduce_scatter_multigpu", DIST__NEEDS_DEVICES},
	{"new_group", DIST__NEEDS_NOTHING},
	{"new_subgroups", DIST__NEEDS_NOTHING},
	{"new_subgroups_by_enumeration", DIST__NEEDS_NOTHING},
	{"split_group", DIST__NEEDS_NOTHING},
	{"allow_threads", DIST__NEEDS_THREADS},
	{"rpc_init", DIST__NEEDS_MESSAGES},
	{"phantom tensors", DIST__NEEDS_PHANTOMS},
	{NULL, DIST__NEEDS_NOTHING},
};

const struct dist__capability *dist__capabilities(void)
{
	return capabilities;
}

bool dist__world_has(const struct dist__world *world, enum dist__need need)
{
	switch (need) {
	case DIST__NEEDS_DEVICES:
		return !world->one_device;
	case DIST__NEEDS_PHANTOMS:
		return world->has_phantoms;
	case DIST__NEEDS_MESSAGES:
		return !world->memory;
	case DIST__NEEDS_THREADS:
		return !world->one_thread;
	default:
		return true;
	}
}

bool dist__world_reduces(const struct dist__world *world,
			 enum dist_reduce_op op, enum dist_dtype dtype)
{
	return dist__reduce_has(dtype, op) &&
	       (!world->reduces || world->reduces(op, dtype));
}
