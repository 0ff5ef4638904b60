/* all_reduce, broadcast, reduce - the sweeps as programs. */
#include "scenarios/scenario.h"

#include <stdlib.h>
#include <strings.h>

#include "scenarios/arguments.h"
#include "scenarios/sweep.h"

/* The environment decides about the world; here it sets defaults too. */
static bool is_simulated(void)
{
	const char *backend = getenv("LOCKSTEP_BACKEND");

	return backend && strcasecmp(backend, "sim") == 0;
}

int sweep_main(int argc, char **argv)
{
	struct sweep sweep = {.collective =
				      (enum collective)sweep_find(argv[0]),
			      .out = stdout};
	const struct manual manual = {
		.usage = "[-b SIZE] [-e SIZE] [-f F] [OPTION...]",
		.examples = {"lockstep run --nproc-per-node 4 all_reduce -b 1K "
			     "-e 1M"},
		.groups = GROUPS({.options = sweep_options})};
	struct sweep_arguments arguments;
	struct dist_message message = {""};
	int status;

	sweep_arguments_init(&arguments);
	if (!arguments_parse(&manual, &argc, (const char **)argv, &arguments,
			     &status))
		return status;
	if (sweep_arguments_use(&arguments, is_simulated(), &sweep, &message))
		return dist_launch(NULL, sweep_rank, &sweep);
	fprintf(stderr, "%s: %s\n", argv[0], message.text);
	return DIST_EXIT_USAGE;
}
