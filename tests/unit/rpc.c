/*
 * Remote calls, on TCP and in simulation, by the same program: calls at once,
 * nested and to oneself, what fails and with which words, references that are
 * passed on, and what they cost in simulated time.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/rpc.h"
#include "tests/support/seat.h"

#define SECOND INT64_C(1000000000)

static const char *worlds[] = {"tcp", "sim"};

static int launch(const char *world, int ranks, int (*program)(void *))
{
	struct dist_launch_options options = {
		.backend = world,
		.world_size = ranks,
		.platform = strcmp(world, "sim") == 0 ? STAR4 : NULL,
		.timeout_ns = 100 * SECOND,
	};

	return dist_launch(&options, program, NULL);
}

#define IN_BOTH(name, ranks)                                                   \
	static int name(void *arg);                                            \
	Test(rpc, name##_tcp)                                                  \
	{                                                                      \
		cr_assert_eq(launch(worlds[0], ranks, name), 0);               \
	}                                                                      \
	Test(rpc, name##_sim)                                                  \
	{                                                                      \
		cr_assert_eq(launch(worlds[1], ranks, name), 0);               \
	}                                                                      \
	static int name(void *arg)

/* A rank fails with the line of what is not so. */
#define EXPECT(condition)                                                      \
	do                                                                     \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #condition);                         \
			exit(1);                                               \
		}                                                              \
	while (0)

/* ---- functions that are called ----------------------------------------- */

static void add(void *context, struct dist_rpc_call *call)
{
	const struct dist_rpc_bytes in = dist_rpc_call_input(call);
	const int *x = in.data;
	int sum = x[0] + x[1];

	(void)context;
	if (in.bytes != 2 * sizeof *x)
		dist_rpc_call_fail(call, "expected 2 ints, got %zu bytes",
				   in.bytes);
	else
		(void)dist_rpc_call_reply(call, &sum, sizeof sum);
}

static void echo(void *context, struct dist_rpc_call *call)
{
	const struct dist_rpc_bytes in = dist_rpc_call_input(call);

	(void)context;
	(void)dist_rpc_call_reply(call, in.data, in.bytes);
}

static void boom(void *context, struct dist_rpc_call *call)
{
	(void)context;
	dist_rpc_call_fail(call, "expected no call from %d",
			   dist_rpc_call_caller(call));
}

static void slow(void *context, struct dist_rpc_call *call)
{
	const struct dist_rpc_bytes in = dist_rpc_call_input(call);
	int64_t duration_ns = SECOND / 5;

	(void)context;
	if (in.data)
		duration_ns = *(const int64_t *)in.data;
	if (dist_rpc_compute(dist_rpc_call_rpc(call), duration_ns, "slow"))
		dist_rpc_call_fail(call, "could not compute");
}

/* Calls the next worker with one less, down to 0; replies how deep it went. */
static void dive(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = dist_rpc_call_rpc(call);
	int depth = *(const int *)dist_rpc_call_input(call).data, next;
	struct dist_rpc_bytes value;

	(void)context;
	if (depth == 0) {
		(void)dist_rpc_call_reply(call, &depth, sizeof depth);
		return;
	}
	next = depth - 1;
	if (dist_rpc_sync(rpc,
			  &(struct dist_rpc_request){
				  .to = (dist_rpc_get_rank(rpc) + 1) %
					dist_rpc_get_world_size(rpc),
				  .function = "dive",
				  .data = &next,
				  .bytes = sizeof next},
			  &value)) {
		dist_rpc_call_fail(call, "at %d", depth);
		return;
	}
	next = *(const int *)value.data + 1;
	dist_rpc_bytes_free(&value);
	(void)dist_rpc_call_reply(call, &next, sizeof next);
}

/* Takes the reference that it gets, and replies what it refers to. */
static void take(void *context, struct dist_rpc_call *call)
{
	struct dist_rref *rref;
	struct dist_rpc_bytes value;

	(void)context;
	if (dist_rref_take(dist_rpc_call_rpc(call),
			   dist_rpc_call_input(call).data, &rref)) {
		dist_rpc_call_fail(call, "no fork");
		return;
	}
	if (dist_rref_to_here(rref, 0, &value)) {
		dist_rpc_call_fail(call, "no value");
	} else {
		(void)dist_rpc_call_reply(call, value.data, value.bytes);
		dist_rpc_bytes_free(&value);
	}
	dist_rref_free(rref);
}

static const struct dist_rpc_entry functions[] = {
	{"add", add, NULL},   {"echo", echo, NULL}, {"boom", boom, NULL},
	{"slow", slow, NULL}, {"dive", dive, NULL}, {"take", take, NULL},
};

/* ---- a rank ---------------------------------------------------------------
 */

struct rank {
	struct dist_group *group;
	struct dist_rpc *rpc;
	int rank, world_size;
};

