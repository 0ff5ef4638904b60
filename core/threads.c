/*
 * threads.c - a rank with several threads: its lock. Only one thread at a time
 * is in the back end for an operation.
 */
#include "core/threads.h"

#include <stdlib.h>

#include "base/wait.h"
#include "core/capability.h"
#include "core/state.h"

bool dist__work_enter(struct dist_work *work, int64_t deadline_ns)
{
	struct dist__threads *threads = work->group->root->threads;

	if (!threads)
		return true;
	while (work->busy && !dist__op_is_done(&work->op) &&
	       dist__condition_wait(&threads->left, &threads->mutex,
				    deadline_ns))
		;
	if (work->busy || dist__op_is_done(&work->op))
		return false;
	work->busy = true;
	pthread_mutex_unlock(&threads->mutex);
	return true;
}

void dist__work_leave(struct dist_work *work)
{
	struct dist__threads *threads = work->group->root->threads;

	if (!threads)
		return;
	pthread_mutex_lock(&threads->mutex);
	work->busy = false;
	pthread_cond_broadcast(&threads->left);
}

void dist__calls_await(struct dist_group *group)
{
	struct dist__threads *threads = group->root->threads;

	if (!threads)
		return;
	pthread_mutex_lock(&threads->mutex);
	while (group->calls > 0)
		(void)dist__condition_wait(&threads->left, &threads->mutex,
					   DIST_TIMEOUT_NEVER);
	pthread_mutex_unlock(&threads->mutex);
}

enum dist_error dist_allow_threads(struct dist_group *group)
{
	struct dist__threads *threads;
	pthread_mutexattr_t recursive;

	if (!group)
		return DIST_ERR_INVALID_ARGUMENT;
	if (!dist__world_has(group->world, DIST__NEEDS_THREADS))
		return dist__fail(group, DIST_ERR_UNSUPPORTED,
				  "allow_threads: a rank of back end %s has "
				  "one thread",
				  group->world->name);
	if (group->root->threads)
		return DIST_OK;
	threads = malloc(sizeof *threads);
	if (!threads)
		return DIST_ERR_NO_MEMORY;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&threads->mutex, &recursive);
	pthread_mutexattr_destroy(&recursive);
	dist__condition_init(&threads->left);
	group->root->threads = threads;
	dist__records_share();
	dist__transport_share(group->root->place.transport);
	return DIST_OK;
}

void dist__threads_free(struct dist__threads *threads)
{
	if (!threads)
		return;
	pthread_cond_destroy(&threads->left);
	pthread_mutex_destroy(&threads->mutex);
	free(threads);
}
