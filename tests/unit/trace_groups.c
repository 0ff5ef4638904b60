/* Groups in a trace: named as the profiler names them, compared group by
 * group, in every world. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "tests/support/okay.h"
#include "tests/support/seat.h"
#include "trace/compare.h"
#include "trace/read.h"

/* The halves 0-1 and 2-3 make a group each of their own ranks, the first in
 * turned order, and all calls of both worlds must find each other. swapped:
 * rank 3 sends to where it should receive from. */
static int train(void *arg)
{
	static const int turned[] = {1, 0};
	const struct dist_rank_list list = {turned, 2};
	const struct dist_group_options named = {.name = "stage"};
	struct dist_group *all, *half, *own;
	float x[4] = {1, 2, 3, 4};
	struct dist_tensor t = dist_tensor(x, 4, DIST_FLOAT32);
	int rank, failed;

	if (dist_init_process_group(NULL, &all))
		return 1;
	rank = dist_get_rank(all);
	failed = dist_new_subgroups(all, 2, &named, &half) ||
		 dist_split_group(half, &list, 1, NULL, &own);
	if (failed)
		return 1;
	failed |= dist_broadcast(own, t, rank < 2 ? 0 : 1, NULL) != 0;
	failed |= dist_all_reduce(half, t, DIST_MAX, NULL) != 0;
	if ((rank == 3) == (arg == NULL))
		failed |= rank > 1 && dist_send(half, t, 1 - rank % 2, 5) != 0;
	else
		failed |= rank > 1 && dist_recv(half, t, 1 - rank % 2, 5) != 0;
	failed |= dist_barrier(all, NULL) != 0;
	return dist_destroy_process_group(all) || failed;
}

static void record(const char *backend, const char *path, void *arg)
{
	struct dist_launch_options options = {.backend = backend,
					      .platform = STAR4,
					      .world_size = 4,
					      .trace = path};

	cr_assert_eq(dist_launch(&options, train, arg), DIST_EXIT_OK);
}

/* A string argument of the rank's event that has that name and group. */
static const char *argument(const json_t *events, int rank, const char *name,
			    const char *group, const char *key)
{
	json_t *event, *args;
	const char *found;
	size_t i;

	json_array_foreach(events, i, event)
	{
		args = json_object_get(event, "args");
		found = json_string_value(json_object_get(event, "name"));
		if (strcmp(found, name) != 0 ||
		    json_integer_value(json_object_get(event, "pid")) != rank)
			continue;
		found = json_string_value(
			json_object_get(args, "Process Group Name"));
		if (found && strcmp(found, group) == 0)
			return json_string_value(json_object_get(args, key));
	}
	return NULL;
}

static void expect_argument(const json_t *events, int rank, const char *name,
			    const char *group, const char *key,
			    const char *want)
{
	const char *got = argument(events, rank, name, group, key);

	cr_expect(got && strcmp(got, want) == 0, "%s of %s, group %s: %s, %s",
		  key, name, group, want, got ? got : "nothing");
}

static void expect_words(const char *path)
{
	json_error_t error;
	json_t *trace = json_load_file(path, 0, &error);
	const json_t *events = json_object_get(trace, "traceEvents");

	cr_assert(trace, "%s", error.text);
	expect_argument(events, 1, "lockstep:all_reduce", "1",
			"Process Group Ranks", "[0, 1]");
	expect_argument(events, 2, "lockstep:all_reduce", "2",
			"Process Group Ranks", "[2, 3]");
	expect_argument(events, 2, "lockstep:all_reduce", "2",
			"Process Group Description", "stage");
	expect_argument(events, 1, "lockstep:broadcast", "1.3",
			"Process Group Ranks", "[1, 0]");
	expect_argument(events, 2, "lockstep:broadcast", "2.3",
			"Process Group Ranks", "[3, 2]");
	expect_argument(events, 2, "lockstep:broadcast", "2.3",
			"Process Group Description", "undefined");
	expect_argument(events, 2, "lockstep:barrier", "0",
			"Process Group Description", "default_pg");
	/* There, but no collective in the profiler's sense. */
	expect_argument(events, 3, "lockstep:new_subgroups", "0",
			"Process Group Ranks", "[0, 1, 2, 3]");
	cr_expect_null(argument(events, 3, "lockstep:new_subgroups", "0",
				"Collective name"));
	json_decref(trace);
}

static const struct dist__trace_call *find(const struct dist__trace *trace,
					   int rank, const char *op)
{
	for (size_t i = 0; i < trace->num_calls; i++)
		if (trace->calls[i].rank == rank &&
		    strcmp(trace->calls[i].op, op) == 0)
			return &trace->calls[i];
	cr_assert(0, "no %s", op);
	return NULL;
}

static struct dist__trace read_trace(const char *path)
{
	struct dist_message message = {""};
	struct dist__trace trace;

	okay_or(dist__trace_read(path, &trace, &message), message);
	return trace;
}

Test(trace_groups, are_named_and_compared)
{
	char paths[3][64], reason[512];
	struct dist__trace traces[3];

	for (int i = 0; i < 3; i++)
		snprintf(paths[i], sizeof paths[i], "/tmp/groups-%ld-%d.json",
			 (long)getpid(), i);
	record("tcp", paths[0], NULL);
	record("tcp", paths[1], paths);
	record("sim", paths[2], NULL);
	expect_words(paths[0]);
	expect_words(paths[2]);
	for (int i = 0; i < 3; i++)
		traces[i] = read_trace(paths[i]);
	/* A root is a rank of the group, the end of a message a global one. */
	cr_expect_eq(find(&traces[2], 3, "broadcast")->root, 1);
	cr_expect_eq(find(&traces[2], 3, "send")->peer, 2);
	cr_expect_eq(dist__order_check(&traces[2], &traces[0], reason,
				       sizeof reason),
		     DIST_OK);
	cr_expect_str_empty(reason);
	cr_expect_eq(dist__order_check(&traces[2], &traces[1], reason,
				       sizeof reason),
		     DIST_OK);
	cr_expect(strstr(reason, "rank 2, group 2, call 1: predicted recv("),
		  "%s", reason);
	for (int i = 0; i < 3; i++) {
		dist__trace_release(&traces[i]);
		unlink(paths[i]);
	}
}
