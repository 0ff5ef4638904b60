/* run_options.c - the command line of lockstep run, by popt. */
#include "cli/run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "scenarios/arguments.h"

/* Room for a table of options, its end included. */
#define MAX_OPTIONS 26

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

/* ---- the tables --------------------------------------------------------- */

static void list_torchrun(struct run_request *r,
			  struct poptOption options[MAX_OPTIONS])
{
	const struct poptOption table[] = {
		{"nnodes", '\0', POPT_ARG_STRING, &r->nnodes, 0,
		 "nodes, each with a lockstep run of its own (default 1)",
		 "N|MIN:MAX"},
		{"nproc-per-node", '\0', POPT_ARG_STRING, &r->nproc_per_node, 0,
		 "ranks on a node; auto: one a GPU, else one a processor, or "
		 "as "
		 "many as the platform holds (default: $WORLD_SIZE, else 1)",
		 "N|auto|cpu|gpu"},
		{"rdzv-backend", '\0', POPT_ARG_STRING, &r->rdzv_backend, 0,
		 "how nodes find each other: each told its number, or as they "
		 "come (default static)",
		 "static|c10d"},
		{"rdzv-endpoint", '\0', POPT_ARG_STRING, &r->rdzv_endpoint, 0,
		 "where the first node listens for the others", "HOST:PORT"},
		{"rdzv-id", '\0', POPT_ARG_STRING, &r->rdzv_id, 0,
		 "name of the job (default none)", "ID"},
		{"rdzv-conf", '\0', POPT_ARG_STRING, &r->rdzv_conf, 0,
		 "join_timeout (600), last_call_timeout (30), "
		 "keep_alive_interval (1), keep_alive_max_attempt (5), is_host",
		 "K=V,..."},
		{"standalone", '\0', POPT_ARG_NONE, &r->standalone, 0,
		 "one node, any free port", NULL},
		{"max-restarts", '\0', POPT_ARG_STRING, &r->max_restarts, 0,
		 "starts of all ranks after a failure (default 0)", "N"},
		{"monitor-interval", '\0', POPT_ARG_STRING,
		 &r->monitor_interval, 0,
		 "seconds between looks at the other nodes (default 0.1)", "S"},
		{"role", '\0', POPT_ARG_STRING, &r->role, 0,
		 "name for the ranks of this node (default default)", "NAME"},
		{"log-dir", '\0', POPT_ARG_STRING, &r->log_dir, 0,
		 "folder for --redirects and --tee", "DIR"},
		{"redirects", 'r', POPT_ARG_STRING, &r->redirects, 0,
		 "streams to files: 1 stdout, 2 stderr, 3 both; 0:1,1:2 by "
		 "local rank",
		 "CODE"},
		{"tee", 't', POPT_ARG_STRING, &r->tee, 0,
		 "streams to files and here, [role0]: before each line",
		 "CODE"},
		{"local-ranks-filter", '\0', POPT_ARG_STRING,
		 &r->local_ranks_filter, 0, "show these alone here", "0,1,..."},
		{"node-rank", '\0', POPT_ARG_STRING, &r->node_rank, 0,
		 "static: number of this node (default 0)", "N"},
		{"master-addr", '\0', POPT_ARG_STRING, &r->master_addr, 0,
		 "static: where node 0 listens (default 127.0.0.1)", "HOST"},
		{"master-port", '\0', POPT_ARG_STRING, &r->master_port, 0,
		 "and on which port (default 29500; one node: any free one)",
		 "PORT"},
		{"no-python", '\0', POPT_ARG_NONE, &r->no_python, 0,
		 "programs are always started as they are", NULL},
		POPT_TABLEEND};

	_Static_assert(LENGTH(table) <= MAX_OPTIONS, "");
	memcpy(options, table, sizeof(table));
}

static const struct poptOption no_options[] = {POPT_TABLEEND};

