/* run_seat.c - programs whose ranks are processes of their own in a simulation:
 * how they are started, and what computing in them takes. */
#include "base/variable.h"
#include "cli/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "sim/seat/seat.h"

/* In place of an interpreter a rank: one that forks the ranks. */
static const char forker[] = "lockstep.simulated";

/* Stores what is to be started for job in *argv, to be freed; NULL: those
 * of the plan, once a rank. False: no memory. */
static bool make_arguments(struct run_plan *plan, char ***argv)
{
	int script = plan->title ? plan->title : plan->code, n = 0;

	*argv = NULL;
	if (!plan->is_python || script == 0)
		return true;
	*argv = calloc((size_t)plan->argc + 3, sizeof **argv);
	if (!*argv)
		return false;
	if (plan->title && strcmp(plan->argv[script - 1], "-m") == 0)
		script--;
	for (int i = 0; i < script; i++)
		(*argv)[n++] = plan->argv[i];
	(*argv)[n++] = (char *)"-m";
	(*argv)[n++] = (char *)forker;
	for (int i = script; i < plan->argc; i++)
		(*argv)[n++] = plan->argv[i];
	return true;
}

int run_seats(struct run_plan *plan)
{
	char **argv;
	struct dist__seat_job job = {.nproc_per_node = plan->nproc};
	int status;

	if (!make_arguments(plan, &argv))
		return out_of_memory(run_command);
	job.argv = argv ? argv : plan->argv;
	job.forks = argv != NULL;
	/* There is nobody in a simulation that real ones could talk to. */
	(void)setenv("LOCKSTEP_TORCH_BACKEND_AS", "gloo,nccl", 0);
	status = dist_launch(NULL, dist__seat_rank, &job);
	free(argv);
	return status;
}

/* ---- --compute ---------------------------------------------------------- */

static bool is_factor(const char *text)
{
	char *end;
	double factor;

	if (*text == '\0')
		return true;
	if (*text++ != ':')
		return false;
	factor = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(factor) && factor > 0;
}

/* Whether text is word, a colon and something. */
static bool begins(const char *text, const char *word)
{
	size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && text[len] == ':' &&
	       text[len + 1] != '\0';
}

int run_check_compute(const struct run_request *request, struct run_plan *plan)
{
	const char *text =
		dist__variable_or(request->compute, "LOCKSTEP_COMPUTE");
	const char *option =
		request->compute ? "--compute" : "LOCKSTEP_COMPUTE";

	if (!text)
		return DIST_EXIT_OK;
	if (strcmp(text, "none") != 0 && !begins(text, "table") &&
	    !begins(text, "roofline") &&
	    (strncmp(text, "cpu", 3) != 0 || !is_factor(text + 3)))
		return run_refuse(option, text,
				  "expected none, cpu, cpu:FACTOR, "
				  "roofline:GPU or table:FILE");
	if (request->compute && (!plan->world->in_process || plan->is_whole))
		return run_refuse(option, text,
				  "only programs without a dist_launch(), in "
				  "back end sim, are charged");
	return DIST_EXIT_OK;
}
