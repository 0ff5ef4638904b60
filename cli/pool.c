#include "cli/pool.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/child.h"
#include "lockstep/dist.h"

/* A task under way. */
struct slot {
	struct child child;
	size_t task;
	FILE *stream; /* NULL: this slot is free */
	char *text;   /* what was written to stream */
	size_t size;
};

struct pool {
	const struct pool_work *work;
	struct slot *slots;
	struct pollfd *polls; /* beside them */
	size_t num_slots;
	size_t num_busy;
	int status;
};

/* What a child is told. */
struct order {
	const struct pool_work *work;
	size_t task;
};

static int obey(void *arg, int pipe)
{
	const struct order *order = arg;

	return order->work->run(order->work->arg, order->task, pipe);
}

static void keep(struct pool *pool, int status)
{
	if (!pool->status)
		pool->status = status;
}

static void begin(struct pool *pool, struct slot *slot, size_t task)
{
	struct order order = {pool->work, task};

	slot->stream = open_memstream(&slot->text, &slot->size);
	if (!slot->stream) {
		fprintf(stderr, "lockstep: out of memory\n");
		keep(pool, DIST_EXIT_INTERNAL);
		return;
	}
	if (child_start(&slot->child, obey, &order)) {
		fclose(slot->stream);
		free(slot->text);
		slot->stream = NULL;
		keep(pool, DIST_EXIT_INTERNAL);
		return;
	}
	slot->task = task;
	pool->num_busy++;
}

static void end(struct pool *pool, struct slot *slot)
{
	char nothing;
	size_t got;
	int status = child_finish(&slot->child, &nothing, 0, &got);

	/* Memory ran out while it was written. */
	if (fclose(slot->stream))
		status = DIST_EXIT_INTERNAL;
	slot->stream = NULL;
	pool->num_busy--;
	keep(pool, pool->work->done(pool->work->arg, slot->task, status,
				    slot->text, slot->size));
	free(slot->text);
}

/* Takes what a child has written; ends its task when that was all. */
static void hear(struct pool *pool, struct slot *slot)
{
	char text[4096];
	ssize_t n = read(slot->child.pipe, text, sizeof text);

	if (n > 0)
		fwrite(text, 1, (size_t)n, slot->stream);
	else if (n == 0 || errno != EINTR)
		end(pool, slot);
}

static void wait_for_some(struct pool *pool)
{
	for (size_t i = 0; i < pool->num_slots; i++)
		pool->polls[i] = (struct pollfd){
			.fd = pool->slots[i].stream ? pool->slots[i].child.pipe
						    : -1,
			.events = POLLIN};
	if (poll(pool->polls, pool->num_slots, -1) < 0)
		return;
	for (size_t i = 0; i < pool->num_slots; i++)
		if (pool->polls[i].revents)
			hear(pool, &pool->slots[i]);
}

int pool_run(const struct pool_work *work, const size_t *tasks, size_t num,
	     int jobs)
{
	struct pool pool = {.work = work, .num_slots = (size_t)jobs};
	size_t next = 0;

	pool.slots = calloc(pool.num_slots, sizeof *pool.slots);
	pool.polls = calloc(pool.num_slots, sizeof *pool.polls);
	if (!pool.slots || !pool.polls) {
		fprintf(stderr, "lockstep: out of memory\n");
		pool.status = DIST_EXIT_INTERNAL;
	}
	while (pool.num_busy > 0 || (!pool.status && next < num)) {
		for (size_t i = 0;
		     i < pool.num_slots && !pool.status && next < num; i++)
			if (!pool.slots[i].stream)
				begin(&pool, &pool.slots[i], tasks[next++]);
		if (pool.num_busy > 0)
			wait_for_some(&pool);
	}
	free(pool.slots);
	free(pool.polls);
	return pool.status;
}

int pool_cores(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return cores > 0 ? (int)cores : 1;
}
