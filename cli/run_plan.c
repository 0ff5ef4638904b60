/* run_plan.c - what lockstep run is asked for, checked and made complete. */
#include "cli/run.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/dump.h"
#include "cli/place.h"
#include "core/data.h"
#include "core/fidelity.h"
#include "sim/platform.h"

#define PATH_SIZE  4096
#define MOST_PORTS 65535

/* ---- words -------------------------------------------------------------- */

int run_refuse(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, "lockstep run: %s: %s, not \"%s\"\n", option, expected,
		value);
	return DIST_EXIT_USAGE;
}

static int complain(const struct dist_message *message)
{
	fprintf(stderr, "lockstep run: %s\n", message->text);
	return DIST_EXIT_USAGE;
}

bool run_number(const char *words, long min, long max, int *number)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(words, &end, 10);
	if (errno || end == words || *end || n < min || n > max)
		return false;
	*number = (int)n;
	return true;
}

bool run_seconds(const char *words, int64_t *ns)
{
	char *end;
	double seconds = strtod(words, &end);

	/* 64 bits of nanoseconds hold that well. */
	if (end == words || *end || !(seconds >= 0) || !(seconds < 1e9))
		return false;
	*ns = (int64_t)(seconds * 1e9);
	return true;
}

const char *run_given(const char *option, const char *variable)
{
	const char *value = option ? option : getenv(variable);

	return value && *value ? value : NULL;
}

/* ---- how many ranks ----------------------------------------------------- */

static int count_gpus(void)
{
	glob_t found;
	int n = 0;

	if (glob("/dev/nvidia[0-9]*", 0, NULL, &found) == 0)
		n = (int)found.gl_pathc;
	globfree(&found);
	return n;
}

/* Stores as many ranks as there is room for in *size: on the platform, or one
 * a GPU, or one a processor. */
static int fill_world(const struct run_request *request,
		      const struct run_plan *plan, int *size)
{
	const char *platform =
		run_given(request->platform, "LOCKSTEP_PLATFORM");
	struct dist_message message = {""};
	char path[PATH_SIZE];
	int hosts;

	if (!plan->world->is_here || !platform) {
		*size = count_gpus();
		if (*size == 0)
			*size = (int)sysconf(_SC_NPROCESSORS_ONLN);
		return DIST_EXIT_OK;
	}
	if (dist__data_find("platforms", platform, ".xml", path, sizeof(path),
			    &message) ||
	    dist__platform_hosts(path, &hosts, size, &message))
		return complain(&message);
	return DIST_EXIT_OK;
}

/* Stores the number of ranks that words ask for in plan->nproc. */
static int parse_nproc(const struct run_request *request, const char *option,
		       const char *words, struct run_plan *plan)
{
	if (strcmp(words, "auto") == 0)
		return fill_world(request, plan, &plan->nproc);
	if (strcmp(words, "cpu") == 0) {
		plan->nproc = (int)sysconf(_SC_NPROCESSORS_ONLN);
		return DIST_EXIT_OK;
	}
	if (strcmp(words, "gpu") == 0) {
		plan->nproc = count_gpus();
		return plan->nproc ? DIST_EXIT_OK
				   : run_refuse(option, words,
						"there is no GPU here (no "
						"/dev/nvidia0), a number");
	}
	if (!run_number(words, 1, 1 << 24, &plan->nproc))
		return run_refuse(option, words,
				  "a number of ranks from 1 on, auto, cpu or "
				  "gpu");
	if (!plan->world->is_here && plan->nproc > MOST_PORTS)
		return run_refuse(option, words,
				  "at most 65535 ranks, each of which listens "
				  "on a port");
	return DIST_EXIT_OK;
}

/* The ranks of a node: either spelling of the option, else WORLD_SIZE, else 1
 * as torchrun has it. */
static int choose_nproc(const struct run_request *request,
			struct run_plan *plan)
{
	const char *option = "--nproc-per-node";
	const char *words = request->nproc_per_node;
	bool alone = plan->nodes.max_nodes == 1;

	if (request->world_size &&
	    (!alone || (words && strcmp(words, request->world_size) != 0)))
		return run_refuse("--world-size", request->world_size,
				  "on one machine the same as "
				  "--nproc-per-node");
	if (!words) {
		option = "--world-size";
		words = request->world_size;
	}
	if (!words && alone) {
		option = "WORLD_SIZE";
		words = run_given(NULL, option);
	}
	return words ? parse_nproc(request, option, words, plan) : DIST_EXIT_OK;
}

