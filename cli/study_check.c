#include "cli/study_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/point.h"
#include "cli/pool.h"

/* Points that differ only in it are asked about together. */
#define TOGETHER "world-size"

struct checking {
	const struct study *study;
	const char *path;
	size_t point; /* the first that was refused, when text is set */
	char text[512];
};

/* ---- keys ------------------------------------------------------------- */

/* In a child: predict's own list of its flags, for a kind of step. */
static int tell_help(void *arg, int pipe)
{
	const char *workload = arg;
	const char *argv[] = {"lockstep predict", "--workload", workload,
			      "--help", NULL};

	dup2(pipe, STDOUT_FILENO);
	dup2(pipe, STDERR_FILENO);
	return command_predict(4, argv); /* popt ends the process */
}

/* Returns whether word is one of " words between spaces ". */
static bool has_word(const char *words, const char *word)
{
	char spaced[64];

	snprintf(spaced, sizeof(spaced), " %s ", word);
	return strstr(words, spaced) != NULL;
}

/* What predict has flags for, but a study does not. */
static bool is_for_studies(const char *name)
{
	static const char *const others[] = {"json", "tsv",   "trace",
					     "help", "usage", "dry-run"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i], name) == 0)
			return false;
	return true;
}

/* Takes the next long flag off a line of help; NULL when a line has none. */
static char *flag_of(char *line)
{
	char *flag;

	line += strspn(line, " ");
	if (line[0] == '-' && line[1] != '-')
		line += strcspn(line, " ") + 1;
	if (strncmp(line, "--", 2) != 0)
		return NULL;
	flag = line + 2;
	flag[strspn(flag, "abcdefghijklmnopqrstuvwxyz0123456789-")] = '\0';
	return is_for_studies(flag) ? flag : NULL;
}

