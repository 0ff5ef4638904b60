/* What the training tutorials stand on: their data, and that any number of
 * ranks learns the same. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/tutorial/checkpoint.h"
#include "scenarios/tutorial/partition.h"
#include "scenarios/tutorial/replicas.h"
#include "scenarios/tutorial/train.h"
#include "tests/support/leaks.h"
#include "tests/support/okay.h"
#include "tests/support/simulate.h"

#define STAR4 "tests/support/star4.xml"

/* ---- training ----------------------------------------------------------- */

#define EPOCHS  2
#define SAMPLES 50 /* the last batch is a short one */

/* What a job trains and, in memory shared with its processes, what rank 0 has
 * at the end. */
struct job {
	struct train train;
	float *params; /* TOYMODEL_NUMEL */
	double loss[EPOCHS];
};

static int rank_main(void *arg)
{
	struct job *job = arg;
	struct dist_group *group;
	struct toymodel model;
	int rank;

	if (dist_init_process_group(NULL, &group))
		return 1;
	toymodel_init(&model, 1);
	rank = dist_get_rank(group);
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		double loss;

		if (train_epoch(group, &job->train, &model, epoch, &loss))
			return 1;
		if (rank == 0)
			job->loss[epoch] = loss;
	}
	if (rank == 0)
		memcpy(job->params, model.params, sizeof model.params);
	return dist_destroy_process_group(group) != DIST_OK;
}

static void learn(struct job *job, const char *backend, int size)
{
	cr_assert_eq(launch_ranks(backend, STAR4, size, rank_main, job), 0,
		     "%d ranks over %s", size, backend);
}

static double farthest(const float *a, const float *b)
{
	double far = 0;

	for (size_t i = 0; i < TOYMODEL_NUMEL; i++) {
		double apart = fabs((double)a[i] - (double)b[i]);

		if (apart > far)
			far = apart;
	}
	return far;
}

Test(tutorial, any_number_of_ranks_learns_the_same)
{
	float *alone = simulate_memory(TOYMODEL_NUMEL * sizeof(float));
	float *over_tcp = simulate_memory(TOYMODEL_NUMEL * sizeof(float));
	struct job *job = simulate_memory(sizeof *job);
	struct toymodel fresh;
	struct samples samples;

	samples_draw(&samples);
	job->train = (struct train){
		.samples = &samples, .num = SAMPLES, .batch = 8, .flops = 1e11};
	job->params = alone;
	learn(job, "tcp", 1);
	toymodel_init(&fresh, 1);
	cr_expect_gt(farthest(alone, fresh.params), 1e-3);

	job->params = over_tcp;
	for (int size = 2; size <= 4; size++) {
		double loss = job->loss[EPOCHS - 1], far;

		learn(job, "tcp", size);
		far = farthest(alone, over_tcp);
		cr_expect_lt(far, 1e-6, "%d ranks: weights are %g apart", size,
			     far);
		cr_expect_float_eq(job->loss[EPOCHS - 1], loss, 1e-6);
	}
	job->params = alone;
	learn(job, "sim", 4);
	cr_expect_arr_eq(alone, over_tcp, TOYMODEL_NUMEL * sizeof(float));
	cr_assert_not(leaks_found());
}

/* ---- replicas ----------------------------------------------------------- */

/* Whether the ranks agree: at first, and once the last rank's last weight is
 * another. */
struct answers {
	bool alike[3];
	bool unlike[3];
};

static int compare_main(void *arg)
{
	struct answers *answers = arg;
	struct dist_group *group;
	struct toymodel model;
	int rank;

	if (dist_init_process_group(NULL, &group))
		return 1;
	toymodel_init(&model, 1);
	rank = dist_get_rank(group);
	if (replicas_check(group, &model, &answers->alike[rank]))
		return 1;
	if (rank == 2)
		model.params[TOYMODEL_NUMEL - 1] += 1;
	if (replicas_check(group, &model, &answers->unlike[rank]))
		return 1;
	return dist_destroy_process_group(group) != DIST_OK;
}

Test(tutorial, one_weight_of_one_rank_makes_replicas_unlike)
{
	struct answers answers = {{false}, {true, true, true}};

	cr_redirect_stdout();
	cr_redirect_stderr();
	cr_assert_eq(launch_ranks("sim", STAR4, 3, compare_main, &answers), 0);
	for (int r = 0; r < 3; r++) {
		cr_expect(answers.alike[r]);
		cr_expect_not(answers.unlike[r]);
	}
	cr_expect_stderr_eq_str("rank 2 does not hold rank 0's weights\n");
}

/* ---- data --------------------------------------------------------------- */

Test(tutorial, partitions_hold_every_sample_once)
{
	enum { NUM = 101, MAX_PARTS = 7 };
	size_t shuffled[NUM], again[NUM], moved = 0;

	partition_shuffle(shuffled, NUM, 1, 2);
	partition_shuffle(again, NUM, 1, 2);
	cr_expect_arr_eq(shuffled, again, sizeof again);
	partition_shuffle(again, NUM, 1, 3);
	cr_expect_arr_neq(shuffled, again, sizeof again);
	for (size_t i = 0; i < NUM; i++)
		moved += shuffled[i] != i;
	cr_expect_gt(moved, NUM / 2);
	for (int parts = 1; parts <= MAX_PARTS; parts++) {
		int uses[NUM] = {0};

		for (int p = 0; p < parts; p++) {
			struct partition part =
				partition_use(shuffled, NUM, (double)p / parts,
					      (double)(p + 1) / parts);

			for (size_t i = 0; i < part.num; i++)
				uses[part.index[i]]++;
			cr_expect_leq(part.num, NUM / parts + 1);
		}
		for (size_t i = 0; i < NUM; i++)
			cr_expect_eq(uses[i], 1);
	}
}

/* ---- checkpoints -------------------------------------------------------- */

Test(tutorial, a_checkpoint_holds_the_weights_of_its_model)
{
	char path[] = "/tmp/lockstep-checkpoint-XXXXXX";
	struct toymodel saved, loaded;
	struct dist_message message;
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	toymodel_init(&saved, 1);
	toymodel_init(&loaded, 2);
	cr_expect_not(checkpoint_load(&loaded, path, &message));
	cr_expect(strstr(message.text, "expected a checkpoint"));
	cr_assert(checkpoint_save(&saved, path, &message));
	cr_assert(checkpoint_load(&loaded, path, &message));
	cr_expect_arr_eq(saved.params, loaded.params, sizeof saved.params);
	cr_assert_eq(truncate(path, 20), 0);
	cr_expect_not(checkpoint_load(&loaded, path, &message));
	cr_expect_not(
		checkpoint_save(&saved, "/nonexistent/weights", &message));
	cr_expect(strstr(message.text, "/nonexistent/weights"));
	close(fd);
	remove(path);
	cr_assert_not(leaks_found());
}
