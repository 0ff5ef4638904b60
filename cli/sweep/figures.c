#include "cli/sweep/figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Writes the data of a kind of figure, as its script reads it: a header line
 * and rows, with columns separated by tabs. */
typedef void figure_write_rows(const struct figure *figure,
			       const struct answers *answers,
			       struct dist__output *out);

/* A bucket cap of 0 stands for predict's default. */
#define MIB 1048576.0

/* Returns whether a point is one of the figure's. */
static bool has_point(const struct figure *figure, const struct study *study,
		      size_t point)
{
	for (size_t i = 0; i < study->num_axes; i++)
		if ((!figure->own[i] || figure->alike[i]) &&
		    study_choice(study, point, i) !=
			    study_choice(study, figure->point, i))
			return false;
	return true;
}

/* Returns the figure's next point, from `point` on; the number of points when
 * there is none. */
static size_t next_point(const struct figure *figure,
			 const struct answers *answers, size_t point)
{
	while (point < answers->num &&
	       !has_point(figure, answers->study, point))
		point++;
	return point;
}

static double axis_number(const struct study *study, size_t point,
			  const char *name)
{
	return atof(study_value(study, point, study_axis(study, name)));
}

/* Returns whether a value is a number, with a unit or as a factor, or a switch:
 * it needs its axis' name, "batch 64", "inter-bandwidth x2", but "ring". */
static bool needs_name(const char *value)
{
	const char first = value[value[0] == 'x'];

	return (first && strchr("0123456789.", first)) ||
	       strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
}

static void print_value(const struct study *study, size_t point, size_t axis,
			struct dist__output *out)
{
	const char *value = study_value(study, point, axis);

	if (needs_name(value))
		dist__output_print(out, "%s ", study->axes[axis].name);
	dist__output_text(out, value);
}

static void print_figure(const struct answers *answers, size_t point,
			 const char *name, struct dist__output *out)
{
	dist__output_print(out, "\t%.6f",
			   answers_number(answers, point, name, 0));
}

static void write_row(const struct figure *figure,
		      const struct answers *answers, size_t point, size_t x,
		      const char *const *names, struct dist__output *out)
{
	/* The name of a point's curve; "-" where there is one curve only. */
	if (figure->curve < answers->study->num_axes)
		print_value(answers->study, point, figure->curve, out);
	else
		dist__output_text(out, "-");
	dist__output_print(out, "\t%s", study_value(answers->study, point, x));
	for (size_t i = 0; names[i]; i++)
		print_figure(answers, point, names[i], out);
	dist__output_text(out, "\n");
}

/* Curve after curve, for a line ends where rows of another begin. */
static void figure_write_curves(const struct figure *figure,
				const struct answers *answers, const char *axis,
				const char *const *names,
				struct dist__output *out)
{
	const struct study *study = answers->study;
	size_t x = study_axis(study, axis), c = figure->curve;
	size_t curves = c < study->num_axes ? study->axes[c].num_values : 1;

	dist__output_print(out, "curve\t%s", axis);
	for (size_t i = 0; names[i]; i++)
		dist__output_print(out, "\t%s", names[i]);
	dist__output_text(out, "\n");
	for (size_t v = 0; v < curves; v++)
		for (size_t p = next_point(figure, answers, 0);
		     p < answers->num; p = next_point(figure, answers, p + 1))
			if (curves == 1 || study_choice(study, p, c) == v)
				write_row(figure, answers, p, x, names, out);
}

static void figure_write_breakdown(const struct figure *figure,
				   const struct answers *answers,
				   struct dist__output *out)
{
	const struct study *study = answers->study;

	dist__output_text(out, "step\tcompute_ms\texposed_ms\tidle_ms\n");
	for (size_t p = next_point(figure, answers, 0); p < answers->num;
	     p = next_point(figure, answers, p + 1)) {
		bool begun = false;

		for (size_t i = 0; i < study->num_axes; i++)
			if (figure->own[i]) {
				dist__output_text(out, begun ? ", " : "");
				print_value(study, p, i, out);
				begun = true;
			}
		dist__output_text(out, begun ? "" : "step");
		print_figure(answers, p, "compute_ms", out);
		print_figure(answers, p, "exposed_ms", out);
		print_figure(answers, p, "idle_ms", out);
		dist__output_text(out, "\n");
	}
}

/* ---- algorithms ------------------------------------------------------- */

#define ALGORITHM_COLUMNS "bytes\tworld_size\talgorithm\n"

