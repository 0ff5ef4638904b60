/* sweep.c - lockstep sweep: every point of a study predicted, and reported. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "cli/pool.h"
#include "cli/sweep.h"
#include "core/data.h"
#include "scenarios/arguments.h"

#define USAGE                                                                  \
	"[OPTION...] STUDY\n\n"                                                \
	"STUDY is a name (lockstep list studies) or a YAML file; with "        \
	"--merge "                                                             \
	"a folder of results.\n\n"                                             \
	"Example: lockstep sweep scaling -o results --jobs 2\n"

/* The command line; strings are popt's. */
struct command_line {
	const char *word;
	char *output;
	char *part;
	int jobs;
	int restart;
	int merge;
	int dry_run;
};

static int refuse(const char *what)
{
	fprintf(stderr, "lockstep sweep: %s\n", what);
	return DIST_EXIT_USAGE;
}

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
		snprintf(job->folder, sizeof(job->folder), "%s", line->word);
		snprintf(job->path, sizeof(job->path), "%.4000s/study.yaml",
			 line->word);
		return DIST_EXIT_OK;
	}
	if (dist__data_find("studies", line->word, ".yaml", job->path,
			    sizeof(job->path), &message))
		return refuse(message.text);
	name_of(job->path, name, sizeof(name));
	snprintf(job->folder, sizeof(job->folder), "sweep-%s", name);
	if (line->output)
		snprintf(job->folder, sizeof(job->folder), "%s", line->output);
	return DIST_EXIT_OK;
}

static int check(const struct command_line *line, struct sweep_job *job)
{
	if (line->jobs < 1)
		return refuse("--jobs: expected 1 or more");
	if (line->merge &&
	    (line->output || line->part || line->restart || line->dry_run))
		return refuse("--merge: expected a folder of results and no "
			      "-o, --part, --restart or --dry-run");
	if (line->output && !*line->output)
		return refuse("--output: expected a folder");
	if (line->part && !share_read(&job->share, line->part))
		return refuse("--part: expected a part and their number, such "
			      "as 2/4");
	if (!line->part && !line->merge && !share_inherit(&job->share))
		return refuse("rank and size of this process, as srun or "
			      "mpirun set them: expected numbers; --part says "
			      "another part");
	if (line->restart && job->share.parts > 1)
		return refuse("--restart: expected without parts, which would "
			      "remove each other's points");
	return find_study(line, job);
}

int command_sweep(int argc, const char **argv)
{
	struct command_line line = {.jobs = pool_cores()};
	struct sweep_job job = {.share = {1, 1}};
	const struct poptOption table[] = {
		{"output", 'o', POPT_ARG_STRING, &line.output, 0,
		 "folder of the results (default sweep-STUDY)", "DIR"},
		{"jobs", 'j', POPT_ARG_INT, &line.jobs, 0,
		 "points at a time (default: as many as cores)", "N"},
		{"part", '\0', POPT_ARG_STRING, &line.part, 0,
		 "do part I of N (default: by srun's or mpirun's rank)", "I/N"},
		{"restart", '\0', POPT_ARG_NONE, &line.restart, 0,
		 "forget the points that are done", NULL},
		{"merge", '\0', POPT_ARG_NONE, &line.merge, 0,
		 "predict nothing: report what the parts have done", NULL},
		{"dry-run", '\0', POPT_ARG_NONE, &line.dry_run, 0,
		 "only say what would be refused", NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	int status = DIST_EXIT_USAGE;

	if (arguments_parse_word(argc, argv, table, USAGE, &line.word)) {
		job.jobs = line.jobs;
		job.restart = line.restart != 0;
		job.merge = line.merge != 0;
		job.dry_run = line.dry_run != 0;
		status = check(&line, &job);
		if (!status)
			status = sweep_run(&job);
	}
	free(line.output);
	free(line.part);
	return status;
}
