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

static const struct option options_table[] = {{"size", OPTION_COUNT, 0, "N",
					       .help = "ranks to start",
					       .usual = "2", .min = 1},
					      {.name = NULL}};
static const struct manual manual = {
	.examples = {"lockstep run tutorial_spawn --size 4"},
	.groups = GROUPS({.options = options_table})};

int tutorial_spawn_main(int argc, char **argv)
{
	struct dist_launch_options options = {.world_size = 2};
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv,
			     &options.world_size, &status))
		return status;
	return dist_launch(&options, rank_main, NULL);
}
