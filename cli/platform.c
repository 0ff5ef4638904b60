/* platform.c - lockstep platform: the simulated machine rooms, and new ones
 * from a few words. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "cli/list.h"
#include "cli/refuse.h"
#include "model/cluster/clause.h"
#include "model/cluster/machine.h"
#include "base/output.h"
#include "cli/table_option.h"
#include "base/data.h"
#include "base/progress.h"
#include "lockstep/dist.h"
#include "sim/platform/platform.h"

#define PATH_SIZE 4096

enum option_id {
	NODES = 1,
	GPUS,
	INTRA,
	INTER,
	TOPOLOGY,
	QUEUES,
	DEGRADE,
	SLOW,
	NCCL,
	MACHINE,
	GPU
};

struct request {
	struct platform_description description;
	const char *note, *output;
	bool counted; /* --nodes was given for the last sort */

	/* Of the last --machine; measured: there was one for the last sort. */
	struct machine machine;
	const char *transport; /* NULL: its first network */
	bool measured;
};

static const struct option options[] = {
	{"nodes", OPTION_EACH, NODES, "N|any",
	 .help = "number of these nodes (default 1); any: two nodes that "
		 "represent any number, for fidelity formula only"},
	{"gpus", OPTION_EACH, GPUS, "G", .help = "GPUs of a node (default 1)"},
	{"intra", OPTION_EACH, INTRA, "KIND:BW",
	 .help = "links between the GPUs of a node: nvswitch:BW, cube-mesh:BW "
		 "(of one NVLink) or pcie:BW[,sockets=N,socket=BW]; ,reached "
		 "if BW is what a ring reaches, not what links have; ,lat=TIME "
		 "from GPU to GPU"},
	{"inter", OPTION_EACH, INTER, "KIND:CARDSxBW",
	 .help = "network cards of a node: ib, roce, efa or tcp, :[CARDSx]BW; "
		 ",lat=TIME from card to card; ,pcie=BW from a GPU to its "
		 "cards; ,bonded for one link instead of rails"},
	{"topology", OPTION_EACH, TOPOLOGY, "KIND:SHAPE",
	 .help = "star (default); leaf-spine:LEAVESxSPINES,uplink=BW; "
		 "fat-tree:NODESxLEAVES[xPODS][,taper=R]; "
		 "dragonfly:GROUPSxROUTERSxNODES,local=BW,global=BW; ,hop=TIME "
		 "between switches"},
	{"queues", OPTION_EACH, QUEUES, "fifo|none",
	 .help = "fifo: links pass messages in order, like TCP; none "
		 "(default): messages share links"},
	{"degrade", OPTION_EACH, DEGRADE, "LINK:FACTOR",
	 .help = "reduce the bandwidth of a link: node3.nic0:0.5; may be "
		 "repeated"},
	{"slow", OPTION_EACH, SLOW, "NODE:FACTOR",
	 .help = "slow down a node's computing: node2:0.8; may be repeated"},
	{"import-nccl-topo", OPTION_EACH, NCCL, "FILE",
	 .help = "take GPUs, links and cards of a node from NCCL's "
		 "NCCL_TOPO_DUMP_FILE; later options change it"},
	{"machine", OPTION_EACH, MACHINE, "NAME[:TRANSPORT]",
	 .help = "take the node of a measured machine (lockstep list machines) "
		 "with its first network or TRANSPORT; later options change it",
	 .list = "machines"},
	{"gpu", OPTION_EACH, GPU, "KIND",
	 .help = "kind of GPU, as \"H100 80GB\", for models of libraries"},
	{"note", OPTION_TEXT, offsetof(struct request, note), "TEXT",
	 .help = "text for the file's head: a title, then the sources of "
		 "numbers"},
	{"output", OPTION_TEXT, offsetof(struct request, output), "FILE",
	 .help = "file to write (default stdout)", .letter = 'o'},
	{.name = NULL}};

/* ---- options --------------------------------------------------------- */

static struct platform_nodes *last_sort(struct platform_description *d)
{
	return &d->nodes[d->kinds - 1];
}

static enum dist_error read_nodes(const char *text, struct request *request,
				  struct dist_message *message)
{
	struct platform_description *d = &request->description;
	bool any = strcmp(text, "any") == 0;

