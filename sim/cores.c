/*
 * cores.c - the processors of a machine that all ranks share.
 *
 * Rank r is on core r modulo their number, where LOCKSTEP_BIND_TO=core puts it
 * as well. What its messages, their bytes and sums take of that core, the ranks
 * of one core take one after the other, in the order in which they come.
 */
#include "sim/cores.h"

#include <math.h>
#include <stdlib.h>

enum dist_error dist__sim_cores_open(struct dist__sim_world *world)
{
	int cores = world->profile.cores;

	if (cores == 0)
		return DIST_OK;
	world->cores_free_s = calloc((size_t)cores, sizeof(double));
	return world->cores_free_s ? DIST_OK : DIST_ERR_NO_MEMORY;
}

double dist__sim_core_take(const struct dist__sim_rank *rank, double work_s)
{
	const struct dist__sim_world *world = rank->world;
	double now_s, *free_s;

	if (!world->cores_free_s)
		return work_s;
	now_s = dist__engine->now_s();
	free_s = &world->cores_free_s[rank->rank % world->profile.cores];
	*free_s = fmax(*free_s, now_s) + work_s;
	return *free_s - now_s;
}

double dist__sim_core_idle_s(const struct dist__sim_rank *rank, double since_s)
{
	const struct dist__sim_world *world = rank->world;

	if (world->cores_free_s)
		since_s = fmax(
			since_s,
			world->cores_free_s[rank->rank % world->profile.cores]);
	return fmax(dist__engine->now_s() - since_s, 0);
}

bool dist__sim_core_is_shared(const struct dist__sim_rank *rank)
{
	const struct dist__sim_world *world = rank->world;
	int cores = world->profile.cores;

	return cores > 0 &&
	       (rank->rank >= cores || rank->rank + cores < world->world_size);
}

/* What a call walks through: of an all-to-all what it sends, and as much that
 * comes to lie elsewhere; of a gather and a scatter a rank's own part. */
static size_t walked_bytes(const struct dist__op *op)
{
	size_t bytes =
		dist__op_numel(op, 1) * dist_dtype_size(op->tensor.dtype);

	return op->kind == DIST__ALL_TO_ALL ? 2 * bytes : bytes;
}

static double bytes_at(const struct dist__sim_world *world,
		       enum dist__traffic traffic, const struct dist__op *op,
		       size_t bytes)
{
	size_t walked = 0;

	if (op && world->profile.rates_ranks > 0)
		walked = walked_bytes(op);
	return dist__profile_load_bytes(&world->profile, traffic, bytes,
					walked);
}

double dist__sim_load_bytes(const struct dist__sim_rank *rank,
			    const struct dist__message *m)
{
	int cores = rank->world->profile.cores;
	bool is_near = cores > 0 && m->peer >= 0 &&
		       m->peer % cores == rank->rank % cores;

	return bytes_at(rank->world, is_near ? DIST__CORE_LOAD : DIST__LOAD,
			m->op, m->bytes);
}

double dist__sim_sum_bytes(const struct dist__sim_rank *rank,
			   const struct dist__message *m)
{
	return bytes_at(rank->world, DIST__SUM, m->op, m->bytes);
}

double dist__sim_copy_bytes(const struct dist__sim_rank *rank,
			    const struct dist__op *op, size_t bytes)
{
	return bytes_at(rank->world, DIST__COPY, op, bytes);
}

double dist__sim_copy_s(const struct dist__sim_world *world, double load_bytes,
			double rate_Bps)
{
	if (!world->cores_free_s || rate_Bps <= 0)
		return 0;
	return load_bytes / rate_Bps;
}
