/* diagnose.c - lockstep diagnose: the verdict on a job that is over, from the
 * dumps of its ranks. */
#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <popt.h>

#include "check/diagnosis.h"
#include "check/outputs.h"
#include "lockstep/dist.h"
#include "scenarios/arguments.h"

#define USAGE                                                                  \
	"[OPTION...] DUMP...\n\n"                                              \
	"DUMP is a file that a rank or the launcher left, or a folder of "     \
	"files whose names\nend in " CHECK_DUMP_SUFFIX                         \
	"; all of one job. See "                                               \
	"LOCKSTEP_DUMP and lockstep run --dump.\n\n"                           \
	"Example: lockstep diagnose dumps\n"

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "lockstep diagnose: %s: %s\n", what, why);
	return DIST_EXIT_USAGE;
}

/* ---- reading ------------------------------------------------------------ */

static int add_file(struct check_diagnosis *diagnosis, const char *path)
{
	struct check_dump *dump = malloc(sizeof(*dump));
	FILE *in = fopen(path, "re");
	char message[256];
	bool good;

	snprintf(message, sizeof(message), "%s", strerror(errno));
	good = dump && in && check_dump_read(in, dump, message) &&
	       check_diagnosis_add(diagnosis, dump, message);
	if (in)
		fclose(in);
	free(dump);
	return good ? DIST_EXIT_OK : refuse(path, message);
}

static int is_dump(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	size_t suffix = strlen(CHECK_DUMP_SUFFIX);

	return length > suffix &&
	       strcmp(entry->d_name + length - suffix, CHECK_DUMP_SUFFIX) == 0;
}

static int add_folder(struct check_diagnosis *diagnosis, const char *folder)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_dump, alphasort);
	int status = DIST_EXIT_OK;
	char path[4096];

	if (n < 0)
		return refuse(folder, strerror(errno));
	if (n == 0)
		status = refuse(folder,
				"expected files *" CHECK_DUMP_SUFFIX " there");
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder,
			 entries[i]->d_name);
		if (!status)
			status = add_file(diagnosis, path);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static int add(struct check_diagnosis *diagnosis, const char *path)
{
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return add_folder(diagnosis, path);
	return add_file(diagnosis, path);
}

/* ---- telling ------------------------------------------------------------ */

/* "no dump of rank 3, ranks 5-7": ranks that follow each other in one. */
static void tell_missing(const struct check_diagnosis *diagnosis)
{
	uint32_t n = diagnosis->board->world_size, end;
	const char *before = "lockstep diagnose: no dump of ";

	for (uint32_t rank = 0; rank < n; rank = end) {
		for (end = rank; end < n; end++)
			if (!check_diagnosis_missing(diagnosis, end))
				break;
		if (end == rank) {
			end++;
			continue;
		}
		fprintf(stderr, end == rank + 1 ? "%srank %u" : "%sranks %u-%u",
			before, rank, end - 1);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', stderr);
}

/* The command line; strings are popt's. */
struct command_line {
	char *json, *junit, *sarif, *annotate;
};

/* What the options say stands in the environment, as for a job that runs. */
static bool export_outputs(const struct command_line *line)
{
	const struct {
		const char *name, *value;
	} variables[] = {
		{"LOCKSTEP_JSON", line->json},
		{"LOCKSTEP_JUNIT", line->junit},
		{"LOCKSTEP_SARIF", line->sarif},
		{"LOCKSTEP_ANNOTATE", line->annotate},
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (variables[i].value &&
		    setenv(variables[i].name, variables[i].value, 1))
			return false;
	return true;
}

static int diagnose(poptContext context, const struct command_line *line)
{
	struct check_diagnosis diagnosis = {.board = NULL};
	struct check_verdict verdict;
	struct check_job job = {.facts = &diagnosis.facts,
				.verdict = &verdict,
				.world = diagnosis.world};
	int status = DIST_EXIT_OK;
	const char *path;

	if (!poptPeekArg(context))
		return refuse("diagnose what?", "expected dumps, or folders");
	if (line->annotate && strcmp(line->annotate, "github") != 0)
		return refuse("--annotate", "expected github");
	while (!status && (path = poptGetArg(context)))
		status = add(&diagnosis, path);
	if (!status && !export_outputs(line))
		status = DIST_EXIT_INTERNAL;
	if (!status) {
		verdict = check_diagnose(&diagnosis);
		job.board = diagnosis.board;
		tell_missing(&diagnosis);
		status = check_conclude(stderr, &job);
	}
	check_diagnosis_release(&diagnosis);
	return status;
}

int command_diagnose(int argc, const char **argv)
{
	struct command_line line = {.json = NULL};
	const struct poptOption options[] = {
		{"json", '\0', POPT_ARG_STRING, &line.json, 0,
		 "write the verdict as JSON", "FILE"},
		{"junit", '\0', POPT_ARG_STRING, &line.junit, 0,
		 "write it as JUnit XML", "FILE"},
		{"sarif", '\0', POPT_ARG_STRING, &line.sarif, 0,
		 "write it as SARIF 2.1.0", "FILE"},
		{"annotate", '\0', POPT_ARG_STRING, &line.annotate, 0,
		 "print it as annotation lines, too", "github"},
		POPT_AUTOHELP POPT_TABLEEND};
	poptContext context = poptGetContext(argv[0], argc, argv, options, 0);
	int rc, status = DIST_EXIT_USAGE;

	poptSetOtherOptionHelp(context, USAGE);
	rc = poptGetNextOpt(context);
	if (rc < -1)
		arguments_refuse("lockstep diagnose", context, rc);
	else
		status = diagnose(context, &line);
	poptFreeContext(context);
	free(line.json);
	free(line.junit);
	free(line.sarif);
	free(line.annotate);
	return status;
}
