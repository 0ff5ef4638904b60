/*
 * run.c - lockstep run: start a scenario or a program in one of the worlds.
 *
 * The options are torchrun's, with '-' or '_' between words, and ours. They
 * end at PROGRAM. What they say goes into the environment, where the program's
 * own dist_launch() or dist_init_process_group() finds it: a program started
 * by hand with the same variables behaves alike.
 */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <popt.h>

#include "core/backend.h"
#include "core/data.h"
#include "lockstep/dist.h"
#include "realbackend/tcp/launcher.h"
#include "scenarios/scenario.h"
#include "sim/platform.h"

#define PATH_SIZE 4096

/* What the command line says; strings are popt's, NULL when not given. */
struct request {
	char *nproc_per_node;
	char *world_size;
	char *nnodes;
	char *backend;
	char *platform;
	char *profile;
	char *algorithm;
	char *timeout;
	char *trace;
	char *master_addr;
	char *master_port;
	char *node_rank;
	char *max_restarts;
	int standalone;
	int prefix_output;
};

/* What it asks for, once checked. */
struct plan {
	const struct dist__world *world;
	int world_size;
	int master_port;
	int64_t timeout_ns;
	const struct scenario *scenario; /* NULL: an executable file */
	int argc;
	char **argv; /* the program's, argv[0] its name; ended by NULL */
};

static int refuse(const char *option, const char *value, const char *expected)
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

/* The option if it was given, else the variable if it says something. */
static const char *given(const char *option, const char *variable)
{
	const char *value = option ? option : getenv(variable);

	return value && *value ? value : NULL;
}

/* Stores as many ranks as there is room for in *size: on the platform, or one
 * a processor. */
static int fill_world(const struct request *request, const struct plan *plan,
		      int *size)
{
	const char *platform = given(request->platform, "LOCKSTEP_PLATFORM");
	struct dist_message message = {""};
	char path[PATH_SIZE];
	int hosts;

	if (!plan->world->is_here || !platform) {
		*size = (int)sysconf(_SC_NPROCESSORS_ONLN);
		return DIST_EXIT_OK;
	}
	if (dist__data_find("platforms", platform, ".xml", path, sizeof(path),
			    &message) ||
	    dist__platform_hosts(path, &hosts, size, &message))
		return complain(&message);
	return DIST_EXIT_OK;
}

/* Stores the number of ranks that words ask for in *size. */
static int parse_size(const char *option, const char *words, int *size)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(words, &end, 10);
	if (errno || end == words || *end || n < 1 || n > 1 << 24)
		return refuse(option, words,
			      "a number of ranks from 1 on, or auto");
	*size = (int)n;
	return DIST_EXIT_OK;
}

/* The size of the world: either spelling of the option, else WORLD_SIZE, else
 * 1 as torchrun has it. */
static int choose_size(const struct request *request, struct plan *plan)
{
	const char *option = "--nproc-per-node";
	const char *words = request->nproc_per_node;

	if (words && request->world_size &&
	    strcmp(words, request->world_size) != 0)
		return refuse("--world-size", request->world_size,
			      "on one machine the same as --nproc-per-node");
	if (!words) {
		option = "--world-size";
		words = request->world_size;
	}
	if (!words) {
		option = "WORLD_SIZE";
		words = given(NULL, option);
	}
	if (!words)
		return DIST_EXIT_OK;
	if (strcmp(words, "auto") == 0)
		return fill_world(request, plan, &plan->world_size);
	return parse_size(option, words, &plan->world_size);
}

static int choose_world(const char *name, const struct dist__world **world)
{
	struct dist_message why = {""};

	if (!name)
		name = given(NULL, "LOCKSTEP_BACKEND");
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
	const char *words = given(option, "LOCKSTEP_TIMEOUT");
	char *end;
	double seconds;

	if (!words)
		return DIST_EXIT_OK;
	seconds = strtod(words, &end);
	/* The limit of dist_launch(): 64 bits of nanoseconds hold it well. */
	if (end == words || *end || !(seconds > 0) || !(seconds < 1e9))
		return refuse(option ? "--timeout" : "LOCKSTEP_TIMEOUT", words,
			      "seconds, a number above 0");
	*timeout_ns = (int64_t)(seconds * 1e9);
	return DIST_EXIT_OK;
}

/* What torchrun can do and this cannot yet, refused rather than ignored. */
static int check_one_node(const struct request *request)
{
	if (request->nnodes && strcmp(request->nnodes, "1") != 0 &&
	    strcmp(request->nnodes, "1:1") != 0)
		return refuse("--nnodes", request->nnodes,
			      "only one machine for now, 1");
	if (request->node_rank && strcmp(request->node_rank, "0") != 0)
		return refuse("--node-rank", request->node_rank,
			      "only one machine for now, 0");
	if (request->max_restarts && strcmp(request->max_restarts, "0") != 0)
		return refuse("--max-restarts", request->max_restarts,
			      "ranks are not restarted, 0");
	return DIST_EXIT_OK;
}

