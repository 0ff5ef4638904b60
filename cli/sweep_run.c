#include "cli/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "base/progress.h"
#include "cli/pool.h"
#include "cli/predict.h"
#include "cli/provenance.h"
#include "cli/refuse.h"
#include "cli/study_point.h"
#include "cli/sweep_page.h"
#include "cli/sweep/answers.h"
#include "cli/sweep/journal.h"
#include "base/output.h"
#include "base/input.h"
#include "base/refuse.h"
#include "cli/sweep/study.h"
#include "base/spelling.h"
#include "base/io.h"
#include "cli/child.h"
#include "cli/command.h"

/* What a child finds wrong with a point. */
struct verdict {
	size_t line; /* of the study; 0: nothing is */
	char text[sizeof(struct dist_message)];
};

struct checking {
	const struct study *study;
	const char *path;
	size_t point; /* the first that was refused */
	struct verdict verdict;
};

/* ---- keys ------------------------------------------------------------- */

/* Prints those of a manual's options that the study takes, and no name twice:
 * those that `but` has are left out (NULL: none are). */
static void print_taken(const struct study *study, const struct manual *manual,
			const struct manual *but, struct dist__spelling *near)
{
	const struct option_group *group;

	for (const struct option_group *g = manual->groups; g->options; g++)
		for (const struct option *o = g->options; o->name; o++) {
			if (!study_takes(study, o->name))
				continue;
			dist__spelling_offer(near, o->name, strlen(o->name));
			if (!but ||
			    !option_find(but, o->name, strlen(o->name), &group))
				fprintf(stderr, " %s", o->name);
		}
}

/* A point has one answer. */
static int check_alone(const struct study *study, const char *path)
{
	size_t axis = study_axis(study, STUDY_TOGETHER);

	for (size_t i = 0;
	     axis < study->num_axes && i < study->axes[axis].num_values; i++) {
		const struct study_value *value = &study->axes[axis].values[i];

		if (!strchr(value->text, ','))
			continue;
		return refuse("sweep",
			      "%s:%zu: " STUDY_TOGETHER
			      ": expected one number, not \"%s\"",
			      path, value->line, value->text);
	}
	return DIST_EXIT_OK;
}

static int check_keys(const struct study *study, const char *path)
{
	for (size_t i = 0; i < study->num_axes; i++) {
		const struct study_axis *axis = &study->axes[i];
		struct dist__spelling near = dist__spelling_of(axis->name);

		if (study_takes(study, axis->name))
			continue;
		fprintf(stderr,
			"lockstep sweep: %s:%zu: unknown key \"%s\" of %s: "
			"expected one of",
			path, axis->line, axis->name,
			axis->in_grid ? "grid" : "predict");
		print_taken(study, &manual_predict, NULL, &near);
		print_taken(study, &manual_predict_llm, &manual_predict, &near);
		fprintf(stderr, "%s\n", dist__spelling_hint(&near));
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

/* ---- points ----------------------------------------------------------- */

/* The line of what a refusal is about: of the value of a key, if it has several
 * of that one; of the first key where it is about none. */
static size_t line_of(const struct study *study, size_t point,
		      const struct prediction_refusal *refusal)
{
	const char *name = refusal->option ? refusal->option : "";
	size_t i = study_axis(study, name), value;
	const struct study_axis *axis = &study->axes[i];

	if (i == study->num_axes)
		return i ? study->axes[0].line : 1;
	value = strcmp(name, STUDY_TOGETHER) == 0
			? refusal->number
			: study_choice(study, point, i);
	return value < axis->num_values ? axis->values[value].line : axis->line;
}

/* In a child: asks for the point and those that differ from it only in ranks.
 */
static int try_point(void *arg, size_t point, int pipe)
{
	const struct checking *checking = arg;
	const struct study *study = checking->study;
	struct prediction_refusal refusal = {.number = 0};
	struct verdict verdict = {.line = 0};
	struct study_point asked;
	enum dist_error error =
		study_point_read(&asked, study, point, true, &refusal);

	if (!error)
		error = predict_check(&asked.options, &refusal);
	if (!error)
		return DIST_EXIT_OK;
	verdict.line = line_of(study, point, &refusal);
	snprintf(verdict.text, sizeof verdict.text, "%s", refusal.message.text);
	return !dist__write_all(pipe, &verdict, sizeof verdict, -1)
		       ? DIST_EXIT_INTERNAL
		       : DIST_EXIT_USAGE;
}

/* Keeps what was said of the first point that is refused: points are begun in
 * their order, and those under way are waited for. */
static int take_verdict(void *arg, size_t point, int status, const char *data,
			size_t size)
{
	struct checking *checking = arg;

	if (status != DIST_EXIT_USAGE || size != sizeof checking->verdict)
		return status;
	if (checking->verdict.line && checking->point < point)
		return status;
	checking->point = point;
	memcpy(&checking->verdict, data, sizeof checking->verdict);
	return status;
}

static int check_points(struct checking *checking, int jobs)
{
	const struct pool_work work = {try_point, take_verdict, checking};
	const struct study *study = checking->study;
	size_t num = study_num_points(study), num_tasks = 0;
	size_t together = study_axis(study, STUDY_TOGETHER);
	size_t *tasks = calloc(num, sizeof *tasks);
	int status;

	if (!tasks)
		return out_of_memory("sweep");
	for (size_t i = 0; i < num; i++)
		if (together == study->num_axes ||
		    study_choice(study, i, together) == 0)
			tasks[num_tasks++] = i;
	/* What the children of this and of the sweep would each load. */
	(void)dist_is_backend_available("sim");
	status = pool_run(&work, tasks, num_tasks, jobs);
	free(tasks);
	if (checking->verdict.line)
		(void)refuse("sweep", "%s:%zu: %s", checking->path,
			     checking->verdict.line, checking->verdict.text);
	return status;
}

/*
 * study_check checks that `lockstep predict` knows every key of the study, read
 * from path, and accepts every point, with `jobs` processes at a time. Returns
 * OK; USAGE after a line "file:line: what was expected" on stderr; or INTERNAL
 * after a line.
 */
static int study_check(const struct study *study, const char *path, int jobs)
{
	struct checking checking = {.study = study, .path = path};
	int status = check_keys(study, path);

	if (!status)
		status = check_alone(study, path);
	return status ? status : check_points(&checking, jobs);
}

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