	if (request->counted && (any || d->any_nodes))
		return dist__refuse(
			message,
			"--nodes: expected any for the only sort of node");
	if (request->counted) {
		if (d->kinds == PLATFORM_KINDS)
			return dist__refuse(
				message, "--nodes: expected at most %d times",
				PLATFORM_KINDS);
		d->nodes[d->kinds] = *last_sort(d);
		d->kinds++;
	}
	request->counted = true;
	d->any_nodes = any;
	if (any) {
		d->nodes[0].count = 2;
		return DIST_OK;
	}
	if (platform_read_count(text, PLATFORM_NODES, &last_sort(d)->count))
		return DIST_OK;
	return dist__refuse(message,
			    "--nodes: expected 1 to %d, or any for the only "
			    "sort, not \"%s\"",
			    PLATFORM_NODES, text);
}

/* Of a measured machine fewer GPUs have fewer links and cards. */
static enum dist_error read_gpus(const char *text, struct request *request,
				 struct dist_message *message)
{
	struct platform_nodes *sort = last_sort(&request->description);

	if (!platform_read_count(text, PLATFORM_GPUS, &sort->gpus))
		return dist__refuse(message,
				    "--gpus: expected 1 to %d, not \"%s\"",
				    PLATFORM_GPUS, text);
	if (!request->measured)
		return DIST_OK;
	return platform_of_machine(&request->machine, request->transport,
				   sort->gpus, sort, message);
}

static void forget_measures(struct platform_description *d)
{
	for (int i = 0; i < d->kinds; i++)
		d->nodes[i].num_calibrations = 0;
}

/* NAME[:TRANSPORT] */
static enum dist_error read_machine(const char *text, struct request *request,
				    struct dist_message *message)
{
	const char *transport = strchr(text, ':');
	char name[256];
	enum dist_error error;

	snprintf(name, sizeof name, "%.*s",
		 (int)(transport ? transport - text : (long)strlen(text)),
		 text);
	request->transport = transport ? transport + 1 : NULL;
	request->measured = true;
	error = machine_find(&request->machine, name, message);
	if (!error)
		error = platform_of_machine(
			&request->machine, request->transport, 0,
			last_sort(&request->description), message);
	/* Several machines are none that was measured. */
	if (request->description.kinds > 1)
		forget_measures(&request->description);
	return error;
}

static enum dist_error read_gpu(const char *text, struct platform_nodes *sort,
				struct dist_message *message)
{
	if (*text && strlen(text) < sizeof sort->gpu) {
		strcpy(sort->gpu, text);
		return DIST_OK;
	}
	return dist__refuse(message,
			    "--gpu: expected a name of 1 to %zu letters",
			    sizeof sort->gpu - 1);
}

static enum dist_error read_option(enum option_id option, const char *text,
				   struct request *request,
				   struct dist_message *message)
{
	struct platform_description *d = &request->description;

	switch (option) {
	case NODES:
		return read_nodes(text, request, message);
	case GPUS:
		return read_gpus(text, request, message);
	case INTRA:
		forget_measures(d);
		return platform_read_intra(text, &last_sort(d)->intra, message);
	case INTER:
		forget_measures(d);
		return platform_read_inter(text, &last_sort(d)->inter, message);
	case TOPOLOGY:
		return platform_read_topology(text, &d->fabric, message);
	case QUEUES:
		return platform_read_queues(text, &d->queues, message);
	case DEGRADE:
		return platform_read_change("--degrade", text, d->degraded,
					    &d->num_degraded, message);
	case SLOW:
		return platform_read_change("--slow", text, d->slow,
					    &d->num_slow, message);
	case MACHINE:
		return read_machine(text, request, message);
	case GPU:
		forget_measures(d);
		return read_gpu(text, last_sort(d), message);
	default:
		return platform_read_nccl(text, last_sort(d), message);
	}
}

static bool take_option(void *line, const struct option *option,
			const char *text, struct dist_message *message)
{
	enum dist_error error = read_option((enum option_id)option->offset,
					    text, line, message);

	if (error && !message->text[0])
		(void)dist__refuse(message, "--%s: %s", option->name,
				   dist_error_string(error));
	return !error;
}

