/* The reader: what was recorded comes back; what is no trace is refused. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/okay.h"
#include "tests/support/recording.h"
#include "trace/read.h"

TestSuite(trace_read, .fini = recording_clean);

/* Four ranks; every kind of operation; every kind of field. */
static void record_all_kinds(const char *path)
{
	struct recording r;
	const struct dist__op ops[] = {
		{.kind = DIST__BROADCAST,
		 .tensor = {NULL, 3, DIST_FLOAT64},
		 .peer = 1,
		 .tag = -1,
		 .site = {"a \"b\"\\c.c", 1}},
		{.kind = DIST__REDUCE,
		 .tensor = {NULL, 5, DIST_INT32},
		 .reduce_op = DIST_MAX,
		 .peer = 3,
		 .tag = -1},
		{.kind = DIST__BARRIER, .peer = -1, .tag = -1},
	};
	const struct dist__op receive = {.kind = DIST__RECV,
					 .tensor = {NULL, 9, DIST_INT64},
					 .peer = 2,
					 .tag = 11};

	recording_start(&r, path, -1, 4);
	for (int rank = 0; rank < 4; rank++) {
		r.now_ns = 2000000000000;
		recording_compute(&r, rank, 3000001, "backward");
	}
	recording_all_reduce(&r, 1000);
	for (size_t i = 0; i < 3; i++)
		for (int rank = 0; rank < 4; rank++)
			recording_op(&r, rank, ops[i]);
	recording_op(&r, 1, receive);
	recording_finish(&r);
}

static void read_back(const char *path, struct dist__trace *trace)
{
	struct dist_message message = {""};

	okay_or(dist__trace_read(path, trace, &message), message);
}

static void check_all_kinds(const struct dist__trace *trace)
{
	const struct dist__trace_call *call = trace->calls;

	cr_assert_str_eq(trace->backend, "fake");
	cr_assert_eq(trace->world_size, 4);
	cr_assert_eq(trace->num_ranks, 4);
	cr_assert_eq(trace->num_facts, 3);
	cr_assert_str_eq(dist__trace_fact(trace, "platform"), "star.xml");
	cr_assert_null(dist__trace_fact(trace, "no such"));
	cr_assert_eq(trace->num_calls, 17);
	cr_assert_eq(trace->num_spans, 4);
	cr_assert_str_eq(trace->spans[3].label, "backward");
	cr_assert_eq(trace->spans[3].rank, 3);
	cr_assert_eq(trace->spans[3].started_ns, 0);
	cr_assert_eq(trace->spans[3].ended_ns, 3000001);

	cr_assert_str_eq(call->op, "all_reduce");
	cr_assert_str_eq(call->algorithm, "ring");
	cr_assert_str_eq(call->dtype, "float32");
	cr_assert_str_eq(call->reduce_op, "sum");
	cr_assert_eq(call->bytes, 4000);
	cr_assert_eq(call->numel, 1000);
	cr_assert_eq(call->root, -1);
	cr_assert_eq(call->started_ns, 3000001);
	cr_assert_eq(call->ended_ns, 3012346);
	call++;
	cr_assert_str_eq(call->op, "broadcast");
	cr_assert_str_eq(call->file, "a \"b\"\\c.c");
	cr_assert_eq(call->line, 1);
	cr_assert_eq(call->root, 1);
	cr_assert_eq(call->seq, 1);
	call++;
	cr_assert_str_eq(call->op, "reduce");
	cr_assert_str_eq(call->reduce_op, "max");
	cr_assert_eq(call->root, 3);
	cr_assert_null(call->file);
	call++;
	cr_assert_str_eq(call->op, "barrier");
	cr_assert_eq(call->bytes, 0);
	call += 5;
	cr_assert_str_eq(call->op, "recv");
	cr_assert_eq(call->rank, 1);
	cr_assert_eq(call->peer, 2);
	cr_assert_eq(call->tag, 11);
	cr_assert_eq(call->seq, 0, "messages are counted alone");
	cr_assert_eq(call->order, 4);
}

Test(trace_read, round_trip)
{
	const char *const names[] = {"t.json", "t.json.gz"};
	struct dist__trace trace;
	char path[128];

	for (size_t i = 0; i < 2; i++) {
		recording_path(path, sizeof path, names[i]);
		record_all_kinds(path);
		read_back(path, &trace);
		check_all_kinds(&trace);
		dist__trace_release(&trace);
	}
}

