/* list.c - lockstep list: what comes with this Lockstep. */
#include "cli/command.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <popt.h>

#include "cli/list.h"
#include "cli/provenance.h"
#include "cli/table.h"
#include "core/algorithm.h"
#include "core/backend.h"
#include "core/data.h"
#include "core/profile.h"
#include "lockstep/dist.h"
#include "measured/machine.h"
#include "scenarios/arguments.h"
#include "scenarios/model.h"
#include "scenarios/scenario.h"
#include "sim/platform.h"
#include "study/study.h"

#define PATH_SIZE 4096

/* Something that can be listed. */
struct listing {
	const char *name;
	const char *const *columns;

	/* Adds the rows; one that cannot be read is named on stderr and left
	 * out. Returns the exit status. */
	int (*fill)(struct table *table);
};

static int fill_scenarios(struct table *table)
{
	for (const struct scenario *s = scenario_table; s->name; s++)
		table_add(table, json_pack("{s:s, s:s}", "name", s->name,
					   "summary", s->summary));
	return DIST_EXIT_OK;
}

static int fill_backends(struct table *table)
{
	const struct dist__world *const *world;

	for (world = dist__worlds(); *world; world++) {
		struct dist_message found = {""};
		bool good = (*world)->is_available(&found);

		table_add(table, json_pack("{s:s, s:s, s:s, s:s}", "name",
					   (*world)->name, "available",
					   good ? "yes" : "no", "summary",
					   (*world)->summary, "found",
					   found.text[0] ? found.text : "-"));
	}
	return DIST_EXIT_OK;
}

static int fill_algorithms(struct table *table)
{
	const struct dist__algorithm *const *a;

	for (a = dist__algorithms(); *a; a++)
		table_add(table, json_pack("{s:s, s:s, s:s, s:s}", "op",
					   dist__op_name((*a)->op), "name",
					   (*a)->name, "summary", (*a)->summary,
					   "time", (*a)->formula));
	return DIST_EXIT_OK;
}

int list_each_file(const char *kind, const char *suffix,
		   int (*add)(struct table *table, const char *name,
			      const char *path),
		   struct table *table)
{
	char dir[PATH_SIZE], path[2 * PATH_SIZE];
	int status = DIST_EXIT_OK;
	struct dirent **entries;
	int n;

	dist__data_dir(kind, dir, sizeof(dir));
	n = scandir(dir, &entries, NULL, alphasort);
	if (n < 0) {
		fprintf(stderr, "lockstep list: no folder %s\n", dir);
		return DIST_EXIT_USAGE;
	}
	for (int i = 0; i < n; i++) {
		char *end = strrchr(entries[i]->d_name, '.');

		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (end && strcmp(end, suffix) == 0) {
			*end = '\0';
			if (add(table, entries[i]->d_name, path))
				status = DIST_EXIT_USAGE;
		}
		free(entries[i]);
	}
	free(entries);
	return status;
}

static int add_model(struct table *table, const char *name, const char *path)
{
	struct dist_message message;
	struct model model;

	if (model_load(&model, path, &message)) {
		fprintf(stderr, "lockstep list: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	table_add(table, json_pack("{s:s, s:I, s:I, s:f}", "name", name,
				   "parameters", (json_int_t)model.numel,
				   "tensors", (json_int_t)model.num_parameters,
				   "forward_gflop", model.forward_flops / 1e9));
	model_release(&model);
	return DIST_EXIT_OK;
}

static int fill_models(struct table *table)
{
	return list_each_file("models", ".csv", add_model, table);
}

