/*
 * op.c - an operation of a rank that is another process: what it reads is
 * copied when it begins, what it writes when it is done.
 */
#define _GNU_SOURCE /* process_vm_readv */

#include "sim/seat/op.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/array.h"
#include "base/hash.h"

/* Memory of the rank, and ours in its place. */
struct range {
	void *theirs, *ours;
	size_t bytes;
	bool comes_back;
};

struct dist__seat_work {
	struct dist__op op;
	struct dist__sides sides;
	struct dist__purpose purpose;
	int pid;
	struct range *ranges;
	size_t num_ranges;
	void *lists[4]; /* copies of tables of the rank's */
	size_t num_lists;
};

/* ---- memory of another process ------------------------------------------ */

/* move: process_vm_readv or process_vm_writev. */
static enum dist_error move_all(int pid, struct iovec here, struct iovec there,
				__typeof__(process_vm_readv) *move)
{
	while (here.iov_len > 0) {
		ssize_t n = move(pid, &here, 1, &there, 1, 0);

		if (n <= 0)
			return DIST_ERR_IO;
		here.iov_base = (char *)here.iov_base + n;
		there.iov_base = (char *)there.iov_base + n;
		here.iov_len = there.iov_len -= (size_t)n;
	}
	return DIST_OK;
}

enum dist_error dist__seat_read(int pid, void *to, const void *from,
				size_t bytes)
{
	return move_all(pid, (struct iovec){to, bytes},
			(struct iovec){(void *)from, bytes}, process_vm_readv);
}

enum dist_error dist__seat_write(int pid, void *to, const void *from,
				 size_t bytes)
{
	return move_all(pid, (struct iovec){(void *)from, bytes},
			(struct iovec){to, bytes}, process_vm_writev);
}

/* ---- words ------------------------------------------------------------- */

#define BUCKETS 256

struct word {
	struct word *next;
	char text[];
};

/* Few of them: the files and calls of a program. */
static struct word *words[BUCKETS];

const char *dist__seat_word(const char *text)
{
	uint64_t hash = DIST__HASH_BEGIN;
	size_t len = strlen(text) + 1;
	struct word *word, **bucket;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * DIST__HASH_FACTOR;
	bucket = &words[hash >> 32 & (BUCKETS - 1)];
	for (word = *bucket; word; word = word->next)
		if (strcmp(word->text, text) == 0)
			return word->text;
	word = malloc(sizeof *word + len);
	if (!word)
		return NULL;
	memcpy(word->text, text, len);
	word->next = *bucket;
	*bucket = word;
	return word->text;
}

/* ---- an operation ------------------------------------------------------ */

/* Copies a table of the rank's; *table becomes ours. */
static enum dist_error take_table(struct dist__seat_work *work, size_t bytes,
				  const void **table)
{
	void *copy;
	enum dist_error error;

	if (!*table)
		return DIST_OK;
	copy = malloc(bytes ? bytes : 1);
	if (!copy)
		return DIST_ERR_NO_MEMORY;
	work->lists[work->num_lists++] = copy;
	error = dist__seat_read(work->pid, copy, *table, bytes);
	*table = copy;
	return error;
}

/* Gives tensor memory of ours, with its data where the operation reads it. */
static enum dist_error take_tensor(struct dist__seat_work *work,
				   struct dist_tensor *tensor, bool reads,
				   bool writes)
{
	size_t bytes = tensor->numel * dist_dtype_size(tensor->dtype);
	struct range range = {
		.theirs = tensor->data, .bytes = bytes, .comes_back = writes};

	if (!tensor->data || bytes == 0)
		return DIST_OK;
	range.ours = malloc(bytes);
	if (!range.ours || !dist__array_add(&work->ranges, &work->num_ranges,
					    &range, sizeof range)) {
		free(range.ours);
		return DIST_ERR_NO_MEMORY;
	}
	tensor->data = range.ours;
	return reads ? dist__seat_read(work->pid, range.ours, range.theirs,
				       bytes)
		     : DIST_OK;
}

static enum dist_error take_list(struct dist__seat_work *work,
				 const struct dist_tensor **list, size_t num,
				 bool reads, bool writes)
{
	const void *table = *list;
	struct dist_tensor *own;
	enum dist_error error = take_table(work, num * sizeof **list, &table);

	*list = table;
	own = table ? work->lists[work->num_lists - 1] : NULL;
	for (size_t i = 0; own && i < num && !error; i++)
		error = take_tensor(work, &own[i], reads, writes);
	return error;
}

static enum dist_error take_parts(struct dist__seat_work *work,
				  struct dist__parts *parts, bool writes)
{
	size_t num = (size_t)parts->count;
	const void *splits = parts->splits;
	enum dist_error error;

