/* walk.c - every rank walks the table and writes down how each case went. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/conformance/cases/case.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/element.h"
#include "base/hash.h"

#define MAX_DETAILS 32

#define PROVEN (1 << 18) /* a power of two */

#define TIMEOUT_NS (INT64_C(120) * 1000000000)

/* What is wrong with a case on a rank. */
struct detail {
	uint32_t index;
	char text[240];
};

struct of_rank {
	uint32_t num_details; /* wrong cases; the first have words */
	struct detail details[MAX_DETAILS];
};

/* How one case went on one rank. */
struct cell {
	uint64_t digest;
	bool alone;     /* no other back end gives the same bytes */
	uint32_t state; /* enum conformance_state */
};

/* Tensors that some rank held against what must come, value by value, and found
 * right: hashes of which one and its bytes, each where its low bits say. Who
 * comes to the same bytes need not compute the same values again. */
struct proven {
	_Atomic uint64_t hashes[PROVEN];
};

struct conformance_outcome {
	size_t bytes;
	uint32_t count; /* places for cases */
	int world_size;
	struct proven *proven, own; /* own, or another outcome's */
	struct of_rank ranks[CONFORMANCE_MAX_WORLD];
	struct cell cells[]; /* case by case, a rank each */
};

struct conformance_outcome *
conformance_outcome_new(const struct conformance_setup *setup)
{
	uint32_t groups = setup->grouping == CONFORMANCE_ALL ? 1 : 2;
	struct conformance_setup whole = *setup;
	struct conformance_outcome *outcome;
	uint32_t count;
	size_t bytes;
	void *map;

	whole.third = 0;
	count = groups * conformance_count(&whole);
	bytes = sizeof *outcome +
		(size_t)count * (size_t)setup->world_size * sizeof(struct cell);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	outcome = map;
	outcome->bytes = bytes;
	outcome->count = count;
	outcome->world_size = setup->world_size;
	outcome->proven = &outcome->own;
	return outcome;
}

void conformance_trust(struct conformance_outcome *outcome,
		       const struct conformance_outcome *other)
{
	outcome->proven = other->proven;
}

void conformance_outcome_free(struct conformance_outcome *outcome)
{
	if (outcome)
		munmap(outcome, outcome->bytes);
}

static size_t cell_at(const struct conformance_outcome *outcome, uint32_t index,
		      int rank)
{
	return (size_t)index * (size_t)outcome->world_size + (size_t)rank;
}

/* ---- what the calls use ----------------------------------------------- */

struct dist_tensor tensor_new(const struct one_case *c, size_t numel)
{
	/* Never NULL, and none that the last case left its values in. */
	void *data = calloc(numel + 1, dist_dtype_size(c->dtype));

	if (!data)
		abort();
	return dist_tensor(data, numel, c->dtype);
}

void walk_fail(struct walk *w, const char *format, ...)
{
	struct of_rank *of_rank = &w->outcome->ranks[w->seat];
	struct detail *detail;
	size_t used = 0;
	va_list args;

	if (w->wrong)
		return;
	w->wrong = true;
	if (of_rank->num_details == MAX_DETAILS)
		return;
	detail = &of_rank->details[of_rank->num_details++];
	detail->index = w->first + w->c->index;
	if (w->setup->grouping != CONFORMANCE_ALL) {
		case_words(w->c, detail->text, sizeof detail->text / 2);
		used = strlen(detail->text);
	}
	va_start(args, format);
	vsnprintf(detail->text + used, sizeof detail->text - used, format,
		  args);
	va_end(args);
}

/* Sums that do not wait for each other: every byte of every tensor goes through
 * here, most of them several times. */
#define LANES 4

static uint64_t hash_tensor(struct dist_tensor t)
{
	uint64_t lanes[LANES] = {0, 1, 2, 3}, words[LANES];
	size_t bytes = t.numel * dist_dtype_size(t.dtype), at = 0;
	const char *data = t.data;
	uint64_t hash;

	for (; bytes - at >= sizeof words; at += sizeof words) {
		memcpy(words, data + at, sizeof words);
		for (int i = 0; i < LANES; i++) {
			lanes[i] = (lanes[i] ^ words[i]) * DIST__HASH_FACTOR;
			/* The high bits reach all others the next time. */
			lanes[i] ^= lanes[i] >> 32;
		}
	}
	hash = dist__hash_bytes(DIST__HASH_BEGIN, data + at, bytes - at);
	return at ? dist__hash_bytes(hash, lanes, sizeof lanes) : hash;
}

/* Takes t, of src for dst (-1: of all ranks, combined), into the digest.
 * Returns where it may be proven; NULL: it is. */
