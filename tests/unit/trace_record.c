/* The recorder: what it writes, and that it passes everything on. */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/okay.h"
#include "tests/support/recording.h"
#include "trace/read.h"
#include "trace/recorder.h"
#include "trace/trace.h"

static struct recording r;
static char path[128]; /* where it goes */

static void set_path(void)
{
	recording_path(path, sizeof path, "t.json");
}

TestSuite(trace_record, .init = set_path, .fini = recording_clean);

static json_t *load(void)
{
	json_error_t error;
	json_t *trace = json_load_file(path, 0, &error);

	cr_assert(trace, "%s:%d: %s", path, error.line, error.text);
	return trace;
}

static json_t *finish(void)
{
	recording_finish(&r);
	return load();
}

/* The n-th complete event of a trace. */
static const json_t *complete_event(const json_t *trace, size_t n)
{
	const json_t *events = json_object_get(trace, "traceEvents"), *event;
	size_t i;

	json_array_foreach(
		events, i,
		event) if (strcmp(json_string_value(json_object_get(event,
								    "ph")),
				  "X") == 0 &&
			   n-- == 0) return event;
	return NULL;
}

static void assert_text(const json_t *object, const char *key,
			const char *expected)
{
	const char *found = json_string_value(json_object_get(object, key));

	cr_assert(found, "no \"%s\"", key);
	cr_assert_str_eq(found, expected, "%s is %s", key, found);
}

static void assert_number(const json_t *object, const char *key,
			  double expected)
{
	const json_t *found = json_object_get(object, key);

	cr_assert(json_is_number(found), "no number \"%s\"", key);
	cr_assert_eq(json_number_value(found), expected, "%s is %.17g", key,
		     json_number_value(found));
}

Test(trace_record, parts_are_counted_as_the_profiler_does)
{
	const size_t out_splits[] = {1, 4}, in_splits[] = {3, 0};
	const struct dist_tensor list[] = {{NULL, 5, DIST_FLOAT32},
					   {NULL, 6, DIST_FLOAT32}};
	struct dist__sides gathered = {
		.out = {.count = 2, .whole = {NULL, 14, DIST_FLOAT32}}};
	struct dist__sides listed = {.in = {.count = 2, .list = list}};
	struct dist__sides split = {.in = {.count = 2,
					   .whole = {NULL, 3, DIST_FLOAT32},
					   .splits = in_splits},
				    .out = {.count = 2,
					    .whole = {NULL, 5, DIST_FLOAT32},
					    .splits = out_splits}};
	struct dist__sides none = dist__no_sides;
	const struct dist__op ops[] = {
		{.kind = DIST__ALL_GATHER,
		 .tensor = {NULL, 7, DIST_FLOAT32},
		 .sides = &gathered},
		{.kind = DIST__REDUCE_SCATTER,
		 .tensor = {NULL, 5, DIST_FLOAT32},
		 .reduce_op = DIST_MAX,
		 .sides = &listed},
		{.kind = DIST__ALL_TO_ALL,
		 .tensor = {.dtype = DIST_FLOAT32},
		 .sides = &split},
		{.kind = DIST__GATHER,
		 .tensor = {NULL, 4, DIST_FLOAT32},
		 .sides = &none},
	};
	static const char *const names[] = {"_allgather_base", "reduce_scatter",
					    "all_to_allv", "gather"};
	static const double in[] = {7, 11, 3, 4}, out[] = {14, 5, 5, 8};
	static const double bytes[] = {56, 44, 12, 32};
	const json_t *args;
	json_t *trace;

	recording_start(&r, path, -1, 2);
	for (int i = 0; i < 4; i++)
		recording_op(&r, 0, ops[i]);
	trace = finish();
	for (size_t i = 0; i < 4; i++) {
		args = json_object_get(complete_event(trace, i), "args");
		assert_text(args, "Collective name", names[i]);
		assert_number(args, "In msg nelems", in[i]);
		assert_number(args, "Out msg nelems", out[i]);
		assert_number(args, "size_bytes", bytes[i]);
		assert_text(args, "In split size", i == 2 ? "[3, 0]" : "[]");
		assert_text(args, "Out split size", i == 2 ? "[1, 4]" : "[]");
	}
	args = json_object_get(complete_event(trace, 1), "args");
	assert_text(args, "reduce_op", "max");
	json_decref(trace);
}

