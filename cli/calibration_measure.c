/*
 * Every measure is taken in batches, each timed as a whole from a barrier to
 * the ranks' ends: single messages are too short for the clock, and the
 * quartiles over many short batches show how quiet the machine was. What else
 * the machine does may last longer than all batches of a measure: all are taken
 * in several passes, and the one in the middle counts.
 */
#include "cli/calibration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"
#include "realbackend/tcp/cores.h"
#include "realbackend/tcp/launcher.h"

#define MIB        ((size_t)1 << 20)
#define BATCHES    21
#define SMALL      8 /* bytes of the smallest message */
#define BUFFER     (16 * MIB)
#define LONGEST    (2 * MIB) /* of an exchange */
#define TIMEOUT_NS ((int64_t)60 * 1000000000)

/* Rounds in a batch. */
#define TRIPS      100
#define BARRIERS   150
#define ISSUES     64
#define STREAM     8
#define CALLS      400
#define STREAMED   32
#define REDUCTIONS 8

const size_t calibration_bytes[CALIBRATION_SIZES] = {
	SMALL, MIB / 64, MIB / 16, MIB / 8, MIB / 4, MIB / 2, MIB, LONGEST};
static const int exchange_rounds[CALIBRATION_SIZES] = {150, 100, 60, 40,
						       20,  10,  8,  4};
#define ALGORITHMS "all_gather=ring,broadcast=linear,gather=linear"

/* A batch need not take longer. */
#define BATCH_NS 1e7

/* What all ranks are told. */
struct task {
	int passes;
	bool in_memory;
	FILE *results; /* rank 0 writes the measures there */
};

/* One rank's part. */
struct measurer {
	struct dist_group *group;
	struct dist_group *pair;  /* of ranks 0 and 1; NULL on the others */
	struct dist_group *alone; /* of this rank */
	int rank;
	int world_size;
	char *out;
	char *in;
	struct dist_tensor *parts; /* one of each rank */
	bool in_memory;
};

/* One batch of rounds on this rank. */
typedef enum dist_error batch_function(struct measurer *m, size_t bytes,
				       int rounds);

/*
 * Where round i finds its message of bytes. A collective walks through a vector
 * of one chunk a rank, so data that are too long for the caches come from
 * memory; standing still would measure the caches.
 */
static char *walk(const struct measurer *m, char *buffer, size_t bytes, int i)
{
	size_t places = (size_t)m->world_size;

	if (places > BUFFER / bytes)
		places = BUFFER / bytes;
	return buffer + (size_t)i % places * bytes;
}

static struct dist_tensor view(char *data, size_t bytes)
{
	return dist_tensor(data, bytes / sizeof(float), DIST_FLOAT32);
}

static enum dist_error round_trips(struct measurer *m, size_t bytes, int rounds)
{
	enum dist_error err = DIST_OK;
	int i;

	for (i = 0; !err && i < rounds && m->rank < 2; i++) {
		if (m->rank == 0)
			err = dist_send(m->group, view(m->out, bytes), 1, 0);
		if (!err)
			err = dist_recv(m->group, view(m->in, bytes),
					1 - m->rank, 0);
		if (!err && m->rank == 1)
			err = dist_send(m->group, view(m->out, bytes), 0, 0);
	}
	return err;
}

/* Waits for all of them, frees them, and returns the first error. */
static enum dist_error wait_all(struct dist_work **works, int num)
{
	enum dist_error first = DIST_OK;
	int i;

	for (i = 0; i < num; i++) {
		enum dist_error err =
			dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);

		first = first ? first : err;
		dist_work_free(works[i]);
	}
	return first;
}

/* Rank 0 issues messages one after the other, rank 1 takes them all, then says
 * so: what rank 0 sends streams. */
static enum dist_error stream(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_work *works[ISSUES];
	enum dist_error err = DIST_OK, end;
	int i;

	if (m->rank > 1)
		return DIST_OK;
	for (i = 0; i < rounds; i++) {
		if (m->rank == 0)
			err = dist_isend(m->group,
					 view(walk(m, m->out, bytes, i), bytes),
					 1, 0, &works[i]);
		else
			err = dist_irecv(m->group,
					 view(walk(m, m->in, bytes, i), bytes),
					 0, 0, &works[i]);
		if (err)
			break;
	}
	end = wait_all(works, i);
	err = err ? err : end;
	if (err)
		return err;
	if (m->rank == 0)
		return dist_recv(m->group, view(m->in, SMALL), 1, 1);
	return dist_send(m->group, view(m->out, SMALL), 0, 1);
}

