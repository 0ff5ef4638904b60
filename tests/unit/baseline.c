/* The two-parameter fit of measured collectives. */
#include <criterion/criterion.h>

#include "model/measured/baseline.h"

#define ROWS 6

/* A table of rows as given, all of one series. */
static struct collectives table_of(struct collective_row *rows, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		rows[i].use = VALUE_VALIDATION;
		rows[i].ranks = 4;
		rows[i].algorithm = "ring";
	}
	return (struct collectives){.tsv = {.num_rows = num}, .rows = rows};
}

/* Sizes 1, 10, 100, ... at alpha + beta x bytes. */
static struct collectives line(struct collective_row *rows, double alpha,
			       double beta)
{
	size_t bytes = 1;

	for (size_t i = 0; i < ROWS; i++, bytes *= 10)
		rows[i] = (struct collective_row){
			.bytes = bytes,
			.time_us = {.value = alpha + beta * (double)bytes}};
	return table_of(rows, ROWS);
}

static double sum_of_squares(const struct collectives *table,
			     struct baseline fit)
{
	double sum = 0;

	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct collective_row *row = &table->rows[i];
		double miss =
			(fit.alpha_us + fit.us_per_byte * (double)row->bytes) /
				row->time_us.value -
			1;

		sum += row->use == VALUE_NEITHER ? 0 : miss * miss;
	}
	return sum;
}

Test(baseline, a_line_is_met_exactly)
{
	struct collective_row rows[ROWS];
	struct collectives table = line(rows, 20, 0.25);
	struct baseline fit = baseline_fit(&table, 3);
	double errors[ROWS];

	cr_assert_float_eq(fit.alpha_us, 20, 1e-9);
	cr_assert_float_eq(fit.us_per_byte, 0.25, 1e-12);
	cr_assert_eq(baseline_errors(&table, errors), ROWS);
	for (size_t i = 0; i < ROWS; i++)
		cr_assert_lt(errors[i], 1e-9);
}

Test(baseline, no_other_fit_has_a_smaller_sum_of_squares)
{
	static const double shifts[] = {0.99, 1, 1.01};
	struct collective_row rows[ROWS];
	struct collectives table = line(rows, 20, 0.25);
	struct baseline fit, other;
	double least;

	rows[2].time_us.value *= 3;
	rows[4].time_us.value /= 2;
	fit = baseline_fit(&table, 0);
	least = sum_of_squares(&table, fit);
	cr_assert_gt(least, 0.1);
	for (size_t i = 0; i < 9; i++) {
		other.alpha_us = fit.alpha_us * shifts[i / 3];
		other.us_per_byte = fit.us_per_byte * shifts[i % 3];
		cr_assert_geq(sum_of_squares(&table, other),
			      least * (1 - 1e-12));
	}
}

Test(baseline, neither_number_is_negative)
{
	struct collective_row rows[ROWS];
	struct collectives table = line(rows, 0, 0.25);
	struct baseline fit;

	rows[0].time_us.value = 0.01;
	fit = baseline_fit(&table, 0);
	cr_assert_eq(fit.alpha_us, 0);
	cr_assert_gt(fit.us_per_byte, 0);
	table = line(rows, 20, 0);
	rows[ROWS - 1].time_us.value = 10;
	fit = baseline_fit(&table, 0);
	cr_assert_eq(fit.us_per_byte, 0);
	cr_assert_gt(fit.alpha_us, 0);
}

Test(baseline, series_are_fitted_apart)
{
	struct collective_row rows[2 * ROWS];
	struct collectives table = line(rows, 20, 0.25);
	double errors[2 * ROWS];

	table = line(rows + ROWS, 500, 7);
	for (size_t i = 0; i < ROWS; i++)
		rows[ROWS + i].algorithm = "tree";
	table = (struct collectives){.tsv = {.num_rows = 2 * ROWS},
				     .rows = rows};
	cr_assert_float_eq(baseline_fit(&table, 0).alpha_us, 20, 1e-9);
	cr_assert_float_eq(baseline_fit(&table, ROWS).alpha_us, 500, 1e-6);
	cr_assert_eq(baseline_errors(&table, errors), 2 * ROWS);
	for (size_t i = 0; i < 2 * ROWS; i++)
		cr_assert_lt(errors[i], 1e-9);
}

Test(baseline, a_row_counts_as_its_use_says)
{
	struct collective_row rows[ROWS];
	struct collectives table = line(rows, 20, 0.25);
	double errors[ROWS];

	rows[0].time_us.value = 1000;
	rows[0].use = VALUE_NEITHER;
	rows[1].use = VALUE_CALIBRATION;
	cr_assert_float_eq(baseline_fit(&table, 0).alpha_us, 20, 1e-9);
	cr_assert_eq(baseline_errors(&table, errors), ROWS - 2);
	for (size_t i = 0; i < ROWS; i++)
		rows[i].use = VALUE_NEITHER;
	cr_assert_eq(baseline_fit(&table, 0).alpha_us, 0);
	cr_assert_eq(baseline_errors(&table, errors), 0);
}

Test(baseline, two_sizes_say_nothing)
{
	struct collective_row rows[ROWS];
	struct collectives table = line(rows, 20, 0.25);
	double errors[ROWS];

	for (size_t i = 0; i < ROWS; i++)
		rows[i].bytes = i % 2 ? 1000 : 8;
	cr_assert_eq(baseline_errors(&table, errors), 0);
	rows[3].bytes = 100;
	cr_assert_eq(baseline_errors(&table, errors), ROWS);
}

Test(baseline, one_size_has_a_latency_alone)
{
	struct collective_row rows[ROWS];
	struct collectives table = line(rows, 20, 0.25);

	for (size_t i = 0; i < ROWS; i++) {
		rows[i].bytes = 0;
		rows[i].time_us.value = 5;
	}
	cr_assert_float_eq(baseline_fit(&table, 0).alpha_us, 5, 1e-12);
	cr_assert_eq(baseline_fit(&table, 0).us_per_byte, 0);
}