static int choose_port(const char *words, int *port)
{
	char *end;
	long n;

	if (!words)
		return DIST_EXIT_OK;
	n = strtol(words, &end, 10);
	if (end == words || *end || n < 0 || n > 65535)
		return refuse("--master-port", words,
			      "a port from 0 (any free one) to 65535");
	*port = (int)n;
	return DIST_EXIT_OK;
}

static int choose_program(struct plan *plan)
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
static int check_profile(const struct request *request)
{
	const char *name = given(request->profile, "LOCKSTEP_PROFILE");
	const char *words = given(request->algorithm, "LOCKSTEP_ALGORITHM");
	struct dist_message message = {""};
	struct dist__profile profile;
	char path[PATH_SIZE];
	int status = DIST_EXIT_OK;

	dist__profile_init(&profile);
	if ((name && (dist__data_find("profiles", name, ".yaml", path,
				      sizeof(path), &message) ||
		      dist__profile_load(&profile, path, &message))) ||
	    (words && dist__profile_force(&profile, words, &message)))
		status = complain(&message);
	dist__profile_release(&profile);
	return status;
}

static int make_plan(const struct request *request, struct plan *plan)
{
	int status = check_one_node(request);

	if (!status)
		status = choose_timeout(request->timeout, &plan->timeout_ns);
	if (!status)
		status = choose_port(request->master_port, &plan->master_port);
	if (!status)
		status = choose_world(request->backend, &plan->world);
	if (!status)
		status = choose_size(request, plan);
	if (!status)
		status = choose_program(plan);
	if (!status)
		status = check_profile(request);
	return status;
}

/* Puts the request into the environment; what was not given stays as it is. */
static int export_request(const struct request *request,
			  const struct plan *plan)
{
	const struct {
		const char *name, *value;
	} variables[] = {
		{"LOCKSTEP_BACKEND", plan->world->name},
		{"LOCKSTEP_PLATFORM", request->platform},
		{"LOCKSTEP_PROFILE", request->profile},
		{"LOCKSTEP_ALGORITHM", request->algorithm},
		{"LOCKSTEP_TIMEOUT", request->timeout},
		{"LOCKSTEP_TRACE", request->trace},
	};
	char size[16];

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (variables[i].value &&
		    setenv(variables[i].name, variables[i].value, 1))
			return -1;
	snprintf(size, sizeof(size), "%d", plan->world_size);
	/* A rank number from a launcher around us is not ours to pass on. */
	return setenv("WORLD_SIZE", size, 1) || unsetenv("RANK") ? -1 : 0;
}

/* The program itself, in this process; an executable does not come back. */
static int start_program(void *arg)
{
	const struct plan *plan = arg;

	if (plan->scenario)
		return plan->scenario->main(plan->argc, plan->argv);
	fflush(NULL);
	execv(plan->argv[0], plan->argv);
	fprintf(stderr, "lockstep run: %s: %s\n", plan->argv[0],
		strerror(errno));
	return DIST_EXIT_USAGE;
}

/*
 * A scenario launches its own ranks, so that what is wrong with its arguments
 * is said once and not by every rank; so does any program in a world whose
 * ranks are all in one process. Every other program may be one that knows only
 * the launcher's variables and must be started rank by rank.
 */
static int start(const struct request *request, struct plan *plan)
{
	const struct dist__job_spec spec = {
		.nproc = plan->world_size,
		.master_addr = request->master_addr,
		.master_port = plan->master_port,
		.timeout_ns = plan->timeout_ns,
		.prefix_output = request->prefix_output != 0,
		.start = start_program,
		.arg = plan,
	};
	bool launcher_needed = !plan->scenario || request->prefix_output ||
			       request->master_addr || plan->master_port;

	if (plan->world->is_here || !launcher_needed)
		return start_program(plan);
	return dist__job_run(&spec);
}

/* Copies the program's words: a scenario's main() may write to its argv. */
static int copy_arguments(poptContext context, struct plan *plan)
{
	const char **words = poptGetArgs(context);
	int n = 0;

	while (words && words[n])
		n++;
	plan->argv = calloc((size_t)n + 1, sizeof(*plan->argv));
	if (!plan->argv)
		return -1;
	for (plan->argc = 0; plan->argc < n; plan->argc++) {
		plan->argv[plan->argc] = strdup(words[plan->argc]);
		if (!plan->argv[plan->argc])
			return -1;
	}
	return 0;
}

static int run(poptContext context, const struct request *request,
	       struct plan *plan)
{
	int rc = poptGetNextOpt(context);