/* Rank 1 sends messages one after the other, which rank 0 takes: a gather is
 * nothing else where the receiver's own part is in place, and these too go the
 * way of those of collectives. */
static enum dist_error one_way(struct measurer *m, size_t bytes, int rounds)
{
	enum dist_error err = DIST_OK;

	for (int i = 0; !err && i < rounds && m->rank < 2; i++) {
		struct dist_tensor out = view(walk(m, m->out, bytes, i), bytes);
		struct dist_tensor all[2] = {
			out, view(walk(m, m->in, bytes, i), bytes)};

		err = dist_gather(m->pair, out, m->rank == 0 ? all : NULL, 0,
				  NULL);
	}
	return err;
}

/* All ranks at once: to the right, from the left, a step fewer than there are
 * ranks. An all-gather in a ring is nothing else, and its messages go the way
 * of those of collectives, which programs' own do not. */
static enum dist_error exchanges(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor own = view(m->in + (size_t)m->rank * bytes, bytes);
	enum dist_error err = DIST_OK;

	for (int i = 0; !err && i < rounds; i++)
		err = dist_all_gather_single(
			m->group, view(m->in, (size_t)m->world_size * bytes),
			own, NULL);
	return err;
}

/* Rank 0 calls what nobody else takes part in. */
static enum dist_error calls(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor own = view(m->in, bytes);
	enum dist_error err = DIST_OK;

	for (int i = 0; !err && i < rounds && m->rank == 0; i++)
		err = dist_all_gather_single(m->alone, own, own, NULL);
	return err;
}

/* Rank 0 sends to all others and waits for none. */
static enum dist_error sends(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor tensor = view(m->in, bytes);
	enum dist_error err = DIST_OK;

	for (int i = 0; !err && i < rounds; i++)
		err = dist_broadcast(m->group, tensor, 0, NULL);
	return err;
}

/* The others send to rank 0 and do not wait for it. */
static enum dist_error receives(struct measurer *m, size_t bytes, int rounds)
{
	struct dist_tensor own = view(m->out, bytes);
	struct dist_tensor *all = m->rank == 0 ? m->parts : NULL;
	enum dist_error err = DIST_OK;

	for (int i = 0; i < m->world_size; i++)
		m->parts[i] = view(m->in + (size_t)i * bytes, bytes);
	for (int i = 0; !err && i < rounds; i++)
		err = dist_gather(m->group, own, all, 0, NULL);
	return err;
}

static enum dist_error barriers(struct measurer *m, size_t bytes, int rounds)
{
	enum dist_error err = DIST_OK;
	int i;

	(void)bytes;
	for (i = 0; !err && i < rounds; i++)
		err = dist_barrier(m->group, NULL);
	return err;
}

static enum dist_error reductions(struct measurer *m, size_t bytes, int rounds)
{
	int i;

	for (i = 0; i < rounds; i++)
		dist__reduce(DIST_FLOAT32, DIST_SUM, walk(m, m->out, bytes, i),
			     m->in, bytes / sizeof(float));
	return DIST_OK;
}

static enum dist_error copies(struct measurer *m, size_t bytes, int rounds)
{
	for (int i = 0; i < rounds; i++)
		memcpy(m->in, walk(m, m->out, bytes, i), bytes);
	return DIST_OK;
}

/* Times a round of num batches. Out of the barrier in front of it ranks come
 * one after the other, so it is their average where all take part, DIST_AVG;
 * DIST_MAX where others stand by; DIST_SUM is the time of rank 0 alone. */
