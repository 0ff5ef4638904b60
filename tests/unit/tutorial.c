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
#include "scenarios/tutorial/digits.h"
#include "scenarios/tutorial/partition.h"
#include "scenarios/tutorial/replicas.h"
#include "scenarios/tutorial/train.h"
#include "tests/support/leaks.h"
#include "tests/support/okay.h"
#include "tests/support/simulate.h"

/* ---- training ----------------------------------------------------------- */

#define EPOCHS  2
#define SAMPLES 50 /* the last batch is a short one */

/* What a job trains and, in memory shared with its processes, what rank 0 has
 * at the end. */
struct job {
	struct train train;
	float *params; /* CONVNET_NUMEL */
	double loss[EPOCHS];
};

static int rank_main(void *arg)
{
	struct job *job = arg;
	struct dist_group *group;
	struct convnet net;
	int rank, status;

	if (dist_init_process_group(NULL, &group) || !convnet_init(&net, 1))
		return 1;
	rank = dist_get_rank(group);
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		double loss;

		if (train_epoch(group, &job->train, &net, epoch, &loss))
			return 1;
		if (rank == 0)
			job->loss[epoch] = loss;
	}
	if (rank == 0)
		memcpy(job->params, net.network.params,
		       CONVNET_NUMEL * sizeof(float));
	convnet_release(&net);
	status = dist_destroy_process_group(group) != DIST_OK;
	return status;
}

static void learn(struct job *job, const char *backend, int size)
{
	const struct dist_launch_options options = {
		.backend = backend,
		.platform = "tests/support/star4.xml",
		.world_size = size,
	};

	cr_assert_eq(dist_launch(&options, rank_main, job), 0,
		     "%d ranks over %s", size, backend);
}

static double farthest(const float *a, const float *b)
{
	double far = 0;

	for (size_t i = 0; i < CONVNET_NUMEL; i++) {
		double apart = fabs((double)a[i] - (double)b[i]);

		if (apart > far)
			far = apart;
	}
	return far;
}

Test(tutorial, any_number_of_ranks_learns_the_same)
{
	float *alone = simulate_memory(CONVNET_NUMEL * sizeof(float));
	float *over_tcp = simulate_memory(CONVNET_NUMEL * sizeof(float));
	struct job *job = simulate_memory(sizeof *job);
	struct digits digits;
	struct convnet fresh;

	cr_assert(digits_draw(&digits, SAMPLES, 1));
	job->train = (struct train){
		.digits = &digits, .batch = 8, .dropout = true, .flops = 1e11};
	job->params = alone;
	learn(job, "tcp", 1);
	cr_assert(convnet_init(&fresh, 1));
	cr_expect_gt(farthest(alone, fresh.network.params), 1e-3);
	convnet_release(&fresh);

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
	cr_expect_arr_eq(alone, over_tcp, CONVNET_NUMEL * sizeof(float));
	digits_release(&digits);
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
	const struct layer_shape shape = {3, 2};
	struct answers *answers = arg;
	struct dist_group *group;
	struct network network;
	int rank;

	if (dist_init_process_group(NULL, &group) ||
	    !network_init(&network, &shape, 1, 1))
		return 1;
	rank = dist_get_rank(group);
	if (replicas_check(group, &network, &answers->alike[rank]))
		return 1;
	if (rank == 2)
		network.params[network.numel - 1] += 1;
	if (replicas_check(group, &network, &answers->unlike[rank]))
		return 1;
	network_release(&network);
	return dist_destroy_process_group(group) != DIST_OK;
}

Test(tutorial, one_weight_of_one_rank_makes_replicas_unlike)
{
	const struct dist_launch_options options = {
		.backend = "sim",
		.platform = "tests/support/star4.xml",
		.world_size = 3,
	};
	struct answers answers = {{false}, {true, true, true}};

	cr_redirect_stdout();
	cr_redirect_stderr();
	cr_assert_eq(dist_launch(&options, compare_main, &answers), 0);
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

/* A folder with MNIST's files, of which the test may spoil some bytes. */
struct mnist {
	char folder[32];
	uint8_t images[16 + 2 * DIGITS_PIXELS];
	uint8_t labels[8 + 2];
	size_t images_size;
	size_t labels_size;
};

static struct mnist whole(void)
{
	struct mnist m = {
		.folder = "/tmp/lockstep-mnist-XXXXXX",
		.images = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28},
		.labels = {0, 0, 8, 1, 0, 0, 0, 2, 7, 3},
		.images_size = sizeof m.images,
		.labels_size = sizeof m.labels,
	};

	m.images[16 + DIGITS_PIXELS] = 255;
	return m;
}

static void write_file(const char *folder, const char *name,
		       const uint8_t *data, size_t size, char *path)
{
	FILE *file;

	snprintf(path, 80, "%s/%s", folder, name);
	file = fopen(path, "wb");
	cr_assert(file);
	cr_assert_eq(fwrite(data, 1, size, file), size);
	fclose(file);
}

