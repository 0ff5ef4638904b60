/* References: remote, forks, owners, and how long a value lives. */
#include <string.h>

#include "tests/rpc/bed.h"

/* Fetches what a function replied with references in it. */
static struct wire wire_here(struct bed *b, struct dist_rref *rref)
{
	struct dist_rpc_bytes value = {NULL, 0};
	struct wire wire = {.numbers = {0}};

	if (ok(b, dist_rref_to_here(rref, 0, &value)) &&
	    expect(b, value.bytes == sizeof wire))
		memcpy(&wire, value.data, sizeof wire);
	dist_rpc_bytes_free(&value);
	return wire;
}

static struct wire wire_sync(struct bed *b,
			     const struct dist_rpc_request *request)
{
	struct dist_rpc_bytes value = {NULL, 0};
	struct wire wire = {.numbers = {0}};

	if (ok(b, dist_rpc_sync(b->rpc, request, &value)) &&
	    expect(b, value.bytes == sizeof wire))
		memcpy(&wire, value.data, sizeof wire);
	dist_rpc_bytes_free(&value);
	return wire;
}

/* The number that came as the fork of a reference. */
static int64_t taken(struct bed *b, const struct dist_rref_fork *fork)
{
	return bed_here(b, bed_take(b, fork));
}

/* ---- a value with its owner -------------------------------------------- */

static void builtin_remote_ret(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 1, 2));

	expect(b, dist_rref_owner(rref) == next(b, 1));
	expect(b, !dist_rref_is_owner(rref));
	expect(b, bed_here(b, rref) == 3);
	expect(b, dist_rref_owner(NULL) == -1);
}

static void builtin_remote_self(struct bed *b)
{
	struct dist_rref *rref = bed_remote(b, REQUEST(b->rank, "add", 1, 2));
	struct dist_rpc_bytes value = {NULL, 0};

	expect(b, dist_rref_is_owner(rref));
	ok(b, dist_rref_local_value(rref, &value));
	expect(b, bed_number(b, value) == 3);
	dist_rref_free(rref);
}

static void multi_builtin_remote_ret(struct bed *b)
{
	struct dist_rref *rrefs[10];

	for (int i = 0; i < 10; i++)
		rrefs[i] = bed_remote(b, REQUEST(next(b, 1), "add", i, 2));
	for (int i = 10; i-- > 0;)
		expect(b, bed_here(b, rrefs[i]) == i + 2);
}

static void py_udf_remote(struct bed *b)
{
	expect(b,
	       bed_call(b, REMOTE, REQUEST(next(b, 1), "add", 1, 2, b->rank)) ==
		       3 + b->rank);
}

static void multi_py_udf_remote(struct bed *b)
{
	struct dist_rref *rrefs[10];

	for (int i = 0; i < 10; i++)
		rrefs[i] = bed_remote(b, REQUEST(next(b, i), "slow_add",
						 (10 - i) * MS, i, 1));
	for (int i = 0; i < 10; i++)
		expect(b, bed_here(b, rrefs[i]) == i + 1);
}

static void remote_same_worker(struct bed *b)
{
	struct wire message = {.numbers = {0}};
	struct dist_rref *one = bed_remote(b, REQUEST(next(b, 1), "add", 2, 2)),
			 *two = bed_remote(b, REQUEST(next(b, 1), "add", 1, 2)),
			 *sum;

	message.forks[0] = bed_fork(b, one);
	message.forks[1] = bed_fork(b, two);
	sum = bed_remote(b, WIRE(next(b, 1), "my_rref_function", &message));
	expect(b, bed_here(b, sum) == 7);
	dist_rref_free(one);
	dist_rref_free(two);
}

static void local_value_not_on_owner(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 1, 2));
	struct dist_rpc_bytes value = {NULL, 0};

	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rref_local_value(rref, &value));
	expect(b, bed_here(b, rref) == 3);
}

static void local_rref_no_fork(struct bed *b)
{
	struct dist_rref *rref = bed_new(b, 35);
	struct dist_rpc_bytes value = {NULL, 0};

	ok(b, dist_rref_local_value(rref, &value));
	expect(b, bed_number(b, value) == 35);
	expect(b, bed_here(b, rref) == 35);
}

