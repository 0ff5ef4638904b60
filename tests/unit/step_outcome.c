/* Holding predicted steps against tables: of the toy model on two toy nodes,
 * 3 s on one GPU, of which 1 s forward; a tensor takes 0.5 s to average. */

#include "tests/support/toy_data.h"
#include "model/validation/step_outcome.h"
#include "tests/support/okay.h"

#define ROWS 6

TestSuite(step_outcome, .init = toy_data_make, .fini = toy_data_remove);

static const struct schedule_job none;

static struct step_row on(int gpus, const char *schedule, double ms)
{
	return (struct step_row){
		.use = gpus == 1 ? VALUE_CALIBRATION : VALUE_VALIDATION,
		.machine = "toy",
		.gpu = "toy",
		.model = "toy",
		.transport = "tcp",
		.schedule = schedule,
		.nodes = gpus,
		.gpus = gpus,
		.batch_per_gpu = 1,
		.unit = "samples",
		.step_ms = {ms, 0, true},
		.throughput = {1e3 * gpus / ms, 0, true},
		.throughput_std = {0.001, 0, true},
	};
}

static struct steps toy(struct step_row *rows)
{
	rows[0] = on(1, "local", 3000);
	rows[1] = on(2, "one_all_reduce", 4000);
	rows[2] = on(2, "all_reduce_per_tensor", 3500);
	rows[3] = on(2, "one_all_reduce", 8000);
	rows[3].accumulation = 2;
	rows[4] = on(2, "server", 4000);
	rows[5] = on(2, "bucketed", 4000);
	rows[5].model = "unheard-of";
	return (struct steps){.tsv = {.num_rows = ROWS}, .rows = rows};
}

Test(step_outcome, steps_are_computing_and_what_does_not_hide)
{
	struct step_row rows[ROWS];
	struct steps table = toy(rows);
	struct step_outcome outcome;
	double scratch[ROWS];
	struct calibrated_models models;

	calibrated_models_init(&models, NULL, 0, CALIBRATED_STORED);
	okay(step_outcome_make(&outcome, &table, &models, &none));
	cr_assert_eq(outcome.num, 3);
	cr_expect_float_eq(outcome.rows[0].predicted_ms, 4000, 1);
	cr_expect_float_eq(outcome.rows[1].predicted_ms, 3500, 1);
	cr_expect_float_eq(outcome.rows[2].predicted_ms, 7000, 1);
	cr_expect_eq(outcome.left_out.num, 2);
	cr_expect_str_eq(outcome.left_out.reasons[0].text,
			 "not modelled: schedule server");
	cr_expect_str_eq(outcome.left_out.reasons[1].text,
			 "no step of one GPU is given");
	cr_expect_float_eq(
		step_outcome_accuracy(&outcome, STREAM_ONE, scratch).worst,
		0.125, 1e-3);
	step_outcome_release(&outcome);
	calibrated_models_release(&models);
}

Test(step_outcome, what_is_predicted_is_never_looked_at)
{
	struct step_row rows[ROWS], others[ROWS];
	struct steps table = toy(rows), other = toy(others);
	struct step_outcome outcome, changed;
	struct calibrated_models models;

	for (size_t i = 1; i < ROWS; i++)
		others[i].step_ms.value *= 1 + (double)i;
	calibrated_models_init(&models, NULL, 0, CALIBRATED_STORED);
	okay(step_outcome_make(&outcome, &table, &models, &none));
	okay(step_outcome_make(&changed, &other, &models, &none));
	cr_assert_eq(changed.num, outcome.num);
	for (size_t i = 0; i < outcome.num; i++)
		cr_assert_eq(changed.rows[i].predicted_ms,
			     outcome.rows[i].predicted_ms);
	step_outcome_release(&outcome);
	step_outcome_release(&changed);
	calibrated_models_release(&models);
}

Test(step_outcome, pairs_differ_in_the_schedule_and_clearly)
{
	struct step_row rows[ROWS];
	struct steps table = toy(rows);
	struct step_outcome outcome;
	struct step_order order;
	struct calibrated_models models;

	calibrated_models_init(&models, NULL, 0, CALIBRATED_STORED);
	okay(step_outcome_make(&outcome, &table, &models, &none));
	order = step_outcome_order(&outcome);
	/* Not with the step of two micro-batches. */
	cr_expect_eq(order.pairs, 1);
	cr_expect_eq(order.right, 1);
	outcome.rows[0].measured_ms = 3000;
	cr_expect_eq(step_outcome_order(&outcome).right, 0);
	rows[1].throughput_std.value = 1;
	cr_expect_eq(step_outcome_order(&outcome).pairs, 0);
	step_outcome_release(&outcome);
	calibrated_models_release(&models);
}
