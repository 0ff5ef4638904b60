#include "cli/sweep/figure_data.h"

#include <stdlib.h>
#include <string.h>

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
void figure_write_curves(const struct figure *figure,
			 const struct answers *answers, const char *axis,
			 const char *const *names, struct dist__output *out)
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

void figure_write_breakdown(const struct figure *figure,
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

void figure_write_fastest(const struct figure *figure,
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

void figure_write_chosen(const struct figure *figure,
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

bool figure_is_alike(const struct answers *answers, size_t axis)
{
	const struct study *study = answers->study;
	size_t step = stride(study, axis);

	for (size_t p = 0; p < answers->num; p++)
		if (study_choice(study, p, axis) > 0 &&
		    !choose_alike(answers, p - step, p))
			return false;
	return true;
}

int figure_algorithms(const struct figure *figure,
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