/* ---- the rest ----------------------------------------------------------- */

static int choose_world(const char *name, const struct dist__world **world)
{
	struct dist_message why = {""};

	if (!name)
		name = run_given(NULL, "LOCKSTEP_BACKEND");
	if (!name)
		name = dist__worlds()[0]->name;
	*world = dist__world_find(name);
	if (!*world) {
		fprintf(stderr, "lockstep run: no back end \"%s\"; there are",
			name);
		for (const struct dist__world *const *w = dist__worlds(); *w;
		     w++)
			fprintf(stderr, "%s %s", w == dist__worlds() ? "" : ",",
				(*w)->name);
		fputc('\n', stderr);
		return DIST_EXIT_USAGE;
	}
	if (!(*world)->is_available(&why)) {
		fprintf(stderr, "lockstep run: %s: %s\n", name, why.text);
		return DIST_EXIT_SKIPPED;
	}
	return DIST_EXIT_OK;
}

/* Stores the timeout in force, 0 when only the default is. */
static int choose_timeout(const char *option, int64_t *timeout_ns)
{
	const char *words = run_given(option, "LOCKSTEP_TIMEOUT");

	if (words && (!run_seconds(words, timeout_ns) || *timeout_ns == 0))
		return run_refuse(option ? "--timeout" : "LOCKSTEP_TIMEOUT",
				  words, "seconds, a number above 0");
	return DIST_EXIT_OK;
}

static int check_patience(const char *option)
{
	const char *words = run_given(option, "LOCKSTEP_PATIENCE");
	int64_t patience_ns;

	if (!words || run_seconds(words, &patience_ns))
		return DIST_EXIT_OK;
	return run_refuse(option ? "--patience" : "LOCKSTEP_PATIENCE", words,
			  "seconds, 0 or more");
}

static int check_intra(const char *option)
{
	const char *words = run_given(option, "LOCKSTEP_INTRA");
	bool shares;

	if (!words || dist__intra_parse(words, &shares))
		return DIST_EXIT_OK;
	return run_refuse(option ? "--intra" : "LOCKSTEP_INTRA", words,
			  "expected " DIST__INTRA_WORDS);
}

static int check_bind(const char *option)
{
	const char *words = run_given(option, "LOCKSTEP_BIND_TO");
	bool binds;

	if (!words || dist__bind_parse(words, &binds))
		return DIST_EXIT_OK;
	return run_refuse(option ? "--bind-to" : "LOCKSTEP_BIND_TO", words,
			  "expected " DIST__BIND_WORDS);
}

static int check_debug(const char *option)
{
	const char *words = run_given(option, "LOCKSTEP_DEBUG");
	enum dist__debug level;

	if (dist__debug_parse(&level, words))
		return DIST_EXIT_OK;
	return run_refuse(option ? "--debug" : "LOCKSTEP_DEBUG", words,
			  "expected " DIST__DEBUG_LEVELS);
}

static int check_fidelity(const char *option)
{
	const char *words = run_given(option, "LOCKSTEP_FIDELITY");
	enum dist__fidelity fidelity;

	if (dist__fidelity_parse(&fidelity, words))
		return DIST_EXIT_OK;
	return run_refuse(option ? "--fidelity" : "LOCKSTEP_FIDELITY", words,
			  "expected " DIST__FIDELITIES);
}

static int check_links(const struct run_request *request, struct run_plan *plan)
{
	struct dist__terms terms = {.name = ""};
	struct dist_message message;

	if (rewiring_read(&request->links, &terms, plan->links, &message))
		return complain(&message);
	if (*plan->links && !plan->world->is_here)
		return run_refuse("--backend", plan->world->name,
				  "expected sim where links are changed");
	return DIST_EXIT_OK;
}

/* A place that cannot be written to is better known before than after. */
static int check_dump(const struct run_request *request,
		      const struct run_plan *plan)
{
	const char *pattern = run_given(request->dump, "LOCKSTEP_DUMP");

	if (plan->world->is_here)
		return request->dump ? run_refuse("--dump", pattern,
						  "simulated ranks leave none")
				     : DIST_EXIT_OK;
	if (!pattern || check_dump_prepare(pattern))
		return DIST_EXIT_OK;
	return run_refuse(request->dump ? "--dump" : "LOCKSTEP_DUMP", pattern,
			  "expected a folder that can be written to");
}

