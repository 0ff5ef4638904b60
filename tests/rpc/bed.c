/* What the cases of remote calls have in common. */
#include "tests/rpc/bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORM "scenarios/platforms/star-8.xml"

bool bed_expect(struct bed *b, bool right, const char *what, const char *file,
		int line)
{
	if (!right) {
		fprintf(stderr, "%s:%d: rank %d: expected %s\n", file, line,
			b->rank, what);
		b->failed = true;
	}
	return right;
}

/* Says what came instead. */
static bool wrong(struct bed *b, enum dist_error error, const char *what,
		  const char *file, int line)
{
	struct dist_message message = {""};

	dist_rpc_error_message(b->rpc, &message);
	fprintf(stderr, "%s:%d: rank %d: %s: %s (%s)\n", file, line, b->rank,
		what, dist_error_string(error), message.text);
	b->failed = true;
	return false;
}

bool bed_ok(struct bed *b, enum dist_error error, const char *what,
	    const char *file, int line)
{
	return !error || wrong(b, error, what, file, line);
}

bool bed_fails(struct bed *b, enum dist_error expected, const char *words,
	       enum dist_error error, const char *what, const char *file,
	       int line)
{
	struct dist_message message = {""};

	dist_rpc_error_message(b->rpc, &message);
	return (error == expected && (!words || strstr(message.text, words))) ||
	       wrong(b, error, what, file, line);
}

int64_t bed_number(struct bed *b, struct dist_rpc_bytes bytes)
{
	int64_t number = -1;

	if (expect(b, bytes.data && bytes.bytes == sizeof number))
		memcpy(&number, bytes.data, sizeof number);
	return number;
}

struct dist_rref *bed_remote(struct bed *b,
			     const struct dist_rpc_request *request)
{
	struct dist_rref *rref = NULL;

	ok(b, dist_rpc_remote(b->rpc, request, &rref));
	return rref;
}

struct dist_rpc_future *bed_async(struct bed *b,
				  const struct dist_rpc_request *request)
{
	struct dist_rpc_future *future = NULL;

	ok(b, dist_rpc_async(b->rpc, request, &future));
	return future;
}

int64_t bed_here(struct bed *b, struct dist_rref *rref)
{
	struct dist_rpc_bytes value = {NULL, 0};
	int64_t number = -1;

	if (rref && ok(b, dist_rref_to_here(rref, 0, &value)))
		number = bed_number(b, value);
	dist_rpc_bytes_free(&value);
	dist_rref_free(rref);
	return number;
}

int64_t bed_wait(struct bed *b, struct dist_rpc_future *future)
{
	int64_t number = -1;

	if (future && ok(b, dist_rpc_wait(future)))
		number = bed_number(b, dist_rpc_value(future));
	dist_rpc_future_free(future);
	return number;
}

int64_t bed_call(struct bed *b, enum mode mode,
		 const struct dist_rpc_request *request)
{
	struct dist_rpc_bytes value = {NULL, 0};
	int64_t number = -1;

	if (mode == REMOTE)
		return bed_here(b, bed_remote(b, request));
	if (mode == ASYNC)
		return bed_wait(b, bed_async(b, request));
	if (ok(b, dist_rpc_sync(b->rpc, request, &value)))
		number = bed_number(b, value);
	dist_rpc_bytes_free(&value);
	return number;
}

struct dist_rref *bed_new(struct bed *b, int64_t number)
{
	struct dist_rref *rref = NULL;

	ok(b, dist_rref_new(b->rpc, &number, sizeof number, &rref));
	return rref;
}

struct dist_rref_fork bed_fork(struct bed *b, struct dist_rref *rref)
{
	struct dist_rref_fork fork = {{0}};

	ok(b, dist_rref_fork(rref, &fork));
	return fork;
}

struct dist_rref *bed_take(struct bed *b, const struct dist_rref_fork *fork)
{
	struct dist_rref *rref = NULL;

	ok(b, dist_rref_take(b->rpc, fork, &rref));
	return rref;
}

bool bed_begin(struct bed *b, struct dist_rpc_options options)
{
	struct dist_rpc_entry *entries =
		calloc((size_t)bed_num_functions, sizeof *entries);
	bool begun;

	if (!expect(b, entries != NULL))
		return false;
	bed_functions(b, entries);
	options.functions = entries;
	options.num_functions = bed_num_functions;
	begun = ok(b, dist_rpc_init(b->group, &options, &b->rpc)) &&
		expect(b, !dist_barrier(b->group, NULL));
	free(entries);
	return begun;
}

void bed_end(struct bed *b, bool graceful)
{
	enum dist_error error = dist_rpc_shutdown(b->rpc, graceful);

	b->rpc = NULL;
	expect(b, !error);
}

/* ---- a case's job ------------------------------------------------------ */

static int rank_main(void *arg)
{
	const struct rpc_case *c = arg;
	struct bed b = {.name = c->name};

	if (dist_init_process_group(NULL, &b.group))
		return 1;
	b.rank = dist_get_rank(b.group);
	b.world = dist_get_world_size(b.group);
	if (c->bare || bed_begin(&b, c->options))
		c->run(&b);
	if (b.rpc)
		bed_end(&b, true);
	if (dist_destroy_process_group(b.group))
		return 1;
	return b.failed;
}

int bed_launch(const struct rpc_case *c, const char *backend)
{
	const struct dist_launch_options options = {
		.backend = backend,
		.world_size = c->world ? c->world : 4,
		.platform = strcmp(backend, "sim") == 0 ? PLATFORM : NULL,
		.timeout_ns = 60 * SECOND,
	};

	return dist_launch(&options, rank_main, (void *)c);
}
