/* run_options.c - the command line of lockstep run. */
#include "cli/run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/variable.h"
#include "cli/command.h"
#include "cli/option_rows.h"
#include "cli/refuse.h"

#define AT(field) offsetof(struct run_request, field)

const struct option run_options[] = {
	{"world-size", OPTION_TEXT, AT(world_size), "N",
	 .help = "number of ranks on one node, like --nproc-per-node"},
	{BACKEND_ROW(AT(backend))},
	{"platform", OPTION_TEXT, AT(platform), "PLATFORM",
	 .help = "sim: hosts and links, a name or a file", .list = "platforms"},
	{"profile", OPTION_TEXT, AT(profile), "LIBRARY",
	 .help = "profile of the library, a name or a file",
	 .usual = "sim: nccl for NVIDIA's and AMD's GPUs, else built in",
	 .list = "profiles"},
	{"algorithm", OPTION_TEXT, AT(algorithm), "A",
	 .help = "algorithms: ring, or all_reduce=ring,broadcast=binomial"},
	{FIDELITY_ROW(OPTION_TEXT, AT(fidelity), "sim: ", "collectives are")},
	{ENGINE_ROW(OPTION_CHOICE, AT(engine), "sim: ")},
	{"p2p", OPTION_TEXT, AT(p2p), "M",
	 .help = "sim: when a send is complete: rendezvous, buffered or "
		 "eager:BYTES",
	 .usual = "the profile's, else rendezvous"},
	{INTRA_ROW(OPTION_TEXT, AT(intra))},
	{BIND_TO_ROW(OPTION_TEXT, AT(bind_to), "")},
	{"timeout", OPTION_TEXT, AT(timeout), "S",
	 .help = "timeout of an operation, in seconds", .usual = "1800"},
	{"patience", OPTION_TEXT, AT(patience), "S",
	 .help = "seconds without any call after which ranks that disagree or "
		 "can never move (tcp, default 5), or a rank that computes "
		 "without end (sim, default 60), are stopped; 0: never"},
	{"stack-size", OPTION_TEXT, AT(stack_size), "SIZE",
	 .help = "sim: size of a rank's stack",
	 .usual = "8MiB, or less if the system counts untouched memory"},
	{"debug", OPTION_TEXT, AT(debug), "off|info|detail",
	 .help = "info: find writes to memory that an operation still uses; "
		 "detail: also reads, with the source line (tcp, sim)"},
	{"trace", OPTION_TEXT, AT(trace), "FILE",
	 .help = "write a trace; compressed if FILE ends in .gz"},
	{"replay", OPTION_TEXT, AT(replay), "TOKEN",
	 .help = "sim: repeat a run that `lockstep explore` found"},
	{JSON_ROW(AT(json))},
	{JUNIT_ROW(AT(junit))},
	{SARIF_ROW(AT(sarif))},
	{ANNOTATE_ROW(OPTION_TEXT, AT(annotate))},
	{"dump", OPTION_TEXT, AT(dump), "DIR",
	 .help = "tcp, nccl, mpi: write the records of all ranks there, for "
		 "lockstep diagnose; %r in the name is the rank"},
	{"compute", OPTION_TEXT, AT(compute), "HOW",
	 .help = "sim, ranks as processes: time of computing: none, cpu:FACTOR "
		 "(processor time x FACTOR), roofline:GPU or table:FILE",
	 .usual = "none"},
	{"represent", OPTION_TEXT, AT(represent), "R:N",
	 .help = "sim: run R ranks that stand for N: rank r for r + R, r + 2R, "
		 "..., which do the same"},
	{"torch-backend-as", OPTION_TEXT, AT(torch_backend_as), "NAME,...",
	 .help = "PyTorch backends that Lockstep replaces: gloo, nccl, or none",
	 .usual = "gloo with tcp, nccl with nccl, both with sim"},
	{"prefix-output", OPTION_SWITCH, AT(prefix_output), NULL,
	 .help = "tcp, nccl, mpi: begin each line of output with [rank]:"},
	{.name = NULL}};

