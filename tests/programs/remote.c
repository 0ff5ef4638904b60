/* Functions that ranks run for each other. */
#include <lockstep/rpc.h>

#include <signal.h>

#include "tests/programs/programs.h"

static struct dist_rpc_request request(int to, const char *function)
{
	return (struct dist_rpc_request){.to = to, .function = function};
}

static enum dist_error begin(struct job *job,
			     const struct dist_rpc_entry *functions,
			     int num_functions, int threads,
			     struct dist_rpc **rpc)
{
	const struct dist_rpc_options options = {.functions = functions,
						 .num_functions = num_functions,
						 .num_worker_threads = threads};

	return dist_rpc_init(job->world, &options, rpc);
}

/* Ends remote calls, at once after an error, which it returns. */
static enum dist_error leave(struct dist_rpc *rpc, enum dist_error error)
{
	enum dist_error late = dist_rpc_shutdown(rpc, !error);

	return error ? error : late;
}

/* Ends the function that serves call by failing, if error says so. */
static void pass_on(struct dist_rpc_call *call, enum dist_error error)
{
	if (error)
		dist_rpc_call_fail(call, "%s", dist_error_string(error));
}

static void push(void *context, struct dist_rpc_call *call)
{
	(void)context;
	(void)call;
}

/* A trainer pulls what the server then asks it for. */
static void pull(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = dist_rpc_call_rpc(call);
	struct dist_rpc_request back =
		request(dist_rpc_call_caller(call), "give");

	(void)context;
	/* culprit: calls_back_and_forth */
	pass_on(call, dist_rpc_sync(rpc, &back, NULL));
}

static void give(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = dist_rpc_call_rpc(call);
	struct dist_rpc_request back =
		request(dist_rpc_call_caller(call), "push");

	(void)context;
	/* culprit: calls_back_and_forth */
	pass_on(call, dist_rpc_sync(rpc, &back, NULL));
}

static const struct dist_rpc_entry parameter_server[] = {
	{"pull", pull, NULL}, {"give", give, NULL}, {"push", push, NULL}};

/* Each function calls the other rank, which has one thread for them. */
enum dist_error calls_back_and_forth(struct job *job)
{
	struct dist_rpc_request to_server = request(1, "pull");
	enum dist_error error = DIST_OK;
	struct dist_rpc *rpc;

	try(begin(job, parameter_server, 3, job->wrong ? 1 : 0, &rpc));
	if (job->rank == 0)
		/* culprit */
		error = dist_rpc_sync(rpc, &to_server, NULL);
	return leave(rpc, error);
}

/* A value on another rank that nobody gives up. */
enum dist_error keeps_a_reference(struct job *job)
{
	struct dist_rpc_request to_server = request(1, "push");
	struct dist_rref *rref = NULL;
	struct dist_rpc *rpc;

	try(begin(job, parameter_server, 3, 0, &rpc));
	if (job->rank == 0)
		/* culprit */
		try(dist_rpc_remote(rpc, &to_server, &rref));
	if (!job->wrong)
		dist_rref_free(rref);
	return dist_rpc_shutdown(rpc, true);
}

static void think(void *context, struct dist_rpc_call *call)
{
	(void)context;
	pass_on(call,
		dist_rpc_compute(dist_rpc_call_rpc(call), 1000000000, "think"));
}

/* A function takes longer than its caller waits. */
enum dist_error has_no_patience(struct job *job)
{
	static const struct dist_rpc_entry functions[] = {
		{"think", think, NULL}};
	struct dist_rpc_request to_thinker = request(1, "think");
	enum dist_error error = DIST_OK;
	struct dist_rpc *rpc;

	try(begin(job, functions, 1, 0, &rpc));
	if (job->wrong)
		to_thinker.timeout_ns = 300000000;
	if (job->rank == 0)
		/* partner */
		error = dist_rpc_sync(rpc, &to_thinker, NULL);
	return leave(rpc, error);
}

