/* Dumps: written, read back, refused, and put together to a verdict. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/diagnosis.h"
#include "tests/support/dump_fuzz.h"

enum { TIMEOUT = -5, PEER_LOST = -8, ABORTED = -9 };

static const struct check_dump blank = {
	.job = "a", .world = "tcp", .world_size = 3, .timeout_ns = 1000};

/* A call at time_ns on which the rank blocks; error: it failed there. */
static uint32_t block(struct check_dump *dump, int64_t time_ns, int32_t error)
{
	struct check_slot *slot = &dump->slot;
	struct check_call call = {.op = "all_reduce",
				  .dtype = "float32",
				  .reduce_op = "sum",
				  .group = "default",
				  .index = check_collectives(slot, 0, 0),
				  .peer = -1,
				  .peer_rank = -1,
				  .tag = -1,
				  .numel = 4,
				  .terms = UINT64_MAX,
				  .issued_ns = time_ns};
	uint32_t number;

	check_site_set(&call.site, "train.c", 7);
	number = check_issue(slot, &call);
	check_wait(slot, number, NULL);
	if (error)
		check_end(slot, number, error, time_ns + 1000);
	return number;
}

static struct check_dump dump_of(uint32_t rank)
{
	struct check_dump dump = blank;

	dump.rank = rank;
	dump.slot.state = CHECK_RANK_RUNNING;
	check_join(&dump.slot, 0, 0);
	return dump;
}

/* A call served, one queued, a wait of each, and a reference. */
static void call_remotely(struct check_slot *slot)
{
	static const struct check_rpc_wait own = {.by = CHECK_BY_OWN,
						  .worker = 2,
						  .caller = 1,
						  .call = UINT64_MAX,
						  .op = "rpc_sync",
						  .function = "add",
						  .site = {"ps.c", 41}};
	static const struct check_reference held = {
		.kind = CHECK_REFERENCE_HANDLE, .owner = 2};
	struct check_rpc_wait of_function = own;
	uint32_t place;

	check_rpc_join(slot, 0, 0, 16, "ps");
	place = check_rpc_queue(slot, 2, 9, "get", 5);
	check_rpc_run(slot, place, 6);
	(void)check_rpc_queue(slot, 0, 1, "put", 7);
	(void)check_rpc_wait(slot, &own);
	of_function.by = (int32_t)place;
	check_rpc_wait_end(slot, check_rpc_wait(slot, &of_function), TIMEOUT,
			   8);
	(void)check_rpc_hold(slot, &held);
}

/* The dump as a rank leaves it; the caller frees it. */
static char *print(const struct check_dump *dump)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert(check_dump_print(out, dump));
	fclose(out);
	return text;
}

static bool read_text(const char *text, struct check_dump *dump,
		      char message[256])
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	bool good = check_dump_read(in, dump, message);

	fclose(in);
	return good;
}

Test(dump, comes_back_as_it_was)
{
	struct check_dump before = dump_of(1), after;
	char *text, *again, message[256];
	struct check_parts *parts;

	before.cause = (struct check_cause){2, 1, true, "exited"};
	for (uint32_t id = 1; id <= CHECK_GROUPS_NEAR + 5; id++)
		check_join(&before.slot, id, 1);
	for (int i = 0; i < CHECK_RING + 5; i++)
		check_end(&before.slot, block(&before, i, 0), 0, i + 1);
	parts = check_parts_begin(&before.slot, 1, 2);
	check_part(parts, 0, 1, 2);
	check_part(parts, 1, 3, 4);
	check_parts_end(parts, before.slot.calls);
	check_touch(&before.slot,
		    &(struct check_hazard){.kind = CHECK_HAZARD_WRITTEN,
					   .element = 3,
					   .numel = 4,
					   .after = {"prog.c", 20},
					   .until = {"prog.c", 22},
					   .buffer = "tensor"},
		    before.slot.calls, 0);
	check_issue(
		&before.slot,
		&(struct check_call){.op = "send", .peer_rank = 2, .tag = 5});
	check_refuse(&before.slot,
		     &(struct check_call){.error = -1,
					  .group = "default",
					  .site = {"train.c", 8}},
		     "send: dst is 9");
	strcpy(before.slot.ring[0].label, "bucket 1 of step 2");
	call_remotely(&before.slot);
	text = print(&before);
	cr_assert(read_text(text, &after, message), "%s", message);
	again = print(&after);
	cr_expect_str_eq(text, again);
	cr_expect_arr_eq((char *)&before.slot, (char *)&after.slot,
			 sizeof after.slot);
	cr_expect(strstr(text, "\"calls_dropped\": 7"));
	free(text);
	free(again);
}

