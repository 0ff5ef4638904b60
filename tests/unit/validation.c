/* Holding predictions against tables: on a toy machine, with Lockstep's own
 * ring as the library, of which every time is known. */
#include <math.h>
#include <string.h>

#include "model/cluster/machine.h"
#include "tests/support/toy_data.h"
#include "model/validation/crossover.h"
#include "model/validation/outcome.h"
#include "tests/support/okay.h"

#define ROWS 6

TestSuite(validation, .init = toy_data_make, .fini = toy_data_remove);

/* What a ring of two takes: two steps of half the bytes at 1 GB/s. */
static double ring_us(size_t bytes, double fixed, double transfer)
{
	struct dist_message message;
	struct fabric fabric;
	struct machine machine;
	char path[256];

	toy_data_path("machines", "toy.yaml", path, sizeof path);
	okay(machine_load(&machine, path, &message));
	okay(machine_fabric(&machine, "tcp", 2, 1, &fabric, &message));
	return (2 * fabric.inter_latency_ns * fixed +
		(double)bytes * transfer) /
	       1e3;
}

/* Rows of 1 KiB, 16 KiB, ... for validation, measured as predicted. */
static struct collectives toy(struct collective_row *rows)
{
	for (size_t i = 0; i < ROWS; i++) {
		rows[i] = (struct collective_row){
			.use = VALUE_VALIDATION,
			.collective = COLLECTIVE_ALL_REDUCE,
			.machine = "toy",
			.transport = "tcp",
			.library = "toy",
			.algorithm = "ring",
			.dtype = "float32",
			.nodes = 2,
			.ranks = 2,
			.bytes = (size_t)1024 << (4 * i),
		};
		rows[i].time_us.value = ring_us(rows[i].bytes, 1, 1);
	}
	return (struct collectives){.tsv = {.num_rows = ROWS}, .rows = rows};
}

static struct outcome make(const struct collectives *table,
			   struct calibrated_models *models)
{
	/* The calibration is taken while the list is here. */
	const struct collectives *const tables[] = {table};
	struct outcome outcome;

	calibrated_models_init(models, tables, 1, CALIBRATED_STORED);
	okay(outcome_make(&outcome, table, models));
	return outcome;
}

Test(validation, errors_are_those_of_the_table)
{
	static const double off[ROWS] = {0, 0.1, -0.2, 0.04, 0.5, 0.05};
	struct collective_row rows[ROWS];
	struct collectives table = toy(rows);
	struct accuracy all, part;
	struct outcome outcome;
	double scratch[ROWS];
	struct calibrated_models models;

	for (size_t i = 0; i < ROWS; i++)
		rows[i].time_us.value /= 1 + off[i];
	outcome = make(&table, &models);
	cr_assert_eq(outcome.num, ROWS);
	cr_assert_eq(outcome.left_out.num, 0);
	all = outcome_accuracy(&outcome, ACCURACY_ALL, false, scratch);
	cr_assert_eq(all.num, ROWS);
	cr_assert_float_eq(all.median, 0.075, 1e-6);
	cr_assert_float_eq(all.p90, 0.35, 1e-6);
	cr_assert_float_eq(all.worst, 0.5, 1e-6);
	cr_assert_not(accuracy_is_good(&all, false));
	part = outcome_accuracy(&outcome, ACCURACY_SMALL, false, scratch);
	cr_assert_eq(part.num, 2);
	cr_assert_float_eq(part.median, 0.05, 1e-6);
	part = outcome_accuracy(&outcome, ACCURACY_LARGE, false, scratch);
	cr_assert_eq(part.num, 1);
	cr_assert_float_eq(part.worst, 0.05, 1e-6);
	outcome_release(&outcome);
	calibrated_models_release(&models);
}

/* A table that the model gets right once it has seen its last row, and the
 * first if that is for calibration too. */
