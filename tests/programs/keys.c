/* Ranks that wait for keys of a store. */
#include <stdio.h>
#include <unistd.h>

#include "tests/programs/programs.h"

#define MILLISECONDS ((int64_t)1000000)

/* Opens a store of all ranks, in a file that rank 0 makes. */
static enum dist_error open_store(struct job *job)
{
	const char *folder = getenv("TMPDIR");
	char path[256] = "";
	int file = 0;

	if (job->rank == 0) {
		snprintf(path, sizeof path, "%.200s/keysXXXXXX",
			 folder ? folder : "/tmp");
		file = mkstemp(path);
		if (file >= 0)
			close(file);
	}
	try(dist_broadcast(job->world,
			   dist_tensor(path, sizeof path, DIST_UINT8), 0,
			   NULL));
	if (file < 0)
		return DIST_ERR_IO;
	return dist_file_store_new(path, job->size, &job->store, NULL);
}

/* Rank 0 publishes its address under another name. */
enum dist_error key_of_another_name(struct job *job)
{
	const char *name = at_fault(job, 0) ? "address" : "addr";
	char *value;

	try(open_store(job));
	if (job->rank == 0)
		return dist_store_set(job->store, name, "10.0.0.1", 8);
	/* partner */
	try(dist_store_get(job->store, "addr", &value, NULL));
	free(value);
	return DIST_OK;
}

/* A barrier made of a counter, to which rank 1 does not come. */
enum dist_error counts_one_less(struct job *job)
{
	const char *all = "all here";
	int64_t here = 0;

	try(open_store(job));
	if (at_fault(job, 1))
		return DIST_OK;
	try(dist_store_add(job->store, "here", 1, &here));
	if (here == job->size)
		try(dist_store_set(job->store, all, "", 0));
	/* partner */
	return dist_store_wait(job->store, &all, 1, DIST_TIMEOUT_OF_STORE);
}

/* Each rank tells what it has once it knows what the other has. */
enum dist_error tells_after_it_knows(struct job *job)
{
	static const char *const keys[] = {"first", "second"};

	try(open_store(job));
	if (!job->wrong)
		try(dist_store_set(job->store, keys[job->rank], "", 0));
	/* culprit */
	try(dist_store_wait(job->store, &keys[1 - job->rank], 1,
			    DIST_TIMEOUT_OF_STORE));
	return dist_store_set(job->store, keys[job->rank], "", 0);
}

/* Rank 0 says that the checkpoint is there after the barrier that rank 2 is to
 * come to when it has read it. */
enum dist_error barrier_before_the_key(struct job *job)
{
	const char *key = "checkpoint";

	try(open_store(job));
	if (job->rank == 0 && !job->wrong)
		try(dist_store_set(job->store, key, "", 0));
	if (job->rank == 2)
		/* culprit */
		try(dist_store_wait(job->store, &key, 1,
				    DIST_TIMEOUT_OF_STORE));
	/* culprit */
	try(dist_barrier(job->world, NULL));
	return job->rank == 0 ? dist_store_set(job->store, key, "", 0)
			      : DIST_OK;
}

/* Rank 1 looks for the key again and again, rank 2 waits for it, rank 0 takes
 * its time; and for another key somebody waits in vain, as it may. */
enum dist_error key_in_good_time(struct job *job)
{
	const char *key = "done", *other = "cancelled";

	try(open_store(job));
	if (job->rank == 0) {
		try(dist_compute(job->world, 300 * MILLISECONDS, "work"));
		return dist_store_set(job->store, key, "", 0);
	}
	while (job->rank == 1 && dist_store_wait(job->store, &key, 1,
						 20 * MILLISECONDS) != DIST_OK)
		;
	if (job->rank == 2 &&
	    dist_store_wait(job->store, &other, 1, 50 * MILLISECONDS) !=
		    DIST_ERR_TIMEOUT)
		return DIST_ERR_IO;
	return dist_store_wait(job->store, &key, 1, DIST_TIMEOUT_OF_STORE);
}

/* Asks again and again, without a pause, for a key that rank 0 sets under
 * another name. */
enum dist_error polls_for_a_key(struct job *job)
{
	const char *key = "ready";
	bool there = false;

	try(open_store(job));
	if (job->rank == 0) {
		try(dist_compute(job->world, 300 * MILLISECONDS, "work"));
		try(dist_store_set(job->store, job->wrong ? "Ready" : key, "",
				   0));
	}
	while (!there)
		/* culprit */
		try(dist_store_check(job->store, &key, 1, &there));
	return dist_barrier(job->world, NULL);
}

/* A barrier made of a counter, at which one more than there are is awaited. */
enum dist_error polls_for_a_count(struct job *job)
{
	int64_t here = 0;

	try(open_store(job));
	try(dist_store_add(job->store, "here", 1, &here));
	while (here < job->size + job->wrong)
		/* culprit */
		try(dist_store_add(job->store, "here", 0, &here));
	return dist_barrier(job->world, NULL);
}
