#include "coll/team.h"

#include <assert.h>
#include <stdlib.h>

#include "coll/flow.h"

/* ---- nodes ------------------------------------------------------------ */

/* One more than the highest number that dist__node() has for a rank. */
static size_t num_numbers(const struct dist__members *members)
{
	int highest = 0;

	for (int rank = 0; rank < members->world_size; rank++) {
		int node = dist__node(members, rank);

		highest = node > highest ? node : highest;
	}
	return (size_t)highest + 1;
}

/* Gives every rank its node and its place on it; renumbered is one more than a
 * node's number, 0 before it has one. */
static void seat_ranks(struct dist__nodes *nodes,
		       const struct dist__members *members, int root,
		       int *renumbered)
{
	int p = members->world_size;

	for (int i = 0; i < p; i++) {
		int rank = (root + i) % p;
		int *number = &renumbered[dist__node(members, rank)];

		if (*number == 0)
			*number = ++nodes->count;
		nodes->node[rank] = *number - 1;
		nodes->place[rank] = nodes->size[*number - 1]++;
	}
}

/* Works out the rest from that. */
static void sort_ranks(struct dist__nodes *nodes,
		       const struct dist__members *members)
{
	int p = members->world_size;

	nodes->least = nodes->size[0];
	for (int i = 1; i < nodes->count; i++) {
		nodes->first[i] = nodes->first[i - 1] + nodes->size[i - 1];
		if (nodes->size[i] < nodes->least)
			nodes->least = nodes->size[i];
	}
	for (int rank = 0; rank < p; rank++) {
		int node = nodes->node[rank], place = nodes->place[rank];
		int global = dist__global_rank(members, rank);

		nodes->sorted[nodes->first[node] + place] = rank;
		nodes->inside[nodes->first[node] + place] = global;
		if (place < nodes->least)
			nodes->across[place * nodes->count + node] = global;
	}
}

static struct dist__nodes *nodes_new(const struct dist__members *members,
				     int root)
{
	size_t p = (size_t)members->world_size;
	int *renumbered = calloc(num_numbers(members), sizeof(int));
	struct dist__nodes *nodes =
		calloc(1, sizeof *nodes + 7 * p * sizeof(int));

	if (!renumbered || !nodes) {
		free(renumbered);
		free(nodes);
		return NULL;
	}
	nodes->node = (int *)(nodes + 1);
	nodes->place = nodes->node + p;
	nodes->size = nodes->place + p;
	nodes->first = nodes->size + p;
	nodes->sorted = nodes->first + p;
	nodes->inside = nodes->sorted + p;
	nodes->across = nodes->inside + p;
	seat_ranks(nodes, members, root, renumbered);
	free(renumbered);
	sort_ranks(nodes, members);
	return nodes;
}

enum dist_error dist__nodes_open(struct dist__transport *t,
				 const struct dist__members *members, int root,
				 const struct dist__nodes **nodes)
{
	const struct dist__simulation_ops *simulation = t->ops->simulation;
	void **shared = NULL;
	struct dist__nodes *fresh;

	if (simulation && simulation->shared)
		shared = simulation->shared(t, members, root);
	if (shared && *shared) {
		*nodes = *shared;
		return DIST_OK;
	}
	*nodes = fresh = nodes_new(members, root);
	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->is_shared = shared;
	if (shared)
		*shared = fresh;
	return DIST_OK;
}

void dist__nodes_close(const struct dist__nodes *nodes)
{
	if (nodes && !nodes->is_shared)
		free((void *)nodes);
}

/* ---- teams ------------------------------------------------------------ */

/* A team of size ranks, of which the caller is number rank. */
static struct dist__team team_of(const struct dist__coll *coll, int size,
				 int rank, const int *ranks)
{
	return (struct dist__team){
		.coll = coll,
		.members = {.group_id = coll->members->group_id,
			    .rank = rank,
			    .world_size = size,
			    .ranks = ranks},
	};
}

struct dist__team dist__team_inside(const struct dist__coll *coll,
				    const struct dist__nodes *nodes)
{
	int node = nodes->node[coll->rank];

	return team_of(coll, nodes->size[node], nodes->place[coll->rank],
		       nodes->inside + nodes->first[node]);
}

struct dist__team dist__team_across(const struct dist__coll *coll,
				    const struct dist__nodes *nodes)
{
	int place = nodes->place[coll->rank];

	assert(place < nodes->least);
	return team_of(coll, nodes->count, nodes->node[coll->rank],
		       nodes->across + (size_t)place * (size_t)nodes->count);
}

enum dist_error dist__team_run(const struct dist__team *team,
			       struct dist__op *op,
			       const struct dist__algorithm *algorithm)
{
	int size = team->members.world_size;
	const struct dist__layout layout = {.world_size = size,
					    .num_nodes = size};
	size_t bytes =
		dist__op_numel(op, size) * dist_dtype_size(op->tensor.dtype);
	struct dist__coll coll = *team->coll;
	enum dist_error error;

	coll.members = &team->members;
	coll.op = op;
	coll.rank = team->members.rank;
	coll.world_size = size;
	if (!algorithm)
		algorithm = dist__select(NULL, op->kind, &layout, bytes);
	return dist__flow_run(&coll, algorithm, &error) ? error
							: algorithm->run(&coll);
}
