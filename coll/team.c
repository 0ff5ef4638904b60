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
static void sort_ranks(struct dist__nodes *nodes, int p)
{
	nodes->least = nodes->size[0];
	for (int i = 1; i < nodes->count; i++) {
		nodes->first[i] = nodes->first[i - 1] + nodes->size[i - 1];
		if (nodes->size[i] < nodes->least)
			nodes->least = nodes->size[i];
	}
	for (int rank = 0; rank < p; rank++)
		nodes->sorted[nodes->first[nodes->node[rank]] +
			      nodes->place[rank]] = rank;
}

enum dist_error dist__nodes_new(const struct dist__members *members, int root,
				struct dist__nodes *nodes)
{
	size_t numbers = num_numbers(members);
	int p = members->world_size;
	int *renumbered = calloc(numbers, sizeof(int));

	*nodes = (struct dist__nodes){
		.node = calloc(5 * (size_t)p, sizeof(int))};
	if (!renumbered || !nodes->node) {
		free(renumbered);
		dist__nodes_release(nodes);
		return DIST_ERR_NO_MEMORY;
	}
	nodes->place = nodes->node + p;
	nodes->size = nodes->place + p;
	nodes->first = nodes->size + p;
	nodes->sorted = nodes->first + p;
	seat_ranks(nodes, members, root, renumbered);
	free(renumbered);
	sort_ranks(nodes, p);
	return DIST_OK;
}

void dist__nodes_release(struct dist__nodes *nodes)
{
	free(nodes->node);
	nodes->node = NULL;
}

/* ---- teams ------------------------------------------------------------ */

/* Makes a team of size ranks, of which the caller is number rank. */
static enum dist_error team_new(const struct dist__coll *coll, int size,
				int rank, struct dist__team *team)
{
	int *ranks = malloc((size_t)size * sizeof(int));

	if (!ranks)
		return DIST_ERR_NO_MEMORY;
	*team = (struct dist__team){
		.coll = coll,
		.members = {.group_id = coll->members->group_id,
			    .rank = rank,
			    .world_size = size,
			    .ranks = ranks},
		.ranks = ranks,
	};
	return DIST_OK;
}

enum dist_error dist__team_inside(const struct dist__coll *coll,
				  const struct dist__nodes *nodes,
				  struct dist__team *team)
{
	int node = nodes->node[coll->rank], size = nodes->size[node];
	const int *ranks = nodes->sorted + nodes->first[node];
	enum dist_error error =
		team_new(coll, size, nodes->place[coll->rank], team);

	for (int i = 0; i < size && !error; i++)
		team->ranks[i] = dist__global_rank(coll->members, ranks[i]);
	return error;
}

enum dist_error dist__team_across(const struct dist__coll *coll,
				  const struct dist__nodes *nodes,
				  struct dist__team *team)
{
	int place = nodes->place[coll->rank];
	enum dist_error error =
		team_new(coll, nodes->count, nodes->node[coll->rank], team);

	assert(place < nodes->least);
	for (int i = 0; i < nodes->count && !error; i++)
		team->ranks[i] = dist__global_rank(
			coll->members, nodes->sorted[nodes->first[i] + place]);
	return error;
}

void dist__team_release(struct dist__team *team)
{
	free(team->ranks);
	team->ranks = NULL;
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
