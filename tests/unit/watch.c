/*
 * Memory that is touched while an operation holds it: programs that may do what
 * they do are never accused and compute the same bytes, watched or not; a byte
 * written too early is always found. Every run is a process of its own, because
 * the simulator has one engine a process.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/dist.h"
#include "tests/support/leaks.h"
#include "tests/support/seat.h"
#include "base/random.h"
#include "base/hash.h"

#define RANKS 3
#define SLOTS 5
#define STEPS 24
#define PART  1531 /* floats that a rank has of a collective: some pages */
#define WHOLE ((size_t)RANKS * PART)

/* What the ranks leave behind, in memory that processes share. */
struct results {
	uint64_t hash[RANKS];
	bool injected;
	bool good;
};

struct run {
	const char *backend, *debug;
	int (*program)(struct dist_group *group, const struct run *run);
	uint64_t seed;
	bool inject; /* one rank writes a byte too early */
	struct results *results;
};

static int rank_main(void *arg)
{
	const struct run *run = arg;
	struct dist_group *group;
	int status;

	if (dist_init_process_group(NULL, &group))
		return 1;
	status = run->program(group, run);
	return dist_destroy_process_group(group) != DIST_OK || status;
}

/* Launches run in a child, and returns the exit status of the job. */
static int launch(struct run *run)
{
	struct dist_launch_options options = {
		.backend = run->backend,
		.world_size = RANKS,
		.platform = STAR4,
		.debug = run->debug,
		.timeout_ns = (int64_t)100 * 1000000000,
	};
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		status = dist_launch(&options, rank_main, run);
		_exit(leaks_found() && status == 0 ? DIST_EXIT_INTERNAL
						   : status);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static struct results *results_new(void)
{
	FILE *file = tmpfile();
	void *memory;

	cr_assert_not_null(file);
	cr_assert_eq(ftruncate(fileno(file), sizeof(struct results)), 0);
	memory = mmap(NULL, sizeof(struct results), PROT_READ | PROT_WRITE,
		      MAP_SHARED, fileno(file), 0);
	cr_assert_neq(memory, MAP_FAILED);
	fclose(file);
	return memory;
}

static struct dist_tensor floats(float *data, size_t numel)
{
	return dist_tensor(data, numel, DIST_FLOAT32);
}

/* ---- any legal program, and one with a byte written too early ------------ */

/* Operations in flight on memory of their own. */
struct slot {
	float in[WHOLE], out[WHOLE];
	struct dist_work *works[2];
	size_t num;
};

static enum dist_error issue_messages(struct dist_group *group,
				      struct slot *slot, int tag)
{
	int rank = dist_get_rank(group);
	enum dist_error error;

	error = dist_irecv(group, floats(slot->out, PART),
			   (rank + RANKS - 1) % RANKS, tag, &slot->works[0]);
	slot->num += error == DIST_OK;
	if (error)
		return error;
	error = dist_isend(group, floats(slot->in, PART), (rank + 1) % RANKS,
			   tag, &slot->works[1]);
	slot->num += error == DIST_OK;
	return error;
}

static enum dist_error issue(struct dist_group *group, struct slot *slot,
			     uint64_t draw, int tag)
{
	struct dist_tensor in = floats(slot->in, WHOLE);
	struct dist_tensor out = floats(slot->out, WHOLE);
	struct dist_work **work = &slot->works[slot->num];
	int root = (int)(draw / 8 % RANKS);
	enum dist_error error;

	in.numel = draw % 8 == 3 ? PART : WHOLE;
	out.numel = draw % 8 == 4 ? PART : WHOLE;
	switch (draw % 8) {
	case 0:
		return issue_messages(group, slot, tag);
	case 1:
		error = dist_broadcast(group, in, root, work);
		break;
	case 2:
		error = dist_reduce(group, in, root, DIST_MAX, work);
		break;
	case 3:
		error = dist_all_gather_single(group, out, in, work);
		break;
	case 4:
		error = dist_reduce_scatter_single(group, out, in, DIST_SUM,
						   work);
		break;
	case 5:
		error = dist_all_to_all_single(group, out, in, NULL, NULL,
					       work);
		break;
	default:
		error = dist_all_reduce(group, in, DIST_AVG, work);
	}
	slot->num += error == DIST_OK;
	return error;
}

/* Waits for all, whatever one of them says: their memory is freed later. */
static enum dist_error finish(struct slot *slot)
{
	enum dist_error error = DIST_OK, late;

	for (size_t i = 0; i < slot->num; i++) {
		late = dist_work_wait(slot->works[i], DIST_TIMEOUT_OF_GROUP);
		error = error ? error : late;
		dist_work_free(slot->works[i]);
	}
	slot->num = 0;
	return error;
}

/* Writes one byte of memory that an operation holds, if one does. */
static void touch(struct slot *slot, uint64_t draw, struct results *results)
{
	unsigned char *bytes = (unsigned char *)slot->in;

	/* Every operation but messages and all_to_all holds the first part. */
	if (slot->num == 0)
		return;
	bytes[draw % (PART * sizeof(float))] ^= 1;
	results->injected = true;
}

static void change(struct slot *slot, uint64_t *state)
{
	for (size_t i = 0; i < WHOLE; i++)
		slot->in[i] = (float)(dist__random_next(state) % 1000);
}

static uint64_t hash_of(const struct slot *slots)
{
	uint64_t hash = DIST__HASH_BEGIN;

	for (size_t i = 0; i < SLOTS; i++)
		for (size_t j = 0; j < WHOLE; j++) {
			uint32_t bits[2];

			memcpy(&bits[0], &slots[i].in[j], sizeof bits[0]);
			memcpy(&bits[1], &slots[i].out[j], sizeof bits[1]);
			hash = dist__hash_word(hash, bits[0]);
			hash = dist__hash_word(hash, bits[1]);
		}
	return hash;
}

/* All ranks draw alike what they issue, each for itself what it waits for. */
static int any_program(struct dist_group *group, const struct run *run)
{
	int rank = dist_get_rank(group);
	uint64_t alike = run->seed, own = run->seed * 31 + (uint64_t)rank;
	struct slot *slots = calloc(SLOTS, sizeof *slots);
	enum dist_error error = DIST_OK;
	int at = (int)(run->seed % STEPS);

	for (int step = 0; slots && step < STEPS && !error; step++) {
		struct slot *slot = &slots[dist__random_next(&alike) % SLOTS];

		error = finish(slot);
		change(slot, &own);
		if (!error)
			error = issue(group, slot, dist__random_next(&alike),
				      step);
		if (run->inject && rank == 1 && step == at && !error)
			touch(slot, dist__random_next(&own), run->results);
		if (!error && dist__random_next(&own) % 2)
			error = finish(&slots[dist__random_next(&own) % SLOTS]);
	}
	for (int i = 0; slots && i < SLOTS; i++) {
		enum dist_error late = finish(&slots[i]);

		error = error ? error : late;
	}
	if (slots && !error)
		run->results->hash[rank] = hash_of(slots);
	free(slots);
	return error != DIST_OK;
}

static void try_legal(const char *backend, const char *debug, uint64_t seed)
{
	struct results *results = results_new();
	struct run run = {backend, "off", any_program, seed, false, results};
	struct results before;

	cr_assert_eq(launch(&run), DIST_EXIT_OK, "seed %d", (int)seed);
	before = *results;
	run.debug = debug;
	memset(results, 0, sizeof *results);
	cr_expect_eq(launch(&run), DIST_EXIT_OK, "seed %d", (int)seed);
	cr_expect_arr_eq(results->hash, before.hash, sizeof before.hash,
			 "seed %d", (int)seed);
	munmap(results, sizeof *results);
}

static void try_injected(const char *backend, const char *debug, uint64_t seed)
{
	struct results *results = results_new();
	struct run run = {backend, debug, any_program, seed, true, results};
	int status = launch(&run);

	cr_expect(results->injected, "seed %d", (int)seed);
	cr_expect_eq(status, DIST_EXIT_HAZARD, "seed %d: status %d", (int)seed,
		     status);
	munmap(results, sizeof *results);
}

Test(watch, no_legal_program_is_accused_or_changed)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		try_legal("sim", seed % 2 ? "info" : "detail", seed);
	for (uint64_t seed = 1; seed <= 4; seed++)
		try_legal("tcp", seed % 2 ? "info" : "detail", seed);
}

