/* sweep.c - lockstep sweep: every point of a study predicted, and reported. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/option_rows.h"
#include "cli/pool.h"
#include "cli/refuse.h"
#include "cli/sweep.h"
#include "cli/table_option.h"
#include "base/data.h"

/* The command line. */
struct command_line {
	const char *word;
	const char *output;
	const char *part;
	int jobs;
	int restart;
	int merge;
	int dry_run;
	struct table_options form;
};

#define AT(field) offsetof(struct command_line, field)

static const struct option options[] = {
	{"output", OPTION_TEXT, AT(output), "DIR",
	 .help = "folder of the results", .usual = "sweep-STUDY",
	 .letter = 'o'},
	{"jobs", OPTION_COUNT, AT(jobs), "N",
	 .help = "points to predict at the same time",
	 .usual = "as many as cores", .letter = 'j', .min = 1},
	{"part", OPTION_TEXT, AT(part), "I/N", .help = "do part I of N",
	 .usual = "from srun's or mpirun's rank"},
	{"restart", OPTION_SWITCH, AT(restart), NULL,
	 .help = "discard points that are done"},
	{"merge", OPTION_SWITCH, AT(merge), NULL,
	 .help = "predict nothing, but report the points of all parts"},
	{DRY_RUN_ROW(AT(dry_run))},
	{.name = NULL}};

const struct manual manual_sweep = {
	.usage = "[OPTION...] STUDY\n--merge DIR",
	.about = "Predicts every point of a study and reports them, as a table "
		 "and report.html. STUDY is a name (lockstep list studies) or "
		 "a YAML file.",
	.examples = {"lockstep sweep scaling -o results --jobs 2"},
	.choices = "studies",
	.groups = GROUPS({.options = options},
			 {"Tables", form_print_options, AT(form)}),
	.least_words = 1,
	.most_words = 1};

/* The name of a study within its path: "scaling" of "a/scaling.yaml". */
static void name_of(const char *path, char *name, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *suffix = strrchr(base, '.');

	snprintf(name, size, "%.*s",
		 (int)(suffix ? (size_t)(suffix - base) : strlen(base)), base);
}

static int find_study(const struct command_line *line, struct sweep_job *job)
{
	struct dist_message message;
	char name[128];

	if (line->merge) {
		snprintf(job->folder, sizeof job->folder, "%s", line->word);
		snprintf(job->path, sizeof job->path, "%.4000s/study.yaml",
			 line->word);
		return DIST_EXIT_OK;
	}
	if (dist__data_find("studies", line->word, ".yaml", job->path,
			    sizeof job->path, &message))
		return refuse("sweep", "%s", message.text);
	name_of(job->path, name, sizeof name);
	snprintf(job->folder, sizeof job->folder, "sweep-%s", name);
	if (line->output)
		snprintf(job->folder, sizeof job->folder, "%s", line->output);
	return DIST_EXIT_OK;
}

static int check(const struct command_line *line, struct sweep_job *job)
{
	if (line->merge &&
	    (line->output || line->part || line->restart || line->dry_run))
		return refuse("sweep",
			      "--merge: expected a folder of results and no "
			      "-o, --part, --restart or --dry-run");
	if (line->part && !shard_read(&job->share, line->part))
		return refuse("sweep", "--part: expected a part and their "
				       "number, such as 2/4");
	if (!line->part && !line->merge && !shard_inherit(&job->share))
		return refuse(
			"sweep",
			"rank and size of this process, as srun or mpirun set "
			"them: expected numbers; --part says another part");
	if (line->restart && job->share.parts > 1)
		return refuse("sweep",
			      "--restart: expected without parts, which would "
			      "remove each other's points");
	return find_study(line, job);
}

int command_sweep(int argc, const char **argv)
{
	struct command_line line = {.jobs = pool_cores()};
	struct sweep_job job = {.share = {1, 1}};
	int status;

	if (!arguments_parse(&manual_sweep, &argc, argv, &line, &status))
		return status;
	line.word = argv[1];
	job.jobs = line.jobs;
	job.restart = line.restart != 0;
	job.merge = line.merge != 0;
	job.dry_run = line.dry_run != 0;
	job.form = table_options_form(&line.form);
	status = check(&line, &job);
	return status ? status : sweep_run(&job);
}
