/* The functions that cases call: those of torch's rpc_test, on numbers. */
#include <stdlib.h>
#include <string.h>

#include "tests/rpc/bed.h"

static void reply(struct bed *b, struct dist_rpc_call *call, int64_t number)
{
	ok(b, dist_rpc_call_reply(call, &number, sizeof number));
}

/* The argument as numbers; what there is not is 0. */
static int64_t given(const struct dist_rpc_call *call, size_t index)
{
	struct dist_rpc_bytes in = dist_rpc_call_input(call);
	int64_t number = 0;

	if ((index + 1) * sizeof number <= in.bytes)
		memcpy(&number, (const char *)in.data + index * sizeof number,
		       sizeof number);
	return number;
}

static size_t how_many(const struct dist_rpc_call *call)
{
	return dist_rpc_call_input(call).bytes / sizeof(int64_t);
}

/* ---- plain ones -------------------------------------------------------- */

static void add(void *context, struct dist_rpc_call *call)
{
	struct bed *b = context;
	int64_t sum = 0;

	if (dist_rpc_call_input(call).bytes % sizeof sum) {
		dist_rpc_call_fail(call, "add: expected whole numbers");
		return;
	}
	for (size_t i = 0; i < how_many(call); i++)
		sum += given(call, i);
	b->served++;
	reply(b, call, sum);
}

static void identity(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc_bytes in = dist_rpc_call_input(call);

	ok((struct bed *)context, dist_rpc_call_reply(call, in.data, in.bytes));
}

/* Two arrays of floats, one behind the other, added. */
static void add_arrays(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc_bytes in = dist_rpc_call_input(call);
	size_t n = in.bytes / sizeof(float) / 2;
	const float *x = in.data;
	float *sum = malloc(n * sizeof *sum + 1);

	if (!sum)
		return;
	for (size_t i = 0; i < n; i++)
		sum[i] = x[i] + x[n + i];
	ok((struct bed *)context,
	   dist_rpc_call_reply(call, sum, n * sizeof *sum));
	free(sum);
}

/* The places of the numbers that are not 0. */
static void nonzero(void *context, struct dist_rpc_call *call)
{
	int64_t places[16], n = 0;

	for (size_t i = 0; i < how_many(call) && n < 16; i++)
		if (given(call, i))
			places[n++] = (int64_t)i;
	ok((struct bed *)context,
	   dist_rpc_call_reply(call, places, (size_t)n * sizeof *places));
}

static void worker(void *context, struct dist_rpc_call *call)
{
	reply(context, call, dist_rpc_get_rank(dist_rpc_call_rpc(call)));
}

static void caller(void *context, struct dist_rpc_call *call)
{
	reply(context, call, dist_rpc_call_caller(call));
}

static void no_result(void *context, struct dist_rpc_call *call)
{
	(void)call;
	((struct bed *)context)->served++;
}

static void light(void *context, struct dist_rpc_call *call)
{
	((struct bed *)context)->served++;
	reply(context, call, 0);
}

static void heavy(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc_bytes in = dist_rpc_call_input(call);
	const float *x = in.data;
	float sum = 0;

	for (size_t i = 0; i < in.bytes / sizeof *x; i++)
		for (int k = 1; k < 100; k++)
			sum += x[i] * (float)k / (float)(k + 1);
	reply(context, call, sum < 0);
}

/* Takes a time, and then adds the rest. */
static void slow_add(void *context, struct dist_rpc_call *call)
{
	struct bed *b = context;
	int at_once = ++b->serving, most = b->most_at_once;

	while (at_once > most &&
	       !atomic_compare_exchange_weak(&b->most_at_once, &most, at_once))
		;
	(void)!dist_rpc_compute(dist_rpc_call_rpc(call), given(call, 0),
				"slow_add");
	b->serving--;
	reply(b, call, given(call, 1) + given(call, 2));
}

/* ---- those that fail --------------------------------------------------- */

