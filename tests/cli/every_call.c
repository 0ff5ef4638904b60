/*
 * every_call.c - two ranks make every call of core/capability.h's table, on
 * every element type and with every reduce op: each must be taken or refused as
 * the table has it. Exit status 0: so it was.
 */
#include <stdio.h>
#include <string.h>

#include "core/capability.h"
#include "lockstep/rpc.h"
#include "core/reduce.h"
#include "worlds/worlds.h"

#define TAG 7

/* A rank's group, and room for what it sends and receives. */
struct rank {
	struct dist_group *group;
	int self, other;
	float in[8], out[8], more[8];
};

static struct dist_tensor floats(float *data, size_t numel)
{
	return dist_tensor(data, numel, DIST_FLOAT32);
}

static enum dist_error finish(enum dist_error error, struct dist_work *work)
{
	if (!error)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	if (work)
		dist_work_free(work);
	return error;
}

/* ---- collectives --------------------------------------------------------- */

static enum dist_error all_reduce(struct rank *r)
{
	return dist_all_reduce(r->group, floats(r->in, 4), DIST_SUM, NULL);
}

static enum dist_error reduce(struct rank *r)
{
	return dist_reduce(r->group, floats(r->in, 4), 1, DIST_SUM, NULL);
}

static enum dist_error broadcast(struct rank *r)
{
	return dist_broadcast(r->group, floats(r->in, 4), 1, NULL);
}

static enum dist_error barrier(struct rank *r)
{
	return dist_barrier(r->group, NULL);
}

static enum dist_error monitored_barrier(struct rank *r)
{
	return dist_monitored_barrier(r->group, DIST_TIMEOUT_OF_GROUP, true);
}

static enum dist_error all_gather_single(struct rank *r)
{
	return dist_all_gather_single(r->group, floats(r->out, 8),
				      floats(r->in, 4), NULL);
}

static enum dist_error all_gather(struct rank *r)
{
	const struct dist_tensor out[] = {floats(r->out, 3),
					  floats(r->more, 5)};

	return dist_all_gather(r->group, out, floats(r->in, r->self ? 5 : 3),
			       NULL);
}

static enum dist_error reduce_scatter_single(struct rank *r)
{
	return dist_reduce_scatter_single(r->group, floats(r->out, 4),
					  floats(r->in, 8), DIST_SUM, NULL);
}

static enum dist_error reduce_scatter(struct rank *r)
{
	const struct dist_tensor in[] = {floats(r->in, 3), floats(r->more, 5)};

	return dist_reduce_scatter(r->group, floats(r->out, r->self ? 5 : 3),
				   in, DIST_SUM, NULL);
}

static enum dist_error all_to_all_single(struct rank *r)
{
	static const size_t splits[2][2] = {{1, 4}, {4, 2}};
	const size_t *mine = splits[r->self];

	return dist_all_to_all_single(
		r->group, floats(r->out, mine[0] + mine[1]),
		floats(r->in, mine[0] + mine[1]), mine, mine, NULL);
}

static enum dist_error all_to_all(struct rank *r)
{
	const struct dist_tensor in[] = {floats(r->in, 2),
					 floats(r->in + 2, 2)};
	const struct dist_tensor out[] = {floats(r->out, 2),
					  floats(r->more, 2)};

	return dist_all_to_all(r->group, out, in, NULL);
}

static enum dist_error gather(struct rank *r)
{
	const struct dist_tensor out[] = {floats(r->out, 4),
					  floats(r->more, 4)};

	return dist_gather(r->group, floats(r->in, 4), r->self ? out : NULL, 1,
			   NULL);
}

static enum dist_error scatter(struct rank *r)
{
	const struct dist_tensor in[] = {floats(r->in, 4), floats(r->more, 4)};

	return dist_scatter(r->group, floats(r->out, 4), r->self ? in : NULL, 1,
			    NULL);
}

/* ---- messages, from rank 0 to rank 1 ------------------------------------- */

static enum dist_error send(struct rank *r)
{
	return r->self == 0 ? dist_send(r->group, floats(r->in, 4), 1, TAG)
			    : dist_recv(r->group, floats(r->out, 4), 0, TAG);
}

static enum dist_error recv_any(struct rank *r)
{
	int from = 0;

	return r->self == 0
		       ? dist_send(r->group, floats(r->in, 4), 1, TAG)
		       : dist_recv_any(r->group, floats(r->out, 4), TAG, &from);
}

static enum dist_error isend(struct rank *r)
{
	struct dist_work *work = NULL;
	enum dist_error error;

	error = r->self == 0
			? dist_isend(r->group, floats(r->in, 4), 1, TAG, &work)
			: dist_irecv(r->group, floats(r->out, 4), 0, TAG,
				     &work);
	return finish(error, work);
}

static enum dist_error batch_isend_irecv(struct rank *r)
{
	const struct dist_p2p_op ops[] = {
		{DIST_IRECV, floats(r->out, 4), r->other, TAG},
		{DIST_ISEND, floats(r->in, 4), r->other, TAG},
	};
	struct dist_work *works[2] = {NULL, NULL};
	enum dist_error error, last;