static void give_up(void *context, struct dist_rpc_call *call)
{
	(void)context;
	(void)call;
	exit(3);
}

/* Rank 0 calls the first function of rank 1, or the harmless second. */
static enum dist_error call_first(struct job *job,
				  const struct dist_rpc_entry functions[2])
{
	struct dist_rpc_request to_server =
		request(1, functions[job->wrong ? 0 : 1].name);
	enum dist_error error = DIST_OK;
	struct dist_rpc *rpc;

	try(begin(job, functions, 2, 0, &rpc));
	if (job->rank == 0)
		/* partner: exits_in_a_function crashes_in_a_function */
		error = dist_rpc_sync(rpc, &to_server, NULL);
	return leave(rpc, error);
}

/* A function ends the process that runs it. */
enum dist_error exits_in_a_function(struct job *job)
{
	static const struct dist_rpc_entry functions[] = {
		{"give_up", give_up, NULL}, {"push", push, NULL}};

	return call_first(job, functions);
}

static void look_up(void *context, struct dist_rpc_call *call)
{
	(void)context;
	/* culprit: crashes_in_a_function */
	raise(SIGABRT);
	dist_rpc_call_fail(call, "still there");
}

/* A function crashes on a thread that serves, by a signal that the sanitizers
 * leave to us. */
enum dist_error crashes_in_a_function(struct job *job)
{
	static const struct dist_rpc_entry functions[] = {
		{"look_up", look_up, NULL}, {"push", push, NULL}};

	return call_first(job, functions);
}

/* The server leaves at once, and is called then. */
enum dist_error calls_who_has_left(struct job *job)
{
	struct dist_rpc_request to_server = request(1, "push");
	enum dist_error error = DIST_OK;
	struct dist_rpc *rpc;

	try(begin(job, parameter_server, 3, 0, &rpc));
	if (job->rank == 1 && job->wrong) {
		(void)dist_rpc_shutdown(rpc, false);
		return dist_barrier(job->world, NULL);
	}
	if (job->wrong)
		try(dist_barrier(job->world, NULL));
	if (job->rank == 0)
		/* culprit */
		error = dist_rpc_sync(rpc, &to_server, NULL);
	return leave(rpc, error);
}

/* Served while the rank is in a collective, and from a function. */
static void relay(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = dist_rpc_call_rpc(call);
	struct dist_rpc_request on = request(2, "push");

	(void)context;
	pass_on(call, dist_rpc_sync(rpc, &on, NULL));
}

enum dist_error serves_in_a_collective(struct job *job)
{
	static const struct dist_rpc_entry functions[] = {
		{"relay", relay, NULL}, {"push", push, NULL}};
	struct dist_rpc_request to_relay = request(1, "relay");
	float x[4] = {0};
	struct dist_rpc *rpc;

	try(begin(job, functions, 2, 1, &rpc));
	for (int i = 0; i < 3; i++) {
		if (job->rank == 0)
			try(dist_rpc_sync(rpc, &to_relay, NULL));
		try(dist_all_reduce(job->world, floats(x), DIST_SUM, NULL));
	}
	return dist_rpc_shutdown(rpc, true);
}

/* The function ends what serves it. */
static void stop_serving(void *context, struct dist_rpc_call *call)
{
	struct dist_rpc *rpc = dist_rpc_call_rpc(call);

	(void)context;
	pass_on(call, dist_rpc_shutdown(rpc, true));
}

enum dist_error shuts_down_in_a_function(struct job *job)
{
	static const struct dist_rpc_entry functions[] = {
		{"stop_serving", stop_serving, NULL}, {"push", push, NULL}};
	struct dist_rpc_request to_server =
		request(1, job->wrong ? "stop_serving" : "push");
	enum dist_error error = DIST_OK;
	struct dist_rpc *rpc;

	try(begin(job, functions, 2, 0, &rpc));
	if (job->rank == 0)
		/* culprit */
		error = dist_rpc_sync(rpc, &to_server, NULL);
	return leave(rpc, error);
}

