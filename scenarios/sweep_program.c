/* all_reduce, broadcast, reduce - the sweeps as programs. */
#include "scenarios/scenario.h"

#include <stdlib.h>
#include <strings.h>

#include "scenarios/arguments.h"
#include "scenarios/sweep.h"

#define USAGE                                                                  \
	"[-b SIZE] [-e SIZE] [-f F] [OPTIONS]\n\n"                             \
	"Example: lockstep run --nproc-per-node 4 all_reduce -b 1K -e 1M\n"

/* The environment decides about the world; here it sets defaults too. */
static bool is_simulated(void)
{
	const char *backend = getenv("LOCKSTEP_BACKEND");

	return backend && strcasecmp(backend, "sim") == 0;
}

static int sweep_main(enum sweep_collective collective, int argc, char **argv)
{
	struct sweep sweep = {.collective = collective, .out = stdout};
	struct sweep_arguments arguments;
	struct poptOption shared[SWEEP_TABLE];
	const struct poptOption table[] = {
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, shared, 0, NULL, NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	struct dist_message message = {""};
	int status = DIST_EXIT_USAGE;

	sweep_arguments_init(&arguments, shared);
	if (arguments_parse(argc, (const char **)argv, table, USAGE)) {
		if (sweep_arguments_use(&arguments, is_simulated(), &sweep,
					&message)) {
			status = dist_launch(NULL, sweep_rank, &sweep);
		} else {
			fprintf(stderr, "%s: %s\n", argv[0], message.text);
		}
	}
	sweep_arguments_release(&arguments);
	return status;
}

int all_reduce_main(int argc, char **argv)
{
	return sweep_main(SWEEP_ALL_REDUCE, argc, argv);
}

int broadcast_main(int argc, char **argv)
{
	return sweep_main(SWEEP_BROADCAST, argc, argv);
}

int reduce_main(int argc, char **argv)
{
	return sweep_main(SWEEP_REDUCE, argc, argv);
}
