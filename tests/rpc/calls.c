/* Calls that end well: rpc_sync, rpc_async and remote, nested and many. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rpc/bed.h"

static void worker_id(struct bed *b)
{
	const char *name = dist_rpc_get_worker_name(b->rpc, next(b, 1));
	char expected[32];

	snprintf(expected, sizeof expected, "worker%d", next(b, 1));
	expect(b, dist_rpc_get_rank(b->rpc) == b->rank);
	expect(b, name && strcmp(name, expected) == 0);
	expect(b, dist_rpc_get_worker(b->rpc, expected) == next(b, 1));
	expect(b, dist_rpc_get_worker(b->rpc, "WorkerUnknown") == -1);
	expect(b, dist_rpc_get_worker_name(b->rpc, b->world) == NULL);
	expect(b, dist_rpc_get_worker_name(b->rpc, -1) == NULL);
}

static void get_worker_infos(struct bed *b)
{
	expect(b, dist_rpc_get_world_size(b->rpc) == b->world);
	for (int w = 0; w < b->world; w++)
		expect(b, dist_rpc_get_worker(b->rpc, dist_rpc_get_worker_name(
							      b->rpc, w)) == w);
}

static void self_add(struct bed *b)
{
	for (enum mode mode = SYNC; mode < MODES; mode++)
		expect(b,
		       bed_call(b, mode, REQUEST(b->rank, "add", 1, 2)) == 3);
}

static void send_to_rank(struct bed *b)
{
	struct dist_rpc_bytes value;

	for (enum mode mode = SYNC; mode < MODES; mode++)
		for (int to = 0; to < b->world; to++)
			expect(b,
			       bed_call(b, mode, REQUEST(to, "add", to, 1)) ==
				       to + 1);
	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_sync(b->rpc, REQUEST(b->world, "add", 1), &value));
	fails_with(b, DIST_ERR_INVALID_ARGUMENT, NULL,
		   dist_rpc_sync(b->rpc, REQUEST(-1, "add", 1), &value));
}

static void self_py_udf_remote(struct bed *b)
{
	expect(b, bed_call(b, REMOTE, REQUEST(b->rank, "add", 1, 1, 3)) == 5);
}

static void world_size_one(struct bed *b)
{
	const struct dist_rpc_options options = {.name = "me"};

	if (!bed_begin(b, options))
		return;
	expect(b, dist_rpc_get_worker(b->rpc, "me") == 0);
	for (enum mode mode = SYNC; mode < MODES; mode++)
		expect(b, bed_call(b, mode, REQUEST(0, "add", 4, 4)) == 8);
}

static void add(struct bed *b)
{
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", b->rank, 10)) ==
			  b->rank + 10);
}

static void int_callee(struct bed *b)
{
	int to = dist_rpc_get_worker(b->rpc,
				     b->rank == 1 ? "worker2" : "worker1");

	expect(b, bed_call(b, SYNC, REQUEST(to, "worker", 0)) == to);
}

static void async_add(struct bed *b)
{
	expect(b, bed_call(b, ASYNC, REQUEST(next(b, 1), "add", 7, 8)) == 15);
}

static void nonzero(struct bed *b)
{
	static const int64_t expected[] = {1, 3, 4};
	struct dist_rpc_bytes value;

	if (!ok(b, dist_rpc_sync(b->rpc,
				 REQUEST(next(b, 1), "nonzero", 0, 5, 0, 1, 2),
				 &value)))
		return;
	expect(b, value.bytes == sizeof expected &&
			  memcmp(value.data, expected, sizeof expected) == 0);
	dist_rpc_bytes_free(&value);
	expect(b, !value.data && !value.bytes);
}

static void multi_rpc(struct bed *b)
{
	for (int i = 0; i < 20; i++)
		expect(b, bed_call(b, SYNC,
				   REQUEST(next(b, 1), "add", i, b->rank)) ==
				  i + b->rank);
}

static void expected_src(struct bed *b)
{
	for (enum mode mode = SYNC; mode < MODES; mode++)
		expect(b, bed_call(b, mode, REQUEST(next(b, 1), "caller", 0)) ==
				  b->rank);
}

static void py_user_defined(struct bed *b)
{
	expect(b, bed_call(b, SYNC, REQUEST(next(b, 1), "add", 1, 2, 3)) == 6);
}

static void py_no_return_result(struct bed *b)
{
	struct dist_rpc_bytes value = {b, 1};

	ok(b,
	   dist_rpc_sync(b->rpc, REQUEST(next(b, 1), "no_result", 0), &value));
	expect(b, value.bytes == 0);
	dist_rpc_bytes_free(&value);
	ok(b, dist_rpc_sync(b->rpc, REQUEST(next(b, 1), "no_result", 0), NULL));
	ok(b, dist_rpc_sync(b->rpc,
			    &(struct dist_rpc_request){.to = next(b, 1),
						       .function = "no_result"},
			    NULL));
}

/* Sends n floats twice and expects their sums. */
static void add_floats(struct bed *b, size_t n)
{
	float *x = malloc(2 * n * sizeof *x + 1);
	struct dist_rpc_bytes value = {NULL, 0};
	bool right;

	if (!x) {
		expect(b, !"memory");
		return;
	}
	for (size_t i = 0; i < 2 * n; i++)
		x[i] = (float)(i % 1000) + (float)b->rank;
	ok(b,
	   dist_rpc_sync(b->rpc,
			 &(struct dist_rpc_request){.to = next(b, 1),
						    .function = "add_arrays",
						    .data = x,
						    .bytes = 2 * n * sizeof *x},
			 &value));
	right = value.bytes == n * sizeof *x;
	for (size_t i = 0; right && i < n; i++)
		right = ((float *)value.data)[i] == x[i] + x[n + i];
	expect(b, right);
	dist_rpc_bytes_free(&value);
	free(x);
}

