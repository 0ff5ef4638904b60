/* Ranks that do not find each other: each program leaves the job that it was
 * started in, and joins another. */
#include "tests/programs/programs.h"

#include <lockstep/store.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Joins as rank of size by url, within a second. */
static enum dist_error join(struct job *job, int rank, int size,
			    const char *url)
{
	const struct dist_init_options options = {.init_method = url,
						  .rank = rank,
						  .world_size = size,
						  .timeout_ns = 1000000000};
	struct dist_group *old = job->world;

	job->world = NULL;
	try(dist_destroy_process_group(old));
	return dist_init_process_group(&options, &job->world);
}

/* The same at port of this machine; then all meet. */
static enum dist_error join_at(struct job *job, int rank, int size,
			       int32_t port)
{
	char url[40];

	snprintf(url, sizeof url, "tcp://127.0.0.1:%d", (int)port);
	try(join(job, rank, size, url));
	return dist_barrier(job->world, NULL);
}

static enum dist_error serve(int32_t port, struct dist_store **store)
{
	return dist_tcp_store_new("127.0.0.1", port, 0, true,
				  DIST_TIMEOUT_OF_STORE, store, NULL);
}

/* A port at which nobody serves, the same on all ranks. */
static enum dist_error free_port(struct job *job, int32_t *port)
{
	struct dist_store *store;

	*port = 0;
	if (job->rank == 0) {
		try(serve(0, &store));
		*port = dist_tcp_store_port(store);
		dist_store_free(store);
	}
	return dist_broadcast(job->world, dist_tensor(port, 1, DIST_INT32), 0,
			      NULL);
}

/* Ranks are counted by node, and two are on one. Seen in yolov5#4574,
 * metaseq#52, Megatron-LM#782. */
enum dist_error duplicate_rank(struct job *job)
{
	int32_t port;

	try(free_port(job, &port));
	return join_at(job, at_fault(job, 2) ? 1 : job->rank, job->size, port);
}

/* One finds no device to use, and goes home before it joins. */
enum dist_error missing_rank(struct job *job)
{
	int32_t port;

	try(free_port(job, &port));
	return at_fault(job, 2) ? DIST_OK
				: join_at(job, job->rank, job->size, port);
}

/* Counted from an old list of nodes: rank 3 never comes, for there is none. */
enum dist_error world_too_large(struct job *job)
{
	int32_t port;

	try(free_port(job, &port));
	return join_at(job, job->rank, job->size + job->wrong, port);
}

/* That of a job with a GPU less: the last is one too many. */
enum dist_error world_too_small(struct job *job)
{
	int32_t port;

	try(free_port(job, &port));
	return join_at(job, job->rank, job->size - job->wrong, port);
}

/* Rank 0 leaves the port that it found, and somebody else serves there. Seen in
 * vllm#51018, Megatron-LM#343, pytorch#85604. */
enum dist_error port_taken(struct job *job)
{
	struct dist_store *strange = NULL;
	enum dist_error error;
	int32_t port;

	try(free_port(job, &port));
	if (at_fault(job, 0))
		try(serve(port, &strange));
	error = join_at(job, job->rank, job->size, port);
	dist_store_free(strange);
	return error;
}

/* Of an earlier run only rank 0 came, and gave up; the next one meets in the
 * same file. Seen in powersgd#21. */
enum dist_error stale_file(struct job *job)
{
	char folder[] = "/tmp/lockstep-stale-XXXXXX", path[40], url[50];
	enum dist_error error;

	if (job->rank == 0 && !mkdtemp(folder))
		return DIST_ERR_IO;
	try(dist_broadcast(job->world,
			   dist_tensor(folder, sizeof folder, DIST_UINT8), 0,
			   NULL));
	snprintf(path, sizeof path, "%s/meet", folder);
	snprintf(url, sizeof url, "file://%s", path);
	if (job->wrong && job->rank > 0)
		try(dist_compute(job->world, 2000000000, "start again"));
	if (at_fault(job, 0))
		(void)!join(job, job->rank, job->size, url);
	error = join(job, job->rank, job->size, url);
	if (!error)
		error = dist_barrier(job->world, NULL);
	unlink(path);
	rmdir(folder);
	return error;
}

/* A script counts the ranks of each half of the machine from 0, and so gives
 * the first device to two of them. Seen in Megatron-LM#661, nccl#1241,
 * helion#2098.
 */
enum dist_error one_device_for_two(struct job *job)
{
	const char *local_rank = getenv("LOCAL_RANK");
	float x[4] = {1};

	if (job->wrong && local_rank && strcmp(local_rank, "2") == 0)
		setenv("LOCAL_RANK", "0", 1);
	try(dist_init_process_group(NULL, &job->world));
	return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
}