static struct rank come(int threads)
{
	const struct dist_rpc_options options = {
		.functions = functions,
		.num_functions = sizeof functions / sizeof *functions,
		.num_worker_threads = threads};
	struct rank r;

	EXPECT(!dist_init_process_group(NULL, &r.group));
	EXPECT(!dist_rpc_init(r.group, &options, &r.rpc));
	r.rank = dist_rpc_get_rank(r.rpc);
	r.world_size = dist_rpc_get_world_size(r.rpc);
	return r;
}

static int go(struct rank *r)
{
	EXPECT(!dist_rpc_shutdown(r->rpc, true));
	EXPECT(!dist_destroy_process_group(r->group));
	return 0;
}

static struct dist_rpc_request request(int to, const char *function,
				       const void *data, size_t bytes)
{
	return (struct dist_rpc_request){
		.to = to, .function = function, .data = data, .bytes = bytes};
}

static enum dist_error call(const struct rank *r, int to, const char *function,
			    const void *data, size_t bytes,
			    struct dist_rpc_bytes *value)
{
	struct dist_rpc_request q = request(to, function, data, bytes);

	return dist_rpc_sync(r->rpc, &q, value);
}

static void expect_words(const struct rank *r, const char *words)
{
	struct dist_message message;

	dist_rpc_error_message(r->rpc, &message);
	if (!strstr(message.text, words)) {
		fprintf(stderr, "expected \"%s\" in \"%s\"\n", words,
			message.text);
		exit(1);
	}
}

/* ---- calls
 * ------------------------------------------------------------------- */

IN_BOTH(each_calls_each, 4)
{
	struct rank r = come(0);
	struct dist_rpc_bytes value;

	(void)arg;
	for (int to = 0; to < r.world_size; to++) {
		int x[] = {r.rank, to};

		EXPECT(!call(&r, to, "add", x, sizeof x, &value));
		EXPECT(value.bytes == sizeof(int) &&
		       *(int *)value.data == r.rank + to);
		dist_rpc_bytes_free(&value);
	}
	return go(&r);
}

IN_BOTH(any_length_comes_back, 2)
{
	struct rank r = come(0);
	struct dist_rpc_bytes value;

	(void)arg;
	for (size_t bytes = 0; bytes < 3000000; bytes = bytes * 3 + 1) {
		unsigned char *data = malloc(bytes + 1);

		for (size_t i = 0; i < bytes; i++)
			data[i] = (unsigned char)(i * 7 + bytes);
		EXPECT(!call(&r, 1 - r.rank, "echo", data, bytes, &value));
		EXPECT(value.bytes == bytes &&
		       (bytes == 0 || memcmp(value.data, data, bytes) == 0));
		dist_rpc_bytes_free(&value);
		free(data);
	}
	return go(&r);
}

IN_BOTH(what_fails_says_so, 2)
{
	struct rank r = come(0);
	struct dist_rpc_bytes value;

	(void)arg;
	EXPECT(call(&r, 1, "boom", NULL, 0, &value) == DIST_ERR_REMOTE);
	expect_words(&r, "worker1: boom: expected no call from");
	EXPECT(call(&r, r.rank, "boom", NULL, 0, &value) == DIST_ERR_REMOTE);
	expect_words(&r, "expected no call from");
	EXPECT(call(&r, 1, "none", NULL, 0, &value) == DIST_ERR_REMOTE);
	expect_words(&r, "worker1: none: no such function");
	EXPECT(call(&r, 2, "add", NULL, 0, &value) ==
	       DIST_ERR_INVALID_ARGUMENT);
	expect_words(&r, "expected a worker from 0 to 1, got 2");
	EXPECT(call(&r, 1, "", NULL, 0, &value) == DIST_ERR_INVALID_ARGUMENT);
	return go(&r);
}

IN_BOTH(calls_run_at_once, 2)
{
	struct rank r = come(0);
	struct dist_rpc_future *futures[8];
	int64_t begin_ns = dist_now_ns(r.group);

	(void)arg;
	for (int i = 0; i < 8; i++) {
		struct dist_rpc_request q = request(i % 2, "slow", NULL, 0);

		EXPECT(!dist_rpc_async(r.rpc, &q, &futures[i]));
	}
	EXPECT(!dist_rpc_is_done(futures[0]));
	EXPECT(!dist_rpc_wait_all(futures, 8));
	EXPECT(dist_rpc_is_done(futures[0]));
	/* One after the other they would take 1.6 s. */
	EXPECT(dist_now_ns(r.group) - begin_ns < SECOND);
	for (int i = 0; i < 8; i++)
		dist_rpc_future_free(futures[i]);
	return go(&r);
}