static void expect_calibrated(double factor, bool first)
{
	struct collective_row rows[ROWS];
	struct collectives table = toy(rows);
	struct outcome outcome;
	double scratch[ROWS];
	struct calibrated_models models;

	for (size_t i = 0; i < ROWS; i++)
		rows[i].time_us.value = ring_us(rows[i].bytes, factor, 1.5);
	rows[ROWS - 1].use = VALUE_CALIBRATION;
	if (first)
		rows[0].use = VALUE_CALIBRATION;
	outcome = make(&table, &models);
	cr_assert_eq(outcome.num, ROWS - 1 - first);
	cr_assert_lt(
		outcome_accuracy(&outcome, ACCURACY_ALL, false, scratch).worst,
		1e-6);
	outcome_release(&outcome);
	calibrated_models_release(&models);
}

Test(validation, two_calibration_rows_move_two_constants)
{
	expect_calibrated(5, true);
}

Test(validation, one_calibration_row_moves_the_rate)
{
	expect_calibrated(1, false);
}

Test(validation, what_is_predicted_is_never_looked_at)
{
	struct collective_row rows[ROWS], others[ROWS];
	struct collectives table = toy(rows), other = toy(others);
	struct outcome outcome, changed;
	struct calibrated_models models, again;

	rows[1].use = others[1].use = VALUE_CALIBRATION;
	rows[ROWS - 1].use = others[ROWS - 1].use = VALUE_CALIBRATION;
	for (size_t i = 0; i < ROWS; i++)
		if (others[i].use == VALUE_VALIDATION)
			others[i].time_us.value *= 1 + (double)i;
	outcome = make(&table, &models);
	changed = make(&other, &again);
	cr_assert_eq(outcome.num, ROWS - 2);
	for (size_t i = 0; i < outcome.num; i++)
		cr_assert_eq(outcome.rows[i].predicted_us,
			     changed.rows[i].predicted_us);
	outcome_release(&outcome);
	outcome_release(&changed);
	calibrated_models_release(&models);
	calibrated_models_release(&again);
}

Test(validation, what_the_library_has_not_is_left_out)
{
	struct collective_row rows[ROWS];
	struct collectives table = toy(rows);
	struct outcome outcome;
	struct calibrated_models models;

	rows[0].algorithm = "spiral";
	rows[1].library = "unheard-of";
	rows[2].machine = "nowhere";
	rows[3].transport = "pigeon";
	rows[4].nodes = 0;
	outcome = make(&table, &models);
	cr_assert_eq(outcome.num, 1);
	cr_assert_eq(outcome.left_out.num, 5);
	cr_assert_eq(outcome.left_out.num_reasons, 5);
	cr_assert(strstr(outcome.left_out.reasons[0].text, "spiral"));
	outcome_release(&outcome);
	calibrated_models_release(&models);
}

/* A row as if a model had predicted it. */
static struct outcome_row judged(const struct collective_row *row,
				 double predicted_us)
{
	return (struct outcome_row){.row = row, .predicted_us = predicted_us};
}

Test(validation, the_crossover_lies_where_the_lines_cross)
{
	static const double ring_us_of[3] = {40, 40, 160};
	static const double tree_us_of[3] = {10, 20, 640};
	struct collective_row rows[ROWS];
	struct outcome_row judgements[ROWS];
	struct outcome outcome = {.rows = judgements, .num = ROWS};
	struct crossover found;

	memset(rows, 0, sizeof rows);
	for (size_t i = 0; i < 3; i++) {
		rows[i].algorithm = "ring";
		rows[3 + i].algorithm = "tree";
		rows[i].bytes = rows[3 + i].bytes = (size_t)1 << (10 * i);
		rows[i].time_us.value = ring_us_of[i];
		rows[3 + i].time_us.value = tree_us_of[i];
		judgements[i] = judged(&rows[i], 1);
		judgements[3 + i] = judged(&rows[3 + i], 2);
	}
	cr_assert(crossover_find(&outcome, &found));
	/* The ratio goes from 1/2 to 4 over a factor of 1024. */
	cr_assert_float_eq(found.measured_bytes, 1024 * pow(1024, 1.0 / 3),
			   1e-6);
	cr_assert_eq(found.predicted_bytes, 0);
	outcome.num = 3;
	cr_assert_not(crossover_find(&outcome, &found));
}
