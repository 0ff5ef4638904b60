/*
 * tutorial_spawn - "Writing Distributed Applications with PyTorch", Setup: a
 * program that starts N processes, each of which joins the process group.
 *
 * The loop over Process(...).start() and join() is dist_launch(), and
 * init_process() the call that joins.
 */
#include "scenarios/scenario.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"

static int rank_main(void *arg)
{
	struct dist_group *group;

	(void)arg;
	if (rank_join(&group))
		return 1;
	printf("Rank %d of %d\n", dist_get_rank(group),
	       dist_get_world_size(group));
	return rank_leave(group, "tutorial_spawn", DIST_OK);
}

int tutorial_spawn_main(int argc, char **argv)
{
	struct dist_launch_options options = {.world_size = 2};
	const struct poptOption table[] = {{"size", '\0', POPT_ARG_INT,
					    &options.world_size, 0,
					    "ranks to start (default 2)", "N"},
					   POPT_AUTOHELP POPT_TABLEEND};

	if (!arguments_parse(argc, (const char **)argv, table,
			     "[--size N]\n\nExample: lockstep run "
			     "tutorial_spawn --size 4\n"))
		return DIST_EXIT_USAGE;
	if (options.world_size < 1) {
		fprintf(stderr, "%s: --size %d: expected 1 or more\n", argv[0],
			options.world_size);
		return DIST_EXIT_USAGE;
	}
	return dist_launch(&options, rank_main, NULL);
}