static struct dist__op message(enum dist__op_kind kind, int peer)
{
	return (struct dist__op){
		.kind = kind,
		.tensor = {NULL, 10, DIST_INT64},
		.peer = peer,
		.tag = 7,
	};
}

Test(trace_record, arguments_are_the_profilers)
{
	json_t *trace;
	const json_t *event, *args;

	recording_start(&r, path, -1, 2);
	recording_all_reduce(&r, 1024);
	trace = finish();
	event = complete_event(trace, 1);
	assert_text(event, "name", "lockstep:all_reduce");
	assert_text(event, "cat", "communication");
	assert_number(event, "pid", 1);
	assert_number(event, "tid", 1);
	assert_number(event, "ts", 0);
	assert_number(event, "dur", 12.345);
	args = json_object_get(event, "args");
	assert_text(args, "Collective name", "allreduce");
	assert_text(args, "dtype", "Float");
	assert_text(args, "Process Group Name", "0");
	assert_text(args, "Process Group Description", "default_pg");
	assert_text(args, "Process Group Ranks", "[0, 1]");
	assert_text(args, "In split size", "[]");
	assert_number(args, "In msg nelems", 1024);
	assert_number(args, "Out msg nelems", 1024);
	assert_number(args, "Group size", 2);
	assert_number(args, "Rank", 1);
	assert_number(args, "Seq", 0);
	assert_text(args, "algorithm", "ring");
	assert_text(args, "reduce_op", "sum");
	assert_number(args, "size_bytes", 4096);
	assert_text(args, "file", "train.c");
	assert_number(args, "line", 42);
	cr_assert_null(json_object_get(args, "error"));
	json_decref(trace);
}

/* As the profiler writes them, and back again. */
Test(trace_record, every_dtype_has_its_word)
{
	static const char *const text[DIST_NUM_DTYPES] = {
		"Half",         "BFloat16",      "Float",       "Double",
		"Char",         "Byte",          "Int",         "Long",
		"Bool",         "Short",         "UInt16",      "UInt32",
		"UInt64",       "Float8_e4m3fn", "Float8_e5m2", "ComplexFloat",
		"ComplexDouble"};
	struct dist_message problem = {""};
	struct dist__trace calls;
	json_t *trace;

	recording_start(&r, path, -1, 1);
	for (int i = 0; i < DIST_NUM_DTYPES; i++) {
		struct dist__op op = {.kind = DIST__ALL_REDUCE,
				      .tensor.numel = 10,
				      .tensor.dtype = (enum dist_dtype)i,
				      .reduce_op = DIST_MAX,
				      .peer = -1,
				      .tag = -1};

		recording_op(&r, 0, op);
	}
	trace = finish();
	okay(dist__trace_read(path, &calls, &problem));
	cr_assert_eq(calls.num_calls, DIST_NUM_DTYPES);
	for (size_t i = 0; i < DIST_NUM_DTYPES; i++) {
		enum dist_dtype dtype = (enum dist_dtype)i;

		assert_text(json_object_get(complete_event(trace, i), "args"),
			    "dtype", text[i]);
		cr_expect_str_eq(calls.calls[i].dtype, dist_dtype_name(dtype));
		cr_expect_eq(calls.calls[i].bytes, 10 * dist_dtype_size(dtype));
	}
	dist__trace_release(&calls);
	json_decref(trace);
}

/* A receive from any source is told as from the one it heard, but two traces
 * need not have heard the same. */
