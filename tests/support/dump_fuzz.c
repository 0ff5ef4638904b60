#include "tests/support/dump_fuzz.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/diagnosis.h"
#include "check/outputs.h"
#include "base/random.h"

#define RANKS DUMP_FUZZ_RANKS

static uint64_t below(uint64_t *state, uint64_t n)
{
	return dist__random_next(state) % n;
}

/* ---- dumps as ranks write them ------------------------------------------ */

static void call(uint64_t *state, struct check_dump *dump)
{
	static const char *const ops[] = {"all_reduce", "send", "recv",
					  "all_to_all"};
	static const int32_t errors[] = {0, 0, 0, 0, -5, -6, -8, -9, -10};
	struct check_slot *slot = &dump->slot;
	int op = (int)below(state, 4);
	bool message = op == 1 || op == 2;
	struct check_call call = {
		.dtype = "float32",
		.group = "default",
		.group_id = (uint32_t)below(state, 3),
		.peer = message ? (int32_t)below(state, RANKS + 1) - 1 : -1,
		.tag = message ? (int32_t)below(state, 2) : -1,
		.numel = below(state, 4),
		.issued_ns = (int64_t)below(state, 1000),
	};
	uint32_t number;
	int32_t error;

	call.peer_rank = call.peer;
	call.index = check_collectives(slot, call.group_id, 0);
	snprintf(call.op, sizeof call.op, "%s", ops[op]);
	check_site_set(&call.site, "train.c", (int)below(state, 9));
	number = check_issue(slot, &call);
	check_wait(slot, number, below(state, 2) ? &call.site : NULL);
	error = errors[below(state, 9)];
	if (below(state, 4))
		check_end(slot, number, error, call.issued_ns + 10);
	if (!error)
		check_resume(slot);
}

/* Calls served, waited for and failed. */
static void remote(uint64_t *state, struct check_slot *slot)
{
	static const int32_t errors[] = {0, -5, -8, -10};
	uint64_t events = below(state, 12);

	check_rpc_join(slot, 0, 0, 1 + (uint32_t)below(state, 3), "worker");
	for (uint64_t i = 0; i < events; i++) {
		const struct check_reference reference = {
			.kind = 1 + (uint32_t)below(state, 3),
			.owner = (int32_t)below(state, RANKS)};
		struct check_rpc_wait wait = {
			.by = (int32_t)below(state, 5) - 2,
			.worker = (int32_t)below(state, RANKS + 1) - 1,
			.caller = (int32_t)below(state, RANKS),
			.call = below(state, 4),
			.op = "rpc_sync",
			.function = "f"};
		uint32_t place =
			check_rpc_queue(slot, (int32_t)below(state, RANKS),
					1 + below(state, 3), "f", 7);

		if (below(state, 2))
			check_rpc_run(slot, place, 8);
		if (below(state, 4) == 0)
			check_rpc_served(slot, place);
		place = check_rpc_wait(slot, &wait);
		if (below(state, 2))
			check_rpc_wait_end(slot, place, errors[below(state, 4)],
					   9);
		if (below(state, 4) == 0)
			check_rpc_hold(slot, &reference);
	}
	if (below(state, 2))
		check_rpc_end(slot, (uint32_t)below(state, 3) + 1);
}

void dump_fuzz_draw(uint64_t *state, uint32_t rank, struct check_dump *dump)
{
	struct check_parts *parts;
	uint64_t calls = below(state, 2 * CHECK_RING);

	*dump = (struct check_dump){.job = "fuzz",
				    .world = "tcp",
				    .rank = rank,
				    .world_size = RANKS,
				    .timeout_ns = 1000};
	dump->slot.state = CHECK_RANK_RUNNING;
	check_join(&dump->slot, 0, 0);
	for (uint64_t i = 0; i < calls; i++)
		call(state, dump);
	parts = check_parts_begin(&dump->slot, (int)rank, RANKS);
	for (int i = 0; i < RANKS; i++)
		check_part(parts, i, below(state, 2), below(state, 2));
	check_parts_end(parts, dump->slot.calls);
	if (below(state, 8) == 0)
		check_touch(&dump->slot,
			    &(struct check_hazard){.kind = CHECK_HAZARD_SHARED},
			    dump->slot.calls, dump->slot.calls - 1);
	if (below(state, 2))
		remote(state, &dump->slot);
	if (below(state, 4) == 0)
		dump->slot.state = (uint32_t)below(state, 5);
}

