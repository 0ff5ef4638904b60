/* How remote calls begin and end: names, options, shutdown. */
#include <string.h>

#include "tests/rpc/bed.h"

static const struct dist_rpc_options none;

/* ---- beginning --------------------------------------------------------- */

/* Expects init to refuse the name. */
static void refuse_name(struct bed *b, const char *name)
{
	const struct dist_rpc_options options = {.name = name};
	struct dist_rpc *rpc = NULL;

	expect(b, dist_rpc_init(b->group, &options, &rpc) ==
			  DIST_ERR_INVALID_ARGUMENT);
	expect(b, !rpc);
}

static void invalid_names(struct bed *b)
{
	char longest[DIST_RPC_NAME + 1];

	memset(longest, 'a', sizeof longest);
	longest[DIST_RPC_NAME] = '\0';
	refuse_name(b, "abc*");
	refuse_name(b, " ");
	refuse_name(b, "");
	refuse_name(b, longest);
	if (bed_begin(b, none))
		expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", 1, 2)) ==
				  3);
}

static void duplicate_name(struct bed *b)
{
	refuse_name(b, "duplicate_name");
	ok(b, dist_barrier(b->group, NULL));
}

/* Of two workers alone, and still nobody is one. */
static void duplicate_name_2(struct bed *b)
{
	refuse_name(b, b->rank >= 2 ? "worker2" : NULL);
}

static void init_rpc_twice(struct bed *b)
{
	for (int i = 0; i < 2; i++) {
		if (!bed_begin(b, none))
			return;
		expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", i, 2)) ==
				  i + 2);
		bed_end(b, true);
	}
}

static void own_names(struct bed *b)
{
	static const char *const names[] = {"ps", "trainer-0", "trainer_1",
					    "a::b"};
	const struct dist_rpc_options options = {.name = names[b->rank]};

	if (!bed_begin(b, options))
		return;
	for (int w = 0; w < b->world; w++)
		expect(b, dist_rpc_get_worker(b->rpc, names[w]) == w);
	expect(b, bed_call(b, SYNC,
			   REQUEST(dist_rpc_get_worker(b->rpc, "a::b"),
				   "worker", 0)) == 3);
}

/* An all-reduce of ones on group. */
static void sum_up(struct bed *b, struct dist_group *group, int ranks)
{
	float one = 1;

	if (dist_all_reduce(group, dist_tensor(&one, 1, DIST_FLOAT32), DIST_SUM,
			    NULL))
		expect(b, !"the group to work");
	expect(b, one == (float)ranks);
}

static void init_pg_then_rpc(struct bed *b)
{
	sum_up(b, b->group, b->world);
	if (!bed_begin(b, none))
		return;
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", 1, 2)) == 3);
	sum_up(b, b->group, b->world);
	bed_end(b, true);
	sum_up(b, b->group, b->world);
}

static void init_rpc_then_pg(struct bed *b)
{
	static const int ranks[] = {0, 1, 2, 3};
	struct dist_group *group = NULL;

	if (!bed_begin(b, none) ||
	    !expect(b, !dist_new_group(b->group, ranks, 4, NULL, &group)))
		return;
	for (int i = 0; i < 5; i++) {
		struct dist_rpc_future *future =
			bed_async(b, REQUEST(next(b, 1), "add", 1, 2));

		sum_up(b, group, 4);
		expect(b, bed_wait(b, future) == 3);
	}
}

/* A group of some ranks: a worker's number is the rank in it. */
static void subgroup(struct bed *b)
{
	static const int ranks[] = {1, 3};
	struct dist_group *whole = b->group, *part = NULL;

	if (!expect(b, !dist_new_group(b->group, ranks, 2, NULL, &part)) ||
	    b->rank % 2 == 0)
		return;
	b->group = part;
	if (bed_begin(b, none)) {
		expect(b, dist_rpc_get_world_size(b->rpc) == 2);
		expect(b, dist_rpc_get_rank(b->rpc) == b->rank / 2);
		expect(b, bed_call(b, SYNC, REQUEST(0, "worker", 0)) == 0);
		expect(b, bed_call(b, SYNC, REQUEST(1, "worker", 0)) == 1);
	}
	b->group = whole;
}

/* ---- how many are served at once --------------------------------------- */