static _Atomic uint64_t *digest(struct walk *w, struct dist_tensor t, int src,
				int dst, uint64_t *hash)
{
	const uint64_t contents = hash_tensor(t);
	const uint64_t which[] = {w->c->index,   (uint64_t)w->size,
				  (uint64_t)src, (uint64_t)dst,
				  t.numel,       contents};
	_Atomic uint64_t *place;

	w->digest = dist__hash_bytes(w->digest, &contents, sizeof contents);
	*hash = dist__hash_bytes(DIST__HASH_BEGIN, which, sizeof which);
	place = &w->outcome->proven->hashes[*hash % PROVEN];
	return atomic_load(place) == *hash ? NULL : place;
}

static bool expect(struct walk *w, struct dist_tensor t, size_t i, double want)
{
	double got = element_load(t.dtype, t.data, i);

	if (got == want)
		return true;
	walk_fail(w, "element %zu: expected %.9g, got %.9g", i, want, got);
	return false;
}

void walk_moved(struct walk *w, struct dist_tensor t, int src, int dst)
{
	uint64_t hash;
	_Atomic uint64_t *place = digest(w, t, src, dst, &hash);

	if (!place)
		return;
	if (case_holds(w->c, t, src, dst)) {
		atomic_store(place, hash);
		return;
	}
	for (size_t i = 0; i < t.numel; i++)
		expect(w, t, i, case_value(w->c, src, dst, i));
}

void walk_reduced(struct walk *w, struct dist_tensor t, int dst)
{
	uint64_t hash;
	_Atomic uint64_t *place = digest(w, t, -1, dst, &hash);
	struct dist_tensor want;
	bool same;

	if (!place || !w->c->exact)
		return;
	want = tensor_new(w->c, t.numel);
	case_reduced(w->c, dst, case_contributors(w->c, w->size), want);
	/* A 0 may be negative in one and not in the other. */
	same = memcmp(t.data, want.data, t.numel * dist_dtype_size(t.dtype)) ==
	       0;
	if (!same) {
		same = true;
		for (size_t i = 0; i < t.numel; i++)
			same &= expect(w, t, i,
				       element_load(t.dtype, want.data, i));
	}
	free(want.data);
	if (same)
		atomic_store(place, hash);
}

enum dist_error walk_finish(enum dist_error error, struct dist_work *work)
{
	enum dist_error late =
		work ? dist_work_wait(work, DIST_TIMEOUT_OF_GROUP) : DIST_OK;

	dist_work_free(work);
	return error ? error : late;
}

/* ---- walking ---------------------------------------------------------- */

/* An illegal pair must be refused in words, on every rank alike. */
static void expect_refusal(struct walk *w, const struct one_case *c,
			   enum dist_error error)
{
	enum dist_error wanted = DIST_ERR_INVALID_ARGUMENT;
	static const char floats[] = "float16, bfloat16, float32, float64";
	static const char integers[] = "int8, uint8, int32, int64";
	static const char others[] = "int16, uint16, uint32";
	bool takes_floats = c->op < DIST_BAND || c->op == DIST_PREMUL_SUM;
	bool takes_complex = c->op == DIST_SUM || c->op == DIST_AVG;
	char legal[192], text[sizeof(struct dist_message)];

	if (c->op == DIST_PREMUL_SUM)
		snprintf(legal, sizeof legal, "%s, complex64 or complex128",
			 floats);
	else
		snprintf(legal, sizeof legal, "%s%s%s%s, %s%s",
			 takes_floats ? floats : "", takes_floats ? ", " : "",
			 integers, c->op == DIST_AVG ? "" : ", bool", others,
			 takes_complex ? ", uint64, complex64 or complex128"
				       : " or uint64");
	snprintf(text, sizeof text, "%s: %s of %s: expected %s",
		 conformance_call_name(c->call), dist_reduce_op_name(c->op),
		 dist_dtype_name(c->dtype), legal);
	if (case_is_legal(c)) {
		wanted = DIST_ERR_UNSUPPORTED;
		snprintf(text, sizeof text,
			 "%s: %s is not in back end nccl: expected sum, "
			 "%sproduct, min or max",
			 conformance_call_name(c->call),
			 dist_reduce_op_name(c->op),
			 c->dtype == DIST_BOOL ? "" : "avg, ");
		if (c->dtype == DIST_INT16 || c->dtype == DIST_UINT16)
			snprintf(text, sizeof text,
				 "%s: back end nccl does not combine %s",
				 conformance_call_name(c->call),
				 dist_dtype_name(c->dtype));
	}
	if (error != wanted || strcmp(text, dist_error_message(w->group)) != 0)
		walk_fail(w, "not refused as \"%s\" but: %s", text,
			  error ? dist_error_message(w->group) : "accepted");
}

/* A library refuses some operations, and combines fractions in an order of its
 * own. */
static bool is_alone(const struct walk *w)
{
	bool rounds = conformance_calls[w->c->call].reduces && !w->c->exact;

	return !conformance_forces(w->setup->backend) &&
	       (rounds || !case_is_supported(w->c, w->setup->backend));
}

void walk_end(const struct walk *w)
{
	size_t at = cell_at(w->outcome, w->first + w->c->index, w->seat);

	w->outcome->cells[at] = (struct cell){
		.digest = w->digest,
		.alone = is_alone(w),
		.state = w->wrong ? CONFORMANCE_WRONG : CONFORMANCE_RIGHT,
	};
}

