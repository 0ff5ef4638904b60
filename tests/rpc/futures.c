/* Futures: waiting, looking, callbacks. */
#include "tests/rpc/bed.h"

#define SEVERAL 10

/* ---- waiting ----------------------------------------------------------- */

static void future_wait_twice(struct bed *b)
{
	struct dist_rpc_future *good =
		bed_async(b, REQUEST(next(b, 1), "add", 1, 2));
	struct dist_rpc_future *bad =
		bed_async(b, REQUEST(next(b, 1), "raise_func", 0));

	for (int i = 0; i < 2; i++) {
		ok(b, dist_rpc_wait(good));
		fails_with(b, DIST_ERR_REMOTE, "Expected error",
			   dist_rpc_wait(bad));
		expect(b, bed_number(b, dist_rpc_value(good)) == 3);
		expect(b, !dist_rpc_value(bad).data);
	}
	dist_rpc_future_free(good);
	dist_rpc_future_free(bad);
}

/* Starts SEVERAL calls of a function, number i with (a * i, b). */
static void start_several(struct bed *b, struct dist_rpc_future **futures,
			  const char *function)
{
	for (int i = 0; i < SEVERAL; i++)
		futures[i] = bed_async(b, REQUEST(next(b, 1), function, i));
}

static void free_several(struct dist_rpc_future **futures)
{
	for (int i = 0; i < SEVERAL; i++)
		dist_rpc_future_free(futures[i]);
}

static void wait_all(struct bed *b)
{
	struct dist_rpc_future *futures[SEVERAL];

	start_several(b, futures, "add");
	ok(b, dist_rpc_wait_all(futures, SEVERAL));
	for (int i = 0; i < SEVERAL; i++) {
		expect(b, dist_rpc_is_done(futures[i]));
		expect(b, bed_number(b, dist_rpc_value(futures[i])) == i);
	}
	free_several(futures);
	ok(b, dist_rpc_wait_all(NULL, 0));
}

static void wait_all_multiple_call(struct bed *b)
{
	struct dist_rpc_future *futures[SEVERAL];

	start_several(b, futures, "add");
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 2), "add", 20, 1)) == 21);
	ok(b, dist_rpc_wait_all(futures, SEVERAL));
	ok(b, dist_rpc_wait_all(futures, SEVERAL));
	free_several(futures);
}

static void wait_all_raise_in_user_func(struct bed *b)
{
	struct dist_rpc_future *futures[SEVERAL];

	start_several(b, futures, "raise_func");
	fails_with(b, DIST_ERR_REMOTE, "Expected error",
		   dist_rpc_wait_all(futures, SEVERAL));
	free_several(futures);
}

static void wait_all_with_partial_exception(struct bed *b)
{
	struct dist_rpc_future *futures[SEVERAL];

	start_several(b, futures, "add");
	dist_rpc_future_free(futures[SEVERAL / 2]);
	futures[SEVERAL / 2] =
		bed_async(b, REQUEST(next(b, 1), "raise_func", 0));
	fails_with(b, DIST_ERR_REMOTE, "Expected error",
		   dist_rpc_wait_all(futures, SEVERAL));
	for (int i = 0; i < SEVERAL; i++)
		expect(b, dist_rpc_is_done(futures[i]));
	free_several(futures);
}

static void wait_all_exit_early_builtin(struct bed *b)
{
	struct dist_rpc_future *futures[SEVERAL];

	start_several(b, futures, "add");
	free_several(futures);
	bed_end(b, true);
	expect(b, b->served == SEVERAL);
}

static void wait_all_timeout(struct bed *b)
{
	struct dist_rpc_future *futures[2];

	for (int i = 0; i < 2; i++) {
		struct dist_rpc_request *request =
			REQUEST(next(b, 1), "slow_add", SECOND, 1, 2);

		request->timeout_ns = 20 * MS;
		futures[i] = bed_async(b, request);
	}
	fails_with(b, DIST_ERR_TIMEOUT, NULL, dist_rpc_wait_all(futures, 2));
	for (int i = 0; i < 2; i++)
		dist_rpc_future_free(futures[i]);
}

/* ---- looking ----------------------------------------------------------- */

static void future_done(struct bed *b)
{
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "slow_add", SECOND, 1, 2));

	expect(b, !dist_rpc_is_done(future));
	ok(b, dist_rpc_wait(future));
	expect(b, dist_rpc_is_done(future));
	expect(b, bed_wait(b, future) == 3);
}

static void future_done_exception(struct bed *b)
{
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "raise_func", 0));

	fails_with(b, DIST_ERR_REMOTE, "Expected error", dist_rpc_wait(future));
	expect(b, dist_rpc_is_done(future));
	dist_rpc_future_free(future);
}

/* Looks until it is there, which must not stop the clock of a simulation. The
 * first look may find it there, where the caller was slow to look. */
