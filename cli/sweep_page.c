/* sweep_page.c - the results of a sweep: its points and figures as files, and
 * all of it as one HTML page, without other files and without JavaScript. */
#include "cli/sweep_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/output.h"
#include "base/refuse.h"
#include "cli/plot.h"
#include "cli/pool.h"
#include "cli/provenance.h"
#include "cli/refuse.h"
#include "cli/sweep/figures.h"

#define PATH_SIZE 4200

struct drawing {
	const struct answers *answers;
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

/* ---- HTML -------------------------------------------------------------- */

/* html_text writes text with HTML's special characters escaped. */
static void html_text(struct dist__output *out, const char *text)
{
	char one[2] = "";

	for (; *text; text++) {
		switch (*text) {
		case '<':
			dist__output_text(out, "&lt;");
			break;
		case '>':
			dist__output_text(out, "&gt;");
			break;
		case '&':
			dist__output_text(out, "&amp;");
			break;
		case '"':
			dist__output_text(out, "&quot;");
			break;
		default:
			one[0] = *text;
			dist__output_text(out, one);
		}
	}
}

/* html_element writes text in an element: <name>text</name>. */
static void html_element(struct dist__output *out, const char *name,
			 const char *text)
{
	dist__output_print(out, "<%s>", name);
	html_text(out, text);
	dist__output_print(out, "</%s>", name);
}

static enum dist_error read_text(const char *path, char **text,
				 struct dist_message *message)
{
	size_t len;
	enum dist_error error = dist__input_read(path, text, &len);

	return error ? dist__refuse_as(message, error, "%.300s: %s", path,
				       strerror(errno))
		     : DIST_OK;
}

/* Writes text as part of a data: URL (RFC 2397), what has a meaning there or in
 * an attribute escaped as RFC 3986 says. */
static void put_escaped(struct dist__output *out, const char *text)
{
	for (;; text++) {
		size_t plain = strcspn(text, "%#\"'<>&\n\r\t");

		dist__output_bytes(out, text, plain);
		text += plain;
		if (!*text)
			return;
		dist__output_print(out, "%%%02X", (unsigned char)*text);
	}
}

/* html_picture writes an <img> that contains the SVG file at path; text is its
 * alt text. Errors: IO (message). */
static enum dist_error html_picture(struct dist__output *out, const char *path,
				    const char *text,
				    struct dist_message *message)
{
	char *svg;
	enum dist_error error = read_text(path, &svg, message);

	if (error)
		return error;
	dist__output_text(out, "<img alt=\"");
	html_text(out, text);
	dist__output_text(out, "\" src=\"data:image/svg+xml;charset=utf-8,");
	put_escaped(out, svg);
	dist__output_text(out, "\"/>\n");
	free(svg);
	return DIST_OK;
}

/* More rows than a person reads; points.tsv has all of them. */
#define ROWS_MOST 1000

static enum dist_error head(struct dist__output *out,
			    const struct answers *answers,
			    struct dist_message *message)
{
	const struct study *study = answers->study;
	size_t impossible = answers_num_impossible(answers);
	char path[PATH_SIZE], *style;
	enum dist_error error;