/* Of several nodes one writes them, maybe not this one. */
static int check_places(const struct run_request *request,
			const struct run_plan *plan)
{
	const char *const paths[] = {
		run_given(request->trace, "LOCKSTEP_TRACE"),
		run_given(request->json, "LOCKSTEP_JSON"),
		run_given(request->junit, "LOCKSTEP_JUNIT"),
		run_given(request->sarif, "LOCKSTEP_SARIF"),
	};

	if (plan->nodes.max_nodes > 1 ||
	    place_check("run", paths, sizeof(paths) / sizeof(paths[0])))
		return DIST_EXIT_OK;
	return DIST_EXIT_USAGE;
}

static int check_annotate(const char *option)
{
	const char *words = run_given(option, "LOCKSTEP_ANNOTATE");

	if (!words || strcmp(words, "github") == 0)
		return DIST_EXIT_OK;
	return run_refuse(option ? "--annotate" : "LOCKSTEP_ANNOTATE", words,
			  "expected github");
}

static int choose_program(struct run_plan *plan)
{
	const char *name = plan->argv[0];
	struct stat info;

	if (!name) {
		fprintf(stderr, "lockstep run: no PROGRAM; see lockstep run "
				"--help and lockstep list scenarios\n");
		return DIST_EXIT_USAGE;
	}
	plan->scenario = scenario_find(name);
	if (plan->scenario)
		return DIST_EXIT_OK;
	if (stat(name, &info) || !S_ISREG(info.st_mode)) {
		fprintf(stderr,
			"lockstep run: no scenario and no program "
			"\"%s\"; see lockstep list scenarios\n",
			name);
		return DIST_EXIT_USAGE;
	}
	if (access(name, X_OK)) {
		fprintf(stderr, "lockstep run: %s: %s\n", name,
			strerror(errno));
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

/* A profile that cannot be used is refused here, once, rather than by every
 * rank. */
static int check_profile(const struct run_request *request)
{
	const char *name = run_given(request->profile, "LOCKSTEP_PROFILE");
	const char *words = run_given(request->algorithm, "LOCKSTEP_ALGORITHM");
	const char *p2p = run_given(request->p2p, "LOCKSTEP_P2P");
	struct dist_message message = {""};
	struct dist__profile profile;
	char path[PATH_SIZE];
	int status = DIST_EXIT_OK;

	dist__profile_init(&profile);
	if (p2p && !dist__p2p_mode_parse(&profile.p2p, p2p))
		return run_refuse(request->p2p ? "--p2p" : "LOCKSTEP_P2P", p2p,
				  "expected " DIST__P2P_MODES);
	if ((name && (dist__data_find("profiles", name, ".yaml", path,
				      sizeof(path), &message) ||
		      dist__profile_load(&profile, path, &message))) ||
	    (words && dist__profile_force(&profile, words, &message)))
		status = complain(&message);
	dist__profile_release(&profile);
	return status;
}

/* Whether this is one of several processes that mpirun or srun started, with no
 * word about ranks: then each is a rank itself, as the program alone would be.
 */
static bool choose_is_rank(const struct run_request *request,
			   const struct run_plan *plan)
{
	return !plan->world->is_here && !request->nproc_per_node &&
	       !request->world_size && !request->nnodes &&
	       !run_given(NULL, "RANK") && dist__job_is_rank();
}

int run_plan_make(const struct run_request *request, struct run_plan *plan)
{
	int status = choose_timeout(request->timeout, &plan->timeout_ns);

	if (!status)
		status = check_patience(request->patience);
	if (!status)
		status = check_debug(request->debug);
	if (!status)
		status = check_fidelity(request->fidelity);
	if (!status)
		status = check_intra(request->intra);
	if (!status)
		status = check_bind(request->bind_to);
	if (!status)
		status = choose_world(request->backend, &plan->world);
	if (!status)
		status = check_links(request, plan);
	if (!status)
		status = run_choose_nodes(request, plan);
	plan->is_rank = !status && choose_is_rank(request, plan);
	if (!status)
		status = choose_nproc(request, plan);
	if (!status)
		status = run_choose_output(request, plan);
	if (!status)
		status = check_dump(request, plan);
	if (!status)
		status = check_places(request, plan);
	if (!status)
		status = check_annotate(request->annotate);
	if (!status)
		status = choose_program(plan);
	if (!status)
		status = check_profile(request);
	return status;
}

void run_plan_release(struct run_plan *plan)
{
	for (int i = 0; plan->argv && i < plan->argc; i++)
		free(plan->argv[i]);
	free(plan->argv);
	free((void *)plan->output.redirects);
	free((void *)plan->output.tee);
	free((void *)plan->output.shown);
}