static void future_polled(struct bed *b)
{
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "slow_add", MS, 1, 2));
	long looks = 0;

	while (!dist_rpc_is_done(future) && looks < 100000000)
		looks++;
	expect(b, dist_rpc_is_done(future));
	expect(b, bed_wait(b, future) == 3);
}

/* ---- callbacks --------------------------------------------------------- */

struct called {
	struct bed *b;
	atomic_int times, order, ended;
	_Atomic int64_t total;
	atomic_int error; /* enum dist_error */
};

static void add_up(void *context, struct dist_rpc_future *future)
{
	struct called *called = context;
	enum dist_error error;

	expect(called->b, dist_rpc_is_done(future));
	error = dist_rpc_wait(future);
	called->error = error;
	if (!error)
		called->total += bed_number(called->b, dist_rpc_value(future));
	called->times++;
}

/* Lets time pass until the callbacks have been called n times. */
static void expect_calls(struct called *called, int n)
{
	for (int i = 0; called->times < n && i < 100000; i++)
		if (!ok(called->b,
			dist_rpc_compute(called->b->rpc, MS, "wait")))
			break;
	expect(called->b, called->times == n);
}

static void callback_simple(struct bed *b)
{
	struct called called = {.b = b};
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "slow_add", 5 * MS, 3, 4));

	ok(b, dist_rpc_then(future, add_up, &called));
	ok(b, dist_rpc_wait(future));
	expect_calls(&called, 1);
	expect(b, called.total == 7);
	dist_rpc_future_free(future);
}

static void callback_multi(struct bed *b)
{
	struct called called = {.b = b};
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "add", 3, 4));

	for (int i = 0; i < SEVERAL; i++)
		ok(b, dist_rpc_then(future, add_up, &called));
	expect_calls(&called, SEVERAL);
	expect(b, called.total == 7 * SEVERAL);
	dist_rpc_future_free(future);
}

/* After the end, and of a future that is freed at once. */
static void add_done_callback(struct bed *b)
{
	struct called called = {.b = b};
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "add", 3, 4));

	ok(b, dist_rpc_wait(future));
	ok(b, dist_rpc_then(future, add_up, &called));
	dist_rpc_future_free(future);
	future = bed_async(b, REQUEST(next(b, 1), "slow_add", 5 * MS, 1, 2));
	ok(b, dist_rpc_then(future, add_up, &called));
	dist_rpc_future_free(future);
	expect_calls(&called, 2);
	expect(b, called.total == 10);
}

static void callback_with_error(struct bed *b)
{
	struct called called = {.b = b};
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "raise_func", 0));

	ok(b, dist_rpc_then(future, add_up, &called));
	expect_calls(&called, 1);
	expect(b, called.error == DIST_ERR_REMOTE);
	dist_rpc_future_free(future);
}

static void callback_none(struct bed *b)
{
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "add", 1, 2));

	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_then(future, NULL, NULL));
	expect(b, bed_wait(b, future) == 3);
}

/* The call that a callback makes is not waited for there. */
static void call_on(void *context, struct dist_rpc_future *future)
{
	struct called *called = context;
	struct dist_rpc_future *second = bed_async(
		called->b,
		REQUEST(next(called->b, 1), "add",
			bed_number(called->b, dist_rpc_value(future)), 100));

	ok(called->b, dist_rpc_then(second, add_up, called));
	dist_rpc_future_free(second);
}

static void future_nested_callback(struct bed *b)
{
	struct called called = {.b = b};
	struct dist_rpc_future *future =
		bed_async(b, REQUEST(next(b, 1), "add", 1, 2));

	ok(b, dist_rpc_then(future, call_on, &called));
	expect_calls(&called, 1);
	expect(b, called.total == 103);
	dist_rpc_future_free(future);
}

static void callback_in_rpc(struct bed *b)
{
	expect(b, bed_call(b, SYNC,
			   REQUEST(next(b, 1), "callback_in_rpc", next(b, 2), 1,
				   2, 3)) == 6);
}

static void future_in_rpc(struct bed *b)
{
	expect(b, bed_call(b, SYNC,
			   REQUEST(next(b, 1), "callback_in_rpc", b->rank, 2, 4,
				   6)) == 12);
}

const struct rpc_case rpc_future_cases[] = {
	{CASE(future_wait_twice)},
	{CASE(wait_all)},
	{CASE(wait_all_multiple_call)},
	{CASE(wait_all_raise_in_user_func)},
	{CASE(wait_all_with_partial_exception)},
	{CASE(wait_all_exit_early_builtin)},
	{CASE(wait_all_timeout)},
	{CASE(future_done)},
	{CASE(future_done_exception)},
	{.name = "test_future_done, polled", .run = future_polled},
	{CASE(callback_simple)},
	{CASE(callback_multi)},
	{CASE(add_done_callback)},
	{CASE(callback_with_error)},
	{CASE(callback_none)},
	{CASE(future_nested_callback)},
	{CASE(callback_in_rpc)},
	{CASE(future_in_rpc)},
	{.name = NULL}};
