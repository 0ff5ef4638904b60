/*
 * wire.c - what this machine allows two processes, a processor each, and how
 * near an all-reduce between two ranks comes to it, in turns. Figures, not a
 * test.
 *
 * Latency: half a round trip of 8 bytes, and 8 bytes each way at once, which is
 * what an all-reduce sends; both ends looking all the time. Bandwidth: bytes
 * sent both ways at once, over one connection and over several. An all-reduce
 * of n bytes between two ranks sends n bytes each way and sums n / 2, and is
 * held against both one after the other; ours sums what has come while it is
 * in the cache, and may be the faster.
 */
#define _GNU_SOURCE /* sched_setaffinity, MAP_ANONYMOUS */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/statistics.h"
#include "core/reduce.h"

#define MIB          ((size_t)1 << 20)
#define MOST_BYTES   (256 * MIB)
#define CHUNK_BYTES  ((size_t)256 << 10)
#define SMALL_BYTES  8
#define MOST_SOCKETS 4

enum { ROUNDS = 7, CALLS = 20000, PASSES = 5 };

/* Written by one process, read by the other, or after its end. */
struct page {
	alignas(128) atomic_uint to[2]; /* the count of the last message */
	alignas(128) double us;         /* what was measured */
	size_t bytes;                   /* of an all-reduce */
	int calls;
};

static struct page *page;
static char *send_memory, *receive_memory; /* MOST_BYTES each */

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- two processes ------------------------------------------------------ */

static void bind_to(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		fail("sched_setaffinity");
}

/* Runs side(0, arg) and side(1, arg) in two processes; the first one returns
 * its time in us, which is returned. */
static double in_two(double (*side)(int number, void *arg), void *arg)
{
	pid_t children[2];
	int status, failed = 0;

	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		if (children[i] < 0)
			fail("fork");
		if (children[i] == 0) {
			double us;

			bind_to(i);
			us = side(i, arg);
			if (i == 0)
				page->us = us;
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++)
		failed |= waitpid(children[i], &status, 0) < 0 || status;
	if (failed)
		exit(1);
	return page->us;
}

/* ---- latency ------------------------------------------------------------ */

/* Like ours: without a control that paces, which would stay with a connection
 * that was made under it; Reno is every user's. */
static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) ||
	    (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) &&
	     setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4)))
		fail("TCP_NODELAY, TCP_CONGESTION");
	return fd;
}