/* Returns how far apart points are whose values of an axis are neighbours. */
static size_t stride(const struct study *study, size_t axis)
{
	size_t step = 1;

	for (size_t i = axis + 1; i < study->num_axes; i++)
		step *= study->axes[i].num_values;
	return step;
}

/* Returns the point of the least communication among those that differ from
 * `point` in the algorithm alone, and can be. */
static size_t fastest_of(const struct answers *answers, size_t point)
{
	const struct study *study = answers->study;
	size_t algorithm = study_axis(study, "algorithm"), best = point;
	size_t step = stride(study, algorithm);

	for (size_t v = 1; v < study->axes[algorithm].num_values; v++) {
		size_t p = point + v * step;

		if (!answers_impossible(answers, p) &&
		    (answers_impossible(answers, best) ||
		     answers_number(answers, p, "communication_ms", 0) <
			     answers_number(answers, best, "communication_ms",
					    0)))
			best = p;
	}
	return best;
}

static void figure_write_fastest(const struct figure *figure,
				 const struct answers *answers,
				 struct dist__output *out)
{
	const struct study *study = answers->study;
	size_t algorithm = study_axis(study, "algorithm");

	dist__output_text(out, ALGORITHM_COLUMNS);
	for (size_t p = next_point(figure, answers, 0); p < answers->num;
	     p = next_point(figure, answers, p + 1)) {
		size_t best;

		if (study_choice(study, p, algorithm) != 0)
			continue;
		best = fastest_of(answers, p);
		if (answers_impossible(answers, best))
			continue;
		dist__output_print(out, "%.0f\t%.0f\t%s\n",
				   axis_number(study, p, "bucket-cap-mb") * MIB,
				   axis_number(study, p, "world-size"),
				   study_value(study, best, algorithm));
	}
}

static void figure_write_chosen(const struct figure *figure,
				const struct answers *answers,
				struct dist__output *out)
{
	const json_t *bucket;
	size_t i;

	dist__output_text(out, ALGORITHM_COLUMNS);
	for (size_t p = next_point(figure, answers, 0); p < answers->num;
	     p = next_point(figure, answers, p + 1))
		json_array_foreach(answers_buckets(answers, p), i, bucket)
		{
			dist__output_print(
				out, "%lld\t%.0f\t%.64s\n",
				(long long)json_integer_value(
					json_object_get(bucket, "bytes")),
				axis_number(answers->study, p, "world-size"),
				json_string_value(
					json_object_get(bucket, "algorithm")));
		}
}

static const char *algorithm_of(const json_t *bucket)
{
	const char *name =
		json_string_value(json_object_get(bucket, "algorithm"));

	return name ? name : "";
}

/* Returns whether two points have the same algorithms for the same buckets. */
static bool choose_alike(const struct answers *answers, size_t a, size_t b)
{
	const json_t *left = answers_buckets(answers, a), *bucket, *other;
	const json_t *right = answers_buckets(answers, b);
	size_t i;

	if (json_array_size(left) != json_array_size(right))
		return false;
	json_array_foreach(left, i, bucket)
	{
		other = json_array_get(right, i);
		if (!json_equal(json_object_get(bucket, "bytes"),
				json_object_get(other, "bytes")) ||
		    strcmp(algorithm_of(bucket), algorithm_of(other)) != 0)
			return false;
	}
	return true;
}

/* figure_is_alike returns whether the same algorithms are chosen for the same
 * buckets at all values of an axis. */
static bool figure_is_alike(const struct answers *answers, size_t axis)
{
	const struct study *study = answers->study;
	size_t step = stride(study, axis);

	for (size_t p = 0; p < answers->num; p++)
		if (study_choice(study, p, axis) > 0 &&
		    !choose_alike(answers, p - step, p))
			return false;
	return true;
}

/* figure_algorithms returns how many algorithms its points use, at most 2. */
static int figure_algorithms(const struct figure *figure,
			     const struct answers *answers)
{
	const char *first = NULL, *name;
	const json_t *bucket;
	size_t i;

	for (size_t p = next_point(figure, answers, 0); p < answers->num;
	     p = next_point(figure, answers, p + 1))
		json_array_foreach(answers_buckets(answers, p), i, bucket)
		{
			name = json_string_value(
				json_object_get(bucket, "algorithm"));
			if (first && name && strcmp(first, name) != 0)
				return 2;
			first = name;
		}
	return first != NULL;
}

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