Test(trace_record, any_source_is_told_and_not_compared)
{
	struct dist__op op = message(DIST__RECV, DIST_ANY_SOURCE);
	struct dist_message problem = {""};
	struct dist__trace calls;
	json_t *trace;
	const json_t *args;

	op.source = 2;
	recording_start(&r, path, -1, 3);
	recording_op(&r, 0, op);
	recording_op(&r, 0, message(DIST__RECV, 1));
	trace = finish();
	args = json_object_get(complete_event(trace, 0), "args");
	assert_number(args, "Src Rank", 2);
	assert_number(args, "any_source", 1);
	args = json_object_get(complete_event(trace, 1), "args");
	assert_number(args, "Src Rank", 1);
	cr_expect_null(json_object_get(args, "any_source"));
	json_decref(trace);
	okay(dist__trace_read(path, &calls, &problem));
	cr_assert_eq(calls.num_calls, 2);
	cr_expect_eq(calls.calls[0].peer, -1);
	cr_expect_eq(calls.calls[1].peer, 1);
	dist__trace_release(&calls);
}

Test(trace_record, head_tells_the_facts)
{
	json_t *trace;

	recording_start(&r, path, -1, 3);
	trace = finish();
	assert_number(trace, "schemaVersion", 1);
	assert_text(trace, "displayTimeUnit", "ms");
	assert_text(json_object_get(trace, "distributedInfo"), "backend",
		    "fake");
	assert_number(json_object_get(trace, "distributedInfo"), "world_size",
		      3);
	assert_text(json_object_get(trace, "lockstep"), "network/model",
		    "CM02");
	json_decref(trace);
}

Test(trace_record, long_groups_are_shortened)
{
	json_t *trace;
	const char *ranks;

	recording_start(&r, path, -1, 64);
	recording_all_reduce(&r, 1);
	trace = finish();
	ranks = json_string_value(json_object_get(
		json_object_get(complete_event(trace, 0), "args"),
		"Process Group Ranks"));
	cr_assert_str_eq(ranks + strlen(ranks) - 13, " 28, 29, ...]");
	json_decref(trace);
}

Test(trace_record, messages_overlap_on_threads_of_their_own)
{
	json_t *trace;

	recording_start(&r, path, -1, 2);
	recording_op(&r, 0, message(DIST__RECV, 1));
	recording_op(&r, 0, message(DIST__SEND, 1));
	r.now_ns += r.duration_ns;
	recording_op(&r, 0, message(DIST__SEND, 1));
	trace = finish();
	assert_number(complete_event(trace, 0), "tid", 2);
	assert_number(complete_event(trace, 1), "tid", 3);
	assert_number(complete_event(trace, 2), "tid", 2);
	assert_number(json_object_get(complete_event(trace, 0), "args"),
		      "Src Rank", 1);
	assert_number(json_object_get(complete_event(trace, 1), "args"),
		      "Dst Rank", 1);
	json_decref(trace);
}

static void record_a_step(const char *to, int part)
{
	recording_start(&r, to, part, 4);
	for (int rank = 0; rank < 4; rank++)
		recording_compute(&r, rank, 1001, "forward");
	recording_all_reduce(&r, 100);
	recording_all_reduce(&r, 100000);
	recording_finish(&r);
}

static size_t slurp(const char *from, char *bytes, size_t size)
{
	FILE *file = fopen(from, "rb");
	size_t n;

	cr_assert(file, "%s", from);
	n = fread(bytes, 1, size, file);
	fclose(file);
	return n;
}

static void assert_same_bytes(const char *a, const char *b)
{
	static char x[1 << 16], y[1 << 16];
	size_t n = slurp(a, x, sizeof x);

	cr_assert(n > 0 && n < sizeof x);
	cr_assert_eq(slurp(b, y, sizeof y), n);
	cr_assert_arr_eq(x, y, n);
}

Test(trace_record, equal_runs_give_equal_bytes)
{
	const char *const names[] = {"t.json", "t.json.gz"};
	char a[128], b[128];

	for (size_t i = 0; i < 2; i++) {
		recording_path(a, sizeof a, names[i]);
		recording_path(b, sizeof b, names[i]);
		record_a_step(a, -1);
		record_a_step(b, -1);
		assert_same_bytes(a, b);
	}
}

Test(trace_record, gz_is_compressed)
{
	unsigned char magic[2];

	recording_path(path, sizeof path, "t.json.gz");
	record_a_step(path, -1);
	cr_assert_eq(slurp(path, (char *)magic, 2), 2);
	cr_assert_eq(magic[0], 0x1f);
	cr_assert_eq(magic[1], 0x8b);
}