Test(watch, a_byte_written_too_early_is_always_found)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		try_injected("sim", seed % 2 ? "info" : "detail", seed);
	for (uint64_t seed = 1; seed <= 6; seed++)
		try_injected("tcp", seed % 2 ? "info" : "detail", seed);
}

/* ---- what is legal although it looks odd --------------------------------- */

static bool equal(const float *a, float first, float second)
{
	return a[0] == first && a[1] == second;
}

/* Collectives of one group run in order: the same memory in several. The last
 * has a part of it and more. */
static int chained(struct dist_group *group, const struct run *run)
{
	float x[4] = {1, 1, 1, 1}, all[2 * RANKS];
	struct dist_work *works[4];
	bool good = true;

	good &= !dist_all_reduce(group, floats(x, 2), DIST_SUM, &works[0]);
	good &= !dist_all_reduce(group, floats(x, 2), DIST_SUM, &works[1]);
	good &= !dist_all_gather_single(group, floats(all, 2 * RANKS),
					floats(x, 2), &works[2]);
	good &= !dist_all_reduce(group, floats(x + 1, 3), DIST_SUM, &works[3]);
	for (int i = 3; i >= 0; i--) {
		good &= !dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		if (i == 3)
			good &= equal(x, 9, 27) && equal(x + 2, 3, 3);
	}
	good &= equal(all, 9, 9) && equal(all + 4, 9, 9);
	for (int i = 0; i < 4; i++)
		dist_work_free(works[i]);
	run->results->good |= good;
	return !good;
}