Test(trace_read, description_is_the_call)
{
	struct dist__trace trace;
	char path[128], words[128];

	recording_path(path, sizeof path, "t.json");
	record_all_kinds(path);
	read_back(path, &trace);
	dist__trace_describe(&trace.calls[0], words, sizeof words);
	cr_assert_str_eq(words,
			 "all_reduce(float32 x 1000, sum) at train.c:42");
	dist__trace_describe(&trace.calls[8], words, sizeof words);
	cr_assert_str_eq(words, "recv(int64 x 9, from 2, tag 11)");
	dist__trace_describe(&trace.calls[3], words, sizeof words);
	cr_assert_str_eq(words, "barrier()");
	dist__trace_describe(&trace.calls[0], words, 8);
	cr_assert_str_eq(words, "all_red");
	dist__trace_release(&trace);
}

/* ---- what others write ------------------------------------------------ */

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert(file);
	cr_assert(fputs(text, file) >= 0);
	cr_assert_eq(fclose(file), 0);
}

static enum dist_error read_text(const char *text, struct dist__trace *trace,
				 struct dist_message *message)
{
	char path[128];

	recording_path(path, sizeof path, "t.json");
	write_text(path, text);
	return dist__trace_read(path, trace, message);
}

#define PROFILER_ARGS                                                          \
	"\"Collective name\": \"allreduce\", \"dtype\": \"BFloat16\", "        \
	"\"In msg nelems\": 100, \"Out msg nelems\": 100, "                    \
	"\"Group size\": 2, \"Process Group Name\": \"0\""

Test(trace_read, reads_the_profilers)
{
	struct dist__trace trace;
	struct dist_message message = {""};

	okay_or(read_text(
			"{\"schemaVersion\": 1, \"deviceProperties\": [{}],\n"
			"\"distributedInfo\": {\"backend\": \"nccl\", "
			"\"rank\": 1, \"world_size\": 2},\n"
			"\"traceEvents\": [\n"
			"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
			"\"record_param_comms\", \"pid\": 99, \"tid\": 99,\n"
			"\"ts\": 5, \"dur\": 1.5, \"args\": "
			"{" PROFILER_ARGS "}},\n"
			"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
			"\"ncclDevKernel_AllReduce\", \"pid\": 0, \"tid\": 7,\n"
			"\"ts\": 6.25, \"dur\": 10, \"args\": "
			"{" PROFILER_ARGS "}},\n"
			"{\"ph\": \"X\", \"cat\": \"Trace\", \"pid\": "
			"\"Spans\", \"tid\": \"x\", \"ts\": 1, \"dur\": 2}\n"
			"], \"traceName\": \"x\"}",
			&trace, &message),
		message);
	cr_assert_eq(trace.num_calls, 1, "the kernel alone");
	cr_assert_eq(trace.calls[0].rank, 1);
	cr_assert_str_eq(trace.calls[0].op, "all_reduce");
	cr_assert_str_eq(trace.calls[0].dtype, "bfloat16");
	cr_assert_eq(trace.calls[0].bytes, 200);
	cr_assert_eq(trace.calls[0].started_ns, 0, "the first event");
	cr_assert_eq(trace.calls[0].ended_ns, 10000);
	dist__trace_release(&trace);
}

Test(trace_read, no_events_is_a_trace)
{
	struct dist__trace trace;
	struct dist_message message = {""};

	okay_or(read_text("{\"traceEvents\": []}", &trace, &message), message);
	cr_assert_eq(trace.num_calls, 0);
	dist__trace_release(&trace);
}

/* ---- what is no trace ------------------------------------------------- */

#define EVENT(members)                                                         \
	"{\"traceEvents\": [\n{\"ph\": \"X\", \"name\": \"lockstep:x\", "      \
	"\"pid\": 0, " members                                                 \
	", \"args\": {\"Collective name\": \"barrier\"}}]}"

struct refused {
	const char *text;
	const char *words; /* that the message holds */
};

static const struct refused refused[] = {
	{"", "1:1: the file ends too early"},
	{"hello", "1:1: not a trace"},
	{"[]", "1:1: not a trace"},
	{"{}", "1:1: not a trace: there is no \"traceEvents\""},
	{"{\"traceEvents\": 3}", "1:17: expected an array"},
	{"{\"traceEvents\": [", "the file ends too early"},
	{"{\"traceEvents\": [{}", "the file ends too early"},
	{"{\"traceEvents\": [{\"a\": \"b", "the file ends too early"},
	{"{\"traceEvents\": [1]}", "1:18: expected an object"},
	{"{\"traceEvents\": [\n{},\n {\"a\" 1}]}", "3:7: ':' expected"},
	{"{\"traceEvents\": [{}{}]}", "1:20: expected ',' or ']'"},
	{"{\"traceEvents\": []} x", "1:21: expected the end"},
	{"{\"traceEvents\" []}", "1:16: expected ':'"},
	{"{traceEvents: []}", "1:2: expected the name of a member"},
	{EVENT("\"ts\": \"soon\""), "2:1: expected a time in microseconds"},
	{EVENT("\"ts\": 1e300"), "2:1: expected a time in microseconds"},
	{EVENT("\"ts\": 1, \"dur\": -2"), "no negative time as \"dur\""},
	{EVENT("\"tid\": \"x\""), "whole number in its range as \"tid\""},
	{"{\"distributedInfo\": {\"world_size\": 1e9}, \"traceEvents\": []}",
	 "1:21: expected a whole number in its range as \"world_size\""},
};