static void connect_pair(int ends[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof address;
	int listener = new_socket();

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ends[0] = new_socket();
	if (bind(listener, (struct sockaddr *)&address, len) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(ends[0], (struct sockaddr *)&address, len))
		fail("a connection of its own");
	ends[1] = accept(listener, NULL, NULL);
	close(listener);
}

static void pass_tcp(int fd, bool sends)
{
	char small[SMALL_BYTES] = {0};
	ssize_t n;

	do
		n = sends ? send(fd, small, sizeof small, 0)
			  : recv(fd, small, sizeof small, MSG_DONTWAIT);
	while (n < 0);
	if (n != sizeof small)
		fail("8 bytes");
}

static void meet(int fd)
{
	pass_tcp(fd, true);
	pass_tcp(fd, false);
}

static double tcp_side(int side, void *arg)
{
	const int *ends = arg;
	double start_us;

	meet(ends[side]);
	start_us = now_us();
	for (int i = 0; i < 2 * CALLS; i++)
		pass_tcp(ends[side], i % 2 == side);
	return (now_us() - start_us) / (2 * CALLS);
}

static double both_side(int side, void *arg)
{
	const int *ends = arg;
	double start_us;

	meet(ends[side]);
	start_us = now_us();
	for (int i = 0; i < CALLS; i++)
		meet(ends[side]);
	return (now_us() - start_us) / CALLS;
}

static double tcp_latency_us(double (*side)(int number, void *arg))
{
	int ends[2];
	double us;

	connect_pair(ends);
	us = in_two(side, ends);
	close(ends[0]);
	close(ends[1]);
	return us;
}

static double memory_side(int side, void *arg)
{
	double start_us = now_us();

	(void)arg;
	for (unsigned i = 1; i <= CALLS; i++) {
		if (side == 0)
			atomic_store_explicit(&page->to[1], i,
					      memory_order_release);
		while (atomic_load_explicit(&page->to[side],
					    memory_order_acquire) != i)
			;
		if (side == 1)
			atomic_store_explicit(&page->to[0], i,
					      memory_order_release);
	}
	return (now_us() - start_us) / (2 * CALLS);
}

static double memory_latency_us(void)
{
	atomic_store(&page->to[0], 0);
	atomic_store(&page->to[1], 0);
	return in_two(memory_side, NULL);
}

/* ---- bandwidth ---------------------------------------------------------- */

struct stream {
	int ends[MOST_SOCKETS][2];
	int num;
	size_t bytes; /* each way, over all of them */
};

/* What is done of one connection's share, each way. */
struct shard {
	size_t sent, received;
};

static void move(const struct stream *stream, int fd, int i,
		 struct shard *share)
{
	size_t whole = stream->bytes / (size_t)stream->num;
	size_t at = (size_t)i * whole;
	size_t out = whole - share->sent, in = whole - share->received;
	ssize_t n;

	n = recv(fd, receive_memory + at + share->received, in, MSG_DONTWAIT);
	share->received += n > 0 ? (size_t)n : 0;
	n = send(fd, send_memory + at + share->sent,
		 out < CHUNK_BYTES ? out : CHUNK_BYTES, MSG_DONTWAIT);
	share->sent += n > 0 ? (size_t)n : 0;
}

static void pass_bytes(const struct stream *stream, int side)
{
	struct shard shares[MOST_SOCKETS] = {{0}};
	size_t whole = stream->bytes / (size_t)stream->num;
	bool done = false;

	while (!done) {
		done = true;
		for (int i = 0; i < stream->num; i++) {
			move(stream, stream->ends[i][side], i, &shares[i]);
			done &= shares[i].sent == whole &&
				shares[i].received == whole;
		}
	}
}

static double stream_side(int side, void *arg)
{
	const struct stream *stream = arg;
	double start_us;

	memset(receive_memory, 0, stream->bytes); /* pages of its own */
	meet(stream->ends[0][side]);
	start_us = now_us();
	for (int i = 0; i < PASSES; i++)
		pass_bytes(stream, side);
	return (now_us() - start_us) / PASSES;
}

static double stream_us(int num, size_t bytes)
{
	struct stream stream = {.num = num, .bytes = bytes};
	double us;

	for (int i = 0; i < num; i++)
		connect_pair(stream.ends[i]);
	us = in_two(stream_side, &stream);
	for (int i = 0; i < num; i++) {
		close(stream.ends[i][0]);
		close(stream.ends[i][1]);
	}
	return us;
}

static double sum_side(int side, void *arg)
{
	const size_t *bytes = arg;
	double start_us;

	(void)side;
	/* Pages of its own, as those of a rank. */
	memset(receive_memory, 0, *bytes);
	start_us = now_us();
	dist__reduce(DIST_FLOAT32, DIST_SUM, receive_memory, send_memory,
		     *bytes / sizeof(float));
	return now_us() - start_us;
}

/* ---- ours --------------------------------------------------------------- */

static int rank_main(void *arg)
{
	struct dist_tensor tensor = {.data = receive_memory,
				     .numel = page->bytes / sizeof(float),
				     .dtype = DIST_FLOAT32};
	struct dist_group *group;
	enum dist_error error;
	double start_us = 0;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	memset(receive_memory, 0, page->bytes);
	error = dist_all_reduce(group, tensor, DIST_SUM, NULL);
	if (!error)
		error = dist_barrier(group, NULL);
	start_us = now_us();
	for (int i = 0; i < page->calls && !error; i++)
		error = dist_all_reduce(group, tensor, DIST_SUM, NULL);
	if (dist_get_rank(group) == 0)
		page->us = (now_us() - start_us) / page->calls;
	return dist_destroy_process_group(group) != DIST_OK || error;
}

static double all_reduce_us(const char *intra, size_t bytes, int calls)
{
	const struct dist_launch_options options = {.backend = "tcp",
						    .world_size = 2};

	setenv("LOCKSTEP_INTRA", intra, 1);
	page->bytes = bytes;
	page->calls = calls;
	if (dist_launch(&options, rank_main, NULL) != DIST_EXIT_OK)
		exit(1);
	return page->us;
}

/* ---- telling ------------------------------------------------------------ */

/* Two times of each round, and how many times as long the second one is. */
struct pair {
	double first_us[ROUNDS], second_us[ROUNDS], ratio[ROUNDS];
};

static void note(struct pair *pair, int round, double first_us,
		 double second_us)
{
	pair->first_us[round] = first_us;
	pair->second_us[round] = second_us;
	pair->ratio[round] = second_us / first_us;
}

static double median(double values[ROUNDS])
{
	dist__sort_numbers(values, ROUNDS);
	return values[ROUNDS / 2];
}

/* Prints a line: what, a time and how many times as long another one took. */
static void tell(const char *what, struct pair *pair, const char *other)
{
	double ratio = median(pair->ratio);

	printf("%-40s %9.2f us, %s %9.2f us: %.2f times (%.2f to %.2f)\n", what,
	       median(pair->first_us), other, median(pair->second_us), ratio,
	       pair->ratio[0], pair->ratio[ROUNDS - 1]);
	fflush(stdout);
}

static void latencies(void)
{
	struct pair tcp, both, memory;

	for (int i = 0; i < ROUNDS; i++) {
		double ours_us = all_reduce_us("tcp", SMALL_BYTES, CALLS);

		note(&tcp, i, tcp_latency_us(tcp_side), ours_us);
		note(&both, i, tcp_latency_us(both_side), ours_us);
		note(&memory, i, memory_latency_us(),
		     all_reduce_us("shm", SMALL_BYTES, CALLS));
	}
	tell("8 bytes over TCP, half a round trip", &tcp, "ours");
	tell("8 bytes each way at once over TCP", &both, "ours");
	tell("a count in memory, half a round trip", &memory, "ours");
}

static void bandwidths(size_t bytes)
{
	struct pair ours, two, four;
	size_t half = bytes / 2;
	char what[64];

	for (int i = 0; i < ROUNDS; i++) {
		double one_us = stream_us(1, bytes);

		note(&two, i, one_us, stream_us(2, bytes));
		note(&four, i, one_us, stream_us(4, bytes));
		note(&ours, i, one_us + in_two(sum_side, &half),
		     all_reduce_us("tcp", bytes, PASSES));
	}
	snprintf(what, sizeof what, "%zu MiB each way over TCP", bytes / MIB);
	tell(what, &two, "by 2 connections");
	tell(what, &four, "by 4 connections");
	snprintf(what, sizeof what, "the same, then %g MiB summed",
		 (double)half / (double)MIB);
	tell(what, &ours, "ours");
}

static void *shared_memory(size_t bytes, int flags)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    flags | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("memory");
	return memory;
}

int main(void)
{
	page = shared_memory(sizeof *page, MAP_SHARED);
	send_memory = shared_memory(MOST_BYTES, MAP_PRIVATE);
	receive_memory = shared_memory(MOST_BYTES, MAP_PRIVATE);
	memset(send_memory, 0, MOST_BYTES);
	setenv("LOCKSTEP_BIND_TO", "core", 1);
	latencies();
	for (size_t bytes = MIB; bytes <= MOST_BYTES; bytes *= 16)
		bandwidths(bytes);
	return 0;
}