/* A chain does not make a call wait: rank 1 comes only when rank 0 has issued
 * all of it. What is read later is there once what wrote it is complete. */
static int chained_in_parts(struct dist_group *group, const struct run *run)
{
	float x[4] = {1, 1, 1, 1}, all[3 * RANKS], token = 0;
	int rank = dist_get_rank(group);
	struct dist_work *works[4];
	bool good = true;

	if (rank == 1)
		good &= !dist_recv(group, floats(&token, 1), 0, 0);
	good &= !dist_all_reduce(group, floats(x, 2), DIST_SUM, &works[0]);
	good &= !dist_all_reduce(group, floats(x + 1, 2), DIST_SUM, &works[1]);
	good &= !dist_all_reduce(group, floats(x, 4), DIST_SUM, &works[2]);
	good &= !dist_all_gather_single(group, floats(all, 3 * RANKS),
					floats(x + 1, 3), &works[3]);
	if (rank == 0)
		good &= !dist_send(group, floats(&token, 1), 1, 0);
	for (int i = rank == 2 ? 2 : 0; i < 3; i++)
		good &= !dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
	good &= equal(x, 9, 27) && equal(x + 2, 9, 3);
	good &= !dist_work_wait(works[3], DIST_TIMEOUT_OF_GROUP);
	good &= equal(x, 9, 27) && equal(x + 2, 9, 3);
	for (int i = 0; i < RANKS; i++)
		good &= equal(all + i * 3, 27, 9) && all[i * 3 + 2] == 3;
	for (int i = 0; i < 4; i++)
		dist_work_free(works[i]);
	run->results->good |= good;
	return !good;
}

#define BLOCK 2048

static bool is_block(const float *block, float value)
{
	bool good = true;

	for (int i = 0; i < BLOCK; i++)
		good &= block[i] == value;
	return good;
}

/* The same with pages of memory: what only a later one reads may be read too,
 * and what nobody holds any more be written. */
