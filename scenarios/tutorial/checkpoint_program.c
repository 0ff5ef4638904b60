/*
 * tutorial_checkpoint - "Getting Started with Distributed Data Parallel", Save
 * and Load Checkpoints: the ranks hold the same weights, so rank 0 alone saves
 * them; a barrier, and every rank loads them.
 */
#include "scenarios/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/ddp.h"
#include "scenarios/arguments.h"
#include "scenarios/rank.h"
#include "scenarios/tutorial/checkpoint.h"
#include "scenarios/tutorial/replicas.h"
#include "scenarios/tutorial/toymodel.h"

#define PATH_SIZE 512
#define RATE      0.1F
#define SEED      1234

/* One rank's models: the one that is trained and saved, and the one that is
 * loaded, which begins with other weights. */
struct job {
	struct dist_group *group;
	struct dist_ddp *ddp;
	struct toymodel trained;
	struct toymodel loaded;
	char path[PATH_SIZE];
	bool fine; /* nothing went wrong with the file */
};

/* One step on a batch of this rank's own. */
static enum dist_error train(struct job *job)
{
	const struct toymodel_batch batch =
		toymodel_batch(SEED, (size_t)dist_get_rank(job->group));
	enum dist_error error =
		replicas_new(job->group, &job->trained, &job->ddp);

	if (error)
		return error;
	toymodel_train(&job->trained, &batch);
	error = replicas_average(job->ddp);
	if (!error)
		toymodel_step(&job->trained, RATE);
	return error;
}

/* Tells every rank the name of the file that rank 0 has found for the
 * occasion. */
static enum dist_error agree_on_path(struct job *job)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	if (dist_get_rank(job->group) == 0) {
		snprintf(job->path, PATH_SIZE, "%.400s/model.checkpoint.XXXXXX",
			 folder ? folder : "/tmp");
		fd = mkstemp(job->path);
		if (fd >= 0)
			close(fd);
	}
	return dist_broadcast(job->group,
			      dist_tensor(job->path, PATH_SIZE, DIST_UINT8), 0,
			      NULL);
}

/* What is wrong with the file is said by the rank that meets it; the calls that
 * all ranks make are made all the same. */
static enum dist_error save_and_load(struct job *job)
{
	struct dist_message message = {""};
	int rank = dist_get_rank(job->group);
	enum dist_error error;

	job->fine = rank != 0 ||
		    checkpoint_save(&job->trained, job->path, &message);
	error = dist_barrier(job->group, NULL);
	if (error)
		return error;
	job->fine =
		job->fine && checkpoint_load(&job->loaded, job->path, &message);
	if (job->fine)
		printf("Rank %d loaded the checkpoint\n", rank);
	else
		fprintf(stderr, "rank %d: %s\n", rank, message.text);
	return DIST_OK;
}

/* The file given on the command line stays; one of our own goes, once all
 * ranks have loaded it: the check has heard from every one of them. */
static enum dist_error run(struct job *job, const char *given)
{
	enum dist_error error = train(job);
	bool same = false;

	if (!error && given)
		snprintf(job->path, PATH_SIZE, "%s", given);
	else if (!error)
		error = agree_on_path(job);
	if (!error)
		error = save_and_load(job);
	if (!error)
		error = replicas_check(job->group, &job->loaded, &same);
	if (!error && !given && dist_get_rank(job->group) == 0)
		remove(job->path);
	job->fine = job->fine && same;
	return error;
}

static int rank_main(void *arg)
{
	enum dist_error error;
	struct job job = {.group = NULL};
	uint64_t seed;

	if (rank_join(&job.group))
		return 1;
	seed = 2 * (uint64_t)dist_get_rank(job.group);
	toymodel_init(&job.trained, seed);
	toymodel_init(&job.loaded, seed + 1);
	error = run(&job, arg);
	dist_ddp_free(job.ddp);
	return rank_leave(job.group, "tutorial_checkpoint", error) || !job.fine;
}

static const struct option options_table[] = {
	{"file", OPTION_TEXT, 0, "FILE", .help = "checkpoint, which stays",
	 .usual = "one that goes again"},
	{.name = NULL}};
static const struct manual manual = {
	.examples = {"lockstep run --nproc-per-node 4 tutorial_checkpoint"},
	.groups = GROUPS({.options = options_table})};

int tutorial_checkpoint_main(int argc, char **argv)
{
	char *path = NULL;
	int status;

	if (!arguments_parse(&manual, &argc, (const char **)argv, &path,
			     &status))
		return status;
	if (!path || strlen(path) < PATH_SIZE)
		return dist_launch(NULL, rank_main, path);
	fprintf(stderr, "%s: --file: expected a shorter name\n", argv[0]);
	return DIST_EXIT_USAGE;
}