static void owner_equality(struct bed *b)
{
	struct dist_rref *a = bed_new(b, 40), *c = bed_new(b, 50),
			 *other = bed_remote(b,
					     REQUEST(next(b, 1), "add", 1, 1));

	expect(b, dist_rref_owner(a) == dist_rref_owner(c));
	expect(b, dist_rref_owner(a) == b->rank);
	expect(b, dist_rref_owner(other) != b->rank);
	expect(b, bed_here(b, a) + bed_here(b, c) + bed_here(b, other) == 92);
}

/* ---- references as arguments ------------------------------------------- */

/* Two numbers of a function on owner, added by another on user. */
static void rref_args(struct bed *b, enum mode mode, int owner, int user)
{
	struct dist_rref *one = bed_remote(b, REQUEST(owner, "add", 1, 2)),
			 *two = bed_remote(b, REQUEST(owner, "add", 3, 4));
	struct wire message = {.forks = {bed_fork(b, one), bed_fork(b, two)}};

	expect(b, bed_call(b, mode, WIRE(user, "my_rref_function", &message)) ==
			  10);
	dist_rref_free(one);
	dist_rref_free(two);
}

static void py_rref_args(struct bed *b)
{
	rref_args(b, REMOTE, next(b, 1), next(b, 1));
}

static void py_rref_args_user_share(struct bed *b)
{
	rref_args(b, REMOTE, next(b, 1), next(b, 2));
}

static void py_rpc_rref_args(struct bed *b)
{
	rref_args(b, SYNC, next(b, 1), next(b, 1));
}

/* A reference of this rank, added to on dst. */
static void self_rref(struct bed *b, enum mode mode, int dst)
{
	struct dist_rref *rref = bed_remote(b, REQUEST(b->rank, "add", 1, 2));
	struct wire message = {.forks = {bed_fork(b, rref)}, .numbers = {5}};

	expect(b, bed_call(b, mode, WIRE(dst, "add_rref_to_value", &message)) ==
			  8);
	message.forks[0] = bed_fork(b, rref);
	expect(b, bed_call(b, mode, WIRE(dst, "add_rref_to_value", &message)) ==
			  8);
	dist_rref_free(rref);
}

static void self_remote_rref_as_rpc_arg(struct bed *b)
{
	self_rref(b, SYNC, next(b, 1));
	self_rref(b, ASYNC, next(b, 1));
}

static void self_remote_rref_as_self_rpc_arg(struct bed *b)
{
	self_rref(b, SYNC, b->rank);
	self_rref(b, ASYNC, b->rank);
}

static void self_remote_rref_as_remote_arg(struct bed *b)
{
	self_rref(b, REMOTE, next(b, 1));
}

static void self_remote_rref_as_self_remote_arg(struct bed *b)
{
	self_rref(b, REMOTE, b->rank);
}

static void pass_local_rrefs(struct bed *b)
{
	struct dist_rref *rref = bed_new(b, 40);

	for (enum mode mode = SYNC; mode < MODES; mode++) {
		struct wire message = {.forks = {bed_fork(b, rref)},
				       .numbers = {50}};

		expect(b, bed_call(b, mode,
				   WIRE(next(b, 1), "add_rref_to_value",
					&message)) == 90);
	}
	dist_rref_free(rref);
}

/* ---- references as values ---------------------------------------------- */

static void nested_remote(struct bed *b)
{
	expect(b,
	       bed_call(b, REMOTE,
			REQUEST(next(b, 1), "nested_remote", next(b, 2))) == 4);
}

static void expect_two(struct bed *b, struct dist_rref *rref_of_rrefs)
{
	struct wire wire = wire_here(b, rref_of_rrefs);

	expect(b, taken(b, &wire.forks[0]) == 2);
	expect(b, taken(b, &wire.forks[1]) == 3);
	dist_rref_free(rref_of_rrefs);
}

static void nested_rref(struct bed *b)
{
	expect_two(b, bed_remote(b, REQUEST(next(b, 1), "nested_rref",
					    next(b, 2))));
}

static void nested_rref_stress(struct bed *b)
{
	struct dist_rref *rrefs[20];

	for (int i = 0; i < 20; i++)
		rrefs[i] = bed_remote(
			b, REQUEST(next(b, 1), "nested_rref", next(b, 2)));
	for (int i = 0; i < 20; i++)
		expect_two(b, rrefs[i]);
}