const struct manual manual_platform_new = {
	.usage = "[--machine NAME] [--nodes N] [--gpus G] [--intra "
		 "KIND:BANDWIDTH] [--inter KIND:[CARDSx]BANDWIDTH] [--topology "
		 "KIND:SHAPE] [OPTION...]",
	.about = "Writes a platform. Each --nodes begins another kind of node, "
		 "a copy of the one before that later options change. "
		 "Bandwidths are each way: 400G is Gbit/s, 50GB/s is bytes.",
	.examples = {"lockstep platform new --nodes 32 --gpus 8 --intra "
		     "nvswitch:300GB/s --inter ib:8x200G --topology "
		     "fat-tree:8x4 -o cluster.xml"},
	.groups = GROUPS({.options = options}),
	.take = take_option};

/* ---- writing --------------------------------------------------------- */

/* The words of the command, quoted where a shell needs it; but the note, which
 * stands by itself, and the file's name. */
static char *command_line(int argc, const char **argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("lockstep platform new", out);
	for (int i = 1; i < argc; i++) {
		bool plain =
			strcspn(argv[i], " '\"\\$&;<>()|*?") == strlen(argv[i]);

		if (strcmp(argv[i], "--note") == 0 ||
		    strcmp(argv[i], "-o") == 0 ||
		    strcmp(argv[i], "--output") == 0)
			i++;
		else if (strncmp(argv[i], "--note=", 7) != 0 &&
			 strncmp(argv[i], "--output=", 9) != 0)
			fprintf(out, plain ? " %s" : " '%s'", argv[i]);
	}
	fclose(out);
	return text;
}

static int write_platform(const struct request *request, const char *command)
{
	struct dist_message message = {""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	enum dist_error error;

	if (!out)
		return refuse("platform new", "out of memory");
	error = platform_write(&request->description, request->note, command,
			       out, &message);
	if (fclose(out) && !error)
		error = DIST_ERR_NO_MEMORY;
	if (!error)
		error = dist__output_save(request->output, text, &message);
	free(text);
	return error ? refuse("platform new", "%s",
			      message.text[0] ? message.text
					      : dist_error_string(error))
		     : DIST_EXIT_OK;
}

static int platform_new(int argc, const char **argv)
{
	struct request request = {
		.description = {.nodes = {{.count = 1, .gpus = 1}},
				.kinds = 1}};
	struct dist_message message;
	char *command = command_line(argc, argv);
	int status;

	if (!command)
		return out_of_memory("platform new");
	(void)platform_read_topology("star", &request.description.fabric,
				     &message);
	if (!arguments_parse(&manual_platform_new, &argc, argv, &request,
			     &status)) {
		free(command);
		return status;
	}
	if (!status && platform_check(&request.description, &message))
		status = refuse("platform new", "%s", message.text);
	if (!status)
		status = write_platform(&request, command);
	free(command);
	return status;
}

/* ---- list and show ---------------------------------------------------- */

static int show(const char *name, enum dist__form form)
{
	struct dist_message message = {""};
	struct dist__progress progress;
	char path[PATH_SIZE], what[64];
	enum dist_error error;

	snprintf(what, sizeof what, "loading %.50s", name);
	dist__progress_begin(&progress, what, 0, 0);
	error = dist__data_find("platforms", name, ".xml", path, sizeof path,
				&message);
	if (!error)
		error = dist__platform_show(path, form, stdout, &message);
	dist__progress_end(&progress);
	return error ? refuse("platform show", "%s", message.text)
		     : DIST_EXIT_OK;
}

const struct manual manual_platform = {
	.usage = "list [OPTION...]\nshow [OPTION...] NAME\nnew [OPTION...]",
	.about = "NAME is one of the list or an XML file. For options of new "
		 "see lockstep platform new --help.",
	.examples = {"lockstep platform show star-8"},
	.choices = "list|show|new",
	.groups = GROUPS({.options = form_print_options}),
	.most_words = ANY_WORDS};

int command_platform(int argc, const char **argv)
{
	struct table_options line = {.tsv = NULL};
	int status;

	if (argc > 1 && strcmp(argv[1], "new") == 0) {
		argv[1] = "lockstep platform new";
		return platform_new(argc - 1, argv + 1);
	}
	if (!arguments_parse(&manual_platform, &argc, argv, &line, &status))
		return status;
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list_print("platforms", &line);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2], table_options_form(&line));
	return refuse("platform",
		      "expected \"list\", \"show NAME\" or \"new ...\"");
}