static void py_tensors(struct bed *b)
{
	add_floats(b, 9);
}

/* Payloads of any length: none, one, and what no packet holds. */
static void py_tensors_in_container(struct bed *b)
{
	static const size_t lengths[] = {0, 1, 1000, 65536, 300000};

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		add_floats(b, lengths[i]);
}

/* Starts n calls and waits for them. */
static void many(struct bed *b, const char *function, int n, size_t floats)
{
	struct dist_rpc_future **futures = calloc((size_t)n, sizeof *futures);
	float *data = calloc(floats + 1, sizeof *data);
	const struct dist_rpc_request request = {.to = next(b, 1),
						 .function = function,
						 .data = data,
						 .bytes =
							 floats * sizeof *data};
	int begun = 0;

	while (futures && data && begun < n &&
	       (futures[begun] = bed_async(b, &request)))
		begun++;
	expect(b, begun == n);
	for (int i = 0; i < begun; i++)
		expect(b, bed_wait(b, futures[i]) == 0);
	free(data);
	free(futures);
}

static void py_multi_async_call(struct bed *b)
{
	struct dist_rpc_future *first =
		bed_async(b, REQUEST(next(b, 1), "add", 1, 2, 3));
	struct dist_rpc_future *second =
		bed_async(b, REQUEST(next(b, 1), "add", 4, 5));

	expect(b, bed_wait(b, second) == 9);
	expect(b, bed_wait(b, first) == 6);
}

static void py_tensors_multi_async_call(struct bed *b)
{
	many(b, "heavy", 20, 100);
}

static void stress_light_rpc(struct bed *b)
{
	many(b, "light", 1000, 0);
}

static void stress_heavy_rpc(struct bed *b)
{
	many(b, "heavy", 20, 10000);
}

static void nested_rpc(struct bed *b)
{
	expect(b, bed_call(b, SYNC,
			   REQUEST(next(b, 1), "nested_rpc", b->rank)) == 3);
}

