#include "cli/study_check.h"

#include "base/spelling.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/pool.h"
#include "cli/refuse.h"
#include "cli/study_point.h"

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
	return child_write(pipe, &verdict, sizeof verdict) ? DIST_EXIT_INTERNAL
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

int study_check(const struct study *study, const char *path, int jobs)
{
	struct checking checking = {.study = study, .path = path};
	int status = check_keys(study, path);

	if (!status)
		status = check_alone(study, path);
	return status ? status : check_points(&checking, jobs);
}
