#include "scenarios/tutorial/tutorial.h"

#include <stddef.h>

#include "lockstep/dist.h"
#include "scenarios/arguments.h"

int tutorial_main(int argc, char **argv, int (*rank_main)(void *arg))
{
	const struct poptOption table[] = {POPT_AUTOHELP POPT_TABLEEND};

	if (!arguments_parse(argc, (const char **)argv, table,
			     "\n\nStart it by lockstep run; the README's "
			     "table of the tutorials says how.\n"))
		return DIST_EXIT_USAGE;
	return dist_launch(NULL, rank_main, NULL);
}
