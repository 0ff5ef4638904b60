#include "model/validation/step_outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/data.h"
#include "base/refuse.h"
#include "model/training/model.h"
#include "model/training/step.h"

/* ---- what was measured ------------------------------------------------ */

static int micro_batches(const struct step_row *row)
{
	return row->accumulation ? row->accumulation : 1;
}

static double samples(const struct step_row *row)
{
	return (double)row->batch_per_gpu * micro_batches(row);
}

/* 0: not known. */
static double measured_ms(const struct step_row *row)
{
	if (row->step_ms.known)
		return row->step_ms.value;
	if (row->throughput.known && strcmp(row->unit, "samples") == 0)
		return 1e3 * samples(row) * row->gpus / row->throughput.value;
	return 0;
}

static bool is_alone(const struct step_row *one, const struct step_row *row)
{
	return one->use == VALUE_CALIBRATION && one->gpus == 1 &&
	       measured_ms(one) > 0 && one->tokens == row->tokens &&
	       dist__same_text(one->machine, row->machine) &&
	       dist__same_text(one->gpu, row->gpu) &&
	       dist__same_text(one->framework, row->framework) &&
	       dist__same_text(one->variant, row->variant) &&
	       dist__same_text(one->model, row->model) &&
	       dist__same_text(one->precision, row->precision);
}

/* What one GPU takes for a row's samples, of the same batch if that was
 * measured; 0: not known. */
static double alone_ms(const struct steps *table, const struct step_row *row)
{
	const struct step_row *best = NULL;

	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct step_row *one = &table->rows[i];

		if (is_alone(one, row) &&
		    (!best || one->batch_per_gpu == row->batch_per_gpu))
			best = one;
	}
	if (!best || samples(best) == 0)
		return 0;
	return measured_ms(best) * samples(row) / samples(best);
}

/* ---- predicting ------------------------------------------------------- */

/* The ranks of a step. */
struct group {
	const struct calibrated_model *calibrated;
	int nodes, ranks;
};

static double all_reduce_ns(const void *arg, size_t bytes)
{
	const struct group *group = arg;
	const struct library_call call = {
		.op = DIST__ALL_REDUCE,
		.numel = bytes / sizeof(float),
		.element_bytes = sizeof(float),
		.ranks = group->ranks,
	};
	struct library_estimate estimate;
	struct dist_message ignored;

	if (group->ranks == 1 ||
	    calibrated_estimate(group->calibrated, group->nodes, &call,
				&estimate, &ignored))
		return 0;
	return library_time_ns(&estimate);
}

static enum dist_error refuse(struct dist_message *why, const char *what,
			      const char *name)
{
	return dist__refuse(why, "%s%s", what, name);
}

/* What a row lacks to be predicted. */
static enum dist_error check(const struct step_row *row,
			     struct dist_message *why)
{
	if (!row->machine)
		return refuse(why, "the machine is not stated", "");
	if (!row->schedule ||
	    stream_schedule_of(row->schedule) == STREAM_SCHEDULES)
		return refuse(why, "not modelled: schedule ",
			      row->schedule ? row->schedule : "unknown");
	if (row->gpus > 1 && row->nodes == 0)
		return refuse(why, "the nodes are not known", "");
	if (row->nodes > 1 && !row->transport)
		return refuse(why, "the transport is not stated", "");
	return measured_ms(row) > 0
		       ? DIST_OK
		       : refuse(why, "the time of a step is not known", "");
}

/* Looks whether the all-reduces of a row can be predicted. */
static enum dist_error find_group(const struct step_row *row,
				  struct calibrated_models *models,
				  struct group *group, struct dist_message *why)
{
	const struct calibrated_key key = {
		.machine = row->machine,
		.transport = row->nodes > 1 ? row->transport : NULL,
		.library = "nccl",
	};
	const struct library_call call = {.op = DIST__ALL_REDUCE,
					  .numel = 1,
					  .element_bytes = sizeof(float),
					  .ranks = row->gpus};
	struct library_estimate estimate;
	enum dist_error error;

	*group = (struct group){.nodes = row->nodes, .ranks = row->gpus};
	error = calibrated_models_get(models, &key, &group->calibrated);
	if (error || row->gpus == 1)
		return error;
	return calibrated_estimate(group->calibrated, row->nodes, &call,
				   &estimate, why);
}

static enum dist_error
predict(const struct steps *table, const struct step_row *row,
	struct calibrated_models *models, const struct schedule_job *job,
	struct step_outcome_row *into, struct dist_message *why)
{
	struct group group;
	struct model model;
	char path[4096];
	struct step step = {
		.model = &model,
		.alone_ms = alone_ms(table, row),
		.accumulation = micro_batches(row),
		.bucket_cap_mb = row->bucket_cap_mb.value,
		.gpus = row->gpus,
		.job = *job,
		.cost_ns = all_reduce_ns,
		.cost_arg = &group,
	};
	enum dist_error error = check(row, why);

