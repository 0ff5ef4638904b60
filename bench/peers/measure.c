/*
 * measure.c - one collective of one size, checked and then timed:
 *
 *	PROGRAM COLLECTIVE BYTES ITERATIONS CALLS WARMUP SECONDS
 *
 * An iteration is CALLS calls, one after the other, behind a barrier; its time
 * is that of the slowest rank, by call. Rank 0 prints the median, the smallest
 * and the largest of the iterations' times in microseconds, and how many they
 * were, separated by tabs: fewer than ITERATIONS, yet one, where those take
 * longer than half of SECONDS; warming up ends after the other half.
 *
 * Status 0, 1 after a wrong result, 2 for a bad command line, 77 when the
 * library does not have the collective.
 */
#include "bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK, WRONG, USAGE, LACKS = 77 };

/* lockstep bench's names, in the order of enum peer_collective. */
static const char *const names[] = {"all_reduce", "broadcast",      "reduce",
				    "all_gather", "reduce_scatter", "alltoall",
				    "gather",     "scatter",        "sendrecv"};
#define NUM_NAMES (sizeof(names) / sizeof(names[0]))

struct measurement {
	struct peer peer;
	enum peer_collective collective;
	size_t num;
	int iterations, calls, warmup;
	double seconds;
	float *data, *apart;
	double *time_us; /* one an iteration */
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ---- known values ------------------------------------------------------ */

/* Small whole numbers, so that sums are exact in any order. */
static float input(int rank, size_t i)
{
	return (float)(rank + 1) * (float)(1 + i % 7);
}

static float expected(const struct measurement *m, size_t i)
{
	size_t size = (size_t)m->peer.world_size, part = m->num / size;
	int rank = m->peer.rank, ranks = m->peer.world_size;

	switch (m->collective) {
	case PEER_BROADCAST:
	case PEER_SCATTER:
		return input(0, i);
	case PEER_ALL_GATHER:
	case PEER_GATHER:
		return input((int)(i / part), i);
	case PEER_ALLTOALL:
		return input((int)(i / part), (size_t)rank * part + i % part);
	case PEER_SENDRECV:
		return input((rank + ranks - 1) % ranks, i);
	default: /* the sum over ranks of input(rank, i) */
		return (float)ranks * (float)(ranks + 1) / 2 * input(0, i);
	}
}

static bool writes_apart(enum peer_collective c)
{
	return c == PEER_REDUCE_SCATTER || c == PEER_ALLTOALL ||
	       c == PEER_SENDRECV;
}

/* Runs one call on known values; returns whether this rank's result is wrong.
 */
static bool is_wrong(struct measurement *m)
{
	enum peer_collective c = m->collective;
	const float *out = writes_apart(c) ? m->apart : m->data;
	size_t first = 0, end = m->num, i;

	for (i = 0; i < m->num; i++)
		m->data[i] = input(m->peer.rank, i);
	peer_call(&m->peer, c, m->data, m->apart, m->num);
	if (c == PEER_REDUCE_SCATTER || c == PEER_SCATTER) {
		end = m->num / (size_t)m->peer.world_size;
		first = end * (size_t)m->peer.rank;
		end += first;
	} else if ((c == PEER_REDUCE || c == PEER_GATHER) && m->peer.rank > 0) {
		end = 0;
	}
	for (i = first; i < end; i++)
		if (out[i] != expected(m, i))
			return true;
	return false;
}

/* ---- timing ------------------------------------------------------------ */

static double time_calls(struct measurement *m)
{
	double start;

	peer_barrier(&m->peer);
	start = now_us();
	for (int i = 0; i < m->calls; i++)
		peer_call(&m->peer, m->collective, m->data, m->apart, m->num);
	return (now_us() - start) / m->calls;
}

/* Makes up to most iterations, until half of the time is over on some rank;
 * returns how many it made. */
static int iterate(struct measurement *m, int most, double *time_us)
{
	double end_us = now_us() + m->seconds / 2 * 1e6, over = 0;
	int made;

	for (made = 0; made < most && over <= 0; made++) {
		time_us[made] = time_calls(m);
		over = now_us() >= end_us;
		peer_max(&m->peer, &over, 1);
	}
	return made;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_times(struct measurement *m, size_t num)
{
	double *t = m->time_us;

	qsort(t, num, sizeof *t, by_value);
	printf("%.3f\t%.3f\t%.3f\t%zu\n", (t[(num - 1) / 2] + t[num / 2]) / 2,
	       t[0], t[num - 1], num);
}

static int measure(struct measurement *m)
{
	double wrong = is_wrong(m);
	size_t num;

	peer_max(&m->peer, &wrong, 1);
	if (wrong > 0) {
		if (m->peer.rank == 0)
			fprintf(stderr, "gives wrong results\n");
		return WRONG;
	}
	/* Zeros stay zeros under every operation, however often repeated. */
	memset(m->data, 0, m->num * sizeof *m->data);
	iterate(m, m->warmup, m->time_us);
	num = (size_t)iterate(m, m->iterations, m->time_us);
	peer_max(&m->peer, m->time_us, num);
	if (m->peer.rank == 0)
		print_times(m, num);
	return OK;
}

/* ---- the command line -------------------------------------------------- */

static bool has_parts(enum peer_collective c)
{
	return c >= PEER_ALL_GATHER && c <= PEER_SCATTER;
}

static bool read_arguments(struct measurement *m, int argc, char **argv)
{
	size_t name = 0, size = (size_t)m->peer.world_size;

	while (argc == 7 && name < NUM_NAMES && strcmp(names[name], argv[1]))
		name++;
	if (argc != 7 || name == NUM_NAMES)
		return false;
	m->collective = (enum peer_collective)name;
	m->num = strtoull(argv[2], NULL, 10) / sizeof(float);
	if (has_parts(m->collective))
		m->num -= m->num % size;
	m->iterations = atoi(argv[3]);
	m->calls = atoi(argv[4]);
	m->warmup = atoi(argv[5]);
	m->seconds = atof(argv[6]);
	return m->iterations > 0 && m->calls > 0 && m->warmup >= 0;
}

int main(int argc, char **argv)
{
	struct measurement m = {.peer = peer_start(&argc, &argv)};
	int status = USAGE;

	if (read_arguments(&m, argc, argv)) {
		m.data = calloc(m.num + 1, sizeof *m.data);
		m.apart = calloc(m.num + 1, sizeof *m.apart);
		m.time_us = calloc((size_t)(m.iterations + m.warmup),
				   sizeof *m.time_us);
		if (!m.data || !m.apart || !m.time_us)
			abort();
		status = LACKS;
		if (peer_has(m.collective))
			status = measure(&m);
		else if (m.peer.rank == 0)
			fprintf(stderr, "has no %s\n", argv[1]);
	} else {
		fprintf(stderr,
			"%s: expected COLLECTIVE BYTES ITERATIONS "
			"CALLS WARMUP SECONDS\n",
			argv[0]);
	}
	fflush(stdout);
	peer_stop(&m.peer);
	free(m.data);
	free(m.apart);
	free(m.time_us);
	return status;
}