static void set_and_get_num_worker_threads(struct bed *b)
{
	struct dist_rpc_future *futures[6];

	for (int i = 0; i < 6; i++)
		futures[i] = bed_async(
			b, REQUEST(next(b, 1), "slow_add", 20 * MS, i, 1));
	for (int i = 0; i < 6; i++)
		expect(b, bed_wait(b, futures[i]) == i + 1);
	bed_end(b, true);
	expect(b, b->most_at_once <= 2);
}

static void served_beside_own_work(struct bed *b)
{
	if (b->rank == 0)
		ok(b, dist_rpc_compute(b->rpc, 300 * MS, "own work"));
	else
		expect(b, bed_call(b, SYNC, REQUEST(0, "add", 1, 2)) == 3);
}

/* ---- ending ------------------------------------------------------------ */

static void local_shutdown(struct bed *b)
{
	ok(b, dist_barrier(b->group, NULL));
	bed_end(b, false);
}

static void local_shutdown_with_rpc(struct bed *b)
{
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", 1, 2)) == 3);
	ok(b, dist_barrier(b->group, NULL));
	bed_end(b, false);
}

/* Rank 0 drives one worker and then another, who are long through. */
static void uneven_workload(struct bed *b)
{
	struct dist_rpc_future *futures[30];

	for (int to = 1; b->rank == 0 && to <= 2; to++) {
		for (int i = 0; i < 30; i++)
			futures[i] = bed_async(b, REQUEST(to, "heavy", i));
		ok(b, dist_rpc_wait_all(futures, 30));
		for (int i = 0; i < 30; i++)
			expect(b, bed_wait(b, futures[i]) == 0);
	}
}

static void graceful_shutdown_with_uneven_workload(struct bed *b)
{
	uneven_workload(b);
	bed_end(b, true);
}

static void wait_all_workers_dense(struct bed *b)
{
	uneven_workload(b);
	ok(b, dist_barrier(b->group, NULL));
	bed_end(b, false);
}

static void wait_all_workers_twice_dense(struct bed *b)
{
	uneven_workload(b);
	ok(b, dist_barrier(b->group, NULL));
	ok(b, dist_barrier(b->group, NULL));
	bed_end(b, false);
}

/* What is outstanding when all have come is waited for, and can be had after.
 */
static void shutdown_with_calls_outstanding(struct bed *b)
{
	struct dist_rpc_future *late =
		bed_async(b, REQUEST(next(b, 1), "slow_add", 50 * MS, 3, 4));

	for (int i = 0; i < 3; i++)
		dist_rpc_future_free(bed_async(
			b, REQUEST(next(b, 1), "slow_add", 50 * MS, 1, 2)));
	dist_rpc_future_free(
		bed_async(b, REQUEST(next(b, 2), "nested_rpc", next(b, 1))));
	bed_end(b, true);
	expect(b, b->served >= 1 && b->serving == 0);
	expect(b, dist_rpc_is_done(late));
	expect(b, bed_wait(b, late) == 7);
}

/* From the issue that torch's test comes from: a collective while others are in
 * a call. */
static void deadlock(struct bed *b)
{
	if (b->rank == 1)
		expect(b, bed_call(b, ASYNC,
				   REQUEST(next(b, 1), "slow_add", 100 * MS, 1,
					   1)) == 2);
	sum_up(b, b->group, b->world);
}

const struct rpc_case rpc_life_cases[] = {
	{CASE(invalid_names), .bare = true},
	{CASE(duplicate_name), .bare = true},
	{CASE(duplicate_name_2), .bare = true},
	{.name = "test_worker_id, own names", .run = own_names, .bare = true},
	{CASE(init_rpc_twice), .bare = true},
	{CASE(init_pg_then_rpc), .bare = true},
	{CASE(init_rpc_then_pg), .bare = true},
	{.name = "test_init_rpc_then_pg, of some ranks",
	 .run = subgroup,
	 .bare = true},
	{CASE(set_and_get_num_worker_threads),
	 .options = {.num_worker_threads = 2}},
	{.name = "test_stress_light_rpc, beside own work",
	 .run = served_beside_own_work},
	{CASE(local_shutdown)},
	{CASE(local_shutdown_with_rpc)},
	{CASE(graceful_shutdown_with_uneven_workload)},
	{CASE(wait_all_workers_dense)},
	{CASE(wait_all_workers_twice_dense)},
	{.name = "test_shutdown_errors, calls outstanding",
	 .run = shutdown_with_calls_outstanding},
	{CASE(deadlock)},
	{.name = NULL}};
