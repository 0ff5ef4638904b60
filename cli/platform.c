/* platform.c - lockstep platform: the simulated machine rooms. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/platform.h"
#include "cli/refuse.h"
#include "cli/table_option.h"
#include "base/data.h"
#include "base/progress.h"
#include "lockstep/dist.h"
#include "sim/platform/platform.h"

#define PATH_SIZE 4096

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
	enum dist__form form;
	int status;

	if (argc > 1 && strcmp(argv[1], "new") == 0) {
		argv[1] = "lockstep platform new";
		return platform_new(argc - 1, argv + 1);
	}
	if (!arguments_parse(&manual_platform, &argc, argv, &line, &status))
		return status;
	form = table_options_form(&line);
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		/* The same table as `lockstep list platforms`. */
		const char *arguments[] = {
			"lockstep platform list", "platforms",
			form == FORM_JSON       ? "--json"
			: form == FORM_MARKDOWN ? "--markdown"
						: NULL,
			NULL};

		return command_list(form == FORM_TEXT ? 2 : 3, arguments);
	}
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2], form);
	return refuse("platform",
		      "expected \"list\", \"show NAME\" or \"new ...\"");
}