/* Lists what runs, and how; returns how many options that are. */
static size_t list_worlds(struct run_request *r, struct poptOption *options)
{
	const struct poptOption table[] = {
		{"world-size", '\0', POPT_ARG_STRING, &r->world_size, 0,
		 "one node: the same as --nproc-per-node", "N"},
		{"backend", '\0', POPT_ARG_STRING, &r->backend, 0,
		 "the world to run in (default: $LOCKSTEP_BACKEND, else tcp)",
		 "sim|tcp|nccl"},
		{"platform", '\0', POPT_ARG_STRING, &r->platform, 0,
		 "sim: hosts and links, a name or a file", "P"},
		{"profile", '\0', POPT_ARG_STRING, &r->profile, 0,
		 "library profile, a name or a file", "L"},
		{"algorithm", '\0', POPT_ARG_STRING, &r->algorithm, 0,
		 "such as ring, or all_reduce=ring,broadcast=binomial", "A"},
		{"fidelity", '\0', POPT_ARG_STRING, &r->fidelity, 0,
		 "sim: how closely collectives are simulated (default: auto, "
		 "by the number of ranks)",
		 "auto|message|flow|formula"},
		{"p2p", '\0', POPT_ARG_STRING, &r->p2p, 0,
		 "sim: when a send ends: rendezvous, buffered or eager:BYTES "
		 "(default: the profile's, else rendezvous)",
		 "M"},
		{"intra", '\0', POPT_ARG_STRING, &r->intra, 0,
		 "tcp: what ranks of one machine talk through (default shm)",
		 "shm|tcp"},
		{"bind-to", '\0', POPT_ARG_STRING, &r->bind_to, 0,
		 "tcp: core: a processor each for the ranks, by turns where "
		 "there are fewer (default none)",
		 "none|core"},
		{"timeout", '\0', POPT_ARG_STRING, &r->timeout, 0,
		 "seconds that an operation may take (default 1800)", "S"},
		{"patience", '\0', POPT_ARG_STRING, &r->patience, 0,
		 "tcp: seconds without a call until ranks are ended that "
		 "disagree or can never move; 0: wait for the timeout "
		 "(default 5)",
		 "S"},
		{"debug", '\0', POPT_ARG_STRING, &r->debug, 0,
		 "info: find memory touched while an operation holds it; "
		 "detail: also reads, and the line that did it (tcp, sim)",
		 "off|info|detail"}};

	memcpy(options, table, sizeof(table));
	return LENGTH(table);
}

/* Lists what remains of the run. */
static size_t list_outputs(struct run_request *r, struct poptOption *options)
{
	const struct poptOption table[] = {
		{"trace", '\0', POPT_ARG_STRING, &r->trace, 0,
		 "write a trace, compressed by suffix .gz", "FILE"},
		{"replay", '\0', POPT_ARG_STRING, &r->replay, 0,
		 "sim: run as `lockstep explore` found it", "TOKEN"},
		{"json", '\0', POPT_ARG_STRING, &r->json, 0,
		 "write the verdict as JSON", "FILE"},
		{"junit", '\0', POPT_ARG_STRING, &r->junit, 0,
		 "write it as JUnit XML", "FILE"},
		{"sarif", '\0', POPT_ARG_STRING, &r->sarif, 0,
		 "write it as SARIF 2.1.0", "FILE"},
		{"annotate", '\0', POPT_ARG_STRING, &r->annotate, 0,
		 "print it as annotation lines, too", "github"},
		{"dump", '\0', POPT_ARG_STRING, &r->dump, 0,
		 "tcp, nccl: leave the records of all ranks there, for "
		 "lockstep diagnose; %r in a file's name: the rank",
		 "DIR"},
		{"prefix-output", '\0', POPT_ARG_NONE, &r->prefix_output, 0,
		 "tcp: [rank]: before each line of output", NULL}};

	memcpy(options, table, sizeof(table));
	return LENGTH(table);
}