static void multi_layer_nested_async_rpc(struct bed *b)
{
	int layers = 20, first = next(b, 1);

	expect(b, bed_call(b, SYNC,
			   REQUEST(first, "multi_layer", (first + 1) % b->world,
				   layers)) == 0);
	bed_end(b, true);
	expect(b, b->served >= layers);
}

static void py_built_in(struct bed *b)
{
	struct dist_rpc_bytes value = {NULL, 0};
	static const char text[] = "what was sent";

	ok(b, dist_rpc_sync(b->rpc,
			    &(struct dist_rpc_request){.to = next(b, 1),
						       .function = "identity",
						       .data = text,
						       .bytes = sizeof text},
			    &value));
	expect(b, value.bytes == sizeof text &&
			  memcmp(value.data, text, sizeof text) == 0);
	dist_rpc_bytes_free(&value);
}

/* ---- functions that end with a call of theirs --------------------------- */

/* A case that calls function in one mode. */
#define LATER(name, function, mode, x, y, z, expected)                         \
	static void name(struct bed *b)                                        \
	{                                                                      \
		expect(b, bed_call(b, mode,                                    \
				   REQUEST(next(b, 1), function, next(b, 2),   \
					   x, y, z)) == (expected));           \
	}

LATER(async_function_simple, "async_add", SYNC, 1, 1, 0, 2)
LATER(async_function_chained, "async_add", SYNC, 1, 2, 3, 6)
LATER(async_function_chained_remote, "async_add", REMOTE, 1, 2, 3, 6)
LATER(async_function_nested, "async_add_nested", SYNC, 1, 2, 3, 6)
LATER(async_function_nested_remote, "async_add_nested", REMOTE, 1, 2, 3, 6)
LATER(async_function_multi_fanout, "async_add_multi_fanout", SYNC, 1, 6, 2, 13)
LATER(async_function_multi_fanout_async, "async_add_multi_fanout", ASYNC, 1, 6,
      2, 13)
LATER(async_function_multi_fanout_remote, "async_add_multi_fanout", REMOTE, 1,
      6, 2, 13)

/* They need no thread while they wait: one serves them all, around a ring. */
static void async_function_one_thread(struct bed *b)
{
	struct dist_rpc_future *futures[20];

	for (int i = 0; i < 20; i++)
		futures[i] = bed_async(
			b, REQUEST(next(b, 1), "async_add", next(b, 2), i, 1));
	for (int i = 0; i < 20; i++)
		expect(b, bed_wait(b, futures[i]) == i + 1);
}

const struct rpc_case rpc_call_cases[] = {
	{CASE(worker_id)},
	{CASE(get_worker_infos)},
	{CASE(self_add)},
	{CASE(send_to_rank),
	 .text = "refused, and went on: expected a worker from 0 to 3, got -1"},
	{CASE(self_py_udf_remote)},
	{CASE(world_size_one), .world = 1, .bare = true},
	{CASE(add)},
	{CASE(int_callee)},
	{CASE(async_add)},
	{CASE(nonzero)},
	{CASE(multi_rpc)},
	{CASE(expected_src)},
	{CASE(py_built_in)},
	{CASE(py_user_defined)},
	{CASE(py_no_return_result)},
	{CASE(py_tensors)},
	{CASE(py_tensors_in_container)},
	{CASE(py_multi_async_call)},
	{CASE(py_tensors_multi_async_call)},
	{CASE(stress_light_rpc)},
	{CASE(stress_heavy_rpc)},
	{CASE(nested_rpc)},
	{CASE(multi_layer_nested_async_rpc)},
	{CASE(async_function_simple)},
	{CASE(async_function_chained)},
	{CASE(async_function_chained_remote)},
	{CASE(async_function_nested)},
	{CASE(async_function_nested_remote)},
	{CASE(async_function_multi_fanout)},
	{CASE(async_function_multi_fanout_async)},
	{CASE(async_function_multi_fanout_remote)},
	{.name = "test_async_function_simple, one thread",
	 .run = async_function_one_thread,
	 .options = {.num_worker_threads = 1}},
	{.name = NULL}};
