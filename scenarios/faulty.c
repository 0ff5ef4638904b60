#include "scenarios/faulty.h"

#include <stdio.h>

#include "scenarios/arguments.h"
#include "scenarios/rank.h"

struct choice {
	const struct faulty *faulty;
	const char *name;
	int fixed;
};

static int rank_main(void *arg)
{
	const struct choice *choice = arg;
	int min_ranks = choice->faulty->min_ranks;
	struct dist_group *group;
	char what[64];

	if (rank_join(&group))
		return 1;
	if (dist_get_world_size(group) < min_ranks) {
		snprintf(what, sizeof what, "%s needs %d ranks", choice->name,
			 min_ranks);
		return rank_leave(group, what, DIST_ERR_INVALID_ARGUMENT);
	}
	return rank_leave(group, choice->name,
			  choice->faulty->run(group, choice->fixed));
}

int faulty_main(int argc, char **argv, const struct faulty *faulty)
{
	struct choice choice = {.faulty = faulty, .name = argv[0]};
	const struct option options[] = {{"fixed", OPTION_SWITCH,
					  offsetof(struct choice, fixed), NULL,
					  .help = faulty->cure},
					 {.name = NULL}};
	const struct manual manual = {.examples = {faulty->example},
				      .groups = GROUPS({.options = options})};
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv, &choice,
			     &status))
		return status;
	return dist_launch(NULL, rank_main, &choice);
}
