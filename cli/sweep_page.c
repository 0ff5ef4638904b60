#include "cli/sweep_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/plot.h"
#include "cli/pool.h"
#include "cli/provenance.h"
#include "cli/refuse.h"
#include "cli/sweep/report.h"

#define PATH_SIZE 4200

/* Pictures of each figure. */
static const char *const suffixes[] = {"svg", "png"};

#define NUM_SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

/* Files of which the report tells where they come from, at most. */
#define SOURCES_MOST 64

struct drawing {
	const char *folder;
	struct figure figures[FIGURES_MOST];
	size_t num;
	int status; /* of the first picture that failed */
};

static void figure_path(const struct drawing *drawing,
			const struct figure *figure, const char *suffix,
			char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/%s.%s", drawing->folder, figure->name,
		 suffix);
}

/* In a child: draws one picture of one figure. */
static int draw(void *arg, size_t task, int pipe)
{
	const struct drawing *drawing = arg;
	const struct figure *figure = &drawing->figures[task / NUM_SUFFIXES];
	char data[PATH_SIZE], picture[PATH_SIZE], title[512];

	(void)pipe;
	figure_path(drawing, figure, "tsv", data);
	figure_path(drawing, figure, suffixes[task % NUM_SUFFIXES], picture);
	snprintf(title, sizeof title, "%s%s%s", figure_title(figure),
		 figure->text[0] ? ": " : "", figure->text);
	return plot_draw("lockstep sweep", figure_script(figure), data, picture,
			 title);
}

/* The others are drawn all the same. */
static int take_picture(void *arg, size_t task, int status, const char *data,
			size_t size)
{
	struct drawing *drawing = arg;

	(void)task;
	(void)data;
	(void)size;
	if (!drawing->status)
		drawing->status = status;
	return DIST_EXIT_OK;
}

static int draw_all(struct drawing *drawing, int jobs)
{
	const struct pool_work work = {draw, take_picture, drawing};
	size_t tasks[FIGURES_MOST * NUM_SUFFIXES];
	int status;

	for (size_t i = 0; i < drawing->num * NUM_SUFFIXES; i++)
		tasks[i] = i;
	status = pool_run(&work, tasks, drawing->num * NUM_SUFFIXES, jobs);
	return status ? status : drawing->status;
}

/* Writes the points and the data of the figures. */
static enum dist_error write_data(const struct drawing *drawing,
				  const struct answers *answers,
				  struct dist_message *message)
{
	char path[PATH_SIZE];
	enum dist_error error;

	snprintf(path, sizeof path, "%s/points.tsv", drawing->folder);
	error = answers_write(answers, path, message);
	for (size_t i = 0; i < drawing->num && !error; i++) {
		figure_path(drawing, &drawing->figures[i], "tsv", path);
		error = figure_write(&drawing->figures[i], answers, path,
				     message);
	}
	return error;
}

/* Stores what the data files of a study say of themselves; returns of how
 * many. */
static size_t find_sources(const struct study *study,
			   struct report_source sources[SOURCES_MOST])
{
	size_t num = 0;

	for (size_t i = 0; i < study->num_axes; i++) {
		const struct study_axis *axis = &study->axes[i];

		for (size_t v = 0; v < axis->num_values && num < SOURCES_MOST;
		     v++) {
			struct report_source *source = &sources[num];
			const char *value = axis->values[v].text;

			snprintf(source->what, sizeof source->what, "%s %s",
				 axis->name, value);
			num += provenance_of(axis->name, value, source->text,
					     sizeof source->text);
		}
	}
	return num;
}

static int write_page(const struct drawing *drawing,
		      const struct answers *answers)
{
	struct report_source *sources = calloc(SOURCES_MOST, sizeof *sources);
	struct report report = {
		.answers = answers,
		.figures = drawing->figures,
		.num_figures = drawing->num,
		.sources = sources,
		.folder = drawing->folder,
		.version = LOCKSTEP_VERSION,
	};
	struct dist_message message = {"out of memory"};
	int status = DIST_EXIT_OK;
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "%s/report.html", drawing->folder);
	if (sources)
		report.num_sources = find_sources(answers->study, sources);
	if (!sources || report_write(&report, path, &message))
		status = refuse("sweep", "%s", message.text);
	free(sources);
	return status;
}

static void tell(const struct drawing *drawing, const struct answers *answers)
{
	size_t impossible = answers_num_impossible(answers);

	if (impossible)
		printf("%zu of %zu points are impossible: points.tsv says "
		       "why\n",
		       impossible, answers->num);
	printf("%s/report.html\n", drawing->folder);
	printf("%s/points.tsv\n", drawing->folder);
	for (size_t i = 0; i < drawing->num; i++)
		printf("%s/%s.{svg,png,tsv}\n", drawing->folder,
		       drawing->figures[i].name);
}

int sweep_report(const struct answers *answers, const char *folder, int jobs,
		 enum dist__form form)
{
	struct drawing *drawing = calloc(1, sizeof *drawing);
	struct dist_message message = {""};
	int status;

	if (!drawing)
		return out_of_memory("sweep");
	drawing->folder = folder;
	drawing->num = figures_plan(answers, drawing->figures);
	if (write_data(drawing, answers, &message))
		status = refuse("sweep", "%s", message.text);
	else
		status = draw_all(drawing, jobs);
	if (!status)
		status = write_page(drawing, answers);
	if (!status && form == FORM_TEXT)
		tell(drawing, answers);
	else if (!status && answers_print(answers, form, stdout))
		status = out_of_memory("sweep");
	free(drawing);
	return status;
}
