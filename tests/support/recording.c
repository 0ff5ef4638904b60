#include "tests/support/recording.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/algorithm.h"
#include "trace/recorder.h"

struct fake {
	struct dist__backend backend;
	struct recording *recording;
};

static struct recording *of(struct dist__backend *b)
{
	return ((struct fake *)b)->recording;
}

static enum dist_error fake_run(struct dist__backend *b, struct dist__op *op)
{
	static const struct dist__algorithm ring = {.name = "ring"};
	struct recording *recording = of(b);

	if (!dist__op_is_p2p(op->kind))
		op->algorithm = &ring;
	op->started_ns = recording->now_ns;
	dist__op_finish(op, recording->error,
			recording->now_ns + recording->duration_ns);
	return recording->error;
}

/* Refuses when told to fail, as a back end that cannot start an operation. */
static enum dist_error fake_submit(struct dist__backend *b, struct dist__op *op)
{
	return of(b)->error ? of(b)->error : fake_run(b, op);
}

static enum dist_error fake_wait(struct dist__backend *b, struct dist__op *op,
				 int64_t deadline_ns)
{
	(void)b;
	(void)deadline_ns;
	return op->error;
}

static bool fake_test(struct dist__backend *b, struct dist__op *op)
{
	(void)b;
	return dist__op_is_done(op);
}

static int64_t fake_now_ns(struct dist__backend *b)
{
	return of(b)->now_ns;
}

static enum dist_error fake_compute(struct dist__backend *b,
				    int64_t duration_ns, const char *label)
{
	(void)label;
	of(b)->now_ns += duration_ns;
	return of(b)->error;
}

static void fake_abort(struct dist__backend *b)
{
	of(b)->error = DIST_ERR_ABORTED;
}

static void fake_free(struct dist__backend *b)
{
	free(b);
}

static const struct dist__backend_ops fake_ops = {
	.run = fake_run,
	.submit = fake_submit,
	.wait = fake_wait,
	.test = fake_test,
	.now_ns = fake_now_ns,
	.compute = fake_compute,
	.abort = fake_abort,
	.free = fake_free,
};

static struct dist__backend *wrapped_fake(struct recording *recording, int rank)
{
	struct dist__members members = {.rank = rank,
					.world_size = recording->world_size};
	struct fake *fake = calloc(1, sizeof *fake);
	struct dist__backend *b;

	assert(fake);
	fake->backend.ops = &fake_ops;
	fake->recording = recording;
	b = recording->recorder->wrap(recording->recorder, &fake->backend,
				      &members);
	assert(b);
	return b;
}

void recording_start(struct recording *recording, const char *path, int part,
		     int world_size)
{
	assert(world_size <= RECORDING_MOST_RANKS);
	memset(recording, 0, sizeof *recording);
	recording->world_size = world_size;
	recording->now_ns = 1000;
	recording->duration_ns = 12345;
	recording->recorder =
		dist__recorder_new(path, part, world_size, part >= 0);
	assert(recording->recorder);
	dist__recorder_add_fact(recording->recorder, "backend", "fake");
	dist__recorder_add_fact(recording->recorder, "platform", "star.xml");
	dist__recorder_add_fact(recording->recorder, "network/model", "CM02");
	for (int rank = 0; rank < world_size; rank++)
		if (part < 0 || rank == part)
			recording->ranks[rank] = wrapped_fake(recording, rank);
}

void recording_op(struct recording *recording, int rank, struct dist__op op)
{
	struct dist__backend *b = recording->ranks[rank];

	if (!b)
		return;
	op.issued_ns = recording->now_ns;
	op.call = ++recording->calls;
	if (!dist__op_is_p2p(op.kind))
		op.seq = recording->collectives[rank]++;
	if (b->ops->submit(b, &op))
		assert(recording->error);
}

void recording_all_reduce(struct recording *recording, size_t numel)
{
	struct dist__op op = {
		.kind = DIST__ALL_REDUCE,
		.tensor = {NULL, numel, DIST_FLOAT32},
		.peer = -1,
		.tag = -1,
		.site = {"train.c", 42},
	};

	for (int rank = 0; rank < recording->world_size; rank++)
		recording_op(recording, rank, op);
	recording->now_ns += recording->duration_ns;
}

void recording_compute(struct recording *recording, int rank,
		       int64_t duration_ns, const char *label)
{
	struct dist__backend *b = recording->ranks[rank];

	if (b && b->ops->compute(b, duration_ns, label))
		assert(recording->error);
}

void recording_finish(struct recording *recording)
{
	struct dist_message message = {""};
	enum dist_error error;

	for (int rank = 0; rank < recording->world_size; rank++)
		if (recording->ranks[rank])
			recording->ranks[rank]->ops->free(
				recording->ranks[rank]);
	error = recording->recorder->finish(recording->recorder, &message);
	if (error)
		fprintf(stderr, "recording_finish: %s\n", message.text);
	assert(!error);
	(void)error;
}

/* The folders of this test; each test is a process of its own. */
static char folders[64][32];
static size_t num_folders;

void recording_path(char *path, size_t size, const char *name)
{
	char *folder = folders[num_folders++];

	assert(num_folders <= sizeof folders / sizeof folders[0]);
	snprintf(folder, sizeof folders[0], "/tmp/lockstep-trace-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	snprintf(path, size, "%s/%s", folder, name);
}

static void remove_folder(const char *folder)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	char path[512];

	while (stream && (entry = readdir(stream)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (stream)
		closedir(stream);
	rmdir(folder);
}

void recording_clean(void)
{
	while (num_folders > 0)
		remove_folder(folders[--num_folders]);
}