/* Appends predict's flags for a workload to names, " model batch ... ". */
static int ask_flags(const char *workload, char *names, size_t size)
{
	char help[16384], *line, *rest = NULL;
	struct child child;
	size_t got, used = strlen(names);
	int status;

	if (child_start(&child, tell_help, (void *)workload))
		return DIST_EXIT_INTERNAL;
	status = child_finish(&child, help, sizeof(help) - 1, &got);
	if (status)
		return status;
	help[got] = '\0';
	for (line = strtok_r(help, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *flag = flag_of(line);

		if (flag && !has_word(names, flag) && used < size)
			used += (size_t)snprintf(names + used, size - used,
						 "%s ", flag);
	}
	return DIST_EXIT_OK;
}

/* Asks for all workloads of the study. */
static int ask_all_flags(const struct study *study, char *names, size_t size)
{
	size_t axis = study_axis(study, "workload");
	int status = DIST_EXIT_OK;

	snprintf(names, size, " ");
	if (axis == study->num_axes)
		return ask_flags("ddp_step", names, size);
	for (size_t v = 0; v < study->axes[axis].num_values && !status; v++)
		status = ask_flags(study->axes[axis].values[v].text, names,
				   size);
	return status;
}

/* A point has one answer. */
static int check_alone(const struct study *study, const char *path)
{
	size_t axis = study_axis(study, TOGETHER);

	for (size_t i = 0;
	     axis < study->num_axes && i < study->axes[axis].num_values; i++) {
		const struct study_value *value = &study->axes[axis].values[i];

		if (!strchr(value->text, ','))
			continue;
		fprintf(stderr,
			"lockstep sweep: %s:%zu: " TOGETHER
			": expected one number, "
			"not \"%s\"\n",
			path, value->line, value->text);
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

static int check_keys(const struct study *study, const char *path)
{
	char names[2048];
	int status = ask_all_flags(study, names, sizeof(names));

	/* An unknown workload is refused with its points. */
	if (status)
		return status == DIST_EXIT_USAGE ? DIST_EXIT_OK : status;
	for (size_t i = 0; i < study->num_axes; i++) {
		const struct study_axis *axis = &study->axes[i];

		if (has_word(names, axis->name))
			continue;
		fprintf(stderr,
			"lockstep sweep: %s:%zu: unknown key \"%s\" of "
			"%s: expected one of%.*s\n",
			path, axis->line, axis->name,
			axis->in_grid ? "grid" : "predict",
			(int)strlen(names) - 1, names);
		return DIST_EXIT_USAGE;
	}
	return DIST_EXIT_OK;
}

/* ---- points ----------------------------------------------------------- */

static int try_point(void *arg, size_t point, int pipe)
{
	const struct checking *checking = arg;
	struct point_command command;

	point_command_init(&command, checking->study, point, "--dry-run",
			   TOGETHER);
	dup2(pipe, STDERR_FILENO);
	return command_predict(command.argc, command.argv);
}

/* Keeps what was said of the first point that is refused: points are begun in
 * their order, and those under way are waited for. */
static int take_verdict(void *arg, size_t point, int status, const char *text)
{
	struct checking *checking = arg;
	const char *words = text;

	if (!status)
		return DIST_EXIT_OK;
	if (strncmp(words, "lockstep predict: ", 18) == 0)
		words += 18;
	if (checking->text[0] && checking->point < point)
		return status;
	checking->point = point;
	snprintf(checking->text, sizeof(checking->text), "%.*s",
		 (int)strcspn(words, "\n"), words);
	return status;
}

/* Returns whether text says word, not as a part of a longer one. */
static bool says(const char *text, const char *word)
{
	static const char *const letters =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-./";
	const char *found = text;
	size_t length = strlen(word);

	while ((found = strstr(found, word)) != NULL) {
		if ((found == text || !strchr(letters, found[-1])) &&
		    (!found[length] || !strchr(letters, found[length])))
			return true;
		found++;
	}
	return false;
}

/* Returns whether text speaks of an axis: "--world-size" or "world size". */
static bool says_name(const char *text, const char *name)
{
	char words[64];

	snprintf(words, sizeof(words), "--%s", name);
	if (says(text, words))
		return true;
	snprintf(words, sizeof(words), "%s", name);
	for (char *c = words; *c; c++)
		if (*c == '-')
			*c = ' ';
	return says(text, words);
}

/* Returns whether text speaks of a value, or of what stands behind its colon:
 * "ib" of "dgx-a100:ib". */
static bool says_value(const char *text, const char *value)
{
	const char *colon = strchr(value, ':');

	return says(text, value) ||
	       (colon && colon[1] && says(text, colon + 1));
}

/* The line of the study that made predict say text: that of a value which the
 * text speaks of, of an axis that it names if there is one. */
static size_t line_of(const struct checking *checking)
{
	const struct study *study = checking->study;
	size_t line = study->num_axes ? study->axes[0].line : 1;
	bool named = false;

	for (size_t i = 0; i < study->num_axes; i++) {
		const struct study_axis *axis = &study->axes[i];
		bool all = strcmp(axis->name, TOGETHER) == 0;
		size_t mine = study_choice(study, checking->point, i);
		bool name = says_name(checking->text, axis->name);

		if (name && !named)
			line = axis->values[mine].line;
		for (size_t v = 0; v < axis->num_values; v++)
			if ((all || v == mine) && name >= named &&
			    says_value(checking->text, axis->values[v].text))
				line = axis->values[v].line;
		named = named || name;
	}
	return line;
}

static int check_points(struct checking *checking, int jobs)
{
	const struct pool_work work = {try_point, take_verdict, checking};
	const struct study *study = checking->study;
	size_t num = study_num_points(study), num_tasks = 0;
	size_t together = study_axis(study, TOGETHER);
	size_t *tasks = calloc(num, sizeof(*tasks));
	int status;

	if (!tasks) {
		fprintf(stderr, "lockstep sweep: out of memory\n");
		return DIST_EXIT_INTERNAL;
	}
	for (size_t i = 0; i < num; i++)
		if (together == study->num_axes ||
		    study_choice(study, i, together) == 0)
			tasks[num_tasks++] = i;
	status = pool_run(&work, tasks, num_tasks, jobs);
	free(tasks);
	if (checking->text[0])
		fprintf(stderr, "lockstep sweep: %s:%zu: %s\n", checking->path,
			line_of(checking), checking->text);
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