	error = dist_batch_isend_irecv(r->group, ops, 2, works);
	last = finish(error, works[0]);
	error = finish(error, works[1]);
	return error ? error : last;
}

/* ---- several tensors ------------------------------------------------------
 */

static enum dist_error all_reduce_coalesced(struct rank *r)
{
	const struct dist_tensor both[] = {floats(r->in, 4),
					   floats(r->more, 2)};

	return dist_all_reduce_coalesced(r->group, both, 2, DIST_SUM, NULL);
}

static enum dist_error broadcast_coalesced(struct rank *r)
{
	const struct dist_tensor both[] = {floats(r->in, 4),
					   floats(r->more, 2)};

	return dist_broadcast_coalesced(r->group, both, 2, 1, NULL);
}

static enum dist_error all_gather_single_coalesced(struct rank *r)
{
	const struct dist_tensor in[] = {floats(r->in, 4), floats(r->in, 2)};
	const struct dist_tensor out[] = {floats(r->out, 8),
					  floats(r->more, 4)};

	return dist_all_gather_single_coalesced(r->group, out, in, 2, NULL);
}

static enum dist_error reduce_scatter_single_coalesced(struct rank *r)
{
	const struct dist_tensor in[] = {floats(r->in, 8), floats(r->in, 4)};
	const struct dist_tensor out[] = {floats(r->out, 4),
					  floats(r->more, 2)};

	return dist_reduce_scatter_single_coalesced(r->group, out, in, 2,
						    DIST_SUM, NULL);
}

static enum dist_error all_reduce_multigpu(struct rank *r)
{
	const struct dist_tensor both[] = {floats(r->in, 4),
					   floats(r->more, 4)};

	return dist_all_reduce_multigpu(r->group, both, 2, DIST_SUM, NULL);
}

static enum dist_error reduce_multigpu(struct rank *r)
{
	const struct dist_tensor both[] = {floats(r->in, 4),
					   floats(r->more, 4)};

	return dist_reduce_multigpu(r->group, both, 2, 1, 1, DIST_SUM, NULL);
}

static enum dist_error broadcast_multigpu(struct rank *r)
{
	const struct dist_tensor both[] = {floats(r->in, 4),
					   floats(r->more, 4)};

	return dist_broadcast_multigpu(r->group, both, 2, 1, 1, NULL);
}

/* Two devices of two ranks: four parts of two elements for either device. */
struct parts {
	struct dist_tensor list[2][4];
	const struct dist_tensor *lists[2];
};

static void cut(struct parts *parts, float *first, float *second)
{
	for (size_t i = 0; i < 4; i++) {
		parts->list[0][i] = floats(first + 2 * i, 2);
		parts->list[1][i] = floats(second + 2 * i, 2);
	}
	parts->lists[0] = parts->list[0];
	parts->lists[1] = parts->list[1];
}

static enum dist_error all_gather_multigpu(struct rank *r)
{
	const struct dist_tensor in[] = {floats(r->in, 2),
					 floats(r->in + 2, 2)};
	struct parts out;

	cut(&out, r->out, r->more);
	return dist_all_gather_multigpu(r->group, out.lists, in, 2, NULL);
}

static enum dist_error reduce_scatter_multigpu(struct rank *r)
{
	const struct dist_tensor out[] = {floats(r->out, 2),
					  floats(r->out + 2, 2)};
	struct parts in;

	cut(&in, r->in, r->more);
	return dist_reduce_scatter_multigpu(r->group, out, in.lists, 2,
					    DIST_SUM, NULL);
}

/* ---- groups, and what goes beside -----------------------------------------
 */

/* A group that was made is used once. */
static enum dist_error use(enum dist_error error, struct dist_group *sub)
{
	if (!error && sub)
		error = dist_barrier(sub, NULL);
	if (!error)
		error = dist_destroy_process_group(sub);
	return error;
}

static enum dist_error new_group(struct rank *r)
{
	struct dist_group *sub = NULL;

	return use(dist_new_group(r->group, NULL, 0, NULL, &sub), sub);
}

static enum dist_error new_subgroups(struct rank *r)
{
	struct dist_group *sub = NULL;

	return use(dist_new_subgroups(r->group, 1, NULL, &sub), sub);
}

static const int pair[] = {1, 0};
static const struct dist_rank_list pairs[] = {{pair, 2}};

static enum dist_error new_subgroups_by_enumeration(struct rank *r)
{
	struct dist_group *sub = NULL;

	return use(dist_new_subgroups_by_enumeration(r->group, pairs, 1, NULL,
						     &sub),
		   sub);
}

static enum dist_error split_group(struct rank *r)
{
	struct dist_group *sub = NULL;

	return use(dist_split_group(r->group, pairs, 1, NULL, &sub), sub);
}

static enum dist_error allow_threads(struct rank *r)
{
	return dist_allow_threads(r->group);
}

static enum dist_error rpc_init(struct rank *r)
{
	struct dist_rpc *rpc;
	enum dist_error error = dist_rpc_init(r->group, NULL, &rpc);

	return error ? error : dist_rpc_shutdown(rpc, true);
}

