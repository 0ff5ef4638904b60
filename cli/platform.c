/* platform.c - lockstep platform: the simulated machine rooms. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include <popt.h>

#include "cli/platform.h"
#include "core/data.h"
#include "lockstep/dist.h"
#include "scenarios/arguments.h"
#include "sim/platform.h"

#define PATH_SIZE 4096

static int show(const char *name)
{
	struct dist_message message = {""};
	char path[PATH_SIZE];

	if (dist__data_find("platforms", name, ".xml", path, sizeof(path),
			    &message) ||
	    dist__platform_show(path, stdout, &message)) {
		fprintf(stderr, "lockstep platform show: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

/* The same table as `lockstep list platforms`. */
static int list(bool as_json)
{
	const char *arguments[] = {"lockstep platform list", "platforms",
				   as_json ? "--json" : NULL, NULL};

	return command_list(as_json ? 3 : 2, arguments);
}

/* Looks at the words after the options and does what they say. */
static int act(poptContext context, bool as_json)
{
	const char *verb = poptGetArg(context);
	const char *name = verb ? poptGetArg(context) : NULL;

	if (verb && !poptPeekArg(context)) {
		if (strcmp(verb, "list") == 0 && !name)
			return list(as_json);
		if (strcmp(verb, "show") == 0 && name && !as_json)
			return show(name);
	}
	fputs("lockstep platform: expected \"list [--json]\", \"show NAME\" "
	      "or \"new ...\"\n",
	      stderr);
	return DIST_EXIT_USAGE;
}

int command_platform(int argc, const char **argv)
{
	int as_json = 0;
	struct poptOption options[] = {
		{"json", '\0', POPT_ARG_NONE, &as_json, 0,
		 "list: print JSON instead of a table", NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	poptContext context;
	int rc;

	if (argc > 1 && strcmp(argv[1], "new") == 0) {
		argv[1] = "lockstep platform new";
		return platform_new(argc - 1, argv + 1);
	}
	context = poptGetContext(argv[0], argc, argv, options, 0);
	poptSetOtherOptionHelp(context,
			       "list [--json] | show NAME | new ...\n\n"
			       "NAME is one of the list or an XML file; of "
			       "\"new\" tells lockstep platform new --help."
			       "\n\n"
			       "Example: lockstep platform show star-8\n");
	rc = poptGetNextOpt(context);
	if (rc < -1) {
		arguments_refuse("lockstep platform", context, rc);
		rc = DIST_EXIT_USAGE;
	} else {
		rc = act(context, as_json != 0);
	}
	poptFreeContext(context);
	return rc;
}