/* The parts of all ranks make the file that one recorder of all would have
 * written: each fake rank's clock runs alone, so the collectives are given the
 * same times by hand. */
static void record_simple(const char *to, int part)
{
	recording_start(&r, to, part, 3);
	r.now_ns = 5000000123;
	recording_all_reduce(&r, 10);
	r.now_ns += 777;
	recording_all_reduce(&r, 20);
	recording_finish(&r);
}

Test(trace_record, merged_parts_are_the_whole)
{
	struct dist_message text = {""};
	char whole[128], parts[128], part[160];

	recording_path(whole, sizeof whole, "t.json");
	recording_path(parts, sizeof parts, "t.json");
	record_simple(whole, -1);
	for (int rank = 0; rank < 3; rank++)
		record_simple(parts, rank);
	okay_or(dist__recorder_merge(parts, 3, 0, &text), text);
	assert_same_bytes(whole, parts);
	snprintf(part, sizeof part, "%s.rank0.live", parts);
	cr_assert_neq(access(part, F_OK), 0, "the parts are removed");
}

Test(trace_record, merge_shifts_to_the_earliest_part)
{
	struct dist_message text = {""};
	struct dist__trace trace;

	recording_path(path, sizeof path, "t.json.gz");
	for (int rank = 0; rank < 2; rank++) {
		recording_start(&r, path, rank, 3);
		r.now_ns = rank == 0 ? 9000000001003 : 9000000000001;
		recording_all_reduce(&r, 10);
		recording_finish(&r);
	}
	/* Rank 2 wrote nothing. */
	okay_or(dist__recorder_merge(path, 3, 0, &text), text);
	okay_or(dist__trace_read(path, &trace, &text), text);
	cr_assert_eq(trace.num_calls, 2);
	cr_assert_eq(trace.num_ranks, 2);
	cr_assert_eq(trace.world_size, 3);
	cr_assert_eq(trace.calls[0].started_ns, 1002);
	cr_assert_eq(trace.calls[0].issued_ns, 1002);
	cr_assert_eq(trace.calls[1].started_ns, 0);
	dist__trace_release(&trace);
}

Test(trace_record, a_part_that_nobody_merges_is_a_trace)
{
	struct dist_message message = {""};
	struct dist__recorder *recorder;
	struct dist__trace trace;
	char part[160];

	recorder = dist__recorder_new(path, 1, 2, false);
	recorder->remote(recorder,
			 &(struct dist__remote_span){.rank = 1,
						     .op = "remote",
						     .function = "f",
						     .issued_ns = 7000,
						     .started_ns = 7000,
						     .ended_ns = 7010});
	okay(recorder->finish(recorder, &message));
	snprintf(part, sizeof part, "%s.rank1", path);
	okay_or(dist__trace_read(part, &trace, &message), message);
	cr_assert_eq(trace.num_remote, 1);
	cr_assert_eq(trace.remote[0].ended_ns, 10);
	dist__trace_release(&trace);
	snprintf(part, sizeof part, "%s.rank1.live", path);
	cr_assert_neq(access(part, F_OK), 0, "the spill is removed");
}

Test(trace_record, merge_of_nothing_is_an_error)
{
	struct dist_message text = {""};

	cr_assert_eq(dist__recorder_merge(path, 2, 0, &text), DIST_ERR_IO);
	cr_assert(strstr(text.text, path), "%s", text.text);
	cr_assert_neq(access(path, F_OK), 0);
}

Test(trace_record, merge_that_cannot_be_written_leaves_nothing)
{
	struct dist_message text = {""};
	char part[140];

	recording_path(path, sizeof path, "full.json");
	snprintf(part, sizeof part, "%s.rank0.live", path);
	cr_assert_eq(symlink("/dev/full", path), 0);
	recording_start(&r, path, 0, 1);
	recording_all_reduce(&r, 10);
	recording_finish(&r);
	cr_assert_eq(access(part, F_OK), 0);
	cr_assert_eq(dist__recorder_merge(path, 1, 0, &text), DIST_ERR_IO);
	cr_assert(strstr(text.text, path), "%s", text.text);
	cr_assert_neq(access(part, F_OK), 0);
	unlink(path);
}

