#include "cli/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "base/progress.h"
#include "cli/pool.h"
#include "cli/provenance.h"
#include "cli/refuse.h"
#include "cli/study_check.h"
#include "cli/study_point.h"
#include "cli/sweep_page.h"
#include "cli/sweep/answers.h"
#include "cli/sweep/journal.h"
#include "base/output.h"
#include "base/input.h"
#include "base/refuse.h"

#define PATH_SIZE 4200

/* A sweep under way. */
struct sweep {
	const struct sweep_job *job;
	struct study study;
	struct answers answers;
	char *stamp;
	struct journal *journal;
	struct dist__progress progress;
};

/* ---- the stamp -------------------------------------------------------- */

static unsigned long checksum(const char *path)
{
	unsigned long sum = crc32(0, NULL, 0);
	FILE *file = fopen(path, "rb");
	unsigned char block[4096];
	size_t n;

	while (file && (n = fread(block, 1, sizeof block, file)) > 0)
		sum = crc32(sum, block, (unsigned)n);
	if (file)
		fclose(file);
	return sum;
}

static void stamp_files(const struct study_axis *axis, FILE *out)
{
	char path[4096];

	for (size_t v = 0; v < axis->num_values; v++) {
		const char *text = axis->values[v].text;
		bool is_path = strcmp(axis->name, "compute") == 0;

		if (is_path)
			snprintf(path, sizeof path, "%s", text);
		if (is_path ||
		    provenance_find(axis->name, text, path, sizeof path))
			fprintf(out, "%s %s: crc32 %08lx\n", axis->name, text,
				checksum(path));
	}
}

/* A text with the version of Lockstep, the study's keys and values, and a
 * checksum of each file that they name, so that points of other inputs are not
 * reused. The caller frees it; NULL without memory. */
