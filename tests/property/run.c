#include <stdlib.h>
#include <string.h>

#include "tests/property/program.h"

#define PLATFORM "scenarios/platforms/star-8.xml"

/* A rank at work. */
struct worker {
	const struct program *program;
	int rank;
	struct dist_group *groups[MOST_GROUPS];
	struct dist_work *works[MOST_STEPS];
	struct memory *memory; /* of all its calls, kept to the end */
};

struct memory {
	struct memory *before;
	double data[];
};

/* Zeros, of this call alone. */
static void *memory_of(struct worker *worker, size_t bytes)
{
	struct memory *memory = calloc(1, sizeof *memory + bytes);

	if (!memory)
		abort();
	memory->before = worker->memory;
	worker->memory = memory;
	return memory->data;
}

static struct dist_tensor tensor_of(struct worker *worker,
				    const struct call *call, size_t numel)
{
	return dist_tensor(memory_of(worker, numel * sizeof(double)), numel,
			   call->dtype);
}

/* As many tensors as the group has ranks, on the root alone. */
static const struct dist_tensor *list_of(struct worker *worker,
					 const struct call *call, int n)
{
	struct dist_tensor *list;

	if (call->peer != worker->rank)
		return NULL;
	list = memory_of(worker, (size_t)n * sizeof *list);
	for (int i = 0; i < n; i++)
		list[i] = tensor_of(worker, call, call->numel);
	return list;
}

static enum dist_error make_group(struct worker *worker,
				  const struct call *call,
				  struct dist_group *all)
{
	int ranks[MOST_RANKS], n = 0;
	struct dist_group **sub = &worker->groups[call->made];

	for (int rank = 0; rank < worker->program->world_size; rank++)
		if (call->members >> rank & 1U)
			ranks[n++] = rank;
	if (*sub)
		return DIST_ERR_INVALID_ARGUMENT;
	return (dist_new_group)(all, ranks, n, NULL, sub);
}

static enum dist_error rooted(struct worker *worker, const struct call *call,
			      struct dist_group *group, struct dist_work **work)
{
	struct dist_tensor mine = tensor_of(worker, call, call->numel);
	int root = dist_get_group_rank(group, call->peer);
	int n = dist_get_world_size(group);

	switch (call->act) {
	case ACT_REDUCE:
		return (dist_reduce)(group, mine, root, call->reduce_op, work);
	case ACT_BROADCAST:
		return (dist_broadcast)(group, mine, root, work);
	case ACT_GATHER:
		return (dist_gather)(group, mine, list_of(worker, call, n),
				     root, work);
	default:
		return (dist_scatter)(group, mine, list_of(worker, call, n),
				      root, work);
	}
}

static enum dist_error rootless(struct worker *worker, const struct call *call,
				struct dist_group *group,
				struct dist_work **work)
{
	size_t n = (size_t)dist_get_world_size(group);
	struct dist_tensor one = tensor_of(worker, call, call->numel);
	struct dist_tensor all = tensor_of(worker, call, n * call->numel);

	switch (call->act) {
	case ACT_ALL_REDUCE:
		return (dist_all_reduce)(group, one, call->reduce_op, work);
	case ACT_BARRIER:
		return (dist_barrier)(group, work);
	case ACT_ALL_GATHER:
		return (dist_all_gather_single)(group, all, one, work);
	case ACT_REDUCE_SCATTER:
		return (dist_reduce_scatter_single)(group, one, all,
						    call->reduce_op, work);
	default:
		return (dist_all_to_all_single)(group, all,
						tensor_of(worker, call,
							  n * call->numel),
						NULL, NULL, work);
	}
}

static enum dist_error message(struct worker *worker, const struct call *call,
			       struct dist_group *group,
			       struct dist_work **work)
{
	struct dist_tensor data = tensor_of(worker, call, call->numel);
	int peer = dist_get_group_rank(group, call->peer);

	if (call->act == ACT_SEND)
		return work ? (dist_isend)(group, data, peer, call->tag, work)
			    : (dist_send)(group, data, peer, call->tag);
	return work ? (dist_irecv)(group, data, peer, call->tag, work)
		    : (dist_recv)(group, data, peer, call->tag);
}

static enum dist_error wait_for(struct worker *worker, const struct call *call)
{
	struct dist_work **work = &worker->works[call->step];
	enum dist_error error;

	if (!*work)
		return DIST_OK;
	error = (dist_work_wait)(dist_work_at(*work, PROGRAM_FILE, call->line),
				 DIST_TIMEOUT_OF_GROUP);
	dist_work_free(*work);
	*work = NULL;
	return error;
}

static enum dist_error perform(struct worker *worker, const struct call *call)
{
	struct dist_work **work =
		call->async ? &worker->works[call->step] : NULL;
	struct dist_group *group =
		dist_at(worker->groups[call->group], PROGRAM_FILE, call->line);

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	switch (call->act) {
	case ACT_WAIT:
		return wait_for(worker, call);
	case ACT_COMPUTE:
		return dist_compute(group, call->duration_ns, NULL);
	case ACT_NEW_GROUP:
		return make_group(worker, call, group);
	case ACT_SEND:
	case ACT_RECV:
		return message(worker, call, group, work);
	case ACT_REDUCE:
	case ACT_BROADCAST:
	case ACT_GATHER:
	case ACT_SCATTER:
		return rooted(worker, call, group, work);
	default:
		return rootless(worker, call, group, work);
	}
}

static int leave(struct worker *worker, int status)
{
	for (int i = 0; i < MOST_STEPS; i++)
		dist_work_free(worker->works[i]);
	if (dist_destroy_process_group(worker->groups[0]))
		status = 1;
	while (worker->memory) {
		struct memory *memory = worker->memory;

		worker->memory = memory->before;
		free(memory);
	}
	free(worker);
	return status;
}

static int rank_main(void *arg)
{
	struct worker *worker = calloc(1, sizeof *worker);
	const struct rank_program *list;
	int status = 0;

	if (!worker || dist_init_process_group(NULL, &worker->groups[0])) {
		free(worker);
		return 1;
	}
	worker->program = arg;
	worker->rank = dist_get_rank(worker->groups[0]);
	list = &worker->program->ranks[worker->rank];
	for (int i = 0; i < list->num_calls && !status; i++) {
		if (list->calls[i].act == ACT_EXIT)
			return leave(worker, list->calls[i].status);
		status = perform(worker, &list->calls[i]) != DIST_OK;
	}
	return leave(worker, status);
}

struct job {
	const struct program *program;
	const char *backend, *p2p;
	int64_t timeout_ns;
};

static int launch(const void *arg)
{
	const struct job *job = arg;
	struct dist_launch_options options = {
		.backend = job->backend,
		.world_size = job->program->world_size,
		.platform = PLATFORM,
		.p2p = job->p2p,
		.timeout_ns = job->timeout_ns,
	};

	if (strcmp(job->backend, "sim") != 0)
		options.platform = NULL;
	return dist_launch(&options, rank_main, (void *)job->program);
}

void program_run(const struct program *program, const char *backend,
		 const char *p2p, int64_t timeout_ns, struct forked *run)
{
	const struct job job = {program, backend, p2p, timeout_ns};

	fork_run(launch, &job, run);
}
