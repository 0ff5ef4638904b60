#include "cli/log_arguments.h"

#include "base/data.h"
#include "model/cluster/machine.h"

#define PATH_SIZE 4096

#define AT(field) offsetof(struct log_arguments, field)

const struct option log_options[] = {
	{"machine", OPTION_TEXT, AT(machine), "NAME",
	 .help = "where a log was taken: a name of lockstep list machines, or "
		 "a YAML file",
	 .list = "machines"},
	{"transport", OPTION_TEXT, AT(transport), "T",
	 .help = "between its nodes, as its description calls it"},
	{"nodes", OPTION_COUNT, AT(nodes), "N", .help = "nodes",
	 .usual = "as the log says", .min = 1},
	{"ranks", OPTION_COUNT, AT(ranks), "N", .help = "ranks on all nodes",
	 .usual = "as the log says", .min = 1},
	{"collective", OPTION_CHOICE, AT(collective),
	 "all_reduce|all_gather|reduce_scatter|all_to_all|broadcast|reduce",
	 .help = "what was called", .usual = "as the log says"},
	{.name = NULL}};

bool log_arguments_are_more(const struct log_arguments *arguments)
{
	return arguments->transport || arguments->collective ||
	       arguments->nodes || arguments->ranks;
}

struct log_facts log_arguments_facts(const struct log_arguments *arguments,
				     const char *library)
{
	return (struct log_facts){.machine = arguments->machine,
				  .transport = arguments->transport,
				  .library = library,
				  .collective = arguments->collective,
				  .nodes = arguments->nodes,
				  .ranks = arguments->ranks};
}

enum dist_error log_machine_load(const struct log_facts *facts,
				 struct machine *machine,
				 struct dist_message *message)
{
	const struct machine_network *network;
	char path[PATH_SIZE];
	enum dist_error error =
		dist__data_find("machines", facts->machine, ".yaml", path,
				sizeof path, message);

	if (!error)
		error = machine_load(machine, path, message);
	return error ? error
		     : machine_network_choose(machine, facts->transport,
					      &network, message);
}