	if (rc < -1) {
		fprintf(stderr, "lockstep run: %s: %s\n",
			poptBadOption(context, 0), poptStrerror(rc));
		return DIST_EXIT_USAGE;
	}
	if (copy_arguments(context, plan)) {
		fputs("lockstep run: out of memory\n", stderr);
		return DIST_EXIT_INTERNAL;
	}
	rc = make_plan(request, plan);
	if (rc)
		return rc;
	if (export_request(request, plan)) {
		perror("lockstep run: environment");
		return DIST_EXIT_INTERNAL;
	}
	return start(request, plan);
}

static void request_release(struct request *request)
{
	free(request->nproc_per_node);
	free(request->world_size);
	free(request->nnodes);
	free(request->backend);
	free(request->platform);
	free(request->profile);
	free(request->algorithm);
	free(request->timeout);
	free(request->trace);
	free(request->master_addr);
	free(request->master_port);
	free(request->node_rank);
	free(request->max_restarts);
}

static void plan_release(struct plan *plan)
{
	for (int i = 0; plan->argv && i < plan->argc; i++)
		free(plan->argv[i]);
	free(plan->argv);
}

/* Lets an option be spelled with '_' between words too, as torchrun's may;
 * --help does not show that. Returns 0, or -1 when out of memory. */
static int allow_underscores(poptContext context,
			     const struct poptOption *option)
{
	struct poptItem_s alias = {.argc = 0};
	char target[64], name[64];

	snprintf(name, sizeof(name), "%s", option->longName);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (strcmp(name, option->longName) == 0)
		return 0;
	snprintf(target, sizeof(target), "--%s", option->longName);
	alias.option.longName = name; /* popt copies it, and owns argv */
	if (poptParseArgvString(target, &alias.argc, &alias.argv))
		return -1;
	return poptAddItem(context, &alias, 0);
}

int command_run(int argc, const char **argv)
{
	struct request r = {.nproc_per_node = NULL};
	struct plan plan = {.world_size = 1};
	struct poptOption options[] = {
		{"nproc-per-node", '\0', POPT_ARG_STRING, &r.nproc_per_node, 0,
		 "ranks to start; auto: one a processor, or as many as the "
		 "platform holds (default: $WORLD_SIZE, else 1)",
		 "N|auto"},
		{"world-size", '\0', POPT_ARG_STRING, &r.world_size, 0,
		 "the same", "N"},
		{"backend", '\0', POPT_ARG_STRING, &r.backend, 0,
		 "the world to run in (default: $LOCKSTEP_BACKEND, else tcp)",
		 "sim|tcp"},
		{"platform", '\0', POPT_ARG_STRING, &r.platform, 0,
		 "sim: hosts and links, a name or a file", "P"},
		{"profile", '\0', POPT_ARG_STRING, &r.profile, 0,
		 "library profile, a name or a file", "L"},
		{"algorithm", '\0', POPT_ARG_STRING, &r.algorithm, 0,
		 "such as ring, or all_reduce=ring,broadcast=binomial", "A"},
		{"timeout", '\0', POPT_ARG_STRING, &r.timeout, 0,
		 "seconds that an operation may take (default 1800)", "S"},
		{"trace", '\0', POPT_ARG_STRING, &r.trace, 0,
		 "write a trace, compressed by suffix .gz", "FILE"},
		{"prefix-output", '\0', POPT_ARG_NONE, &r.prefix_output, 0,
		 "tcp: [rank]: before each line of output", NULL},
		{"nnodes", '\0', POPT_ARG_STRING, &r.nnodes, 0,
		 "machines: 1 for now", "1"},
		{"node-rank", '\0', POPT_ARG_STRING, &r.node_rank, 0,
		 "this machine: 0 for now", "0"},
		{"master-addr", '\0', POPT_ARG_STRING, &r.master_addr, 0,
		 "where rank 0 listens (default 127.0.0.1)", "HOST"},
		{"master-port", '\0', POPT_ARG_STRING, &r.master_port, 0,
		 "and on which port (default 0: any free one)", "PORT"},
		{"standalone", '\0', POPT_ARG_NONE, &r.standalone, 0,
		 "one machine, any free port: the default", NULL},
		{"max-restarts", '\0', POPT_ARG_STRING, &r.max_restarts, 0,
		 "0: ranks are not restarted", "0"},
		POPT_AUTOHELP POPT_TABLEEND};
	poptContext context = poptGetContext(argv[0], argc, argv, options,
					     POPT_CONTEXT_POSIXMEHARDER);
	int status = 0;

	poptSetOtherOptionHelp(
		context,
		"[OPTION...] PROGRAM [ARGUMENT...]\n\n"
		"PROGRAM is one of `lockstep list scenarios` or an "
		"executable file.\n\n"
		"Example: lockstep run --backend sim --platform star-8 "
		"--nproc-per-node 8 ddp_step\n");
	for (const struct poptOption *o = options; !status && o->longName; o++)
		status = allow_underscores(context, o);
	status = status ? DIST_EXIT_INTERNAL : run(context, &r, &plan);
	poptFreeContext(context);
	plan_release(&plan);
	request_release(&r);
	return status;
}