static int chained_in_pages(struct dist_group *group, const struct run *run)
{
	float *x = malloc(3 * BLOCK * sizeof *x);
	float *all = malloc(RANKS * BLOCK * sizeof *all);
	struct dist_work *works[3] = {NULL};
	bool good = x && all;

	for (int i = 0; good && i < 3 * BLOCK; i++)
		x[i] = 1;
	good = good &&
	       !dist_all_reduce(group, floats(x, 2 * BLOCK), DIST_SUM,
				&works[0]) &&
	       !dist_all_gather_single(group, floats(all, RANKS * BLOCK),
				       floats(x, BLOCK), &works[1]) &&
	       !dist_all_reduce(group, floats(x + BLOCK, 2 * BLOCK), DIST_SUM,
				&works[2]) &&
	       !dist_work_wait(works[0], DIST_TIMEOUT_OF_GROUP) &&
	       is_block(x, 3) &&
	       !dist_work_wait(works[1], DIST_TIMEOUT_OF_GROUP) &&
	       is_block(all, 3) && is_block(all + 2 * (size_t)BLOCK, 3);
	if (good)
		x[1] = x[BLOCK - 1] = 3;
	good = good && !dist_work_wait(works[2], DIST_TIMEOUT_OF_GROUP) &&
	       is_block(x, 3) && is_block(x + BLOCK, 9) &&
	       is_block(x + 2 * (size_t)BLOCK, 3);
	for (int i = 0; i < 3; i++)
		dist_work_free(works[i]);
	free(x);
	free(all);
	run->results->good |= good;
	return !good;
}

#define DEVICES 2
#define PARTS   (RANKS * DEVICES)

/* Several devices: lists of lists go on with what was left as well, and what
 * is broadcast may be read meanwhile. */
static int chained_on_devices(struct dist_group *group, const struct run *run)
{
	float *x = calloc((1 + PARTS) * DEVICES * BLOCK, sizeof *x);
	struct dist_tensor devices[DEVICES], lists[DEVICES][PARTS];
	const struct dist_tensor *heads[DEVICES] = {lists[0], lists[1]};
	struct dist_work *works[3] = {NULL};
	bool good = x;

	for (size_t d = 0; d < DEVICES; d++) {
		devices[d] = floats(x + d * BLOCK, BLOCK);
		for (size_t i = 0; i < PARTS; i++)
			lists[d][i] = floats(
				x + (DEVICES + d * PARTS + i) * BLOCK, BLOCK);
	}
	for (size_t i = 0; good && i < BLOCK; i++)
		x[i] = 1;
	good = good &&
	       !dist_broadcast_multigpu(group, devices, DEVICES, 0, 0,
					&works[0]) &&
	       (dist_get_rank(group) > 0 || is_block(x, 1)) &&
	       !dist_all_reduce_multigpu(group, devices, DEVICES, DIST_SUM,
					 &works[1]) &&
	       !dist_all_gather_multigpu(group, heads, devices, DEVICES,
					 &works[2]);
	for (int i = 0; good && i < 3; i++)
		good = !dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
	for (size_t i = 0; good && i < (1 + PARTS) * DEVICES; i++)
		good = is_block(x + i * BLOCK, PARTS);
	for (int i = 0; i < 3; i++)
		dist_work_free(works[i]);
	free(x);
	run->results->good |= good;
	return !good;
}

/* Once a later collective is complete the rank knows it of the earlier ones. */
static int known_by_a_barrier(struct dist_group *group, const struct run *run)
{
	float x[2] = {1, 2};
	struct dist_work *work;
	bool good;

	good = !dist_all_reduce(group, floats(x, 2), DIST_SUM, &work);
	good &= !dist_barrier(group, NULL) && equal(x, 3, 6);
	x[0] = 7;
	good &= !dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	run->results->good |= good && equal(x, 7, 6);
	return !good;
}

/* A handle may be given up; an answer tells that the message went. */
static int given_up(struct dist_group *group, const struct run *run)
{
	float x[2] = {1, 2}, y[2] = {0, 0};
	int rank = dist_get_rank(group), other = 1 - rank;
	struct dist_work *work;
	bool good = true;

	if (rank > 1)
		return 0;
	if (rank == 0) {
		good &= !dist_isend(group, floats(x, 2), other, 0, &work);
		dist_work_free(work);
		good &= !dist_recv(group, floats(y, 2), other, 0);
		x[0] = 3;
	} else {
		good &= !dist_recv(group, floats(y, 2), other, 0);
		good &= !dist_send(group, floats(x, 2), other, 0);
	}
	good &= equal(y, 1, 2);
	run->results->good |= good;
	return !good;
}

/* Whoever only reads may share. */
static int read_twice(struct dist_group *group, const struct run *run)
{
	float x[2] = {1, 2}, y[2] = {0, 0};
	int rank = dist_get_rank(group);
	struct dist_work *works[2];
	bool good = true;

	if (rank > 0)
		return dist_recv(group, floats(y, 2), 0, 0) != DIST_OK;
	good &= !dist_isend(group, floats(x, 2), 1, 0, &works[0]);
	good &= !dist_isend(group, floats(x, 2), 2, 0, &works[1]);
	good &= x[0] + x[1] == 3;
	for (int i = 0; i < 2; i++) {
		good &= !dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
	}
	run->results->good |= good;
	return !good;
}

