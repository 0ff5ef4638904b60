#include "scenarios/scenario.h"

#include <stddef.h>
#include <string.h>

const struct scenario scenario_table[] = {
	{"all_reduce", "all-reduce over a range of sizes, timed and checked",
	 all_reduce_main},
	{"broadcast", "broadcast over a range of sizes, timed and checked",
	 broadcast_main},
	{"ddp_step", "data-parallel training steps of a model", ddp_step_main},
	{"deadlock", "a collective that one rank reaches too late: deadlocks",
	 deadlock_main},
	{"hello", "every rank adds one: the smallest program", hello_main},
	{"pingpong", "half round trips between two ranks, by size",
	 pingpong_main},
	{"reduce", "reduce to rank 0 over a range of sizes, timed and checked",
	 reduce_main},
	{NULL, NULL, NULL},
};

const struct scenario *scenario_find(const char *name)
{
	const struct scenario *s;

	for (s = scenario_table; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}