static enum dist_error time_batches(struct measurer *m, batch_function *batch,
				    size_t bytes, int rounds,
				    enum dist_reduce_op op, double *round_ns,
				    size_t num)
{
	enum dist_error err = DIST_OK;
	size_t i;

	for (i = 0; !err && i < num; i++) {
		int64_t start_ns;

		err = dist_barrier(m->group, NULL);
		start_ns = dist_now_ns(m->group);
		if (!err)
			err = batch(m, bytes, rounds);
		round_ns[i] =
			(double)(dist_now_ns(m->group) - start_ns) / rounds;
	}
	for (i = 0; i < num && op == DIST_SUM && m->rank > 0; i++)
		round_ns[i] = 0;
	return err ? err
		   : dist_all_reduce(m->group,
				     dist_tensor(round_ns, num, DIST_FLOAT64),
				     op, NULL);
}

/* Describes the time of one round over batches of up to so many. A batch in
 * front, which opens connections, tells how many a batch has time for. */
static enum dist_error take(struct measurer *m, batch_function *batch,
			    size_t bytes, int rounds, enum dist_reduce_op op,
			    struct sample *sample)
{
	double round_ns[BATCHES];
	enum dist_error err =
		time_batches(m, batch, bytes, rounds, op, round_ns, 1);

	if (!err && round_ns[0] * rounds > BATCH_NS)
		rounds = (int)(BATCH_NS / round_ns[0]) + 1;
	if (!err)
		err = time_batches(m, batch, bytes, rounds, op, round_ns,
				   BATCHES);
	if (!err)
		*sample = sample_of(round_ns, BATCHES);
	return err;
}

static void divide(struct sample *s, int parts)
{
	s->min /= parts;
	s->max /= parts;
	s->median /= parts;
	s->low_quartile /= parts;
	s->high_quartile /= parts;
}

/* What counts through memory. */
static enum dist_error take_calls(struct measurer *m,
				  struct calibration_measures *all)
{
	enum dist_error err =
		take(m, calls, SMALL, CALLS, DIST_MAX, &all->call);

	if (!err)
		err = take(m, sends, SMALL, STREAMED, DIST_SUM, &all->sends);
	if (!err)
		err = take(m, receives, SMALL, STREAMED, DIST_MAX,
			   &all->receives);
	return err;
}

static enum dist_error take_all(struct measurer *m,
				struct calibration_measures *all)
{
	int i, steps = m->world_size - 1;
	enum dist_error err;

	all->world_size = m->world_size;
	err = take(m, round_trips, SMALL, TRIPS, DIST_MAX, &all->half_trip);
	divide(&all->half_trip, 2);
	if (!err)
		err = take(m, barriers, 0, BARRIERS, DIST_AVG, &all->round);
	divide(&all->round, calibration_barrier_rounds(m->world_size));
	if (!err)
		err = take(m, stream, SMALL, ISSUES, DIST_MAX, &all->issue);
	if (!err)
		err = take(m, one_way, MIB, STREAM, DIST_MAX,
			   &all->pair_message);
	for (i = 0; !err && i < CALIBRATION_SIZES; i++) {
		err = take(m, exchanges, calibration_bytes[i],
			   exchange_rounds[i] / steps + 1, DIST_AVG,
			   &all->exchange[i]);
		divide(&all->exchange[i], steps);
		/* Right after what it is held against. */
		if (!err && i == CALIBRATION_ONE_WAY && m->in_memory)
			err = take(m, one_way, calibration_bytes[i], 4 * STREAM,
				   DIST_MAX, &all->one_way);
	}
	if (!err)
		err = take(m, reductions, MIB, REDUCTIONS, DIST_AVG,
			   &all->reduce);
	if (!err)
		err = take(m, copies, MIB, REDUCTIONS, DIST_AVG, &all->copy);
	if (!err && m->in_memory)
		err = take_calls(m, all);
	return err;
}

#define MEASURES (10 + CALIBRATION_SIZES)

static void list(struct calibration_measures *all,
		 struct sample *samples[MEASURES])
{
	size_t n = 0;

	samples[n++] = &all->half_trip;
	samples[n++] = &all->round;
	samples[n++] = &all->issue;
	samples[n++] = &all->pair_message;
	samples[n++] = &all->one_way;
	samples[n++] = &all->call;
	samples[n++] = &all->sends;
	samples[n++] = &all->receives;
	samples[n++] = &all->reduce;
	samples[n++] = &all->copy;
	for (int i = 0; i < CALIBRATION_SIZES; i++)
		samples[n++] = &all->exchange[i];
}

static int by_median(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->median > y->median) - (x->median < y->median);
}