Test(trace_record, unwritable_path_is_an_error)
{
	struct dist__recorder *recorder =
		dist__recorder_new("/nonexistent/t.json", -1, 1, false);
	struct dist_message text = {""};

	cr_assert_eq(recorder->finish(recorder, &text), DIST_ERR_IO);
	cr_assert(strstr(text.text, "/nonexistent/t.json"), "%s", text.text);
}

Test(trace_record, a_device_stays_a_device)
{
	struct stat status;

	recording_start(&r, "/dev/null", -1, 1);
	recording_all_reduce(&r, 10);
	recording_finish(&r);
	cr_assert_eq(stat("/dev/null", &status), 0);
	cr_assert(S_ISCHR(status.st_mode));
}

Test(trace_record, a_link_stays_a_link)
{
	char name[128];
	struct stat status;

	recording_path(name, sizeof name, "link.json");
	cr_assert_eq(symlink(path, name), 0);
	recording_start(&r, name, -1, 1);
	recording_all_reduce(&r, 10);
	recording_finish(&r);
	cr_assert_eq(lstat(name, &status), 0);
	cr_assert(S_ISLNK(status.st_mode));
	cr_assert_eq(stat(path, &status), 0);
	cr_assert_gt(status.st_size, 0);
	unlink(name);
	unlink(path);
}

Test(trace_record, call_that_cannot_start_is_not_recorded)
{
	struct dist__op op = {.kind = DIST__BARRIER, .peer = -1, .tag = -1};
	struct dist__trace trace;
	struct dist_message text;

	recording_start(&r, path, -1, 1);
	r.error = DIST_ERR_ABORTED;
	cr_assert_eq(r.ranks[0]->ops->submit(r.ranks[0], &op),
		     DIST_ERR_ABORTED);
	cr_assert(!op.on_end);
	r.error = DIST_OK;
	recording_finish(&r);
	okay(dist__trace_read(path, &trace, &text));
	cr_assert_eq(trace.num_calls, 0);
	dist__trace_release(&trace);
}

Test(trace_record, failed_call_tells_its_error)
{
	struct dist__op op = {.kind = DIST__BARRIER, .peer = -1, .tag = -1};
	struct dist__trace trace;
	struct dist_message text;

	recording_start(&r, path, -1, 1);
	r.error = DIST_ERR_TIMEOUT;
	cr_assert_eq(r.ranks[0]->ops->run(r.ranks[0], &op), DIST_ERR_TIMEOUT);
	recording_finish(&r);
	okay(dist__trace_read(path, &trace, &text));
	cr_assert_str_eq(trace.calls[0].error, "timed out");
	dist__trace_release(&trace);
}

static void *record_many(void *arg)
{
	struct dist__backend *b = arg;

	for (int i = 0; i < 1000; i++) {
		struct dist__op op = {
			.kind = DIST__BARRIER, .peer = -1, .tag = -1};

		if (b->ops->run(b, &op))
			abort();
	}
	return NULL;
}

Test(trace_record, threads_record_together)
{
	struct dist__trace trace;
	struct dist_message text;
	pthread_t threads[4];

	recording_path(path, sizeof path, "t.json.gz");
	recording_start(&r, path, -1, 1);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, record_many,
					    r.ranks[0]),
			     0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	recording_finish(&r);
	okay(dist__trace_read(path, &trace, &text));
	cr_assert_eq(trace.num_calls, 4000);
	dist__trace_release(&trace);
}

