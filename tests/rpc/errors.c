/* Calls that fail: by their function, their time, their callee. */
#include <unistd.h>

#include "tests/rpc/bed.h"

/* Expects a call to fail in every mode. */
static void fail_in_all_modes(struct bed *b, enum dist_error error,
			      const char *words,
			      const struct dist_rpc_request *request)
{
	struct dist_rpc_bytes value = {NULL, 0};
	struct dist_rpc_future *future;
	struct dist_rref *rref;

	fails_with(b, error, words, dist_rpc_sync(b->rpc, request, &value));
	expect(b, !value.data);
	future = bed_async(b, request);
	fails_with(b, error, words, dist_rpc_wait(future));
	dist_rpc_future_free(future);
	rref = bed_remote(b, request);
	fails_with(b, error, words, dist_rref_to_here(rref, 0, &value));
	dist_rref_free(rref);
}

/* ---- by the function --------------------------------------------------- */

static void py_raise_in_user_func(struct bed *b)
{
	fail_in_all_modes(b, DIST_ERR_REMOTE, "Expected error",
			  REQUEST(next(b, 1), "raise_func", 0));
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", 1, 2)) == 3);
}

static void py_raise_in_user_func_escaped_str(struct bed *b)
{
	fail_in_all_modes(
		b, DIST_ERR_REMOTE,
		"\nFirst line of error \n next line of error \n last line",
		REQUEST(next(b, 1), "raise_escaped", 0));
}

static void py_function_exception(struct bed *b)
{
	char odd[3] = {0};

	fail_in_all_modes(b, DIST_ERR_REMOTE, "add: expected whole numbers",
			  &(struct dist_rpc_request){.to = next(b, 1),
						     .function = "add",
						     .data = odd,
						     .bytes = sizeof odd});
}

/* The message says who failed. */
static void handle_exception_source(struct bed *b)
{
	const char *name = dist_rpc_get_worker_name(b->rpc, next(b, 1));

	fail_in_all_modes(b, DIST_ERR_REMOTE, name,
			  REQUEST(next(b, 1), "raise_func", 0));
}

static void function_not_on_callee(struct bed *b)
{
	fail_in_all_modes(b, DIST_ERR_REMOTE, "no such function",
			  REQUEST(next(b, 1), "no_such_function", 0));
}

static void remote_throw(struct bed *b)
{
	struct dist_rref *good =
		bed_remote(b, REQUEST(next(b, 1), "raise_or_inc", 1));
	struct dist_rref *bad =
		bed_remote(b, REQUEST(next(b, 1), "raise_or_inc", 1, 1));
	struct dist_rpc_bytes value;

	fails_with(b, DIST_ERR_REMOTE, "Expected error",
		   dist_rref_to_here(bad, 0, &value));
	expect(b, bed_here(b, good) == 2);
	dist_rref_free(bad);
}

/* By a call of its own, when it has long returned. */
static void async_function_raise(struct bed *b)
{
	fail_in_all_modes(b, DIST_ERR_REMOTE, "Expected error",
			  REQUEST(next(b, 1), "async_raise", next(b, 2)));
}

/* On one's own, in place. */
static void remote_with_exception(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(b->rank, "raise_func", 0));
	struct dist_rpc_bytes value;

	fails_with(b, DIST_ERR_REMOTE, "Expected error",
		   dist_rref_local_value(rref, &value));
	dist_rref_free(rref);
}

/* ---- by what was asked ------------------------------------------------- */

static void wrong_types(struct bed *b)
{
	struct dist_rpc_future *future;
	struct dist_rpc_bytes value;
	struct dist_rref *rref;
	const struct dist_rpc_request nameless = {.to = next(b, 1)};

	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_sync(b->rpc, NULL, &value));
	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_sync(b->rpc, &nameless, &value));
	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_async(b->rpc, &nameless, &future));
	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_remote(b->rpc, &nameless, &rref));
	expect(b, dist_rpc_sync(NULL, REQUEST(0, "add", 1), &value) ==
			  DIST_ERR_INVALID_ARGUMENT);
}

static void op_with_invalid_args(struct bed *b)
{
	dist_rpc_function *none = NULL;

	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_register(b->rpc, "none", none, NULL));
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", 0)) == 0);
}

/* ---- by time ----------------------------------------------------------- */