	if (num == 0)
		return DIST_OK;
	if (parts->list)
		return take_list(work, &parts->list, num, !writes, writes);
	error = take_table(work, num * sizeof *parts->splits, &splits);
	parts->splits = splits;
	return error ? error
		     : take_tensor(work, &parts->whole, !writes, writes);
}

/* Whether the operation writes its tensor, and reads it, at this rank. */
static void tensor_use(const struct dist__op *op, int rank, bool *reads,
		       bool *writes)
{
	bool root = op->peer == rank;

	*reads = op->kind == DIST__ALL_REDUCE || op->kind == DIST__REDUCE ||
		 op->kind == DIST__ALL_GATHER || op->kind == DIST__GATHER ||
		 op->kind == DIST__SEND ||
		 (op->kind == DIST__BROADCAST && root);
	*writes = op->kind == DIST__ALL_REDUCE ||
		  op->kind == DIST__REDUCE_SCATTER ||
		  op->kind == DIST__SCATTER || op->kind == DIST__RECV ||
		  (op->kind == DIST__REDUCE && root) ||
		  (op->kind == DIST__BROADCAST && !root);
}

/* Of a coalesced operation: `in` goes in and, where there is no `out`, comes
 * out too. */
static enum dist_error take_bundle(struct dist__seat_work *work, bool reads,
				   bool writes)
{
	struct dist__bundle *bundle = &work->sides.bundle;
	bool apart = bundle->out != NULL;
	enum dist_error error;

	if (bundle->kind == DIST__DEVICES)
		return DIST_ERR_UNSUPPORTED;
	error = take_list(work, &bundle->in, bundle->num, apart || reads,
			  !apart && writes);
	return error ? error
		     : take_list(work, &bundle->out, bundle->num, false, true);
}

static enum dist_error take_data(struct dist__seat_work *work, int rank,
				 int world_size)
{
	struct dist__op *op = &work->op;
	enum dist_error error;
	bool reads, writes;

	if (op->kind == DIST__MONITORED_BARRIER) {
		op->tensor = (struct dist_tensor){.data = op->missing,
						  .numel = (size_t)world_size,
						  .dtype = DIST_BOOL};
		error = take_tensor(work, &op->tensor, true, true);
		op->missing = op->tensor.data;
		op->tensor = (struct dist_tensor){.numel = 0};
		return error;
	}
	tensor_use(op, rank, &reads, &writes);
	if (op->sides && op->sides->bundle.kind)
		return take_bundle(work, reads, writes);
	error = take_tensor(work, &op->tensor, reads, writes);
	if (!error && op->sides)
		error = take_parts(work, &op->sides->in, false);
	if (!error && op->sides)
		error = take_parts(work, &op->sides->out, true);
	return error;
}

enum dist_error dist__seat_work_new(const struct dist__seat_slot *seat,
				    int rank, int world_size,
				    struct dist__seat_work **work)
{
	const struct dist__seat_op *from = &seat->op;
	struct dist__seat_work *fresh = calloc(1, sizeof *fresh);
	struct dist__op *op;
	enum dist_error error;

	if (!fresh)
		return DIST_ERR_NO_MEMORY;
	fresh->pid = seat->pid;
	op = &fresh->op;
	*op = from->op;
	op->sides = NULL;
	op->purpose = NULL;
	op->watch = NULL;
	op->from.file = NULL; /* for records, which the rank keeps */
	op->on_end = NULL;
	op->site.file = from->file[0] ? dist__seat_word(from->file) : NULL;
	if (from->has_sides) {
		fresh->sides = from->sides;
		op->sides = &fresh->sides;
	}
	if (from->has_purpose) {
		fresh->purpose = from->purpose;
		fresh->purpose.name = dist__seat_word(from->purpose_name);
		op->purpose = &fresh->purpose;
	}
	error = take_data(fresh, rank, world_size);
	if (error)
		dist__seat_work_free(fresh);
	else
		*work = fresh;
	return error;
}

struct dist__op *dist__seat_work_op(struct dist__seat_work *work)
{
	return &work->op;
}

enum dist_error dist__seat_work_end(struct dist__seat_work *work,
				    struct dist__seat_slot *seat)
{
	struct dist__op *answer = &seat->op.op;
	enum dist_error error = work->op.error;

	for (size_t i = 0; i < work->num_ranges && !error; i++)
		if (work->ranges[i].comes_back)
			error = dist__seat_write(
				work->pid, work->ranges[i].theirs,
				work->ranges[i].ours, work->ranges[i].bytes);
	answer->error = error;
	answer->source = work->op.source;
	answer->started_ns = work->op.started_ns;
	answer->ended_ns = work->op.ended_ns;
	dist__seat_work_free(work);
	return error;
}

void dist__seat_work_free(struct dist__seat_work *work)
{
	for (size_t i = 0; i < work->num_ranges; i++)
		free(work->ranges[i].ours);
	for (size_t i = 0; i < work->num_lists; i++)
		free(work->lists[i]);
	free(work->ranges);
	free(work);
}