Test(dump, names_that_are_no_utf8_are_written)
{
	struct check_dump before = dump_of(0), after;
	char *text, message[256];

	block(&before, 1, 0);
	strcpy(before.slot.ring[0].group, "gr\xfc"
					  "n");
	text = print(&before);
	cr_assert(read_text(text, &after, message), "%s", message);
	cr_expect_str_eq(after.slot.ring[0].group, "gr?n");
	free(text);
}

/* Sets the member to value and expects a refusal that names it. */
static void expect_refused(const char *path, json_t *value, const char *words)
{
	struct check_dump before = dump_of(1), after;
	char *text, message[256] = "";
	json_t *document, *object;

	block(&before, 1, 0);
	text = print(&before);
	document = object = json_loads(text, 0, NULL);
	free(text);
	if (strncmp(path, "calls.", 6) == 0) {
		object = json_array_get(json_object_get(document, "calls"), 0);
		path += 6;
	}
	json_object_set_new(object, path, value);
	text = json_dumps(document, 0);
	cr_expect_not(read_text(text, &after, message), "%s", path);
	cr_expect(strstr(message, words), "\"%s\" is not in: %s", words,
		  message);
	cr_expect_null(strchr(message, '\n'));
	json_decref(document);
	free(text);
}

Test(dump, what_is_out_of_range_is_refused_by_name)
{
	expect_refused("version", json_integer(2), "version: expected 1");
	expect_refused("format", json_string("trace"), "\"lockstep dump\"");
	expect_refused("rank", json_integer(3), "less than world_size");
	expect_refused("rank", json_real(0.5), "rank: expected an integer");
	expect_refused("world_size", json_integer(131073), "from 1 to 131072");
	expect_refused("state", json_string("happy"), "one of the names");
	expect_refused("cause", json_null(), "cause.weight: expected");
	expect_refused("groups", json_object(), "groups: expected an array");
	expect_refused("calls", json_integer(1), "calls: expected an array");
	expect_refused("calls.number", json_integer(9), "calls[0]: expected");
	expect_refused("calls.peer_rank", json_integer(3),
		       "calls[0].peer_rank: expected a rank of the job, or -1");
	expect_refused("calls.terms", json_string("1"), "16 hexadecimal");
	expect_refused("calls.op", json_string("a_call_of_no_such_length"),
		       "calls[0].op: expected a short text");
	expect_refused("time_ns", json_integer(INT64_MAX), "70 years");
}

Test(dump, the_place_follows_from_the_pattern)
{
	char path[24];

	cr_assert(check_dump_path("d", 3, path, sizeof path));
	cr_expect_str_eq(path, "d/rank3.dump.json");
	cr_assert(check_dump_path("d/%r-%r.json", 12, path, sizeof path));
	cr_expect_str_eq(path, "d/12-12.json");
	cr_expect_not(check_dump_path("a/folder", 100000, path, sizeof path));
	cr_expect_not(check_dump_path("a/name/of/any-length/%r", 0, path, 8));
}

/* ---- put together ------------------------------------------------------- */

static struct check_diagnosis d;

static void release(void)
{
}

TestSuite(dump, .fini = release);

static void add(const struct check_dump *dump)
{
	char message[256];

	cr_assert(check_diagnosis_add(&d, dump, message), "%s", message);
}

Test(dump, ranks_without_a_dump_are_neither_well_nor_lost)
{
	struct check_dump dump = dump_of(0);
	struct check_verdict verdict;

	block(&dump, 1, TIMEOUT);
	add(&dump);
	cr_expect(check_diagnosis_missing(&d, 1));
	cr_expect_not(check_diagnosis_missing(&d, 0));
	verdict = check_diagnose(&d);
	cr_expect_eq(verdict.kind, CHECK_TIMEOUT);
}