static void rpc_timeouts(struct bed *b)
{
	struct dist_rpc_request *request =
		REQUEST(next(b, 1), "slow_add", SECOND, 1, 2);
	struct dist_rpc_future *future;

	request->timeout_ns = 20 * MS;
	fails_with(b, DIST_ERR_TIMEOUT, NULL,
		   dist_rpc_sync(b->rpc, request, NULL));
	future = bed_async(b, request);
	fails_with(b, DIST_ERR_TIMEOUT, NULL, dist_rpc_wait(future));
	dist_rpc_future_free(future);
	request->timeout_ns = DIST_TIMEOUT_NEVER;
	expect(b, bed_call(b, SYNC, request) == 3);
}

static void default_timeout_used(struct bed *b)
{
	struct dist_rpc_request *request =
		REQUEST(next(b, 1), "slow_add", SECOND, 1, 2);

	fail_in_all_modes(b, DIST_ERR_TIMEOUT, NULL, request);
	request->timeout_ns = 50 * SECOND;
	expect(b, bed_call(b, ASYNC, request) == 3);
}

static void rref_timeout(struct bed *b)
{
	struct dist_rref *rref =
		bed_remote(b, REQUEST(next(b, 1), "slow_add", SECOND, 1, 2));
	struct dist_rpc_bytes value;

	fails_with(b, DIST_ERR_TIMEOUT, NULL,
		   dist_rref_to_here(rref, 20 * MS, &value));
	expect(b, bed_here(b, rref) == 3);
}

/* ---- by the callee ----------------------------------------------------- */

static void handle_send_exceptions(struct bed *b)
{
	struct dist_rpc_bytes value;

	ok(b, dist_barrier(b->group, NULL));
	if (b->rank == 2)
		bed_end(b, false);
	ok(b, dist_barrier(b->group, NULL));
	if (b->rank != 2)
		fails_with(b, DIST_ERR_PEER_LOST, NULL,
			   dist_rpc_sync(b->rpc, REQUEST(2, "add", 1), &value));
	ok(b, dist_barrier(b->group, NULL));
	if (b->rank != 2)
		bed_end(b, false);
}

/* ---- ranks that end before remote calls do ------------------------------ */

/* Whose rpc lives cannot destroy the group. */
static void all_return(struct bed *b)
{
	b->rpc = NULL;
}

static void one_returns(struct bed *b)
{
	if (b->rank == 1)
		b->rpc = NULL;
}

/* Nobody answers, and the job is over. */
static void call_in_vain(struct bed *b, const char *function, int64_t status)
{
	if (b->rank == 0)
		(void)!dist_rpc_sync(
			b->rpc,
			&(struct dist_rpc_request){.to = 1,
						   .function = function,
						   .data = &status,
						   .bytes = sizeof status},
			NULL);
}

static void function_exits(struct bed *b)
{
	call_in_vain(b, "leave", 3);
}

static void function_exits_well(struct bed *b)
{
	call_in_vain(b, "leave", 0);
}

static void function_aborts(struct bed *b)
{
	call_in_vain(b, "break_down", 0);
}

const struct rpc_case rpc_error_cases[] = {
	{CASE(py_raise_in_user_func)},
	{CASE(py_raise_in_user_func_escaped_str)},
	{CASE(py_function_exception)},
	{.name = "test_py_function_exception, its source",
	 .run = handle_exception_source},
	{CASE(function_not_on_callee)},
	{CASE(remote_throw)},
	{CASE(remote_with_exception)},
	{CASE(async_function_raise)},
	{CASE(wrong_types), .text = "refused, and went on: expected a request"},
	{CASE(op_with_invalid_args)},
	{CASE(rpc_timeouts)},
	{CASE(default_timeout_used), .options = {.timeout_ns = 20 * MS}},
	{CASE(rref_timeout)},
	{CASE(handle_send_exceptions)},
	{.name = "all ranks return without a shutdown",
	 .run = all_return,
	 .status = DIST_EXIT_INVALID,
	 .text = "ranks 0-3 (4) called destroy"},
	{.name = "a rank returns without a shutdown",
	 .run = one_returns,
	 .status = DIST_EXIT_INVALID,
	 .text = "invalid call: rank 1 called destroy"},
	{.name = "a function calls exit()",
	 .run = function_exits,
	 .status = DIST_EXIT_RANK_LOST,
	 .text = "rank lost: rank 1 ",
	 .ends_inside = true},
	{.name = "a function calls exit(0)",
	 .run = function_exits_well,
	 .status = DIST_EXIT_RANK_LOST,
	 .text = "rank lost: rank 1 ",
	 .ends_inside = true},
	{.name = "a function aborts",
	 .run = function_aborts,
	 .status = DIST_EXIT_RANK_LOST,
	 .text = "rank lost: rank 1 was killed by signal 6 (Aborted)",
	 .ends_inside = true},
	{.name = NULL}};
