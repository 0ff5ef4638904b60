/* diagnose.c - lockstep diagnose: the verdict on a job that is over, from the
 * dumps of its ranks. */
#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/diagnosis.h"
#include "check/outputs.h"
#include "check/recorder/recorder.h"
#include "cli/option_rows.h"
#include "cli/refuse.h"
#include "lockstep/dist.h"
#include "base/text.h"
#include "base/input.h"

/* The command line. */
struct command_line {
	const char *json, *junit, *sarif, *annotate;
};

#define AT(field) offsetof(struct command_line, field)

static const struct option options[] = {
	{JSON_ROW(AT(json))},
	{JUNIT_ROW(AT(junit))},
	{SARIF_ROW(AT(sarif))},
	{ANNOTATE_ROW(OPTION_CHOICE, AT(annotate))},
	{.name = NULL}};

const struct manual manual_diagnose = {
	.usage = "[OPTION...] DUMP...",
	.about = "Gives the verdict on a job that has ended, from the dumps of "
		 "its ranks. DUMP is a file that a rank or the launcher left, "
		 "or a folder of files whose names end in " CHECK_DUMP_SUFFIX
		 "; or a dump of torch's Flight Recorder, in pickle or JSON, "
		 "whose name ends with the rank, or a folder of these. All are "
		 "of one job. They are written with LOCKSTEP_DUMP and lockstep "
		 "run --dump, or with torch's TORCH_FR_DUMP_TEMP_FILE.",
	.examples = {"lockstep diagnose dumps",
		     "lockstep diagnose /tmp/nccl_trace_rank_*"},
	.groups = GROUPS({.options = options}),
	.least_words = 1,
	.most_words = ANY_WORDS,
	.missing = "expected dumps, or folders of them"};

/* ---- reading ------------------------------------------------------------ */

/* The dumps read so far: all of Lockstep, or all of a Flight Recorder. */
struct dumps {
	struct check_diagnosis diagnosis;
	struct check_recorder *recorder; /* NULL: none of those yet */
};

static int no_mixture(const char *path)
{
	return refuse("diagnose",
		      "%s: expected dumps of one kind: of Lockstep, or of a "
		      "Flight Recorder",
		      path);
}

static int add_dump(struct dumps *dumps, const char *path, char *text,
		    size_t len)
{
	struct check_dump *dump = malloc(sizeof *dump);
	FILE *in = fmemopen(text, len ? len : 1, "r");
	char message[256] = "no memory";
	bool good = dump && in && check_dump_read(in, dump, message);

	if (in)
		fclose(in);
	if (good && dumps->recorder) {
		free(dump);
		return no_mixture(path);
	}
	good = good && check_diagnosis_add(&dumps->diagnosis, dump, message);
	free(dump);
	return good ? DIST_EXIT_OK
		    : refuse("diagnose", "%s: %s", path, message);
}

/* A Flight Recorder does not say when it wrote; its file does. */
static int64_t written_ns(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return INT64_MAX;
	return (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
}

static int add_recording(struct dumps *dumps, const char *path,
			 const char *text, size_t len)
{
	char message[256];
	uint32_t rank;

	if (dumps->diagnosis.board)
		return no_mixture(path);
	if (!check_recorder_rank(path, &rank))
		return refuse("diagnose",
			      "%s: expected a name that ends with the rank, as "
			      "nccl_trace_rank_0",
			      path);
	if (!dumps->recorder)
		dumps->recorder = check_recorder_new();
	if (!dumps->recorder)
		return refuse("diagnose", "%s: no memory", path);
	return check_recorder_add(dumps->recorder, rank, text, len,
				  written_ns(path), message)
		       ? DIST_EXIT_OK
		       : refuse("diagnose", "%s: %s", path, message);
}

/* What has a dump's name only, in a folder, may be something else. */
static int add_file(struct dumps *dumps, const char *path, bool named_so,
		    int *found)
{
	char *text;
	size_t len;
	int status = DIST_EXIT_OK;
	enum dist_error error = dist__input_read(path, &text, &len);

	if (error)
		return refuse("diagnose", "%s: %s", path,
			      error == DIST_ERR_IO ? strerror(errno)
						   : dist_error_string(error));
	++*found;
	if (check_recorder_knows(text, len))
		status = add_recording(dumps, path, text, len);
	else if (named_so)
		status = add_dump(dumps, path, text, len);
	else
		--*found;
	free(text);
	return status;
}

static int may_be_dump(const struct dirent *entry)
{
	uint32_t rank;

	return dist__ends_in(entry->d_name, CHECK_DUMP_SUFFIX) ||
	       check_recorder_rank(entry->d_name, &rank);
}

static bool is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static int add_folder(struct dumps *dumps, const char *folder)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, may_be_dump, alphasort);
	int status = DIST_EXIT_OK, found = 0;
	char path[4096];

	if (n < 0)
		return refuse("diagnose", "%s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		bool named_so =
			dist__ends_in(entries[i]->d_name, CHECK_DUMP_SUFFIX);

		snprintf(path, sizeof path, "%s/%s", folder,
			 entries[i]->d_name);
		if (!status && (named_so || is_file(path)))
			status = add_file(dumps, path, named_so, &found);
		free(entries[i]);
	}
	free(entries);
	if (!status && found == 0)
		status = refuse(
			"diagnose",
			"%s: expected files *" CHECK_DUMP_SUFFIX
			" there, or a Flight Recorder's, as nccl_trace_rank_0",
			folder);
	return status;
}

static int add(struct dumps *dumps, const char *path)
{
	struct stat info;
	int found = 0;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return add_folder(dumps, path);
	return add_file(dumps, path, true, &found);
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

/* What the options ask for, else the environment, as of a job that runs. */
static struct check_outputs outputs_of(const struct command_line *line)
{
	struct check_outputs outputs = check_outputs_asked();

	if (line->json)
		outputs.json = line->json;
	if (line->junit)
		outputs.junit = line->junit;
	if (line->sarif)
		outputs.sarif = line->sarif;
	if (line->annotate)
		outputs.annotations = stdout;
	return outputs;
}

static int conclude(struct dumps *dumps, const struct command_line *line)
{
	struct check_diagnosis *diagnosis = &dumps->diagnosis;
	const struct check_outputs outputs = outputs_of(line);
	struct check_verdict verdict;
	struct check_job job = {.facts = &diagnosis->facts,
				.verdict = &verdict,
				.outputs = &outputs,
				.world = diagnosis->world};

	if (dumps->recorder && !check_recorder_fill(dumps->recorder, diagnosis))
		return refuse("diagnose", "no memory for the dumps");
	verdict = check_diagnose(diagnosis);
	job.board = diagnosis->board;
	tell_missing(diagnosis);
	return check_conclude(stderr, &job, NULL);
}

static int diagnose(const char **paths, const struct command_line *line)
{
	struct dumps dumps = {.recorder = NULL};
	int status = DIST_EXIT_OK;

	for (; !status && *paths; paths++)
		status = add(&dumps, *paths);
	if (!status)
		status = conclude(&dumps, line);
	check_recorder_free(dumps.recorder);
	check_diagnosis_release(&dumps.diagnosis);
	return status;
}

int command_diagnose(int argc, const char **argv)
{
	struct command_line line = {.json = NULL};
	int status;

	return arguments_parse(&manual_diagnose, &argc, argv, &line, &status)
		       ? diagnose(argv + 1, &line)
		       : status;
}