	if (!error && step.alone_ms == 0)
		error = refuse(why, "no step of one GPU is given", "");
	if (!error)
		error = find_group(row, models, &group, why);
	if (!error && dist__data_find("models", row->model, ".csv", path,
				      sizeof path, why))
		error = refuse(why, "no such model: ", row->model);
	if (!error)
		error = model_load(&model, path, why);
	if (error)
		return error;
	step.schedule = stream_schedule_of(row->schedule);
	*into = (struct step_outcome_row){.row = row,
					  .schedule = step.schedule,
					  .measured_ms = measured_ms(row),
					  .doubling_ms = step.alone_ms *
							 log2(row->gpus)};
	error = step_predict(&step, &into->predicted_ms);
	model_release(&model);
	return error;
}

enum dist_error step_outcome_make(struct step_outcome *outcome,
				  const struct steps *table,
				  struct calibrated_models *models,
				  const struct schedule_job *job)
{
	enum dist_error error = DIST_OK;
	struct dist_message why;

	*outcome = (struct step_outcome){.table = table};
	outcome->rows = calloc(table->tsv.num_rows, sizeof *outcome->rows);
	if (!outcome->rows)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		if (table->rows[i].use != VALUE_VALIDATION)
			continue;
		error = predict(table, &table->rows[i], models, job,
				&outcome->rows[outcome->num], &why);
		if (error == DIST_ERR_NO_MEMORY)
			break;
		if (error)
			left_out_add(&outcome->left_out, &why);
		else
			outcome->num++;
	}
	if (error == DIST_ERR_NO_MEMORY)
		step_outcome_release(outcome);
	return error == DIST_ERR_NO_MEMORY ? error : DIST_OK;
}

void step_outcome_release(struct step_outcome *outcome)
{
	free(outcome->rows);
	*outcome = (struct step_outcome){.table = NULL};
}

/* ---- how good it is --------------------------------------------------- */

struct accuracy step_outcome_accuracy(const struct step_outcome *outcome,
				      enum stream_schedule schedule,
				      double *scratch)
{
	size_t num = 0;

	for (size_t i = 0; i < outcome->num; i++) {
		const struct step_outcome_row *row = &outcome->rows[i];

		if (row->schedule == schedule)
			scratch[num++] = accuracy_error(row->predicted_ms,
							row->measured_ms);
	}
	return accuracy_of(scratch, num);
}

double step_outcome_error(const struct step_outcome *outcome, double doubling,
			  double *scratch)
{
	for (size_t i = 0; i < outcome->num; i++) {
		const struct step_outcome_row *row = &outcome->rows[i];

		scratch[i] = accuracy_error(row->predicted_ms +
						    doubling * row->doubling_ms,
					    row->measured_ms);
	}
	return accuracy_of(scratch, outcome->num).median;
}

double step_outcome_doubling(const struct step_outcome *const *outcomes,
			     size_t num, double *scratch)
{
	double best = 0, least = INFINITY;

	for (int i = 0; i <= 50; i++) {
		double sum = 0;

		for (size_t t = 0; t < num; t++)
			sum += step_outcome_error(outcomes[t], 1e-3 * i,
						  scratch);
		if (sum < least) {
			least = sum;
			best = 1e-3 * i;
		}
	}
	return best;
}

/* Whether two rows differ in the schedule alone, and clearly in the rate. */
static bool is_pair(const struct step_row *a, const struct step_row *b)
{
	double deviation =
		fmax(a->throughput_std.value, b->throughput_std.value);

	return a->throughput_std.known && b->throughput_std.known &&
	       !dist__same_text(a->schedule, b->schedule) &&
	       a->gpus == b->gpus && samples(a) == samples(b) &&
	       dist__same_text(a->machine, b->machine) &&
	       dist__same_text(a->transport, b->transport) &&
	       dist__same_text(a->model, b->model) &&
	       fabs(a->throughput.value - b->throughput.value) > 2 * deviation;
}

struct step_order step_outcome_order(const struct step_outcome *outcome)
{
	struct step_order order = {0};

	for (size_t i = 0; i < outcome->num; i++)
		for (size_t j = i + 1; j < outcome->num; j++) {
			const struct step_outcome_row *a = &outcome->rows[i];
			const struct step_outcome_row *b = &outcome->rows[j];

			if (!is_pair(a->row, b->row))
				continue;
			order.pairs++;
			order.right += (a->measured_ms < b->measured_ms) ==
				       (a->predicted_ms < b->predicted_ms);
		}
	return order;
}