static void rpc_return_rref(struct bed *b)
{
	struct wire wire = wire_sync(
		b, REQUEST(next(b, 1), "rpc_return_rref", next(b, 2)));
	struct dist_rref *rref = bed_take(b, &wire.forks[0]);

	expect(b, dist_rref_owner(rref) == next(b, 2));
	expect(b, bed_here(b, rref) == 2);
}

static void return_local_rrefs(struct bed *b)
{
	struct wire wire =
		wire_sync(b, REQUEST(next(b, 1), "get_rref_list", 7, 8));
	struct wire message = {.numbers = {3}};
	struct dist_rref *rref = bed_take(b, &wire.forks[0]);

	message.forks[0] = bed_fork(b, rref);
	ok(b, dist_rpc_sync(b->rpc, WIRE(next(b, 1), "increment", &message),
			    NULL));
	expect(b, bed_here(b, rref) == 10);
	expect(b, taken(b, &wire.forks[1]) == 8);
}

static void call_method_on_rref(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 10, 0));

	for (enum mode mode = SYNC; mode < MODES; mode++) {
		struct wire message = {.forks = {bed_fork(b, rref)},
				       .numbers = {mode + 1}};
		const struct dist_rpc_request *request =
			WIRE(next(b, 1), "increment", &message);
		struct dist_rpc_future *future;
		struct dist_rref *done;

		if (mode == SYNC) {
			ok(b, dist_rpc_sync(b->rpc, request, NULL));
		} else if (mode == ASYNC) {
			future = bed_async(b, request);
			ok(b, dist_rpc_wait(future));
			dist_rpc_future_free(future);
		} else {
			struct dist_rpc_bytes value;

			done = bed_remote(b, request);
			ok(b, dist_rref_to_here(done, 0, &value));
			dist_rpc_bytes_free(&value);
			dist_rref_free(done);
		}
	}
	expect(b, bed_here(b, rref) == 16);
}

static void rref_forward_chain(struct bed *b)
{
	int ttl = 8;
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 1, 0));
	struct wire message = {.forks = {bed_fork(b, rref)},
			       .numbers = {next(b, 2), ttl}};
	struct dist_rref *chain =
		bed_remote(b, WIRE(next(b, 1), "forward_chain", &message));

	for (int i = 0; i < ttl; i++) {
		struct wire wire = wire_here(b, chain);

		dist_rref_free(chain);
		chain = bed_take(b, &wire.forks[0]);
	}
	expect(b, bed_here(b, chain) == 1);
	expect(b, bed_here(b, rref) == 1);
}

/* ---- how long it lives ------------------------------------------------- */

/* A value lives with a reference elsewhere when its maker has given its own
 * up. */
static void rref_context_debug_info(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 20, 1));
	struct wire message = {.forks = {bed_fork(b, rref)}};

	ok(b, dist_rpc_sync(b->rpc, WIRE(next(b, 2), "keep_rref", &message),
			    NULL));
	dist_rref_free(rref);
	ok(b, dist_barrier(b->group, NULL));
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 2), "use_kept_rref", 0)) ==
			  21);
	ok(b, dist_barrier(b->group, NULL));
	ok(b, dist_rpc_sync(b->rpc, REQUEST(next(b, 2), "drop_rref", 0), NULL));
}

static void user_rrefs_confirmed(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 1, 2));
	struct dist_rpc_bytes value;

	ok(b, dist_rref_to_here(rref, 0, &value));
	dist_rpc_bytes_free(&value);
	/* Its owner's word may come behind the value. */
	for (int i = 0; !dist_rref_confirmed_by_owner(rref) && i < 10000; i++)
		ok(b, dist_rpc_compute(b->rpc, MS, "wait"));
	expect(b, dist_rref_confirmed_by_owner(rref));
	dist_rref_free(rref);
	rref = bed_new(b, 1);
	expect(b, dist_rref_confirmed_by_owner(rref));
	dist_rref_free(rref);
	expect(b, !dist_rref_confirmed_by_owner(NULL));
}

