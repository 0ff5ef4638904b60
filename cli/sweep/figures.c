#include "cli/sweep/figures.h"

#include "cli/sweep/figure_data.h"
#include "base/text.h"

/* More curves cannot be told apart, more bars not be read. */
#define CURVES_MOST 8
#define BARS_MOST   40

/* ---- which axes a kind takes ------------------------------------------ */

/* Each takes the axes that it has a place for into figure->own, and returns
 * false when the study has not those that it needs. */

static bool take(const struct study *study, struct figure *figure,
		 const char *name)
{
	size_t axis = study_axis(study, name);

	if (axis == study->num_axes || study->axes[axis].num_values < 2)
		return false;
	figure->own[axis] = true;
	return true;
}

/* The first axis that is left and not too long gives the curves. */
static void take_curves(const struct study *study, struct figure *figure)
{
	for (size_t i = 0; i < study->num_axes; i++)
		if (!figure->own[i] && study->axes[i].num_values > 1 &&
		    study->axes[i].num_values <= CURVES_MOST) {
			figure->own[i] = true;
			figure->curve = i;
			return;
		}
}

/* As many axes as there is room for bars, world-size first. */
static bool take_breakdown(const struct study *study, struct figure *figure)
{
	size_t bars = 1;
	bool varies = false;

	if (take(study, figure, "world-size"))
		bars = study->axes[study_axis(study, "world-size")].num_values;
	for (size_t i = 0; i < study->num_axes; i++) {
		size_t values = study->axes[i].num_values;

		varies = varies || values > 1;
		if (figure->own[i] || values == 1 || bars * values > BARS_MOST)
			continue;
		figure->own[i] = true;
		bars *= values;
	}
	return bars <= BARS_MOST && (bars > 1 || !varies);
}

static bool take_fastest(const struct study *study, struct figure *figure)
{
	return take(study, figure, "algorithm") &&
	       take(study, figure, "bucket-cap-mb") &&
	       take(study, figure, "world-size");
}

/* What is chosen follows from size and ranks, and from the others alone. */
static bool take_chosen(const struct study *study, struct figure *figure)
{
	static const char *const others[] = {"platform",      "machine",
					     "profile",       "inter-bandwidth",
					     "inter-latency", "intra-bandwidth",
					     "intra-latency"};

	if (study_axis(study, "algorithm") < study->num_axes ||
	    !take(study, figure, "world-size"))
		return false;
	for (size_t i = 0; i < study->num_axes; i++)
		figure->own[i] = true;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (study_axis(study, others[i]) < study->num_axes)
			figure->own[study_axis(study, others[i])] = false;
	return true;
}

/* ---- the kinds -------------------------------------------------------- */

static const struct kind {
	const char *name;
	const char *script;
	const char *title;

	/* Curves over an axis, of these figures; or by functions. */
	const char *axis;
	const char *curves[4]; /* ended by NULL */
	bool (*take)(const struct study *study, struct figure *figure);
	figure_write_rows *write;
} kinds[] = {
	[FIGURE_SCALING] = {"scaling", "sweep_scaling.gp", "Scaling",
			    "world-size",
			    .curves = {"step_ms", "efficiency",
				       "samples_per_s"}},
	[FIGURE_BUCKETS] = {"buckets", "bucket_size.gp", "Bucket size",
			    "bucket-cap-mb",
			    .curves = {"step_ms", "exposed_ms"}},
	[FIGURE_BREAKDOWN] = {"breakdown", "breakdown.gp",
			      "Where the time of a step goes",
			      .take = take_breakdown,
			      .write = figure_write_breakdown},
	[FIGURE_FASTEST] = {"fastest", "algorithms.gp",
			    "Fastest algorithm by size of a bucket",
			    .take = take_fastest,
			    .write = figure_write_fastest},
	[FIGURE_CHOSEN] = {"chosen", "algorithms.gp",
			   "Algorithm chosen by size of a bucket",
			   .take = take_chosen, .write = figure_write_chosen},
};

const char *figure_script(const struct figure *figure)
{
	return kinds[figure->kind].script;
}

const char *figure_title(const struct figure *figure)
{
	return kinds[figure->kind].title;
}

/* ---- the plan --------------------------------------------------------- */

/* Returns whether a point is the first of the points that differ from it in
 * the figure's own axes alone. */
static bool is_first(const struct study *study, const struct figure *figure,
		     size_t point)
{
	for (size_t i = 0; i < study->num_axes; i++)
		if (figure->own[i] && study_choice(study, point, i) != 0)
			return false;
	return true;
}

/* Writes the values that all points of the figure share, and not all of the
 * study; and which make no difference. */
static void tell_shared(const struct study *study, struct figure *figure)
{
	figure->text[0] = '\0';
	for (size_t i = 0; i < study->num_axes; i++)
		if ((!figure->own[i] || figure->alike[i]) &&
		    study->axes[i].num_values > 1)
			(void)dist__append(
				figure->text, sizeof figure->text, "%s%s %s",
				*figure->text ? ", " : "", study->axes[i].name,
				figure->alike[i]
					? "any"
					: study_value(study, figure->point, i));
}

/* Adds the figures of a kind to num of them; returns the new number. */
static size_t plan_kind(const struct answers *answers, enum figure_kind kind,
			struct figure *figures, size_t num)
{
	const struct study *study = answers->study;
	struct figure figure = {.kind = kind, .curve = study->num_axes};
	size_t first = num;

	if (kinds[kind].axis ? !take(study, &figure, kinds[kind].axis)
			     : !kinds[kind].take(study, &figure))
		return num;
	if (kinds[kind].axis)
		take_curves(study, &figure);
	if (kind == FIGURE_CHOSEN) {
		/* Takes in the axes that make no difference to what is chosen.
		 */
		for (size_t i = 0; i < answers->study->num_axes; i++)
			if (!figure.own[i] && figure_is_alike(answers, i))
				figure.own[i] = figure.alike[i] = true;
	}
	for (size_t p = 0; p < answers->num && num < first + FIGURES_OF_A_KIND;
	     p++) {
		figure.point = p;
		/* Of the chosen, more than one algorithm is to be seen. */
		if (!is_first(study, &figure, p) ||
		    (figure.kind == FIGURE_CHOSEN &&
		     figure_algorithms(&figure, answers) <= 1))
			continue;
		tell_shared(study, &figure);
		snprintf(figure.name, sizeof figure.name, "%s-%zu",
			 kinds[kind].name, num - first + 1);
		figures[num++] = figure;
	}
	if (num == first + 1)
		snprintf(figures[first].name, sizeof figures[first].name, "%s",
			 kinds[kind].name);
	return num;
}

size_t figures_plan(const struct answers *answers, struct figure *figures)
{
	size_t num = 0;

	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		num = plan_kind(answers, (enum figure_kind)k, figures, num);
	return num;
}

enum dist_error figure_write(const struct figure *figure,
			     const struct answers *answers, const char *path,
			     struct dist_message *message)
{
	const struct kind *kind = &kinds[figure->kind];
	struct dist__output *out;
	enum dist_error error = dist__output_open(path, &out, message);

	if (error)
		return error;
	if (kind->axis)
		figure_write_curves(figure, answers, kind->axis, kind->curves,
				    out);
	else
		kind->write(figure, answers, out);
	return dist__output_close(out, message);
}