static void meet(void *context, struct dist_rpc_call *call)
{
	/* culprit: meets_in_a_function */
	pass_on(call, dist_barrier(context, NULL));
}

/* A function calls a collective while its rank waits for a message. */
enum dist_error meets_in_a_function(struct job *job)
{
	const struct dist_rpc_entry functions[] = {{"meet", meet, job->world},
						   {"push", push, NULL}};
	struct dist_rpc_request to_server =
		request(1, job->wrong ? "meet" : "push");
	struct dist_rpc_future *future;
	float x[4] = {0};
	struct dist_rpc *rpc;

	try(begin(job, functions, 2, 0, &rpc));
	if (job->rank == 0) {
		try(dist_rpc_async(rpc, &to_server, &future));
		try(dist_rpc_compute(rpc, 1000000, "batch"));
		try(dist_send(job->world, floats(x), 1, 0));
	}
	if (job->rank == 1)
		try(dist_recv(job->world, floats(x), 0, 0));
	if (job->rank != 1 || !job->wrong)
		try(dist_barrier(job->world, NULL));
	if (job->rank == 0) {
		try(dist_rpc_wait(future));
		dist_rpc_future_free(future);
	}
	return dist_rpc_shutdown(rpc, true);
}

/* The trainer is newer than the server. */
enum dist_error asks_for_what_there_is_not(struct job *job)
{
	struct dist_rpc_request to_server =
		request(1, job->wrong ? "push_all" : "push");
	enum dist_error error = DIST_OK;
	struct dist_rpc *rpc;

	try(begin(job, parameter_server, 3, 0, &rpc));
	if (job->rank == 0)
		/* culprit */
		error = dist_rpc_sync(rpc, &to_server, NULL);
	return leave(rpc, error);
}

/* Numbers the workers from 1. */
enum dist_error calls_no_such_worker(struct job *job)
{
	static const struct dist_rpc_entry functions[] = {{"push", push, NULL}};
	struct dist_rpc_request of =
		request(job->rank + (at_fault(job, 2) ? 1 : 0), "push");
	enum dist_error error;
	struct dist_rpc *rpc;

	try(begin(job, functions, 1, 1, &rpc));
	/* culprit */
	error = dist_rpc_sync(rpc, &of, NULL);
	return leave(rpc, error);
}

static void spin(void *context, struct dist_rpc_call *call)
{
	(void)context;
	(void)call;
	for (;;)
		;
}

/* Looks for what it does not find; the third has nothing to do. */
enum dist_error spins_in_a_function(struct job *job)
{
	static const struct dist_rpc_entry functions[] = {{"push", push, NULL},
							  {"spin", spin, NULL}};
	struct dist_rpc_request of = request(1, job->wrong ? "spin" : "push");
	struct dist_rpc *rpc;

	try(begin(job, functions, 2, 1, &rpc));
	if (job->rank == 0)
		/* partner */
		try(dist_rpc_sync(rpc, &of, NULL));
	return dist_rpc_shutdown(rpc, true);
}

static const struct dist_rpc_entry push_only[] = {{"push", push, NULL}};

/* Nobody calls it, so it goes home. */
enum dist_error ends_without_a_shutdown(struct job *job)
{
	struct dist_rpc *rpc;

	try(begin(job, push_only, 1, 0, &rpc));
	if (at_fault(job, 2))
		exit(0);
	/* partner */
	return dist_rpc_shutdown(rpc, true);
}

/* The others meet after the shutdown. */
enum dist_error meets_before_the_shutdown(struct job *job)
{
	struct dist_rpc *rpc;

	try(begin(job, push_only, 1, 0, &rpc));
	if (at_fault(job, 1))
		/* culprit */
		try(dist_barrier(job->world, NULL));
	/* partner */
	try(dist_rpc_shutdown(rpc, true));
	return at_fault(job, 1) ? DIST_OK : dist_barrier(job->world, NULL);
}