static void user_rrefs_confirmed_remote(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 20, 1));
	struct wire message = {.forks = {bed_fork(b, rref)}};

	ok(b, dist_rpc_sync(b->rpc, WIRE(next(b, 2), "keep_rref", &message),
			    NULL));
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 2), "use_kept_rref", 0)) ==
			  21);
	for (int i = 0;
	     !bed_call(b, SYNC, REQUEST(next(b, 2), "kept_is_confirmed", 0));
	     i++)
		if (!expect(b, i < 10000) ||
		    !ok(b, dist_rpc_compute(b->rpc, MS, "wait")))
			break;
	ok(b, dist_rpc_sync(b->rpc, REQUEST(next(b, 2), "drop_rref", 0), NULL));
	dist_rref_free(rref);
}

/* torch refuses to pickle one outside of a call; bytes that are none, here. */
static void rref_py_pickle_not_supported(struct bed *b)
{
	const struct dist_rref_fork none = {{1, 2, 3, 4}};
	struct dist_rref *rref = bed_new(b, 1), *other;
	struct dist_rref_fork fork = bed_fork(b, rref);

	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rref_take(b->rpc, &none, &other));
	other = bed_take(b, &fork);
	expect(b, bed_here(b, other) == 1);
	dist_rref_free(rref);
}

/* Rank 0 frees none of its references: that is the verdict. */
static void rref_leak(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "add", 1, 2));
	struct dist_rpc_bytes value;

	if (b->rank != 0) {
		expect(b, bed_here(b, rref) == 3);
		return;
	}
	ok(b, dist_rref_to_here(rref, 0, &value));
	dist_rpc_bytes_free(&value);
}

/* A fork that nobody takes is one, too. */
static void rref_leak_of_fork(struct bed *b)
{
	struct dist_rref *rref = bed_new(b, 1);

	if (b->rank == 0)
		(void)bed_fork(b, rref);
	dist_rref_free(rref);
}

static void my_parameter_server(struct bed *b)
{
	struct dist_rpc_future *futures[8];
	struct dist_rref *rref = bed_new(b, 0);
	struct dist_rpc_bytes value = {NULL, 0};
	int n = 0;

	for (int i = 1; i < b->world; i++) {
		struct wire message = {.forks = {bed_fork(b, rref)},
				       .numbers = {i}};

		futures[n++] = bed_async(
			b, WIRE(next(b, i), "add_rref_to_value", &message));
	}
	ok(b, dist_rpc_wait_all(futures, n));
	for (int i = 0; i < n; i++)
		expect(b, bed_wait(b, futures[i]) == i + 1);
	ok(b, dist_rref_local_value(rref, &value));
	dist_rref_free(rref);
}

const struct rpc_case rpc_rref_cases[] = {
	{CASE(builtin_remote_ret)},
	{CASE(builtin_remote_self)},
	{CASE(multi_builtin_remote_ret)},
	{CASE(py_udf_remote)},
	{CASE(multi_py_udf_remote)},
	{CASE(remote_same_worker)},
	{CASE(local_value_not_on_owner)},
	{CASE(local_rref_no_fork)},
	{CASE(owner_equality)},
	{CASE(py_rref_args)},
	{CASE(py_rref_args_user_share)},
	{CASE(py_rpc_rref_args)},
	{CASE(self_remote_rref_as_rpc_arg)},
	{CASE(self_remote_rref_as_self_rpc_arg)},
	{CASE(self_remote_rref_as_remote_arg)},
	{CASE(self_remote_rref_as_self_remote_arg)},
	{CASE(pass_local_rrefs)},
	{CASE(nested_remote)},
	{CASE(nested_rref)},
	{CASE(nested_rref_stress)},
	{CASE(rpc_return_rref)},
	{CASE(return_local_rrefs)},
	{CASE(call_method_on_rref)},
	{CASE(rref_forward_chain)},
	{CASE(rref_context_debug_info)},
	{CASE(user_rrefs_confirmed)},
	{CASE(user_rrefs_confirmed_remote)},
	{CASE(rref_py_pickle_not_supported)},
	{CASE(my_parameter_server)},
	{CASE(rref_leak), .status = DIST_EXIT_LEFT,
	 .text = "the value of add, which lies on rank 1"},
	{.name = "test_rref_leak, of a fork",
	 .run = rref_leak_of_fork,
	 .status = DIST_EXIT_LEFT,
	 .text = "left behind: a value is still referred to"},
	{.name = NULL}};