Test(trace_read, refuses_with_the_place)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct dist_message message = {""};
		struct dist__trace trace;

		cr_expect_eq(read_text(refused[i].text, &trace, &message),
			     DIST_ERR_INVALID_ARGUMENT, "%s", refused[i].text);
		cr_expect(strstr(message.text, refused[i].words),
			  "for %s\n  expected %s\n  found %s", refused[i].text,
			  refused[i].words, message.text);
		cr_expect_null(strchr(message.text, '\n'));
		cr_expect_eq(trace.num_calls, 0);
		dist__trace_release(&trace);
	}
}

Test(trace_read, missing_file)
{
	struct dist_message message = {""};
	struct dist__trace trace;

	cr_assert_eq(dist__trace_read("/nonexistent/t", &trace, &message),
		     DIST_ERR_IO);
	cr_assert_str_eq(
		message.text,
		"/nonexistent/t: cannot be read: No such file or directory");
	dist__trace_release(&trace);
}

/* ---- damage ----------------------------------------------------------- */

#define MOST_BYTES (1 << 16)

struct bytes {
	size_t n;
	unsigned char bytes[MOST_BYTES];
};

static void slurp(const char *path, struct bytes *bytes)
{
	FILE *file = fopen(path, "rb");

	cr_assert(file);
	bytes->n = fread(bytes->bytes, 1, MOST_BYTES, file);
	cr_assert(bytes->n > 0 && bytes->n < MOST_BYTES);
	fclose(file);
}

static void spill(const char *path, const unsigned char *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	cr_assert(file);
	cr_assert_eq(fwrite(bytes, 1, n, file), n);
	fclose(file);
}

/* Reads what may be damaged; a refusal comes with one line. */
static enum dist_error survive(const char *path)
{
	struct dist_message message = {""};
	struct dist__trace trace;
	enum dist_error error = dist__trace_read(path, &trace, &message);

	if (error) {
		cr_assert(message.text[0]);
		cr_assert_null(strchr(message.text, '\n'));
	}
	dist__trace_release(&trace);
	return error;
}

Test(trace_read, every_truncation_is_refused)
{
	const char *const names[] = {"t.json", "t.json.gz"};
	static struct bytes whole;
	char path[128];

	for (size_t i = 0; i < 2; i++) {
		recording_path(path, sizeof path, names[i]);
		record_all_kinds(path);
		slurp(path, &whole);
		/* The last byte is a newline, or of the checksum. */
		for (size_t n = 0; n + 2 < whole.n; n += 1 + n / 37) {
			spill(path, whole.bytes, n);
			cr_assert_neq(survive(path), DIST_OK, "%zu of %zu", n,
				      whole.n);
		}
	}
}

/* A generator of Lehmer (1951) with the constants of Park and Miller (1988):
 * the same damage everywhere. */
static uint32_t next_random(uint64_t *state)
{
	*state = *state * 48271 % 2147483647;
	return (uint32_t)*state;
}

static void mutate(struct bytes *bytes, uint64_t *state)
{
	static const char spice[] = "{}[]\",:\\0123456789-eE.tfn \n\xff";
	uint32_t changes = 1 + next_random(state) % 4;

	while (changes-- > 0) {
		size_t at = next_random(state) % bytes->n;

		switch (next_random(state) % 3) {
		case 0:
			bytes->bytes[at] = (unsigned char)
				spice[next_random(state) % (sizeof spice - 1)];
			break;
		case 1:
			bytes->bytes[at] = (unsigned char)next_random(state);
			break;
		default: /* take a piece out */
			bytes->n = at + (bytes->n - at) / 2;
			memmove(bytes->bytes + at,
				bytes->bytes + at + (bytes->n - at) / 2,
				bytes->n - at);
			if (bytes->n == 0)
				return;
		}
	}
}

static void mutate_and_read(const char *name, int rounds)
{
	static struct bytes whole, damaged;
	uint64_t state = 20260101;
	char path[128];

	recording_path(path, sizeof path, name);
	record_all_kinds(path);
	slurp(path, &whole);
	for (int i = 0; i < rounds; i++) {
		damaged = whole;
		mutate(&damaged, &state);
		spill(path, damaged.bytes, damaged.n);
		survive(path);
	}
}

Test(trace_read, damage_never_crashes)
{
	mutate_and_read("t.json", 1500);
	mutate_and_read("t.json.gz", 500);
}