static void raise_func(void *context, struct dist_rpc_call *call)
{
	(void)context;
	dist_rpc_call_fail(call, "Expected error");
}

static void raise_escaped(void *context, struct dist_rpc_call *call)
{
	(void)context;
	dist_rpc_call_fail(call, "\nFirst line of error \n next line of error "
				 "\n last line of error");
}

static void raise_or_inc(void *context, struct dist_rpc_call *call)
{
	if (how_many(call) == 2)
		dist_rpc_call_fail(call, "Expected error");
	else
		reply(context, call, given(call, 0) + 1);
}

/* ---- those that end their process -------------------------------------- */

static void leave(void *context, struct dist_rpc_call *call)
{
	(void)context;
	exit((int)given(call, 0));
}

static void break_down(void *context, struct dist_rpc_call *call)
{
	(void)context;
	(void)call;
	abort();
}

/* ---- those that call others -------------------------------------------- */

static void nested_rpc(void *context, struct dist_rpc_call *call)
{
	int to = (int)given(call, 0);

	reply(context, call, bed_call(context, SYNC, REQUEST(to, "add", 2, 1)));
}

/* Returns at once and leaves a call of itself behind, and so on. */
static void multi_layer(void *context, struct dist_rpc_call *call)
{
	int64_t to = given(call, 0), ttl = given(call, 1);
	struct bed *b = context;

	b->served++;
	if (ttl > 0)
		dist_rpc_future_free(
			bed_async(b, REQUEST((int)to, "multi_layer",
					     (to + 1) % b->world, ttl - 1)));
	reply(b, call, 0);
}

/* ---- those that end later: torch's async_execution ---------------------- */

/* A call that ends with the last of several others. */
struct later {
	struct bed *b;
	struct dist_rpc_call *call;
	_Atomic int64_t total;
	atomic_int missing;
	atomic_bool failed;
};

static void answer(void *context, struct dist_rpc_future *future)
{
	struct later *later = context;

	if (dist_rpc_wait(future))
		later->failed = true;
	else
		later->total += bed_number(later->b, dist_rpc_value(future));
	if (--later->missing > 0)
		return;
	if (later->failed)
		dist_rpc_call_fail(later->call, "Expected error");
	else
		reply(later->b, later->call, later->total);
	dist_rpc_call_end(later->call);
	free(later);
}

/* Begins one of the calls that later ends with. */
static void begin(struct later *later, const struct dist_rpc_request *request)
{
	struct bed *b = later->b; /* later may end before then does */
	struct dist_rpc_future *future = bed_async(b, request);

	ok(b, dist_rpc_then(future, answer, later));
	dist_rpc_future_free(future);
}

/* total is replied, too. */
static struct later *later_of(struct bed *b, struct dist_rpc_call *call,
			      int64_t total, int others)
{
	struct later *later = calloc(1, sizeof *later);

	if (!later)
		abort();
	later->b = b;
	later->call = call;
	later->total = total;
	later->missing = others;
	dist_rpc_call_later(call);
	return later;
}

static void async_add(void *context, struct dist_rpc_call *call)
{
	struct later *later = later_of(context, call, given(call, 3), 1);

	begin(later, REQUEST((int)given(call, 0), "add", given(call, 1),
			     given(call, 2)));
}

static void async_add_nested(void *context, struct dist_rpc_call *call)
{
	struct later *later = later_of(context, call, given(call, 3), 1);
	int to = (int)given(call, 0);

	begin(later,
	      REQUEST(to, "async_add", to, given(call, 1), given(call, 2)));
}

/* x, and `step` num times, of as many calls at once. */
static void async_add_multi_fanout(void *context, struct dist_rpc_call *call)
{
	int to = (int)given(call, 0), num = (int)given(call, 2);
	int64_t x = given(call, 1), step = given(call, 3);
	struct later *later = later_of(context, call, 0, num);

	begin(later, REQUEST(to, "add", x, step));
	for (int i = 1; i < num; i++)
		begin(later, REQUEST(to, "add", 0, step));
}