IN_BOTH(one_thread_serves_one_call, 2)
{
	struct rank r = come(1);
	struct dist_rpc_future *futures[3];
	int64_t begin_ns = dist_now_ns(r.group);

	(void)arg;
	for (int i = 0; i < 3; i++) {
		struct dist_rpc_request q = request(1, "slow", NULL, 0);

		if (r.rank == 0)
			EXPECT(!dist_rpc_async(r.rpc, &q, &futures[i]));
	}
	for (int i = 0; i < 3 && r.rank == 0; i++) {
		EXPECT(!dist_rpc_wait(futures[i]));
		dist_rpc_future_free(futures[i]);
	}
	if (r.rank == 0)
		EXPECT(dist_now_ns(r.group) - begin_ns >= SECOND * 6 / 10);
	return go(&r);
}

IN_BOTH(calls_nest, 3)
{
	struct rank r = come(0);
	struct dist_rpc_bytes value;
	int depth = 12;

	(void)arg;
	EXPECT(!call(&r, (r.rank + 1) % 3, "dive", &depth, sizeof depth,
		     &value));
	EXPECT(*(int *)value.data == 12);
	dist_rpc_bytes_free(&value);
	return go(&r);
}

IN_BOTH(a_call_may_take_too_long, 2)
{
	struct rank r = come(0);
	int64_t duration_ns = SECOND;
	struct dist_rpc_request q =
		request(1 - r.rank, "slow", &duration_ns, sizeof duration_ns);
	struct dist_rpc_future *future;

	(void)arg;
	q.timeout_ns = SECOND / 50;
	EXPECT(dist_rpc_sync(r.rpc, &q, NULL) == DIST_ERR_TIMEOUT);
	EXPECT(!dist_rpc_async(r.rpc, &q, &future));
	EXPECT(dist_rpc_wait(future) == DIST_ERR_TIMEOUT);
	EXPECT(dist_rpc_wait(future) == DIST_ERR_TIMEOUT);
	EXPECT(dist_rpc_value(future).bytes == 0);
	dist_rpc_future_free(future);
	q = request(1 - r.rank, "slow", NULL, 0);
	EXPECT(!dist_rpc_sync(r.rpc, &q, NULL));
	/* The calls are still served. */
	EXPECT(dist_destroy_process_group(r.group) ==
	       DIST_ERR_INVALID_ARGUMENT);
	return go(&r);
}

static void count(void *context, struct dist_rpc_future *future)
{
	EXPECT(dist_rpc_is_done(future));
	*(int *)context += *(const int *)dist_rpc_value(future).data;
}

IN_BOTH(then_comes_after, 2)
{
	struct rank r = come(0);
	int x[] = {3, 4}, counted = 0;
	struct dist_rpc_request q = request(1 - r.rank, "add", x, sizeof x);
	struct dist_rpc_future *future;

	(void)arg;
	EXPECT(!dist_rpc_async(r.rpc, &q, &future));
	EXPECT(!dist_rpc_then(future, count, &counted));
	dist_rpc_future_free(future);
	/* It waits for what is to be done after calls, too. */
	EXPECT(!dist_rpc_shutdown(r.rpc, true));
	EXPECT(counted == 7);
	EXPECT(!dist_destroy_process_group(r.group));
	return 0;
}

IN_BOTH(shutdown_serves_until_all_are_there, 3)
{
	struct rank r = come(0);

	(void)arg;
	if (r.rank == 0)
		for (int i = 0; i < 4; i++)
			EXPECT(!call(&r, 1 + i % 2, "slow", NULL, 0, NULL));
	return go(&r);
}

IN_BOTH(who_left_is_lost, 3)
{
	struct rank r = come(0);
	enum dist_error error;

	(void)arg;
	if (r.rank == 2) {
		EXPECT(!dist_rpc_shutdown(r.rpc, false));
		EXPECT(!dist_barrier(r.group, NULL));
		EXPECT(!dist_destroy_process_group(r.group));
		return 0;
	}
	do
		error = call(&r, 2, "echo", NULL, 0, NULL);
	while (!error);
	EXPECT(error == DIST_ERR_PEER_LOST);
	EXPECT(!call(&r, 1 - r.rank, "slow", NULL, 0, NULL));
	EXPECT(!dist_barrier(r.group, NULL));
	EXPECT(dist_rpc_shutdown(r.rpc, true) == DIST_ERR_PEER_LOST);
	EXPECT(!dist_destroy_process_group(r.group));
	return 0;
}

/* ---- names
 * -------------------------------------------------------------------- */

