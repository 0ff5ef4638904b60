/* What a GPU takes in a job, of the tables of steps that come with Lockstep. */
#include <stdlib.h>

#include "base/data.h"
#include "model/validation/step_outcome.h"
#include "tests/support/okay.h"

static const char *const names[] = {"dlperf-resnet50", "hkbu-resnet50",
				    "nvidia-examples", SCHEDULE_JOB_TABLE};
#define TABLES (sizeof names / sizeof names[0])

static void load(struct steps *table, const char *name)
{
	struct dist_message message;
	char path[4096];

	okay_or(dist__data_find("measured/steps", name, ".tsv", path,
				sizeof path, &message),
		message);
	okay_or(steps_load(table, path, &message), message);
}

/* Returns the doubling that all tables but one come to; stores in *excess how
 * much larger the constant has the mean of their median errors. */
static double doubling(const struct step_outcome *outcomes, size_t but,
		       double *excess)
{
	const double used = schedule_job_gpu.doubling;
	const struct step_outcome *all[TABLES];
	size_t num = 0, most = 0;
	double *scratch, found;

	for (size_t i = 0; i < TABLES; i++) {
		most += outcomes[i].num;
		if (i != but)
			all[num++] = &outcomes[i];
	}
	scratch = calloc(most, sizeof *scratch);
	found = step_outcome_doubling(all, num, scratch);
	*excess = 0;
	for (size_t i = 0; i < num; i++)
		*excess += (step_outcome_error(all[i], used, scratch) -
			    step_outcome_error(all[i], found, scratch)) /
			   (double)num;
	free(scratch);
	return found;
}

Test(step_doubling, is_what_all_tables_come_to)
{
	struct schedule_job job = schedule_job_gpu;
	struct step_outcome outcomes[TABLES];
	struct calibrated_models models;
	struct steps tables[TABLES];
	double excess, found;

	job.doubling = 0;
	calibrated_models_init(&models, NULL, 0, CALIBRATED_STORED);
	for (size_t i = 0; i < TABLES; i++) {
		load(&tables[i], names[i]);
		okay(step_outcome_make(&outcomes[i], &tables[i], &models,
				       &job));
		cr_assert_gt(outcomes[i].num, 10);
	}
	found = doubling(outcomes, TABLES, &excess);
	cr_expect_float_eq(found, schedule_job_gpu.doubling, 1e-9, "%g", found);
	/* Nor is it one table's alone: the others would be right with it. */
	for (size_t i = 0; i < TABLES; i++) {
		found = doubling(outcomes, i, &excess);
		cr_expect(found > 0.005 && excess < 0.002,
			  "%s: %g, errors larger by %g", names[i], found,
			  excess);
	}
	for (size_t i = 0; i < TABLES; i++) {
		step_outcome_release(&outcomes[i]);
		dist__tsv_release(&tables[i].tsv);
	}
	calibrated_models_release(&models);
}

/* Of 161 tensors in so many buckets. */
static double ddp_ms(size_t buckets)
{
	return 1e-6 * 161 *
	       schedule_job_tensor_ns(&schedule_job_gpu, 161, buckets);
}

Test(step_doubling, ddp_takes_what_one_gpu_took_with_it)
{
	const double large = ddp_ms(5), small = ddp_ms(60);

	/* ResNet-50 3 and 4 ms, ResNeXt-50 2 and 4 ms. */
	cr_expect_float_eq(large, 2.5, 0.5);
	cr_expect_float_eq(small, 4, 0.5);
}
