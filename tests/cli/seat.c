/*
 * seat.c - a rank program without a dist_launch(): each rank is a process. What
 * it does, its first word says.
 */
#define _DEFAULT_SOURCE /* usleep */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/dist.h"

#define N 4

static struct dist_group *group;
static int rank, size;

static struct dist_tensor floats(float *x, size_t n)
{
	return dist_tensor(x, n, DIST_FLOAT32);
}

static int check(int good, const char *what)
{
	if (!good)
		fprintf(stderr, "rank %d: %s is wrong: %s\n", rank, what,
			dist_error_message(group));
	return good ? 0 : 1;
}

/* Every kind of collective, with data. */
static int collectives(void)
{
	float x[N] = {(float)rank}, all_x[64] = {0}, y[64] = {0};
	struct dist_tensor list[64];
	const int sum = size * (size - 1) / 2; /* of the ranks */
	int bad = 0;

	bad |= check(!dist_all_reduce(group, floats(x, N), DIST_SUM, NULL) &&
			     x[0] == (float)sum,
		     "all_reduce");
	x[0] = (float)rank;
	bad |= check(!dist_broadcast(group, floats(x, N), 1, NULL) && x[0] == 1,
		     "broadcast");
	x[0] = (float)rank;
	bad |= check(
		!dist_reduce(group, floats(x, N), 2 % size, DIST_MAX, NULL) &&
			(rank != 2 % size || x[0] == (float)(size - 1)),
		"reduce");
	x[0] = (float)rank;
	bad |= check(!dist_all_gather_single(group, floats(all_x, (size_t)size),
					     floats(x, 1), NULL) &&
			     all_x[size - 1] == (float)(size - 1),
		     "all_gather_single");
	for (int i = 0; i < size; i++) {
		all_x[i] = (float)(rank * 100 + i);
		list[i] = floats(&y[i], 1);
	}
	bad |= check(!dist_all_gather(group, list, floats(x, 1), NULL) &&
			     y[size - 1] == (float)(size - 1),
		     "all_gather");
	bad |= check(!dist_all_to_all_single(group, floats(y, (size_t)size),
					     floats(all_x, (size_t)size), NULL,
					     NULL, NULL) &&
			     y[size - 1] == (float)((size - 1) * 100 + rank),
		     "all_to_all_single");
	bad |= check(!dist_reduce_scatter_single(group, floats(x, 1),
						 floats(all_x, (size_t)size),
						 DIST_MIN, NULL) &&
			     x[0] == (float)rank,
		     "reduce_scatter_single");
	bad |= check(!dist_gather(group, floats(x, 1), rank ? NULL : list, 0,
				  NULL) &&
			     (rank || y[size - 1] == (float)(size - 1)),
		     "gather");
	bad |= check(!dist_scatter(group, floats(x, 1), rank ? NULL : list, 0,
				   NULL) &&
			     x[0] == (float)rank,
		     "scatter");
	return bad;
}

/* Messages, what is coalesced, and what moves no data. */
static int others(void)
{
	float x[N] = {(float)rank}, y[1] = {0};
	struct dist_tensor list[2];
	struct dist_work *work = NULL;
	int bad = 0, src = -1;

	bad |= check(
		!dist_isend(group, floats(x, 1), (rank + 1) % size, 5, &work) &&
			!dist_recv_any(group, floats(y, 1), 5, &src) &&
			!dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) &&
			src == (rank + size - 1) % size && y[0] == src,
		"isend, recv_any");
	dist_work_free(work);
	x[0] = 1;
	list[0] = floats(x, 1);
	y[0] = 2;
	list[1] = floats(y, 1);
	work = NULL;
	bad |= check(
		!dist_all_reduce_coalesced(group, list, 2, DIST_SUM, &work) &&
			!dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) &&
			x[0] == (float)size && y[0] == (float)(2 * size),
		"all_reduce_coalesced");
	dist_work_free(work);
	bad |= check(
		!dist_monitored_barrier(group, DIST_TIMEOUT_OF_GROUP, false),
		"monitored_barrier");
	bad |= check(
		!dist_all_reduce(group, floats(NULL, 1 << 20), DIST_SUM, NULL),
		"all_reduce of a phantom");
	return bad;
}