static int add_profile(struct table *table, const char *name, const char *path)
{
	struct dist__profile profile;
	struct dist_message message;

	if (dist__profile_load(&profile, path, &message)) {
		fprintf(stderr, "lockstep list: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	table_add(table,
		  json_pack("{s:s, s:s, s:s, s:s}", "name", name, "library",
			    profile.library[0] ? profile.library : "lockstep",
			    "version", profile.version, "source",
			    profile.source));
	dist__profile_release(&profile);
	return DIST_EXIT_OK;
}

static int fill_profiles(struct table *table)
{
	return list_each_file("profiles", ".yaml", add_profile, table);
}

static int add_platform(struct table *table, const char *name, const char *path)
{
	struct dist_message message;
	int hosts, ranks;
	char text[512];

	if (dist__platform_hosts(path, &hosts, &ranks, &message)) {
		fprintf(stderr, "lockstep list: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	provenance_platform(path, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	table_add(table,
		  json_pack("{s:s, s:i, s:i, s:s}", "name", name, "hosts",
			    hosts, "ranks", ranks, "summary", text));
	return DIST_EXIT_OK;
}

static int fill_platforms(struct table *table)
{
	return list_each_file("platforms", ".xml", add_platform, table);
}

static int add_machine(struct table *table, const char *name, const char *path)
{
	struct dist_message message;
	struct machine machine;

	if (machine_load(&machine, path, &message)) {
		fprintf(stderr, "lockstep list: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	table_add(table, json_pack("{s:s, s:i, s:I, s:s, s:s}", "name", name,
				   "nodes", machine.nodes, "gpus_per_node",
				   (json_int_t)machine.gpus_per_node, "gpu",
				   machine.gpu[0] ? machine.gpu : "-", "title",
				   machine.title));
	return DIST_EXIT_OK;
}

static int fill_machines(struct table *table)
{
	return list_each_file("machines", ".yaml", add_machine, table);
}

static int add_study(struct table *table, const char *name, const char *path)
{
	struct dist_message message;
	struct study study;

	if (study_load(&study, path, &message)) {
		fprintf(stderr, "lockstep list: %s\n", message.text);
		return DIST_EXIT_USAGE;
	}
	table_add(table, json_pack("{s:s, s:I, s:s}", "name", name, "points",
				   (json_int_t)study_num_points(&study),
				   "title", study.title));
	study_release(&study);
	return DIST_EXIT_OK;
}

static int fill_studies(struct table *table)
{
	return list_each_file("studies", ".yaml", add_study, table);
}

static const char *const name_summary[] = {"name", "summary", NULL};
static const char *const algorithm_columns[] = {"op", "name", "summary", "time",
						NULL};
static const char *const platform_columns[] = {"name", "hosts", "ranks",
					       "summary", NULL};
static const char *const model_columns[] = {"name", "parameters", "tensors",
					    "forward_gflop", NULL};
static const char *const profile_columns[] = {"name", "library", "version",
					      "source", NULL};

static const char *const backend_columns[] = {"name", "available", "summary",
					      "found", NULL};

static const char *const machine_columns[] = {"name", "nodes", "gpus_per_node",
					      "gpu",  "title", NULL};

static const char *const study_columns[] = {"name", "points", "title", NULL};

static const struct listing listings[] = {
	{"backends", backend_columns, fill_backends},
	{"scenarios", name_summary, fill_scenarios},
	{"algorithms", algorithm_columns, fill_algorithms},
	{"models", model_columns, fill_models},
	{"platforms", platform_columns, fill_platforms},
	{"profiles", profile_columns, fill_profiles},
	{"machines", machine_columns, fill_machines},
	{"measured", list_measured_columns, list_measured},
	{"studies", study_columns, fill_studies},
};

static const struct listing *listing_find(const char *name)
{
	for (size_t i = 0; i < sizeof(listings) / sizeof(listings[0]); i++)
		if (strcmp(listings[i].name, name) == 0)
			return &listings[i];
	return NULL;
}

static int listing_print(const struct listing *listing, bool as_json)
{
	struct table table;
	int status;

	table_init(&table, listing->columns);
	status = listing->fill(&table);
	if (table_print(&table, as_json, stdout)) {
		fputs("lockstep list: out of memory\n", stderr);
		status = DIST_EXIT_INTERNAL;
	}
	table_release(&table);
	return status;
}

/* The one argument after the options; NULL after a message. */
static const struct listing *listing_asked(poptContext context)
{
	const char *name = poptGetArg(context);
	const struct listing *listing = name ? listing_find(name) : NULL;

	if (listing && !poptPeekArg(context))
		return listing;
	if (!name)
		fputs("lockstep list: list what?", stderr);
	else if (!listing)
		fprintf(stderr, "lockstep list: no list of \"%s\";", name);
	else
		fputs("lockstep list: one at a time;", stderr);
	fputs(" backends, scenarios, algorithms, models, platforms, "
	      "profiles, machines, measured or studies\n",
	      stderr);
	return NULL;
}

int command_list(int argc, const char **argv)
{
	int as_json = 0;
	struct poptOption options[] = {{"json", '\0', POPT_ARG_NONE, &as_json,
					0, "print JSON instead of a table",
					NULL},
				       POPT_AUTOHELP POPT_TABLEEND};
	poptContext context = poptGetContext(argv[0], argc, argv, options, 0);
	const struct listing *listing = NULL;
	int rc;

	poptSetOtherOptionHelp(
		context,
		"[--json] "
		"backends|scenarios|algorithms|models|platforms|profiles|"
		"machines|measured|studies\n\n"
		"The time of an algorithm is that of p ranks and n bytes: "
		"alpha "
		"for a message, beta to carry a byte, gamma to reduce one.\n"
		"Example: lockstep list models\n");
	rc = poptGetNextOpt(context);
	if (rc < -1)
		arguments_refuse("lockstep list", context, rc);
	else
		listing = listing_asked(context);
	rc = listing ? listing_print(listing, as_json != 0) : DIST_EXIT_USAGE;
	poptFreeContext(context);
	return rc;
}