/* Rank 1 runs two calls of rank 0 at once. */
static void call_twice(struct dist__recorder *recorder)
{
	struct dist__remote_span span = {.op = "rpc_sync",
					 .function = "add",
					 .file = "ps.c",
					 .line = 41};

	for (int i = 0; i < 2; i++) {
		span.call = 7 + (uint64_t)i;
		span.rank = 0;
		span.other = 1;
		span.served = false;
		span.issued_ns = span.started_ns = 1000 + 100 * i;
		span.ended_ns = 9000 + 100 * i;
		recorder->remote(recorder, &span);
		span.rank = 1;
		span.other = 0;
		span.served = true;
		span.issued_ns = 2000 + 100 * i;
		span.started_ns = 3000 + 100 * i;
		span.ended_ns = 8000;
		recorder->remote(recorder, &span);
	}
}

static void assert_arrow(const json_t *trace, const char *ph, const char *name,
			 const char *id, int pid, double ts)
{
	const json_t *events = json_object_get(trace, "traceEvents"), *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		json_t *copy = (json_t *)event; /* the library takes no const */
		const char *its_ph, *its_name, *its_id;
		int its_pid;

		if (json_unpack(copy, "{s:s, s:s, s:s, s:i}", "ph", &its_ph,
				"name", &its_name, "id", &its_id, "pid",
				&its_pid) == 0 &&
		    strcmp(its_ph, ph) == 0 && strcmp(its_name, name) == 0 &&
		    strcmp(its_id, id) == 0 && its_pid == pid) {
			assert_number(event, "ts", ts);
			return;
		}
	}
	cr_assert(false, "no %s of %s %s at %d", ph, name, id, pid);
}

Test(trace_record, remote_calls_have_arrows_and_threads_of_their_own)
{
	struct dist_message message;
	struct dist__recorder *recorder;
	struct dist__trace read;
	const json_t *event;
	json_t *trace;

	recorder = dist__recorder_new(path, -1, 2, false);
	cr_assert(recorder);
	call_twice(recorder);
	okay(recorder->finish(recorder, &message));
	trace = load();
	event = complete_event(trace, 0);
	assert_text(event, "name", "rpc_sync(add) on rank 1");
	assert_number(event, "tid", 2);
	assert_number(event, "dur", 8);
	assert_number(json_object_get(event, "args"), "line", 41);
	event = complete_event(trace, 1);
	assert_number(event, "tid", 3);
	event = complete_event(trace, 2);
	assert_text(event, "name", "add for rank 0");
	assert_number(event, "tid", 2);
	assert_number(event, "ts", 2);
	assert_number(json_object_get(event, "args"), "issued_us", 1);
	assert_number(complete_event(trace, 3), "tid", 3);
	assert_arrow(trace, "s", "request", "0.7", 0, 0);
	assert_arrow(trace, "f", "request", "0.7", 1, 2);
	assert_arrow(trace, "s", "reply", "0.8", 1, 6.999);
	assert_arrow(trace, "f", "reply", "0.8", 0, 8.099);
	json_decref(trace);
	okay(dist__trace_read(path, &read, &message));
	cr_expect_eq(read.num_calls, 0);
	dist__trace_release(&read);
}

Test(trace_record, remote_calls_of_real_ranks_are_merged)
{
	struct dist_message message;
	struct dist__recorder *recorder;
	char file[160];
	const json_t *event;
	json_t *trace;

	for (int rank = 0; rank < 2; rank++) {
		recorder = dist__recorder_new(path, rank, 2, true);
		cr_assert(recorder);
		snprintf(file, sizeof file, "f%d", rank);
		recorder->remote(recorder, &(struct dist__remote_span){
						   .rank = rank,
						   .other = 1 - rank,
						   .served = rank == 1,
						   .call = 3,
						   .op = "remote",
						   .function = file,
						   .issued_ns = 5000 - rank,
						   .started_ns = 5000,
						   .ended_ns = 6000});
		okay(recorder->finish(recorder, &message));
	}
	okay(dist__recorder_merge(path, 2, 0, &message));
	trace = load();
	event = complete_event(trace, 0);
	assert_text(event, "name", "remote(f0) on rank 1");
	assert_number(event, "ts", 0.001);
	event = complete_event(trace, 1);
	assert_text(event, "name", "f1 for rank 0");
	assert_number(json_object_get(event, "args"), "issued_us", 0);
	assert_arrow(trace, "f", "request", "0.3", 1, 0.001);
	json_decref(trace);
}