/* Ranks that all do the same, of which rank 0 may be alone. */
static int same(void)
{
	float x[2] = {1, 2}, all_x[2048] = {3, 4}, y[2048] = {0};
	struct dist_tensor in = floats(all_x, 2 * (size_t)size);
	struct dist_tensor out = floats(y, 2 * (size_t)size);
	int bad = 0;

	bad |= check(!dist_all_reduce(group, floats(x, 2), DIST_SUM, NULL) &&
			     x[1] == (float)(2 * size),
		     "all_reduce");
	bad |= check(!dist_reduce_scatter_single(group, floats(x, 2), in,
						 DIST_SUM, NULL) &&
			     (rank || x[1] == (float)(4 * size)),
		     "reduce_scatter_single");
	x[0] = 7;
	bad |= check(!dist_all_gather_single(group, out, floats(x, 2), NULL) &&
			     y[0] == 7 && y[2 * size - 2] == 7,
		     "all_gather_single");
	bad |= check(
		!dist_all_to_all_single(group, out, in, NULL, NULL, NULL) &&
			(rank || (y[0] == 3 && y[2 * size - 1] == 4)),
		"all_to_all_single");
	bad |= check(!dist_all_gather_single_coalesced(
			     group, &out,
			     &(struct dist_tensor){x, 2, DIST_FLOAT32}, 1,
			     NULL) &&
			     y[2 * size - 2] == 7,
		     "all_gather_single_coalesced");
	return bad;
}

/* Two groups, in another order on rank 0 than on rank 1. */
static int abba(void)
{
	struct dist_group *a = NULL, *b = NULL;
	float x = 1;
	int bad = 0;

	if (dist_new_group(group, NULL, 0, NULL, &a) ||
	    dist_new_group(group, NULL, 0, NULL, &b))
		return 1;
	if (rank == 0)
		bad |= dist_all_reduce(a, floats(&x, 1), DIST_SUM, NULL) != 0;
	bad |= dist_all_reduce(b, floats(&x, 1), DIST_SUM, NULL) != 0;
	if (rank != 0)
		bad |= dist_all_reduce(a, floats(&x, 1), DIST_SUM, NULL) != 0;
	return bad;
}

static int mix(void)
{
	float x[N] = {0};

	if (rank == 1)
		return dist_broadcast(group, floats(x, N), 0, NULL) != 0;
	return dist_all_reduce(group, floats(x, N), DIST_SUM, NULL) != 0;
}

/* Both send before they receive. */
static int cross(void)
{
	float x = 1, y = 0;
	int bad = dist_send(group, floats(&x, 1), 1 - rank, 0) != 0;

	return bad | (dist_recv(group, floats(&y, 1), 1 - rank, 0) != 0);
}

static int all(void)
{
	int bad = collectives();

	return others() || bad;
}

static int many(int calls)
{
	int bad = 0;

	for (int i = 0; i < calls; i++)
		bad |= dist_all_reduce(group, floats(NULL, 256), DIST_SUM,
				       NULL) != 0;
	return bad;
}

static int work_as(const char *what, const char *how)
{
	if (strcmp(what, "all") == 0)
		return all();
	if (strcmp(what, "same") == 0)
		return same();
	if (strcmp(what, "abba") == 0)
		return abba();
	if (strcmp(what, "mix") == 0)
		return mix();
	if (strcmp(what, "cross") == 0)
		return cross();
	if (strcmp(what, "many") == 0)
		return many(atoi(how));
	if (strcmp(what, "kill") == 0 && rank == 1)
		(void)raise(SIGKILL);
	if (strcmp(what, "exit") == 0 && rank == 1)
		exit(7);
	if (strcmp(what, "silent") == 0 && rank == 1)
		for (;;)
			(void)usleep(100000);
	if (strcmp(what, "compute") == 0)
		(void)dist_compute(group, rank * (int64_t)1000000, "step");
	return dist_barrier(group, NULL) != 0;
}

int main(int argc, char **argv)
{
	struct dist_message message = {""};
	const struct dist_init_options options = {.message = &message};
	int bad;

	if (argc > 1 && strcmp(argv[1], "late") == 0)
		(void)usleep(2500000);

	if (dist_init_process_group(&options, &group)) {
		fprintf(stderr, "%s\n", message.text);
		return 1;
	}
	rank = dist_get_rank(group);
	size = dist_get_world_size(group);
	bad = work_as(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "1");
	if (rank == 0)
		printf("%d of %d at %lld ns\n", rank, size,
		       (long long)dist_now_ns(group));
	return dist_destroy_process_group(group) != DIST_OK || bad;
}