/* Returns 1 when the group is of no more use. */
static int do_case(void *arg, const struct one_case *c)
{
	struct walk *w = arg;
	bool accepted =
		case_is_legal(c) && case_is_supported(c, w->setup->backend);
	enum dist_error error;

	w->c = c;
	w->op = c->op == DIST_PREMUL_SUM ? w->premul_sum : c->op;
	w->wrong = false;
	w->digest = DIST__HASH_BEGIN;
	if (c->form == COALESCED)
		error = perform_coalesced(w, c);
	else if (c->form == MULTIGPU)
		error = perform_devices(w, c);
	else
		error = conformance_calls[c->call].perform(w, c);
	if (!accepted)
		expect_refusal(w, c, error);
	else if (error)
		walk_fail(w, "%s", dist_error_message(w->group));
	walk_end(w);
	return error && accepted;
}

/* Walks the cases of as many ranks as group has. */
static int walk_in(struct walk *w, struct dist_group *group, uint32_t first)
{
	struct conformance_setup setup = *w->setup;

	if (!group)
		return 0;
	w->group = group;
	w->first = first;
	w->rank = dist_get_rank(group);
	w->size = dist_get_world_size(group);
	setup.world_size = w->size;
	return dist_make_premul_sum(group, FACTOR, &w->premul_sum) ||
	       each_case(&setup, do_case, w);
}

static int rank_main(void *arg)
{
	const struct walk *job = arg;
	struct dist_group *all, *groups[2];
	struct walk w = *job;
	int failed;

	if (dist_init_process_group(NULL, &all))
		return 1;
	w.seat = dist_get_rank(all);
	failed = conformance_groups_new(all, w.setup->grouping, groups) ||
		 walk_in(&w, groups[0], 0) ||
		 walk_in(&w, groups[1], w.outcome->count / 2);
	return dist_destroy_process_group(all) || failed;
}

int conformance_run(const struct conformance_setup *setup,
		    struct conformance_outcome *outcome)
{
	struct conformance_setup with_values = *setup;
	struct walk job = {.setup = &with_values, .outcome = outcome};
	struct case_values *values = case_values_new();
	struct dist_launch_options options = {
		.backend = setup->backend,
		.platform = setup->platform,
		.profile = setup->profile,
		.algorithm = setup->algorithms,
		.p2p = setup->p2p,
		.world_size = setup->world_size,
		.timeout_ns =
			setup->timeout_ns ? setup->timeout_ns : TIMEOUT_NS,
	};
	int status;
	pid_t child;

	if (!values)
		return DIST_EXIT_INTERNAL;
	with_values.values = values;
	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(dist_launch(&options, rank_main, &job));
	free(values);
	if (child < 0)
		return DIST_EXIT_INTERNAL;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return DIST_EXIT_INTERNAL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : DIST_EXIT_INTERNAL;
}

/* ---- looking at it ---------------------------------------------------- */

static void describe(const struct of_rank *of_rank, int rank, uint32_t index,
		     char *text, size_t size)
{
	const char *what = "wrong";

	for (uint32_t i = 0; i < of_rank->num_details; i++)
		if (of_rank->details[i].index == index)
			what = of_rank->details[i].text;
	snprintf(text, size, "rank %d: %s", rank, what);
}

enum conformance_state
conformance_state(const struct conformance_outcome *outcome, uint32_t index,
		  char *text, size_t size)
{
	enum conformance_state state = CONFORMANCE_RIGHT;

	for (int rank = 0; rank < outcome->world_size; rank++) {
		const struct cell *cell =
			&outcome->cells[cell_at(outcome, index, rank)];

		if (cell->state == CONFORMANCE_NOT_WALKED)
			state = CONFORMANCE_NOT_WALKED;
		if (cell->state != CONFORMANCE_WRONG)
			continue;
		if (text)
			describe(&outcome->ranks[rank], rank, index, text,
				 size);
		return CONFORMANCE_WRONG;
	}
	return state;
}

uint32_t conformance_places(const struct conformance_outcome *outcome)
{
	return outcome->count;
}

uint32_t conformance_walked(const struct conformance_outcome *outcome, int rank)
{
	uint32_t walked = 0;

	for (uint32_t i = 0; i < outcome->count; i++)
		walked += outcome->cells[cell_at(outcome, i, rank)].state !=
			  CONFORMANCE_NOT_WALKED;
	return walked;
}

bool conformance_same(const struct conformance_outcome *a,
		      const struct conformance_outcome *b, uint32_t index)
{
	for (int rank = 0; rank < a->world_size; rank++) {
		const struct cell *one = &a->cells[cell_at(a, index, rank)];
		const struct cell *other = &b->cells[cell_at(b, index, rank)];

		if (!one->alone && !other->alone &&
		    one->digest != other->digest)
			return false;
	}
	return true;
}
