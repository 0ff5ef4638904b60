/* platform_new.c - lockstep platform new: a platform from a few words. */
#include "cli/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "platform/clause.h"
#include "platform/description.h"
#include "trace/output.h"

#define USAGE                                                                  \
	"[--nodes N] [--gpus G] [--intra KIND:BANDWIDTH] "                     \
	"[--inter KIND:[CARDSx]BANDWIDTH] [--topology KIND:SHAPE] [...]\n\n"   \
	"--nodes begins another sort of node, which is as the one before but " \
	"for what follows.\n"                                                  \
	"Bandwidths are each way: 400G is Gbit/s, 50GB/s bytes.\n\n"           \
	"Example: lockstep platform new --nodes 32 --gpus 8 --intra "          \
	"nvswitch:235.3GB/s --inter ib:8x200G --topology fat-tree:8x4 -o "     \
	"cluster.xml\n"

enum option {
	NODES = 1,
	GPUS,
	INTRA,
	INTER,
	TOPOLOGY,
	DEGRADE,
	SLOW,
	NCCL,
	NOTE,
	OUTPUT
};

static const struct poptOption options[] = {
	{"nodes", '\0', POPT_ARG_STRING, NULL, NODES,
	 "nodes of this sort (default 1)", "N"},
	{"gpus", '\0', POPT_ARG_STRING, NULL, GPUS,
	 "GPUs of a node (default 1)", "G"},
	{"intra", '\0', POPT_ARG_STRING, NULL, INTRA,
	 "between the GPUs of a node: nvswitch:BW, cube-mesh:BW (of one "
	 "NVLink) or pcie:BW[,sockets=N,socket=BW]; ,lat=TIME from GPU to GPU",
	 "KIND:BW"},
	{"inter", '\0', POPT_ARG_STRING, NULL, INTER,
	 "a node's network cards: ib, roce, efa or tcp, :[CARDSx]BW; "
	 ",lat=TIME from card to card; ,pcie=BW from a GPU to its cards; "
	 ",bonded for one link instead of rails",
	 "KIND:CARDSxBW"},
	{"topology", '\0', POPT_ARG_STRING, NULL, TOPOLOGY,
	 "star (default); leaf-spine:LEAVESxSPINES,uplink=BW; "
	 "fat-tree:NODESxLEAVES[xPODS][,taper=R]; "
	 "dragonfly:GROUPSxROUTERSxNODES,local=BW,global=BW; ,hop=TIME between "
	 "switches",
	 "KIND:SHAPE"},
	{"degrade", '\0', POPT_ARG_STRING, NULL, DEGRADE,
	 "a link with a fraction of its bandwidth, as node3.nic0:0.5; again "
	 "for others",
	 "LINK:FACTOR"},
	{"slow", '\0', POPT_ARG_STRING, NULL, SLOW,
	 "a node whose ranks compute at a fraction of the pace, as node2:0.8; "
	 "again for others",
	 "NODE:FACTOR"},
	{"import-nccl-topo", '\0', POPT_ARG_STRING, NULL, NCCL,
	 "GPUs, links and cards of a node from what NCCL wrote to "
	 "NCCL_TOPO_DUMP_FILE; what follows changes it",
	 "FILE"},
	{"note", '\0', POPT_ARG_STRING, NULL, NOTE,
	 "words for the file's head: a title, then where numbers are from",
	 "TEXT"},
	{"output", 'o', POPT_ARG_STRING, NULL, OUTPUT,
	 "file to write (default stdout)", "FILE"},
	POPT_AUTOHELP POPT_TABLEEND};

struct request {
	struct platform_description description;
	char *note, *output;
	bool counted; /* --nodes was given for the last sort */
};

static int refuse(const char *text)
{
	fprintf(stderr, "lockstep platform new: %s\n", text);
	return DIST_EXIT_USAGE;
}

/* ---- options --------------------------------------------------------- */

static struct platform_nodes *last_sort(struct platform_description *d)
{
	return &d->nodes[d->kinds - 1];
}

static enum dist_error read_nodes(const char *text, struct request *request,
				  struct dist_message *message)
{
	struct platform_description *d = &request->description;

