#include "scenarios/tutorial/tutorial.h"

#include <stdio.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"

int tutorial_main(int argc, char **argv, int (*rank_main)(void *arg))
{
	char example[128];
	const struct manual manual = {.usage = "", .examples = {example}};
	int status;

	snprintf(example, sizeof example,
		 "lockstep run --nproc-per-node 4 %.64s", argv[0]);
	if (!arguments_parse(&manual, &argc, (const char **)argv, NULL,
			     &status))
		return status;
	return dist_launch(NULL, rank_main, NULL);
}