static char *stamp_of(const struct study *study)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "lockstep %s\n", LOCKSTEP_VERSION);
	study_stamp(study, out);
	for (size_t i = 0; i < study->num_axes; i++)
		stamp_files(&study->axes[i], out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* ---- the points ------------------------------------------------------- */

/* In a child. */
static int answer_point(void *arg, size_t point, int pipe)
{
	const struct sweep *sweep = arg;
	struct prediction_refusal refusal;
	struct study_point asked;
	FILE *out = fdopen(pipe, "w");

	if (!out)
		return out_of_memory("sweep");
	if (study_point_read(&asked, &sweep->study, point, false, &refusal))
		return refuse("sweep", "%s", refusal.message.text);
	return predict_answer(&asked.options, out);
}

static int take_answer(void *arg, size_t point, int status, const char *data,
		       size_t size)
{
	struct sweep *sweep = arg;
	json_t *answer = status ? NULL : json_loadb(data, size, 0, NULL);
	struct dist_message message;
	char text[512];

	if (!status && !answer)
		status = DIST_EXIT_INTERNAL;
	if (status) {
		study_describe(&sweep->study, point, text, sizeof text);
		fprintf(stderr,
			"lockstep sweep: point %zu was not answered: %s\n",
			point + 1, text);
		return status;
	}
	sweep->answers.of[point] = answer;
	dist__progress_step(&sweep->progress, 1, NULL);
	if (journal_add(sweep->journal, point, answer, &message))
		return refuse("sweep", "%s", message.text);
	return DIST_EXIT_OK;
}

/* A point, and how long it will take among others. */
struct task {
	size_t point;
	double size;
};

static int longest_first(const void *a, const void *b)
{
	const struct task *left = a, *right = b;

	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return left->point < right->point ? -1 : left->point > right->point;
}

static int predict_points(struct sweep *sweep)
{
	const struct pool_work work = {answer_point, take_answer, sweep};
	size_t num = sweep->answers.num, num_points = 0;
	struct task *tasks = calloc(num, sizeof *tasks);
	size_t *points = calloc(num, sizeof *points);
	int status = DIST_EXIT_OK;
	char text[64];

	if (!tasks || !points) {
		status = out_of_memory("sweep");
	} else {
		size_t axis = study_axis(&sweep->study, "world-size");

		/* Sorts all points, those of most ranks first: cores are then
		 * busy to the end, and parts of equal size take about as long.
		 */
		for (size_t i = 0; i < num; i++) {
			tasks[i] = (struct task){.point = i};
			if (axis < sweep->study.num_axes)
				tasks[i].size = atof(
					study_value(&sweep->study, i, axis));
		}
		qsort(tasks, num, sizeof *tasks, longest_first);
		for (size_t i = 0; i < num; i++)
			if (shard_has(&sweep->job->share, i) &&
			    !sweep->answers.of[tasks[i].point])
				points[num_points++] = tasks[i].point;
		snprintf(text, sizeof text, "predicting %zu points",
			 num_points);
		dist__progress_begin(&sweep->progress, text, (double)num_points,
				     0);
		status = pool_run(&work, points, num_points, sweep->job->jobs);
		dist__progress_end(&sweep->progress);
	}
	free(tasks);
	free(points);
	return status;
}

/* ---- the folder ------------------------------------------------------- */

/* Copies the study into the folder, where --merge finds it. */
static enum dist_error copy_study(const struct sweep_job *job,
				  struct dist_message *message)
{
	char path[PATH_SIZE], text[512];
	struct dist__output *out;
	enum dist_error error;
	FILE *file;

	snprintf(path, sizeof path, "%s/study.yaml", job->folder);
	file = dist__input_open(job->path);
	error = file ? dist__output_open(path, &out, message) : DIST_ERR_IO;
	if (!file)
		snprintf(message->text, sizeof message->text, "%.300s: %s",
			 job->path, strerror(errno));
	if (!error) {
		while (fgets(text, sizeof text, file))
			dist__output_text(out, text);
		error = dist__output_close(out, message);
	}
	if (file)
		fclose(file);
	return error;
}

static enum dist_error make_folder(const struct sweep_job *job,
				   struct dist_message *message)
{
	if (mkdir(job->folder, 0777) == 0 || errno == EEXIST)
		return job->restart ? journal_remove(job->folder, message)
				    : DIST_OK;
	return dist__refuse_as(message, DIST_ERR_IO,
			       "--output: %.300s: cannot be made: %s",
			       job->folder, strerror(errno));
}

static enum dist_error load_points(struct sweep *sweep,
				   struct dist_message *message)
{
	return journal_load(sweep->job->folder, sweep->stamp, sweep->answers.of,
			    sweep->answers.num, message);
}

/* Predicts what is missing, and looks what others have done meanwhile. */
static int work(struct sweep *sweep)
{
	const struct sweep_job *job = sweep->job;
	struct dist_message message = {""};
	int status;

	if (make_folder(job, &message) || load_points(sweep, &message) ||
	    journal_open(job->folder, sweep->stamp, job->share.part,
			 job->share.parts, &sweep->journal, &message) ||
	    copy_study(job, &message))
		return refuse("sweep", "%s", message.text);
	status = predict_points(sweep);
	journal_close(sweep->journal);
	sweep->journal = NULL;
	if (!status && load_points(sweep, &message))
		status = refuse("sweep", "%s", message.text);
	return status;
}

static int merge(struct sweep *sweep)
{
	struct dist_message message = {""};
	size_t missing;

	if (load_points(sweep, &message))
		return refuse("sweep", "%s", message.text);
	missing = answers_missing(&sweep->answers);
	if (missing == 0)
		return DIST_EXIT_OK;
	fprintf(stderr, "lockstep sweep: %s: %zu of %zu points are missing\n",
		sweep->job->folder, missing, sweep->answers.num);
	return DIST_EXIT_FAILED;
}

/* Reports, unless others still work on their parts. */
static int finish(const struct sweep *sweep)
{
	const struct sweep_job *job = sweep->job;
	size_t missing = answers_missing(&sweep->answers);

	if (missing == 0)
		return sweep_report(&sweep->answers, job->folder, job->jobs,
				    job->form);
	printf("part %d of %d is done; %zu of %zu points are missing\n",
	       job->share.part, job->share.parts, missing, sweep->answers.num);
	return DIST_EXIT_OK;
}

int sweep_run(const struct sweep_job *job)
{
	struct sweep sweep = {.job = job};
	struct dist_message message = {""};
	int status;

	if (study_load(&sweep.study, job->path, &message))
		return refuse("sweep", "%s", message.text);
	sweep.stamp = stamp_of(&sweep.study);
	if (!sweep.stamp || answers_init(&sweep.answers, &sweep.study))
		status = out_of_memory("sweep");
	else if (job->merge)
		status = merge(&sweep);
	else
		status = study_check(&sweep.study, job->path, job->jobs);
	if (!status && !job->merge && !job->dry_run)
		status = work(&sweep);
	if (!status && !job->dry_run)
		status = finish(&sweep);
	journal_close(sweep.journal);
	answers_release(&sweep.answers);
	study_release(&sweep.study);
	free(sweep.stamp);
	return status;
}