static void async_raise(void *context, struct dist_rpc_call *call)
{
	struct later *later = later_of(context, call, 0, 1);

	begin(later, REQUEST((int)given(call, 0), "raise_func", 0));
}

/* ---- those with callbacks ------------------------------------------------ */

/* What callbacks add to the values of futures. */
struct sum {
	struct bed *b;
	int64_t more;
	_Atomic int64_t total;
	atomic_int ended;
};

static void add_value(void *context, struct dist_rpc_future *future)
{
	struct sum *sum = context;

	sum->total += bed_number(sum->b, dist_rpc_value(future)) + sum->more;
	sum->ended++;
}

/* Lets time pass until the callbacks have run. */
static void wait_for_callbacks(struct sum *sum, int n)
{
	for (int i = 0; sum->ended < n && i < 100000; i++)
		if (dist_rpc_compute(sum->b->rpc, MS, "wait"))
			break;
	expect(sum->b, sum->ended == n);
}

static void callback_in_rpc(void *context, struct dist_rpc_call *call)
{
	struct sum sum = {.b = context, .more = given(call, 3)};
	struct dist_rpc_future *future =
		bed_async(context, REQUEST((int)given(call, 0), "add",
					   given(call, 1), given(call, 2)));

	if (future && ok(sum.b, dist_rpc_then(future, add_value, &sum)))
		wait_for_callbacks(&sum, 1);
	dist_rpc_future_free(future);
	reply(context, call, sum.total);
}

/* ---- those of references ----------------------------------------------- */

static struct wire wire_of(struct bed *b, const struct dist_rpc_call *call)
{
	struct dist_rpc_bytes in = dist_rpc_call_input(call);
	struct wire wire = {.numbers = {0}};

	if (expect(b, in.bytes == sizeof wire))
		memcpy(&wire, in.data, sizeof wire);
	return wire;
}

static void add_rref_to_value(void *context, struct dist_rpc_call *call)
{
	struct wire in = wire_of(context, call);

	reply(context, call,
	      in.numbers[0] +
		      bed_here(context, bed_take(context, &in.forks[0])));
}

static void my_rref_function(void *context, struct dist_rpc_call *call)
{
	struct wire in = wire_of(context, call);
	int64_t a = bed_here(context, bed_take(context, &in.forks[0]));

	reply(context, call,
	      a + bed_here(context, bed_take(context, &in.forks[1])));
}

/* Replies the references and gives them up here. */
static void give(struct bed *b, struct dist_rpc_call *call,
		 struct dist_rref *first, struct dist_rref *second)
{
	struct wire out = {.forks = {bed_fork(b, first)}};

	if (second)
		out.forks[1] = bed_fork(b, second);
	ok(b, dist_rpc_call_reply(call, &out, sizeof out));
	dist_rref_free(first);
	dist_rref_free(second);
}

static void rpc_return_rref(void *context, struct dist_rpc_call *call)
{
	give(context, call,
	     bed_remote(context, REQUEST((int)given(call, 0), "add", 1, 1)),
	     NULL);
}

static void nested_rref(void *context, struct dist_rpc_call *call)
{
	int to = (int)given(call, 0);

	give(context, call, bed_remote(context, REQUEST(to, "add", 1, 1)),
	     bed_remote(context, REQUEST(to, "add", 1, 2)));
}

static void get_rref_list(void *context, struct dist_rpc_call *call)
{
	give(context, call, bed_new(context, given(call, 0)),
	     bed_new(context, given(call, 1)));
}

static void nested_remote(void *context, struct dist_rpc_call *call)
{
	int to = (int)given(call, 0);

	reply(context, call,
	      bed_call(context, REMOTE, REQUEST(to, "add", 1, 3)));
}