static enum dist_error phantom_tensors(struct rank *r)
{
	return dist_all_reduce(r->group, floats(NULL, 4), DIST_SUM, NULL);
}

/* ---- all of them ----------------------------------------------------------
 */

static const struct call {
	const char *name;
	enum dist_error (*make)(struct rank *r);
} calls[] = {
	{"all_reduce", all_reduce},
	{"reduce", reduce},
	{"broadcast", broadcast},
	{"barrier", barrier},
	{"monitored_barrier", monitored_barrier},
	{"all_gather_single", all_gather_single},
	{"all_gather", all_gather},
	{"reduce_scatter_single", reduce_scatter_single},
	{"reduce_scatter", reduce_scatter},
	{"all_to_all_single", all_to_all_single},
	{"all_to_all", all_to_all},
	{"gather", gather},
	{"scatter", scatter},
	{"send", send},
	{"recv", send},
	{"recv_any", recv_any},
	{"isend", isend},
	{"irecv", isend},
	{"batch_isend_irecv", batch_isend_irecv},
	{"all_reduce_coalesced", all_reduce_coalesced},
	{"broadcast_coalesced", broadcast_coalesced},
	{"all_gather_single_coalesced", all_gather_single_coalesced},
	{"reduce_scatter_single_coalesced", reduce_scatter_single_coalesced},
	{"all_reduce_multigpu", all_reduce_multigpu},
	{"reduce_multigpu", reduce_multigpu},
	{"broadcast_multigpu", broadcast_multigpu},
	{"all_gather_multigpu", all_gather_multigpu},
	{"reduce_scatter_multigpu", reduce_scatter_multigpu},
	{"new_group", new_group},
	{"new_subgroups", new_subgroups},
	{"new_subgroups_by_enumeration", new_subgroups_by_enumeration},
	{"split_group", split_group},
	{"allow_threads", allow_threads},
	{"rpc_init", rpc_init},
	{"phantom tensors", phantom_tensors},
};

static int hold(struct rank *r, const char *what, enum dist_error error,
		enum dist_error wanted)
{
	if (error == wanted)
		return 0;
	fprintf(stderr, "%s: %s: got \"%s\" (%s), expected \"%s\"\n",
		dist_get_backend(r->group), what, dist_error_string(error),
		dist_error_message(r->group), dist_error_string(wanted));
	return 1;
}

static int make_call(struct rank *r, const struct dist__world *world,
		     const struct dist__capability *capability)
{
	bool has = dist__world_has(world, capability->need);

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, capability->name) == 0)
			return hold(r, capability->name, calls[i].make(r),
				    has ? DIST_OK : DIST_ERR_UNSUPPORTED);
	fprintf(stderr, "%s: is not called here\n", capability->name);
	return 1;
}

static int reduce_pair(struct rank *r, const struct dist__world *world,
		       enum dist_reduce_op op, enum dist_dtype dtype)
{
	enum dist_error wanted = DIST_ERR_INVALID_ARGUMENT, error = DIST_OK;
	enum dist_reduce_op made = op;
	_Alignas(16) unsigned char data[64] = {0};
	char what[64];

	if (dist__world_reduces(world, op, dtype))
		wanted = DIST_OK;
	else if (dist__reduce_has(dtype, op))
		wanted = DIST_ERR_UNSUPPORTED;
	if (op == DIST_PREMUL_SUM)
		error = dist_make_premul_sum(r->group, 0.5, &made);
	if (!error)
		error = dist_all_reduce(r->group, dist_tensor(data, 4, dtype),
					made, NULL);
	snprintf(what, sizeof what, "%s of %s", dist_reduce_op_name(op),
		 dist_dtype_name(dtype));
	return hold(r, what, error, wanted);
}

static int move(struct rank *r, enum dist_dtype dtype)
{
	_Alignas(16) unsigned char data[64] = {0};

	return hold(
		r, dist_dtype_name(dtype),
		dist_broadcast(r->group, dist_tensor(data, 4, dtype), 1, NULL),
		DIST_OK);
}

static int make_all(struct rank *r)
{
	const struct dist__world *world =
		dist__world_find(dist_get_backend(r->group));
	int wrong = 0;

	for (const struct dist__capability *c = dist__capabilities(); c->name;
	     c++)
		wrong += make_call(r, world, c);
	for (int dtype = 0; dtype < DIST_NUM_DTYPES; dtype++) {
		wrong += move(r, (enum dist_dtype)dtype);
		for (int op = 0; op < DIST_NUM_REDUCE_OPS; op++)
			wrong += reduce_pair(r, world, (enum dist_reduce_op)op,
					     (enum dist_dtype)dtype);
	}
	return wrong;
}

static int rank_main(void *arg)
{
	struct rank r = {.group = NULL};
	int wrong;

	(void)arg;
	if (dist_init_process_group(NULL, &r.group) ||
	    dist_get_world_size(r.group) != 2)
		return 1;
	r.self = dist_get_rank(r.group);
	r.other = 1 - r.self;
	wrong = make_all(&r);
	return dist_destroy_process_group(r.group) || wrong > 0;
}

int main(void)
{
	return dist_launch(NULL, rank_main, NULL);
}