	if (request->counted) {
		if (d->kinds == PLATFORM_KINDS)
			return platform_refuse(message,
					       "--nodes: expected at most %d "
					       "times",
					       PLATFORM_KINDS);
		d->nodes[d->kinds] = *last_sort(d);
		d->kinds++;
	}
	request->counted = true;
	if (platform_read_count(text, PLATFORM_NODES, &last_sort(d)->count))
		return DIST_OK;
	return platform_refuse(message, "--nodes: expected 1 to %d, not \"%s\"",
			       PLATFORM_NODES, text);
}

static enum dist_error read_gpus(const char *text, int *gpus,
				 struct dist_message *message)
{
	if (platform_read_count(text, PLATFORM_GPUS, gpus))
		return DIST_OK;
	return platform_refuse(message, "--gpus: expected 1 to %d, not \"%s\"",
			       PLATFORM_GPUS, text);
}

static enum dist_error keep(char **place, char *text)
{
	free(*place);
	*place = strdup(text);
	return *place ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static enum dist_error read_option(enum option option, char *text,
				   struct request *request,
				   struct dist_message *message)
{
	struct platform_description *d = &request->description;

	switch (option) {
	case NODES:
		return read_nodes(text, request, message);
	case GPUS:
		return read_gpus(text, &last_sort(d)->gpus, message);
	case INTRA:
		return platform_read_intra(text, &last_sort(d)->intra, message);
	case INTER:
		return platform_read_inter(text, &last_sort(d)->inter, message);
	case TOPOLOGY:
		return platform_read_topology(text, &d->fabric, message);
	case DEGRADE:
		return platform_read_change("--degrade", text, d->degraded,
					    &d->num_degraded, message);
	case SLOW:
		return platform_read_change("--slow", text, d->slow,
					    &d->num_slow, message);
	case NCCL:
		return platform_read_nccl(text, last_sort(d), message);
	case NOTE:
		return keep(&request->note, text);
	default:
		return keep(&request->output, text);
	}
}

static int read_options(poptContext context, struct request *request)
{
	struct dist_message message = {""};
	int option;

	while ((option = poptGetNextOpt(context)) > 0) {
		char *text = poptGetOptArg(context);
		enum dist_error error =
			read_option(option, text, request, &message);

		free(text);
		if (error)
			return refuse(message.text[0]
					      ? message.text
					      : dist_error_string(error));
	}
	if (option < -1) {
		fprintf(stderr, "lockstep platform new: %s: %s\n",
			poptBadOption(context, 0), poptStrerror(option));
		return DIST_EXIT_USAGE;
	}
	return poptPeekArg(context) ? refuse("expected options only")
				    : DIST_EXIT_OK;
}

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

static int save(const char *path, const char *text,
		struct dist_message *message)
{
	struct dist__output *output;

	if (!path)
		return fputs(text, stdout) < 0 ? refuse("cannot write")
					       : DIST_EXIT_OK;
	if (dist__output_open(path, &output, message))
		return refuse(message->text);
	dist__output_text(output, text);
	if (dist__output_close(output, message))
		return refuse(message->text);
	return DIST_EXIT_OK;
}

static int write_platform(const struct request *request, const char *command)
{
	struct dist_message message = {""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	enum dist_error error;
	int status;

	if (!out)
		return refuse("out of memory");
	error = platform_write(&request->description, request->note, command,
			       out, &message);
	if (fclose(out) && !error)
		error = DIST_ERR_NO_MEMORY;
	if (error)
		status = refuse(message.text[0] ? message.text
						: dist_error_string(error));
	else
		status = save(request->output, text, &message);
	free(text);
	return status;
}

int platform_new(int argc, const char **argv)
{
	struct request request = {
		.description = {.nodes = {{.count = 1, .gpus = 1}},
				.kinds = 1}};
	poptContext context = poptGetContext(argv[0], argc, argv, options, 0);
	struct dist_message message;
	int status;

	poptSetOtherOptionHelp(context, USAGE);
	(void)platform_read_topology("star", &request.description.fabric,
				     &message);
	status = read_options(context, &request);
	if (!status && platform_check(&request.description, &message))
		status = refuse(message.text);
	if (!status) {
		char *command = command_line(argc, argv);

		status = command ? write_platform(&request, command)
				 : refuse("out of memory");
		free(command);
	}
	poptFreeContext(context);
	free(request.note);
	free(request.output);
	return status;
}