static void list_ours(struct run_request *r, struct poptOption *torchrun,
		      struct poptOption *links, const struct run_extra *extra,
		      struct poptOption options[MAX_OPTIONS])
{
	const struct poptOption table[] = {
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, links, 0,
		 "Options about the links of sim:", NULL},
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, torchrun, 0,
		 "Options as torchrun's (defaults: PET_NNODES, ...):", NULL},
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE,
		 (void *)(extra ? extra->options : no_options), 0,
		 extra ? extra->title : NULL, NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	size_t n = list_worlds(r, options);

	n += list_outputs(r, options + n);
	assert(n + LENGTH(table) <= MAX_OPTIONS);
	memcpy(options + n, table, sizeof(table));
}

/* ---- reading ------------------------------------------------------------ */

/* Copies the program's words: a scenario's main() may write to its argv. */
static int copy_arguments(poptContext context, struct run_plan *plan)
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

/* Options of the table that were not given say what torchrun's variables do. */
static void take_defaults(const struct poptOption *option)
{
	for (; option->longName; option++) {
		if (option->argInfo == POPT_ARG_NONE) {
			char *value = run_default(option->longName);

			*(int *)option->arg |= value && strcmp(value, "0") != 0;
			free(value);
		} else if (!*(char **)option->arg) {
			*(char **)option->arg = run_default(option->longName);
		}
	}
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

static int allow_all_underscores(poptContext context,
				 const struct poptOption *option)
{
	int status = 0;

	for (; !status && option->longName; option++)
		status = allow_underscores(context, option);
	return status;
}

static int parse(poptContext context, const struct poptOption *torchrun,
		 struct run_plan *plan)
{
	int rc = poptGetNextOpt(context);

	if (rc < -1) {
		arguments_refuse("lockstep run", context, rc);
		return DIST_EXIT_USAGE;
	}
	take_defaults(torchrun);
	if (copy_arguments(context, plan) == 0)
		return DIST_EXIT_OK;
	fputs("lockstep run: out of memory\n", stderr);
	return DIST_EXIT_INTERNAL;
}

static const char summary[] =
	"[OPTION...] PROGRAM [ARGUMENT...]\n\n"
	"PROGRAM is one of `lockstep list scenarios` or an executable file.\n\n"
	"Example: lockstep run --backend sim --platform star-8 "
	"--nproc-per-node 8 ddp_step\n";

int run_options_read(int argc, const char **argv, const struct run_extra *extra,
		     struct run_request *request, struct run_plan *plan)
{
	struct poptOption torchrun[MAX_OPTIONS], options[MAX_OPTIONS];
	struct poptOption links[REWIRING_TABLE];
	poptContext context;
	int status = 0;

	list_torchrun(request, torchrun);
	rewiring_init(&request->links, links);
	list_ours(request, torchrun, links, extra, options);
	context = poptGetContext(argv[0], argc, argv, options,
				 POPT_CONTEXT_POSIXMEHARDER);
	poptSetOtherOptionHelp(context, extra ? extra->summary : summary);
	status = allow_all_underscores(context, options);
	if (!status)
		status = allow_all_underscores(context, torchrun);
	if (!status)
		status = allow_all_underscores(context, links);
	if (!status && extra)
		status = allow_all_underscores(context, extra->options);
	status = status ? DIST_EXIT_INTERNAL : parse(context, torchrun, plan);
	poptFreeContext(context);
	return status;
}

static void release_strings(const struct poptOption *option)
{
	for (; option->longName; option++)
		if (option->argInfo == POPT_ARG_STRING)
			free(*(char **)option->arg);
}

void run_options_release(struct run_request *request)
{
	struct poptOption options[MAX_OPTIONS];

	list_torchrun(request, options);
	release_strings(options);
	list_ours(request, NULL, NULL, NULL, options);
	release_strings(options);
	rewiring_release(&request->links);
}
