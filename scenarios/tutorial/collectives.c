/*
 * tutorial_collectives - "Writing Distributed Applications with PyTorch",
 * Collective Communication: every collective once, and what it leaves on every
 * rank. Rank r begins with 10 r, 10 r + 1, and so on, a number for each rank.
 */
#include "scenarios/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#include "lockstep/dist.h"
#include "scenarios/rank.h"

/* Where no collective has written. */
#define NOTHING (-1.0F)

/* What a collective takes and leaves, size numbers each: as an array, and as
 * the list of its elements. */
struct call {
	struct dist_group *group;
	int rank;
	int size;
	float *in;
	float *out;
	struct dist_tensor *in_list;
	struct dist_tensor *out_list;
	size_t *in_splits;
	size_t *out_splits;
};

static struct dist_tensor floats(float *data, int num)
{
	return dist_tensor(data, (size_t)num, DIST_FLOAT32);
}

static enum dist_error broadcast(struct call *c)
{
	c->out[0] = c->in[0];
	return dist_broadcast(c->group, floats(c->out, 1), c->size - 1, NULL);
}

static enum dist_error reduce(struct call *c)
{
	enum dist_error error;

	c->out[0] = c->in[0];
	error = dist_reduce(c->group, floats(c->out, 1), 0, DIST_SUM, NULL);
	if (c->rank != 0) /* what is left there is no result */
		c->out[0] = NOTHING;
	return error;
}

static enum dist_error all_reduce(struct call *c)
{
	c->out[0] = c->in[0];
	return dist_all_reduce(c->group, floats(c->out, 1), DIST_MAX, NULL);
}

static enum dist_error scatter(struct call *c)
{
	return dist_scatter(c->group, floats(c->out, 1),
			    c->rank == 0 ? c->in_list : NULL, 0, NULL);
}

static enum dist_error gather(struct call *c)
{
	return dist_gather(c->group, floats(c->in, 1),
			   c->rank == 0 ? c->out_list : NULL, 0, NULL);
}

static enum dist_error all_gather(struct call *c)
{
	return dist_all_gather(c->group, c->out_list, floats(c->in, 1), NULL);
}

static enum dist_error all_gather_single(struct call *c)
{
	return dist_all_gather_single(c->group, floats(c->out, c->size),
				      floats(c->in, 1), NULL);
}

static enum dist_error reduce_scatter(struct call *c)
{
	return dist_reduce_scatter(c->group, floats(c->out, 1), c->in_list,
				   DIST_SUM, NULL);
}

static enum dist_error reduce_scatter_single(struct call *c)
{
	return dist_reduce_scatter_single(c->group, floats(c->out, 1),
					  floats(c->in, c->size), DIST_SUM,
					  NULL);
}

static enum dist_error all_to_all(struct call *c)
{
	return dist_all_to_all(c->group, c->out_list, c->in_list, NULL);
}

/* With splits: everything goes to the next rank. */
static enum dist_error all_to_all_single(struct call *c)
{
	c->in_splits[(c->rank + 1) % c->size] = (size_t)c->size;
	c->out_splits[(c->rank - 1 + c->size) % c->size] = (size_t)c->size;
	return dist_all_to_all_single(c->group, floats(c->out, c->size),
				      floats(c->in, c->size), c->out_splits,
				      c->in_splits, NULL);
}

static enum dist_error barrier(struct call *c)
{
	return dist_barrier(c->group, NULL);
}

static const struct {
	const char *name;
	enum dist_error (*call)(struct call *c);
} collectives[] = {
	{"broadcast", broadcast},
	{"reduce", reduce},
	{"all_reduce", all_reduce},
	{"scatter", scatter},
	{"gather", gather},
	{"all_gather", all_gather},
	{"all_gather_single", all_gather_single},
	{"reduce_scatter", reduce_scatter},
	{"reduce_scatter_single", reduce_scatter_single},
	{"all_to_all", all_to_all},
	{"all_to_all_single", all_to_all_single},
	{"barrier", barrier},
};

/* Prints what every rank holds in out; rank 0 does, for the order's sake. */
static enum dist_error show(struct call *c, const char *name)
{
	int size = c->size;
	float *all = calloc((size_t)(size * size), sizeof *all);
	enum dist_error error = DIST_ERR_NO_MEMORY;

	if (all)
		error = dist_all_gather_single(c->group,
					       floats(all, size * size),
					       floats(c->out, size), NULL);
	if (!error && c->rank == 0) {
		printf("%-22s", name);
		for (int i = 0; i < size * size; i++) {
			if (i % size == 0)
				fputs(i ? " ] [" : "[", stdout);
			if (all[i] != NOTHING)
				printf(" %g", (double)all[i]);
		}
		puts(" ]");
	}
	free(all);
	return error;
}

static bool prepare(struct call *c)
{
	size_t size = (size_t)c->size;

	c->in = calloc(size, sizeof *c->in);
	c->out = calloc(size, sizeof *c->out);
	c->in_list = calloc(size, sizeof *c->in_list);
	c->out_list = calloc(size, sizeof *c->out_list);
	c->in_splits = calloc(size, sizeof *c->in_splits);
	c->out_splits = calloc(size, sizeof *c->out_splits);
	if (!c->in || !c->out || !c->in_list || !c->out_list || !c->in_splits ||
	    !c->out_splits)
		return false;
	for (int i = 0; i < c->size; i++) {
		c->in_list[i] = floats(c->in + i, 1);
		c->out_list[i] = floats(c->out + i, 1);
	}
	return true;
}

static void release(struct call *c)
{
	free(c->in);
	free(c->out);
	free(c->in_list);
	free(c->out_list);
	free(c->in_splits);
	free(c->out_splits);
}

int tutorial_collectives_rank(void *arg)
{
	const size_t num = sizeof collectives / sizeof collectives[0];
	struct call c = {.in = NULL};
	const char *name = "allocating";
	enum dist_error error;
	int status;

	(void)arg;
	if (rank_join(&c.group))
		return 1;
	c.rank = dist_get_rank(c.group);
	c.size = dist_get_world_size(c.group);
	error = prepare(&c) ? DIST_OK : DIST_ERR_NO_MEMORY;
	for (size_t k = 0; !error && k < num; k++) {
		name = collectives[k].name;
		for (int i = 0; i < c.size; i++) {
			c.in[i] = (float)(10 * c.rank + i);
			c.out[i] = NOTHING;
		}
		error = collectives[k].call(&c);
		if (!error)
			error = show(&c, name);
	}
	status = rank_leave(c.group, name, error);
	release(&c);
	return status;
}
