#include "cli/log_arguments.h"

#include <stdio.h>
#include <string.h>

#include "base/refuse.h"
#include "model/cluster/machine.h"

#define AT(field) offsetof(struct log_arguments, field)

const struct option log_options[] = {
	{"machine", OPTION_TEXT, AT(machine), "NAME",
	 .help = "machine of the log: a name of lockstep list "
		 "machines, or a YAML file",
	 .list = "machines"},
	{"transport", OPTION_TEXT, AT(transport), "T",
	 .help = "network between its nodes, as the machine's "
		 "description names it"},
	{"nodes", OPTION_COUNT, AT(nodes), "N", .help = "nodes",
	 .usual = "as the log says", .min = 1},
	{"ranks", OPTION_COUNT, AT(ranks), "N", .help = "ranks on all nodes",
	 .usual = "as the log says", .min = 1},
	{"collective", OPTION_TEXT, AT(collective), "NAME",
	 .help = "collective, by its name in nccl-tests or torch",
	 .usual = "as the log says"},
	{"nccl-version", OPTION_TEXT, AT(version), "2.M",
	 .help = "version of NCCL", .usual = "as the log says"},
	{.name = NULL}};

struct log_facts log_arguments_facts(const struct log_arguments *arguments,
				     const char *library)
{
	return (struct log_facts){.machine = arguments->machine,
				  .transport = arguments->transport,
				  .library = library,
				  .version = arguments->version,
				  .collective = arguments->collective,
				  .nodes = arguments->nodes,
				  .ranks = arguments->ranks};
}

static bool is_version(const char *text)
{
	int major, minor;

	return sscanf(text, "%d.%d", &major, &minor) == 2 &&
	       text[strspn(text, "0123456789.")] == '\0';
}

enum dist_error log_machine_load(const struct log_facts *facts,
				 struct machine *machine,
				 struct dist_message *message)
{
	const struct machine_network *network;
	enum collective collective;
	enum dist_error error;

	if (facts->collective &&
	    !collective_find(facts->collective, &collective))
		return dist__refuse(message,
				    "--collective: expected " COLLECTIVE_NAMES);
	if (facts->version && !is_version(facts->version))
		return dist__refuse(message, "--nccl-version: expected 2.M");
	error = machine_find(machine, facts->machine, message);
	return error ? error
		     : machine_network_choose(machine, facts->transport,
					      &network, message);
}

void log_notes_print(const char *command, const char *path,
		     const struct log_notes *notes)
{
	if (notes->skipped)
		fprintf(stderr, "lockstep %s: %s: %s is left out: %s\n",
			command, path, notes->skipped, notes->why);
	if (notes->cut_rows)
		fprintf(stderr,
			"lockstep %s: %s: %zu rows are not whole, and left "
			"out\n",
			command, path, notes->cut_rows);
	if (notes->wrong_rows)
		fprintf(stderr,
			"lockstep %s: %s: nccl-tests found wrong results in "
			"%zu rows (#wrong)\n",
			command, path, notes->wrong_rows);
}