const struct option run_torchrun_options[] = {
	{"nnodes", OPTION_TEXT, AT(nnodes), "N|MIN:MAX",
	 .help = "number of nodes; each runs its own lockstep run",
	 .usual = "1"},
	{"nproc-per-node", OPTION_TEXT, AT(nproc_per_node), "N|auto|cpu|gpu",
	 .help = "ranks on a node; auto: one a GPU, else one a processor, in "
		 "simulation as many as the platform holds",
	 .usual = "$WORLD_SIZE, else 1"},
	{"rdzv-backend", OPTION_TEXT, AT(rdzv_backend), "static|c10d",
	 .help = "how nodes find each other: with given ranks (--node-rank), "
		 "or in order of arrival",
	 .usual = "static"},
	{"rdzv-endpoint", OPTION_TEXT, AT(rdzv_endpoint), "HOST:PORT",
	 .help = "address where the first node listens"},
	{"rdzv-id", OPTION_TEXT, AT(rdzv_id), "ID", .help = "name of the job",
	 .usual = "none"},
	{"rdzv-conf", OPTION_TEXT, AT(rdzv_conf), "K=V,...",
	 .help = "join_timeout (600), last_call_timeout (30), "
		 "keep_alive_interval (1), keep_alive_max_attempt (5), "
		 "is_host"},
	{"standalone", OPTION_SWITCH, AT(standalone), NULL,
	 .help = "one node, any free port"},
	{"max-restarts", OPTION_TEXT, AT(max_restarts), "N",
	 .help = "restarts of all ranks after a failure", .usual = "0"},
	{"monitor-interval", OPTION_TEXT, AT(monitor_interval), "S",
	 .help = "seconds between checks of other nodes", .usual = "0.1"},
	{"role", OPTION_TEXT, AT(role), "NAME",
	 .help = "name for the ranks of this node", .usual = "default"},
	{"log-dir", OPTION_TEXT, AT(log_dir), "DIR",
	 .help = "folder for --redirects and --tee"},
	{"redirects", OPTION_TEXT, AT(redirects), "CODE",
	 .help = "write streams to files: 1 stdout, 2 stderr, 3 both; by local "
		 "rank: 0:1,1:2",
	 .letter = 'r'},
	{"tee", OPTION_TEXT, AT(tee), "CODE",
	 .help = "write streams to files and also here, with [role0]: before "
		 "each line",
	 .letter = 't'},
	{"local-ranks-filter", OPTION_TEXT, AT(local_ranks_filter), "0,1,...",
	 .help = "show only these local ranks here"},
	{"node-rank", OPTION_TEXT, AT(node_rank), "N",
	 .help = "static: rank of this node", .usual = "0"},
	{"master-addr", OPTION_TEXT, AT(master_addr), "HOST",
	 .help = "static: address of node 0", .usual = "127.0.0.1"},
	{"master-port", OPTION_TEXT, AT(master_port), "PORT",
	 .help = "static: port of node 0",
	 .usual = "29500; on one node any free port"},
	{"module", OPTION_SWITCH, AT(module), NULL,
	 .help = "PROGRAM is a Python module: run python3 -m PROGRAM",
	 .letter = 'm'},
	{"no-python", OPTION_SWITCH, AT(no_python), NULL,
	 .help = "start a .py file itself, without python3"},
	{.name = NULL}};

const struct manual manual_run = {
	.usage = "[OPTION...] PROGRAM [ARGUMENT...]",
	.about = "Starts a program in one of the worlds. PROGRAM is one of "
		 "`lockstep list scenarios`, a Python script (train.py), or an "
		 "executable file or command. The options are torchrun's, too, "
		 "spelled with - or _; they end at PROGRAM.",
	.examples = {"lockstep run --backend sim --platform star-8 "
		     "--nproc-per-node 8 ddp_step"},
	.choices = "scenarios",
	.groups = GROUPS(RUN_GROUPS),
	.most_words = ANY_WORDS,
	.ends_at_word = true};

const char *run_command = "run";

int run_refuse(const char *option, const char *value, const char *expected)
{
	return refuse(run_command, "%s: expected %s, not \"%s\"", option,
		      expected, value);
}

bool run_number(const char *text, long min, long max, int *number)
{
	int64_t n;

	if (!dist__count_read(text, min, max, &n))
		return false;
	*number = (int)n;
	return true;
}

/* Copies the program's words, for a scenario's main() may write to its argv:
 * into the block that has their addresses. */
static bool copy_arguments(int num, const char **text, struct run_plan *plan)
{
	size_t bytes = ((size_t)num + 1) * sizeof *plan->argv;
	char *at;

	for (int i = 0; i < num; i++)
		bytes += strlen(text[i]) + 1;
	plan->argv = calloc(1, bytes);
	if (!plan->argv)
		return false;
	at = (char *)(plan->argv + num + 1);
	for (; plan->argc < num; plan->argc++) {
		plan->argv[plan->argc] = at;
		at = stpcpy(at, text[plan->argc]) + 1;
	}
	return true;
}

/* The value of torchrun's variable for an option (PET_NNODES for "nnodes");
 * NULL: not set. */
static const char *default_of(const char *option)
{
	char name[64];

	snprintf(name, sizeof name, "PET_%s", option);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return dist__variable(name);
}

bool run_options_read(int argc, const char **argv, const struct manual *manual,
		      void *line, struct run_plan *plan, int *status)
{
	run_command = argv[0] + strlen("lockstep ");
	if (!arguments_parse(manual, &argc, argv, line, status))
		return false;
	/* Options as torchrun's that were not given say what its variables do.
	 */
	for (const struct option *o = run_torchrun_options; o->name; o++) {
		const char *value = default_of(o->name);
		void *field = (char *)line + o->offset;

		if (o->kind == OPTION_SWITCH)
			*(int *)field |= value && strcmp(value, "0") != 0;
		else if (!*(const char **)field)
			*(const char **)field = value;
	}
	if (copy_arguments(argc - 1, argv + 1, plan))
		return true;
	*status = out_of_memory(run_command);
	return false;
}