IN_BOTH(workers_have_names, 2)
{
	const char *names[] = {"trainer", "ps:0"};
	struct dist_rpc_options options = {.functions = functions,
					   .num_functions = 1};
	struct rank r;

	(void)arg;
	EXPECT(!dist_init_process_group(NULL, &r.group));
	options.name = names[dist_get_rank(r.group)];
	EXPECT(!dist_rpc_init(r.group, &options, &r.rpc));
	EXPECT(dist_rpc_get_worker(r.rpc, "ps:0") == 1);
	EXPECT(dist_rpc_get_worker(r.rpc, "ps") == -1);
	EXPECT(strcmp(dist_rpc_get_worker_name(r.rpc, 0), "trainer") == 0);
	EXPECT(!dist_rpc_get_worker_name(r.rpc, 2));
	EXPECT(dist_rpc_register(r.rpc, "add", add, NULL) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(!dist_rpc_shutdown(r.rpc, true));
	options.name = "same";
	EXPECT(dist_rpc_init(r.group, &options, &r.rpc) ==
	       DIST_ERR_INVALID_ARGUMENT);
	expect_words(&r, "both called same");
	options.name = "a b";
	EXPECT(dist_rpc_init(r.group, &options, &r.rpc) ==
	       DIST_ERR_INVALID_ARGUMENT);
	EXPECT(!dist_destroy_process_group(r.group));
	return 0;
}

/* ---- references
 * ------------------------------------------------------------------ */

IN_BOTH(references_are_passed_on, 3)
{
	struct rank r = come(0);
	struct dist_rpc_bytes value;
	struct dist_rref_fork fork;
	struct dist_rref *rref;

	(void)arg;
	for (int owner = 0; owner < 3; owner++) {
		int x[] = {20, r.rank};
		struct dist_rpc_request q = request(owner, "add", x, sizeof x);

		EXPECT(!dist_rpc_remote(r.rpc, &q, &rref));
		EXPECT(dist_rref_owner(rref) == owner);
		EXPECT(dist_rref_is_owner(rref) == (owner == r.rank));
		for (int to = 0; to < 3; to++) {
			EXPECT(!dist_rref_fork(rref, &fork));
			EXPECT(!call(&r, to, "take", &fork, sizeof fork,
				     &value));
			EXPECT(*(int *)value.data == 20 + r.rank);
			dist_rpc_bytes_free(&value);
		}
		EXPECT(!dist_rref_to_here(rref, 0, &value));
		EXPECT(*(int *)value.data == 20 + r.rank);
		EXPECT(dist_rref_confirmed_by_owner(rref));
		dist_rpc_bytes_free(&value);
		dist_rref_free(rref);
	}
	return go(&r);
}

IN_BOTH(the_owner_changes_its_value, 2)
{
	struct rank r = come(1);
	struct dist_rref_fork fork;
	struct dist_rref *rref;
	struct dist_rpc_bytes value;
	int x = r.rank;

	(void)arg;
	EXPECT(!dist_rref_new(r.rpc, &x, sizeof x, &rref));
	EXPECT(!dist_rref_local_value(rref, &value));
	*(int *)value.data += 10;
	EXPECT(!dist_rref_fork(rref, &fork));
	dist_rref_free(rref);
	/* The fork alone keeps the value. */
	EXPECT(!call(&r, 1 - r.rank, "take", &fork, sizeof fork, &value));
	EXPECT(*(int *)value.data == 10 + r.rank);
	dist_rpc_bytes_free(&value);
	fork.words[0]++;
	EXPECT(dist_rref_take(r.rpc, &fork, &rref) ==
	       DIST_ERR_INVALID_ARGUMENT);
	return go(&r);
}

IN_BOTH(a_reference_says_what_failed, 2)
{
	struct rank r = come(0);
	struct dist_rpc_request q = request(1, "boom", NULL, 0);
	struct dist_rpc_bytes value;
	struct dist_rref *rref;

	(void)arg;
	EXPECT(!dist_rpc_remote(r.rpc, &q, &rref));
	EXPECT(dist_rref_to_here(rref, 0, &value) == DIST_ERR_REMOTE);
	expect_words(&r, "expected no call from");
	dist_rref_free(rref);
	return go(&r);
}

/* ---- phantoms
 * ----------------------------------------------------------------------- */

IN_BOTH(phantoms_are_simulated, 2)
{
	struct rank r = come(0);
	struct dist_rpc_bytes value;
	int64_t begin_ns = dist_now_ns(r.group);
	bool sim = strcmp(dist_get_backend(r.group), "sim") == 0;
	enum dist_error error =
		call(&r, 1 - r.rank, "echo", NULL, 1 << 20, &value);

	(void)arg;
	EXPECT(error == (sim ? DIST_OK : DIST_ERR_UNSUPPORTED));
	if (sim) {
		EXPECT(!value.data && value.bytes == 1 << 20);
		/* Twice a MiB, at 12.5 GB/s at most. */
		EXPECT(dist_now_ns(r.group) - begin_ns > 2 * 83886);
	}
	return go(&r);
}