/* ---- and as they do not ------------------------------------------------- */

static json_t *odd_value(uint64_t *state)
{
	static const json_int_t integers[] = {
		0,  1,       3,          4,         -1,       32,
		64, 1 << 20, UINT32_MAX, INT64_MIN, INT64_MAX};

	switch (below(state, 8)) {
	case 0:
		return json_null();
	case 1:
		return json_string("waiting");
	case 2:
		return json_array();
	case 3:
		return json_real(1e300);
	default:
		return json_integer(integers[below(state, 11)]);
	}
}

static bool is_leaf(const json_t *value)
{
	return json_array_size(value) == 0 && json_object_size(value) == 0;
}

/* Replaces a value somewhere below one that is no leaf. */
static void mutate_value(uint64_t *state, json_t *value)
{
	uint64_t steps;
	json_t *child;
	void *iter;

	if (json_is_array(value)) {
		steps = below(state, json_array_size(value));
		child = json_array_get(value, steps);
		if (is_leaf(child))
			json_array_set_new(value, steps, odd_value(state));
		else
			mutate_value(state, child);
		return;
	}
	iter = json_object_iter(value);
	for (steps = below(state, json_object_size(value)); steps > 0; steps--)
		iter = json_object_iter_next(value, iter);
	child = json_object_iter_value(iter);
	if (is_leaf(child))
		json_object_iter_set_new(value, iter, odd_value(state));
	else
		mutate_value(state, child);
}

static char *mutate(uint64_t *state, char *text)
{
	json_t *document = json_loads(text, 0, NULL);
	uint64_t changes = 1 + below(state, 3);

	if (below(state, 8) == 0) {
		while (changes-- > 0)
			text[below(state, strlen(text))] =
				(char)(1 + below(state, 255));
	} else {
		while (changes-- > 0)
			mutate_value(state, document);
		free(text);
		text = json_dumps(document, 0);
	}
	json_decref(document);
	return text;
}

/* ---- reading ------------------------------------------------------------ */

/* The dump as text, for the caller to free; NULL: it could not be written. */
static char *print(const struct check_dump *dump)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool good = check_dump_print(out, dump);

	fclose(out);
	if (good)
		return text;
	free(text);
	return NULL;
}

static bool take(struct check_diagnosis *diagnosis, const char *text,
		 struct check_dump *dump)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	char message[256];
	bool good = check_dump_read(in, dump, message) &&
		    check_diagnosis_add(diagnosis, dump, message);

	fclose(in);
	return good;
}

static void conclude(struct check_diagnosis *diagnosis)
{
	const struct check_outputs outputs = {.json = "/dev/null",
					      .junit = "/dev/null",
					      .sarif = "/dev/null"};
	struct check_verdict verdict = check_diagnose(diagnosis);
	const struct check_job job = {.board = diagnosis->board,
				      .facts = &diagnosis->facts,
				      .verdict = &verdict,
				      .world = diagnosis->world,
				      .outputs = &outputs};
	FILE *out = fopen("/dev/null", "w");

	check_conclude(out, &job, NULL);
	fclose(out);
}

int dump_fuzz_job(uint64_t seed)
{
	struct check_diagnosis diagnosis = {.board = NULL};
	struct check_dump dump;
	uint64_t state = seed;
	int taken = 0;

	for (uint32_t rank = 0; rank < RANKS && taken >= 0; rank++) {
		bool wrong = below(&state, 2);
		char *text;

		dump_fuzz_draw(&state, rank, &dump);
		text = print(&dump);
		if (text && wrong)
			text = mutate(&state, text);
		if (text && take(&diagnosis, text, &dump))
			taken++;
		else if (!wrong && diagnosis.board == NULL)
			taken = -1;
		free(text);
	}
	if (diagnosis.board)
		conclude(&diagnosis);
	check_diagnosis_release(&diagnosis);
	return taken;
}
