/*
 * Every measure is taken in batches, each timed as a whole between a barrier
 * and the slowest rank's end: single messages are too short for the clock, and
 * the quartiles over many short batches show how quiet the machine was.
 */
#include "cli/calibration.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reduce.h"

#define MIB        ((size_t)1 << 20)
#define BATCHES    21
#define SMALL      8 /* bytes of the smallest message */
#define BUFFER     (16 * MIB)
#define TIMEOUT_NS ((int64_t)60 * 1000000000)

/* Rounds in a batch. */
#define TRIPS      100
#define BARRIERS   150
#define ISSUES     64
#define STREAM     8
#define REDUCTIONS 32

const size_t calibration_bytes[CALIBRATION_SIZES] = {SMALL, MIB / 64, MIB / 8,
						     MIB,   4 * MIB,  8 * MIB};
static const int exchange_rounds[CALIBRATION_SIZES] = {150, 100, 40, 8, 4, 4};

/* One rank's part. */
struct measurer {
	struct dist_group *group;
	int rank;
	int world_size;
	char *out;
	char *in;
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

/* All ranks at once: to the right, from the left. */
static enum dist_error exchanges(struct measurer *m, size_t bytes, int rounds)
{
	int right = (m->rank + 1) % m->world_size;
	int left = (m->rank + m->world_size - 1) % m->world_size;
	enum dist_error err = DIST_OK;
	int i, num;

	for (i = 0; !err && i < rounds; i++) {
		struct dist_work *works[2];
		enum dist_error end;

		num = 0;
		err = dist_irecv(m->group,
				 view(walk(m, m->in, bytes, i), bytes), left, 0,
				 &works[num]);
		num += !err;
		if (!err) {
			err = dist_isend(m->group,
					 view(walk(m, m->out, bytes, i), bytes),
					 right, 0, &works[num]);
			num += !err;
		}
		end = wait_all(works, num);
		err = err ? err : end;
	}
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

/* Describes the time of one round, over batches, as the slowest rank saw it. A
 * batch more in front opens connections and is not counted. */
static enum dist_error take(struct measurer *m, batch_function *batch,
			    size_t bytes, int rounds, struct sample *sample)
{
	double round_ns[BATCHES];
	enum dist_error err = DIST_OK;
	int i;

	for (i = -1; !err && i < BATCHES; i++) {
		int64_t start_ns;

		err = dist_barrier(m->group, NULL);
		start_ns = dist_now_ns(m->group);
		if (!err)
			err = batch(m, bytes, rounds);
		if (i >= 0)
			round_ns[i] =
				(double)(dist_now_ns(m->group) - start_ns) /
				rounds;
	}
	if (!err)
		err = dist_all_reduce(
			m->group, dist_tensor(round_ns, BATCHES, DIST_FLOAT64),
			DIST_MAX, NULL);
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

/* Rounds of a dissemination barrier: ceil(log2(p)). */
static int barrier_rounds(int world_size)
{
	int rounds = 0;

	while (1 << rounds < world_size)
		rounds++;
	return rounds;
}

static enum dist_error take_all(struct measurer *m,
				struct calibration_measures *all)
{
	enum dist_error err;
	int i;

	all->world_size = m->world_size;
	err = take(m, round_trips, SMALL, TRIPS, &all->half_trip);
	divide(&all->half_trip, 2);
	if (!err)
		err = take(m, barriers, 0, BARRIERS, &all->round);
	divide(&all->round, barrier_rounds(m->world_size));
	if (!err)
		err = take(m, stream, SMALL, ISSUES, &all->issue);
	if (!err)
		err = take(m, stream, MIB, STREAM, &all->pair_message);
	for (i = 0; !err && i < CALIBRATION_SIZES; i++)
		err = take(m, exchanges, calibration_bytes[i],
			   exchange_rounds[i], &all->exchange[i]);
	if (!err)
		err = take(m, reductions, MIB, REDUCTIONS, &all->reduce);
	return err;
}

/* Memory that is really there, and holds ordinary numbers: untouched pages are
 * one page of zeros, which sends faster than data does. */
static char *buffer_new(void)
{
	float *values = malloc(BUFFER);
	size_t i;

	for (i = 0; values && i < BUFFER / sizeof(*values); i++)
		values[i] = 1;
	return (char *)values;
}

/* arg is the file that rank 0 writes the measures to: ranks are processes. */
static int rank_main(void *arg)
{
	struct calibration_measures all;
	struct measurer m = {.group = NULL};
	enum dist_error err = DIST_ERR_NO_MEMORY;
	FILE *results = arg;

	memset(&all, 0, sizeof(all));
	if (dist_init_process_group(NULL, &m.group))
		return 1;
	m.rank = dist_get_rank(m.group);
	m.world_size = dist_get_world_size(m.group);
	m.out = buffer_new();
	m.in = buffer_new();
	if (m.out && m.in)
		err = take_all(&m, &all);
	if (!err && m.rank == 0 &&
	    (fwrite(&all, sizeof(all), 1, results) != 1 || fflush(results)))
		err = DIST_ERR_IO;
	if (dist_destroy_process_group(m.group))
		err = err ? err : DIST_ERR_IO;
	free(m.out);
	free(m.in);
	return err != DIST_OK;
}

int calibration_measure(int world_size, struct calibration_measures *measures)
{
	const struct dist_launch_options options = {
		.backend = "tcp",
		.world_size = world_size,
		.timeout_ns = TIMEOUT_NS,
	};
	FILE *results = tmpfile();
	int status;

	if (!results) {
		fprintf(stderr, "lockstep calibrate: no temporary file: %s\n",
			strerror(errno));
		return DIST_EXIT_INTERNAL;
	}
	fflush(NULL);
	status = dist_launch(&options, rank_main, results);
	rewind(results);
	if (status == DIST_EXIT_OK &&
	    fread(measures, sizeof(*measures), 1, results) != 1) {
		fprintf(stderr, "lockstep calibrate: no results\n");
		status = DIST_EXIT_INTERNAL;
	}
	fclose(results);
	return status;
}
