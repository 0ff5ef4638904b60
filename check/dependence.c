#include "check/dependence.h"

#include <string.h>

enum check_dependence check_dependence(const struct check_call *call)
{
	static const struct {
		const char *op;
		enum check_dependence dependence;
	} table[] = {
		{"recv", CHECK_NEEDS_ALL},
		{"barrier", CHECK_NEEDS_ALL},
		{"monitored_barrier", CHECK_NEEDS_ALL},
		{"new_group", CHECK_NEEDS_ALL},
		{"new_subgroups", CHECK_NEEDS_ALL},
		{"split_group", CHECK_NEEDS_ALL},
		{"rpc_shutdown", CHECK_NEEDS_ALL},
		{"all_reduce", CHECK_NEEDS_ALL},
		{"all_gather", CHECK_NEEDS_ALL},
		{"reduce_scatter", CHECK_NEEDS_ALL},
		{"all_to_all", CHECK_NEEDS_ALL},
		{"reduce", CHECK_ROOT_NEEDS},
		{"gather", CHECK_ROOT_NEEDS},
		{"broadcast", CHECK_OTHERS_NEED},
		{"scatter", CHECK_OTHERS_NEED},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(call->op, table[i].op) == 0)
			return table[i].dependence;
	return CHECK_NEEDS_NOBODY;
}

bool check_needs_others(const struct check_board *board, uint32_t rank,
			const struct check_call *call)
{
	uint32_t root = (uint32_t)call->peer_rank;

	switch (check_dependence(call)) {
	case CHECK_NEEDS_ALL:
		return true;
	case CHECK_ROOT_NEEDS:
		return rank == root;
	case CHECK_OTHERS_NEED:
		return rank != root && root < board->world_size &&
		       check_collectives(&board->slots[root], call->group_id,
					 call->generation) <= call->index;
	case CHECK_NEEDS_NOBODY:
		break;
	}
	return false;
}