static enum dist_error load(struct mnist m, struct digits *digits,
			    struct dist_message *message)
{
	char images[80], labels[80];
	enum dist_error error;

	cr_assert(mkdtemp(m.folder));
	write_file(m.folder, "train-images-idx3-ubyte", m.images, m.images_size,
		   images);
	write_file(m.folder, "train-labels-idx1-ubyte", m.labels, m.labels_size,
		   labels);
	error = digits_load(digits, m.folder, message);
	remove(images);
	remove(labels);
	rmdir(m.folder);
	return error;
}

Test(tutorial, mnist_is_read_as_its_files_say)
{
	struct dist_message message = {""};
	float pixels[DIGITS_PIXELS];
	struct digits digits;

	okay_or(load(whole(), &digits, &message), message);
	cr_expect_eq(digits.num, 2);
	cr_expect_eq(digits.labels[0], 7);
	cr_expect_eq(digits.labels[1], 3);
	digits_normalize(&digits, 1, pixels);
	cr_expect_float_eq(pixels[0], (1 - 0.1307F) / 0.3081F, 1e-6F);
	cr_expect_float_eq(pixels[1], -0.1307F / 0.3081F, 1e-6F);
	digits_release(&digits);
	cr_assert_not(leaks_found());
}

static void expect_refusal(struct mnist m, const char *text)
{
	struct dist_message message = {""};
	struct digits digits;

	cr_expect_eq(load(m, &digits, &message), DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, text), "no \"%s\" in: %s", text,
		  message.text);
	cr_expect_null(digits.pixels);
}

Test(tutorial, a_garbled_mnist_is_refused_with_the_reason)
{
	/* One byte spoilt, of the images or of the labels. */
	static const struct {
		bool of_labels;
		size_t at;
		uint8_t byte;
		const char *text;
	} spoilt[] = {
		{false, 2, 9, "train-images-idx3-ubyte: expected an IDX file"},
		{false, 3, 1, "an IDX file of one-byte images"},
		{true, 3, 3, "an IDX file of one-byte labels"},
		{false, 11, 27, "expected images of 28 by 28 pixels"},
		{false, 4, 0x7f, "shorter than its head says"}, /* 2e9 images */
		{false, 7, 1, "longer than its head says"},
		{false, 7, 0, "expected as many labels as images"},
		{true, 7, 1, "expected as many labels as images"},
		{true, 7, 3, "expected as many labels as images"},
		{true, 9, 10, "expected labels from 0 to 9"},
	};
	struct mnist m;

	for (size_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
		m = whole();
		(spoilt[i].of_labels ? m.labels : m.images)[spoilt[i].at] =
			spoilt[i].byte;
		expect_refusal(m, spoilt[i].text);
	}
	m = whole();
	m.images_size--;
	expect_refusal(m, "shorter than its head says");
	m.images_size = 10;
	expect_refusal(m, "ends within its head");
	cr_assert_not(leaks_found());
}

Test(tutorial, no_mnist_is_refused_with_the_file)
{
	struct dist_message message = {""};
	struct digits digits;

	cr_expect_eq(digits_load(&digits, "/nonexistent", &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect_str_eq(message.text,
			 "/nonexistent/train-images-idx3-ubyte: No such file "
			 "or directory");
}

/* ---- checkpoints -------------------------------------------------------- */

Test(tutorial, a_checkpoint_holds_the_weights_of_its_network_only)
{
	const struct layer_shape shape = {3, 2}, other_shape = {2, 3};
	char path[] = "/tmp/lockstep-checkpoint-XXXXXX";
	struct network saved, loaded, other;
	struct dist_message message;
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert(network_init(&saved, &shape, 1, 1));
	cr_assert(network_init(&loaded, &shape, 1, 2));
	cr_assert(network_init(&other, &other_shape, 1, 1));
	cr_expect_not(checkpoint_load(&loaded, path, &message));
	cr_expect(strstr(message.text, "expected a checkpoint"));
	cr_assert(checkpoint_save(&saved, path, &message));
	cr_assert(checkpoint_load(&loaded, path, &message));
	cr_expect_arr_eq(saved.params, loaded.params,
			 saved.numel * sizeof(float));
	cr_expect_not(checkpoint_load(&other, path, &message));
	cr_assert_eq(truncate(path, 20), 0);
	cr_expect_not(checkpoint_load(&loaded, path, &message));
	cr_expect_not(
		checkpoint_save(&saved, "/nonexistent/weights", &message));
	cr_expect(strstr(message.text, "/nonexistent/weights"));
	close(fd);
	remove(path);
	network_release(&saved);
	network_release(&loaded);
	network_release(&other);
	cr_assert_not(leaks_found());
}