	plot_find("report.css", path, sizeof path);
	error = read_text(path, &style, message);
	if (error)
		return error;
	dist__output_text(out,
			  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			  "<meta charset=\"utf-8\"/>\n"
			  "<meta name=\"viewport\" "
			  "content=\"width=device-width,initial-scale=1\"/>\n");
	html_element(out, "title", study->title);
	dist__output_text(out, "\n<style>\n");
	dist__output_text(out, style);
	free(style);
	dist__output_text(out, "</style>\n</head>\n<body>\n<main>\n");
	html_element(out, "h1", study->title);
	dist__output_text(out, "\n");
	if (study->about[0])
		html_element(out, "p", study->about);
	dist__output_print(out,
			   "\n<p class=\"soft\">%zu points, predicted by "
			   "Lockstep " LOCKSTEP_VERSION ".</p>\n",
			   answers->num);
	if (impossible)
		dist__output_print(out,
				   "<p><strong>%zu of them cannot be</strong>: "
				   "the column impossible says why. They are "
				   "never best.</p>\n",
				   impossible);
	return DIST_OK;
}

/* ---- tables ----------------------------------------------------------- */

static void begin_table(struct dist__output *out)
{
	dist__output_text(out, "<div class=\"table\"><table>\n<thead><tr>");
}

static void end_table(struct dist__output *out)
{
	dist__output_text(out, "</tbody>\n</table></div>\n");
}

/* A name may be broken behind its underscores, as it is behind hyphens. */
static void put_head(struct dist__output *out, const char *name)
{
	char piece[64];

	dist__output_text(out, "<th class=\"n\">");
	while (*name) {
		size_t len = strcspn(name, "_");

		len += name[len] == '_';
		len = len < sizeof piece ? len : sizeof piece - 1;
		snprintf(piece, sizeof piece, "%.*s", (int)len, name);
		html_text(out, piece);
		dist__output_text(out, name[len] ? "<wbr/>" : "");
		name += len;
	}
	dist__output_text(out, "</th>");
}

static void put_cell(struct dist__output *out, const char *text)
{
	dist__output_text(out, "<td class=\"n\">");
	html_text(out, text);
	dist__output_text(out, "</td>");
}

static void put_figure(struct dist__output *out, const json_t *value)
{
	double number = json_number_value(value);
	char text[32] = "-";

	if (json_is_integer(value))
		snprintf(text, sizeof text, "%lld",
			 (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, sizeof text,
			 fabs(number) >= 1000 ? "%.0f" : "%.4g", number);
	put_cell(out, json_is_string(value) ? json_string_value(value) : text);
}

static void put_columns(struct dist__output *out, const struct study *study,
			const char *const *names, size_t num)
{
	for (size_t i = 0; i < study->num_axes; i++)
		if (study->axes[i].in_grid)
			put_head(out, study->axes[i].name);
	for (size_t i = 0; i < num; i++)
		put_head(out, names[i]);
	dist__output_text(out, "</tr></thead>\n<tbody>\n");
}

static void put_row(struct dist__output *out, const struct answers *answers,
		    size_t point, const char *const *names, size_t num)
{
	dist__output_text(out, "<tr>");
	for (size_t i = 0; i < answers->study->num_axes; i++)
		if (answers->study->axes[i].in_grid)
			put_cell(out, study_value(answers->study, point, i));
	for (size_t i = 0; i < num; i++)
		put_figure(out, answers_value(answers, point, names[i]));
	dist__output_text(out, "</tr>\n");
}

/* What points are held against each other by: tokens a second of language
 * models, samples of other networks. */
static const char *rate_of(const struct answers *answers)
{
	return answers_value(answers, 0, "tokens_per_s") ? "tokens_per_s"
							 : "samples_per_s";
}

/* The point of the highest rate among those of a value of an axis that can
 * be; the number of points: none can. */
static size_t best_of(const struct answers *answers, size_t axis, size_t value)
{
	const char *rate = rate_of(answers);
	size_t best = answers->num;

	for (size_t p = 0; p < answers->num; p++)
		if (study_choice(answers->study, p, axis) == value &&
		    !answers_impossible(answers, p) &&
		    (best == answers->num ||
		     answers_number(answers, p, rate, 0) >
			     answers_number(answers, best, rate, 0)))
			best = p;
	return best;
}

/* What to take at each world size, where there is a choice. */
static void best_points(struct dist__output *out, const struct answers *answers)
{
	static const char *const samples[] = {"step_ms", "efficiency",
					      "samples_per_s"};
	static const char *const tokens[] = {"tokens_per_s_gpu", "mfu",
					     "memory_gb"};
	const struct study *study = answers->study;
	bool language = strcmp(rate_of(answers), "tokens_per_s") == 0;
	const char *const *names = language ? tokens : samples;
	size_t axis = study_axis(study, "world-size");

	if (axis == study->num_axes ||
	    study->axes[axis].num_values == answers->num)
		return;
	html_element(out, "h2", "Best at each world size");
	dist__output_print(out,
			   "\n<p class=\"soft\">The points of most %s a "
			   "second.</p>\n",
			   language ? "tokens" : "samples");
	begin_table(out);
	put_columns(out, study, names, 3);
	for (size_t v = 0; v < study->axes[axis].num_values; v++) {
		size_t best = best_of(answers, axis, v);

		if (best < answers->num)
			put_row(out, answers, best, names, 3);
	}
	end_table(out);
}

static void all_points(struct dist__output *out, const struct answers *answers)
{
	const char *names[ANSWERS_FIGURES];
	size_t num = answers_columns(answers, names);

	html_element(out, "h2", "All points");
	if (answers->num > ROWS_MOST)
		dist__output_print(out,
				   "\n<p class=\"soft\">The first %d of %zu; "
				   "points.tsv has all.</p>\n",
				   ROWS_MOST, answers->num);
	begin_table(out);
	put_columns(out, answers->study, names, num);
	for (size_t p = 0; p < answers->num && p < ROWS_MOST; p++)
		put_row(out, answers, p, names, num);
	end_table(out);
}

/* ---- what it stands on ------------------------------------------------ */

/* What of a condition is shown unfolded. */
#define TEXTS_SHOWN 4

/* Writes the different words that points have for a condition, in the order of
 * the points; those beyond a few unfold. Errors: NO_MEMORY. */
static enum dist_error put_condition(struct dist__output *out,
				     const struct answers *answers,
				     const char *name)
{
	json_t *said = json_object();
	enum dist_error error = said ? DIST_OK : DIST_ERR_NO_MEMORY;

	dist__output_text(out, "<tr><th scope=\"row\">");
	html_text(out, name);
	dist__output_text(out, "</th><td>");
	for (size_t p = 0; said && p < answers->num; p++) {
		const char *text = json_string_value(
			json_object_get(answers_conditions(answers, p), name));

		if (!text || json_object_get(said, text))
			continue;
		if (json_object_size(said) == TEXTS_SHOWN)
			dist__output_text(out, "<details><summary>more"
					       "</summary>");
		else if (json_object_size(said))
			dist__output_text(out, "<br/>");
		html_text(out, text);
		json_object_set_new(said, text, json_true());
	}
	if (json_object_size(said) > TEXTS_SHOWN)
		dist__output_text(out, "</details>");
	dist__output_text(out, "</td></tr>\n");
	json_decref(said);
	return error;
}

/* What a data file of the study says of itself. */
static void put_source(struct dist__output *out, const char *kind,
		       const char *name)
{
	char text[4096];

	if (!provenance_of(kind, name, text, sizeof text))
		return;
	dist__output_print(out, "<tr><th scope=\"row\">%s ", kind);
	html_text(out, name);
	dist__output_text(out, "</th><td>");
	html_text(out, text);
	dist__output_text(out, "</td></tr>\n");
}

static enum dist_error conditions(struct dist__output *out,
				  const struct answers *answers)
{
	const struct study *study = answers->study;
	enum dist_error error = DIST_OK;
	const json_t *first = answers_conditions(answers, 0);
	const char *name;
	json_t *text;

	html_element(out, "h2", "What it stands on");
	dist__output_text(out, "\n<div class=\"table whole\"><table>\n"
			       "<tbody>\n");
	json_object_foreach((json_t *)first, name, text)
	{
		error = put_condition(out, answers, name);
		if (error)
			return error;
	}
	for (size_t i = 0; i < study->num_axes; i++)
		for (size_t v = 0; v < study->axes[i].num_values; v++)
			put_source(out, study->axes[i].name,
				   study->axes[i].values[v].text);
	end_table(out);
	return error;
}

/* ---- the page --------------------------------------------------------- */

static enum dist_error figures(struct dist__output *out,
			       const struct drawing *drawing,
			       struct dist_message *message)
{
	enum dist_error error = DIST_OK;
	char path[PATH_SIZE];

	html_element(out, "h2", "Figures");
	dist__output_text(out, "\n");
	for (size_t i = 0; i < drawing->num && !error; i++) {
		const struct figure *figure = &drawing->figures[i];

		figure_path(drawing, figure, "svg", path);
		dist__output_text(out, "<figure>\n<div class=\"figure\">");
		error = html_picture(out, path, figure_title(figure), message);
		dist__output_text(out, "</div>\n<figcaption>");
		html_text(out, figure_title(figure));
		dist__output_text(out, figure->text[0] ? ": " : "");
		html_text(out, figure->text);
		dist__output_print(out, ". Data: %s.tsv</figcaption>\n",
				   figure->name);
		dist__output_text(out, "</figure>\n");
	}
	return error;
}

static enum dist_error study_text(struct dist__output *out,
				  const struct drawing *drawing,
				  struct dist_message *message)
{
	char path[PATH_SIZE], *text;
	enum dist_error error;

	snprintf(path, sizeof path, "%s/study.yaml", drawing->folder);
	error = read_text(path, &text, message);
	if (error)
		return error;
	html_element(out, "h2", "The study");
	dist__output_text(out, "\n<pre>");
	html_text(out, text);
	dist__output_text(out, "</pre>\n</main>\n</body>\n</html>\n");
	free(text);
	return DIST_OK;
}

/* Errors: IO, NO_MEMORY, with message. */
static enum dist_error write_page(const struct drawing *drawing,
				  struct dist_message *message)
{
	char path[PATH_SIZE];
	struct dist__output *out;
	enum dist_error error;

	snprintf(path, sizeof path, "%s/report.html", drawing->folder);
	error = dist__output_open(path, &out, message);
	if (error)
		return error;
	error = head(out, drawing->answers, message);
	best_points(out, drawing->answers);
	if (!error)
		error = figures(out, drawing, message);
	all_points(out, drawing->answers);
	if (!error)
		error = conditions(out, drawing->answers);
	if (!error)
		error = study_text(out, drawing, message);
	if (!error)
		return dist__output_close(out, message);
	dist__output_abandon(out);
	return error;
}

/* ---- the files -------------------------------------------------------- */

/* Pictures of each figure. */
static const char *const suffixes[] = {"svg", "png"};

#define NUM_SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

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
				  struct dist_message *message)
{
	const struct answers *answers = drawing->answers;
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

static void tell(const struct drawing *drawing)
{
	const struct answers *answers = drawing->answers;
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
	drawing->answers = answers;
	drawing->folder = folder;
	drawing->num = figures_plan(answers, drawing->figures);
	if (write_data(drawing, &message))
		status = refuse("sweep", "%s", message.text);
	else
		status = draw_all(drawing, jobs);
	if (!status && write_page(drawing, &message))
		status = refuse("sweep", "%s", message.text);
	if (!status && form == FORM_TEXT)
		tell(drawing);
	else if (!status && answers_print(answers, form, stdout))
		status = out_of_memory("sweep");
	free(drawing);
	return status;
}