/* Leaves in all, of each measure, the pass in the middle. */
static enum dist_error take_passes(struct measurer *m, int passes,
				   struct calibration_measures *all)
{
	struct sample taken[MEASURES][CALIBRATION_MOST_PASSES];
	struct sample *samples[MEASURES];
	enum dist_error err = DIST_OK;

	list(all, samples);
	for (int pass = 0; !err && pass < passes; pass++) {
		err = take_all(m, all);
		for (int i = 0; i < MEASURES; i++)
			taken[i][pass] = *samples[i];
	}
	for (int i = 0; !err && i < MEASURES; i++) {
		qsort(taken[i], (size_t)passes, sizeof taken[i][0], by_median);
		*samples[i] = taken[i][passes / 2];
	}
	return err;
}

/* Memory that is really there, and holds ordinary numbers: untouched pages are
 * one page of zeros, which sends faster than data does. */
static char *buffer_new(size_t bytes)
{
	float *values = malloc(bytes);
	size_t i;

	for (i = 0; values && i < bytes / sizeof(*values); i++)
		values[i] = 1;
	return (char *)values;
}

/* arg is the task; ranks are processes. In a job that others started, the file
 * is that of rank 0's process. */
static int rank_main(void *arg)
{
	struct calibration_measures all;
	struct measurer m = {.group = NULL};
	enum dist_error err = DIST_ERR_NO_MEMORY;
	const struct task *task = arg;

	memset(&all, 0, sizeof(all));
	if (setenv("LOCKSTEP_ALGORITHM", ALGORITHMS, 1) != 0 ||
	    dist_init_process_group(NULL, &m.group))
		return 1;
	if (dist_new_group(m.group, (int[]){0, 1}, 2, NULL, &m.pair) ||
	    dist_new_subgroups(m.group, 1, NULL, &m.alone))
		return 1;
	m.in_memory = task->in_memory;
	m.rank = dist_get_rank(m.group);
	m.world_size = dist_get_world_size(m.group);
	m.out = buffer_new(BUFFER);
	m.in = buffer_new((size_t)m.world_size * LONGEST);
	m.parts = calloc((size_t)m.world_size, sizeof *m.parts);
	if (m.world_size < 2)
		err = DIST_ERR_INVALID_ARGUMENT;
	else if (m.out && m.in && m.parts)
		err = take_passes(&m, task->passes, &all);
	if (!err && m.rank == 0 &&
	    (fwrite(&all, sizeof(all), 1, task->results) != 1 ||
	     fflush(task->results)))
		err = DIST_ERR_IO;
	if (err)
		fprintf(stderr, "lockstep calibrate: rank %d: %s\n", m.rank,
			dist_error_string(err));
	if (dist_destroy_process_group(m.group))
		err = err ? err : DIST_ERR_IO;
	free(m.out);
	free(m.in);
	free(m.parts);
	return err != DIST_OK;
}

/* What ranks of one machine, which read the same, talk through. */
static bool shares_memory(void)
{
	const char *words = getenv("LOCKSTEP_INTRA");
	bool shares = true;

	if (words && *words)
		(void)dist__intra_parse(words, &shares);
	return shares;
}

int calibration_measure(int world_size, int passes,
			struct calibration_measures *measures)
{
	const struct dist_launch_options options = {
		.backend = "tcp",
		.world_size = world_size,
		.timeout_ns = TIMEOUT_NS,
	};
	FILE *results = tmpfile();
	struct task task = {passes, world_size > 0 && shares_memory(), results};
	int status;

	if (!results) {
		fprintf(stderr, "lockstep calibrate: no temporary file: %s\n",
			strerror(errno));
		return DIST_EXIT_INTERNAL;
	}
	fflush(NULL);
	status = dist_launch(&options, rank_main, &task);
	rewind(results);
	measures->world_size = 0;
	if (status == DIST_EXIT_OK &&
	    fread(measures, sizeof(*measures), 1, results) != 1 &&
	    !dist__job_is_rank()) {
		fprintf(stderr, "lockstep calibrate: no results\n");
		status = DIST_EXIT_INTERNAL;
	}
	/* Of a job it is not known. */
	measures->cores = world_size > 0 ? dist__cores() : 0;
	measures->in_memory = task.in_memory;
	fclose(results);
	return status;
}
