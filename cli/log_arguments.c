#include "cli/log_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "platform/machine.h"

#define PATH_SIZE 4096

void log_arguments_init(struct log_arguments *arguments,
			struct poptOption table[LOG_ARGUMENTS_TABLE])
{
	const struct poptOption options[LOG_ARGUMENTS_TABLE] = {
		{"machine", '\0', POPT_ARG_STRING, &arguments->machine, 0,
		 "where a log was taken: a name of lockstep list machines, or "
		 "a YAML file",
		 "NAME"},
		{"transport", '\0', POPT_ARG_STRING, &arguments->transport, 0,
		 "between its nodes, as its description calls it", "T"},
		{"nodes", '\0', POPT_ARG_INT, &arguments->nodes, 0,
		 "nodes (default: as the log says)", "N"},
		{"ranks", '\0', POPT_ARG_INT, &arguments->ranks, 0,
		 "ranks on all nodes (default: as the log says)", "N"},
		{"collective", '\0', POPT_ARG_STRING, &arguments->collective, 0,
		 "collective (default: as the log says)", "C"},
		POPT_TABLEEND};

	memset(arguments, 0, sizeof(*arguments));
	memcpy(table, options, sizeof(options));
}

bool log_arguments_are_more(const struct log_arguments *arguments)
{
	return arguments->transport || arguments->collective ||
	       arguments->nodes || arguments->ranks;
}

const char *log_arguments_fault(const struct log_arguments *arguments)
{
	enum collective ignored;

	if (arguments->nodes < 0 || arguments->ranks < 0)
		return "--nodes, --ranks: expected numbers of 1 or more";
	if (arguments->collective &&
	    !collective_find(arguments->collective, &ignored))
		return "--collective: expected all_reduce, all_gather, "
		       "reduce_scatter, all_to_all, broadcast or reduce";
	return NULL;
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

void log_arguments_release(struct log_arguments *arguments)
{
	free(arguments->machine);
	free(arguments->transport);
	free(arguments->collective);
}

enum dist_error log_machine_load(const struct log_facts *facts,
				 struct machine *machine,
				 struct dist_message *message)
{
	const struct machine_network *network;
	char path[PATH_SIZE];
	enum dist_error error =
		dist__data_find("machines", facts->machine, ".yaml", path,
				sizeof(path), message);

	if (!error)
		error = machine_load(machine, path, message);
	return error ? error
		     : machine_network_choose(machine, facts->transport,
					      &network, message);
}