Test(dump, a_rank_that_others_lost_and_that_left_none_is_lost)
{
	struct check_verdict verdict;

	for (uint32_t rank = 0; rank < 2; rank++) {
		struct check_dump dump = dump_of(rank);

		block(&dump, 1, PEER_LOST);
		add(&dump);
	}
	verdict = check_diagnose(&d);
	cr_expect_eq(verdict.kind, CHECK_LOST);
	cr_expect_eq(verdict.rank, 2);
}

Test(dump, a_rank_lost_to_one_that_timed_out_is_late)
{
	for (uint32_t rank = 0; rank < 2; rank++) {
		struct check_dump dump = dump_of(rank);

		block(&dump, 1, rank == 0 ? TIMEOUT : PEER_LOST);
		add(&dump);
	}
	cr_expect_eq(check_diagnose(&d).kind, CHECK_TIMEOUT);
}

Test(dump, nothing_has_failed_is_a_status)
{
	struct check_dump dump = dump_of(2);

	block(&dump, 1, 0);
	add(&dump);
	cr_expect_eq(check_diagnose(&d).kind, CHECK_STATUS);
}

Test(dump, memory_touched_too_early_needs_no_failure)
{
	struct check_dump dump = dump_of(2);

	dump.slot.state = CHECK_RANK_RUNNING;
	dump.slot.hazard.kind = CHECK_HAZARD_WRITTEN;
	add(&dump);
	cr_expect_eq(check_diagnose(&d).kind, CHECK_HAZARD);
}

Test(dump, all_that_finished_are_fine)
{
	for (uint32_t rank = 0; rank < 3; rank++) {
		struct check_dump dump = dump_of(rank);

		dump.slot.state = CHECK_RANK_FINISHED;
		add(&dump);
	}
	cr_expect_eq(check_diagnose(&d).kind, CHECK_FINE);
}

/* Each rank's clock began at another time; rank 2 called when the others had
 * given up already. */
Test(dump, a_call_after_the_first_timeout_came_too_late)
{
	struct check_verdict verdict;

	for (uint32_t rank = 0; rank < 3; rank++) {
		struct check_dump dump = dump_of(rank);
		int64_t start_ns = 1000000 * (int64_t)rank;

		dump.clock_ns = start_ns;
		dump.time_ns = 5000000;
		if (rank < 2)
			block(&dump, start_ns + 10, TIMEOUT);
		else
			block(&dump, start_ns + 5000, ABORTED);
		add(&dump);
	}
	verdict = check_diagnose(&d);
	cr_expect_eq(verdict.kind, CHECK_TIMEOUT);
	cr_expect_eq(verdict.rank, 2);
	cr_expect_eq(d.board->slots[2].state, CHECK_RANK_RUNNING);
	cr_expect_eq(d.board->slots[2].calls, 0);
}

Test(dump, those_of_another_job_and_second_ones_are_refused)
{
	struct check_dump dump = dump_of(0);
	char message[256];

	add(&dump);
	cr_expect_not(check_diagnosis_add(&d, &dump, message));
	cr_expect(strstr(message, "a second dump of rank 0"));
	dump.rank = 1;
	strcpy(dump.job, "b");
	cr_expect_not(check_diagnosis_add(&d, &dump, message));
	cr_expect(strstr(message, "expected one of job a"));
}

/* A gap of which nobody has records is not walked. */
Test(dump, a_count_that_is_nonsense_takes_no_time)
{
	clock_t begun = clock();
	struct check_dump dump;

	for (uint32_t rank = 0; rank < 3; rank++) {
		dump = dump_of(rank);
		(void)block(&dump, 10, TIMEOUT);
		if (rank == 1)
			dump.slot.memberships[0].collectives = INT32_MAX;
		add(&dump);
	}
	cr_expect_eq(check_diagnose(&d).kind, CHECK_TIMEOUT);
	cr_expect_lt((double)(clock() - begun) / CLOCKS_PER_SEC, 5.0);
}

/* `make fuzz` does this for longer. */
Test(dump, mutated_ones_are_refused_or_judged)
{
	int taken = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		int n = dump_fuzz_job(seed);

		cr_assert_geq(n, 0, "seed %llu", (unsigned long long)seed);
		taken += n;
	}
	cr_expect_geq(taken, 600, "most were refused: %d", taken);
}