static void expect_good(int (*program)(struct dist_group *, const struct run *))
{
	static const char *const backends[] = {"sim", "tcp"};
	static const char *const levels[] = {"off", "info", "detail"};

	for (int i = 0; i < 6; i++) {
		struct results *results = results_new();
		struct run run = {backends[i / 3], levels[i % 3], program, 0,
				  false,           results};

		cr_expect_eq(launch(&run), DIST_EXIT_OK, "%s, debug %s",
			     run.backend, run.debug);
		cr_expect(results->good, "%s, debug %s", run.backend,
			  run.debug);
		munmap(results, sizeof *results);
	}
}

Test(watch, collectives_of_a_group_may_be_chained)
{
	expect_good(chained);
}

Test(watch, chained_parts_wait_for_nothing)
{
	expect_good(chained_in_parts);
}

Test(watch, chained_pages_are_guarded_as_long_as_they_are_held)
{
	expect_good(chained_in_pages);
}

Test(watch, lists_of_lists_are_held_as_well)
{
	expect_good(chained_on_devices);
}

Test(watch, a_later_collective_tells_of_the_earlier)
{
	expect_good(known_by_a_barrier);
}

Test(watch, handles_may_be_given_up)
{
	expect_good(given_up);
}

Test(watch, sends_may_share_what_they_read)
{
	expect_good(read_twice);
}

/* ---- what is not ----------------------------------------------------------
 */

/* Two receives in flight into the same memory. */
static int received_twice(struct dist_group *group, const struct run *run)
{
	float x[2] = {1, 2};
	int rank = dist_get_rank(group);
	struct dist_work *works[2] = {NULL, NULL};
	enum dist_error error;

	(void)run;
	if (rank > 0)
		return dist_send(group, floats(x, 2), 0, 0) != DIST_OK;
	error = dist_irecv(group, floats(x, 2), 1, 0, &works[0]);
	if (!error)
		error = dist_irecv(group, floats(x, 2), 2, 0, &works[1]);
	cr_expect_eq(error, DIST_ERR_HAZARD);
	cr_expect_null(works[1]);
	cr_expect_str_eq(dist_error_message(group),
			 "recv: tensor is memory that recv still holds");
	dist_work_free(works[0]);
	return error != DIST_OK;
}

Test(watch, memory_is_received_into_once)
{
	struct run run = {
		.backend = "sim", .debug = "info", .program = received_twice};

	cr_expect_eq(launch(&run), DIST_EXIT_HAZARD);
	run.backend = "tcp";
	cr_expect_eq(launch(&run), DIST_EXIT_HAZARD);
}

/* A crash that has nothing to do with memory that is held. */
static int crashes_in_flight(struct dist_group *group, const struct run *run)
{
	float *x = calloc(WHOLE, sizeof *x);
	struct dist_work *work = NULL;
	enum dist_error error = DIST_ERR_NO_MEMORY;
	char *page =
		mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)run;
	signal(SIGSEGV, SIG_DFL);
	if (x && page != MAP_FAILED)
		error = dist_all_reduce(group, floats(x, WHOLE), DIST_SUM,
					&work);
	if (!error && dist_get_rank(group) == 1)
		*(volatile char *)page = 1;
	if (!error)
		error = dist_work_wait(work, DIST_TIMEOUT_OF_GROUP);
	dist_work_free(work);
	free(x);
	return error != DIST_OK;
}

Test(watch, a_crash_in_flight_is_a_lost_rank)
{
	struct run run = {.backend = "tcp",
			  .debug = "detail",
			  .program = crashes_in_flight};

	cr_expect_eq(launch(&run), DIST_EXIT_RANK_LOST);
}

Test(watch, a_level_that_is_none_is_refused)
{
	struct run run = {
		.backend = "sim", .debug = "loud", .program = read_twice};

	cr_expect_eq(launch(&run), DIST_EXIT_USAGE);
}