/* Hands the reference on, ttl times around; the last one fetches the value. */
static void forward_chain(void *context, struct dist_rpc_call *call)
{
	struct bed *b = context;
	struct wire in = wire_of(b, call), out = in;
	struct dist_rref *rref = bed_take(b, &in.forks[0]);

	if (!rref)
		return;
	if (in.numbers[1] == 0) {
		reply(b, call, bed_here(b, rref));
		return;
	}
	out.forks[0] = bed_fork(b, rref);
	out.numbers[0] = (in.numbers[0] + 1) % b->world;
	out.numbers[1]--;
	give(b, call,
	     bed_remote(b, WIRE((int)in.numbers[0], "forward_chain", &out)),
	     NULL);
	dist_rref_free(rref);
}

/* Adds to a value of this worker, in place. */
static void increment(void *context, struct dist_rpc_call *call)
{
	struct wire in = wire_of(context, call);
	struct dist_rref *rref = bed_take(context, &in.forks[0]);
	struct dist_rpc_bytes value = {NULL, 0};

	if (ok((struct bed *)context, dist_rref_local_value(rref, &value)))
		*(int64_t *)value.data += in.numbers[0];
	dist_rref_free(rref);
}

static void keep_rref(void *context, struct dist_rpc_call *call)
{
	struct wire in = wire_of(context, call);

	((struct bed *)context)->kept = bed_take(context, &in.forks[0]);
}

static void drop_rref(void *context, struct dist_rpc_call *call)
{
	(void)call;
	dist_rref_free(atomic_exchange(&((struct bed *)context)->kept, NULL));
}

static void use_kept_rref(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc_bytes value = {NULL, 0};
	struct bed *b = context;

	if (ok(b, dist_rref_to_here(b->kept, 0, &value)))
		reply(b, call, bed_number(b, value));
	dist_rpc_bytes_free(&value);
}

static void kept_is_confirmed(void *context, struct dist_rpc_call *call)
{
	reply(context, call,
	      dist_rref_confirmed_by_owner(((struct bed *)context)->kept));
}

/* ---- the table --------------------------------------------------------- */

static const struct dist_rpc_entry table[] = {
	{"add", add, NULL},
	{"identity", identity, NULL},
	{"add_arrays", add_arrays, NULL},
	{"nonzero", nonzero, NULL},
	{"worker", worker, NULL},
	{"caller", caller, NULL},
	{"no_result", no_result, NULL},
	{"light", light, NULL},
	{"heavy", heavy, NULL},
	{"slow_add", slow_add, NULL},
	{"raise_func", raise_func, NULL},
	{"raise_escaped", raise_escaped, NULL},
	{"leave", leave, NULL},
	{"break_down", break_down, NULL},
	{"raise_or_inc", raise_or_inc, NULL},
	{"nested_rpc", nested_rpc, NULL},
	{"multi_layer", multi_layer, NULL},
	{"async_add", async_add, NULL},
	{"callback_in_rpc", callback_in_rpc, NULL},
	{"async_add_nested", async_add_nested, NULL},
	{"async_add_multi_fanout", async_add_multi_fanout, NULL},
	{"async_raise", async_raise, NULL},
	{"add_rref_to_value", add_rref_to_value, NULL},
	{"my_rref_function", my_rref_function, NULL},
	{"rpc_return_rref", rpc_return_rref, NULL},
	{"nested_rref", nested_rref, NULL},
	{"get_rref_list", get_rref_list, NULL},
	{"nested_remote", nested_remote, NULL},
	{"forward_chain", forward_chain, NULL},
	{"increment", increment, NULL},
	{"keep_rref", keep_rref, NULL},
	{"drop_rref", drop_rref, NULL},
	{"use_kept_rref", use_kept_rref, NULL},
	{"kept_is_confirmed", kept_is_confirmed, NULL},
};

const int bed_num_functions = sizeof table / sizeof *table;

void bed_functions(struct bed *b, struct dist_rpc_entry *entries)
{
	memcpy(entries, table, sizeof table);
	for (int i = 0; i < bed_num_functions; i++)
		entries[i].context = b;
}
