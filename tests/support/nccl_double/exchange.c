#include "tests/support/nccl_double/exchange.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PIPE_BYTES ((size_t)1 << 16)

/* From one rank to another. Positions only grow. */
struct pipe {
	atomic_size_t written, read;
	char bytes[PIPE_BYTES];
};

struct shared {
	atomic_int joined;
	int devices[EXCHANGE_MOST_RANKS];
	struct pipe pipes[]; /* from * size + to */
};

struct exchange {
	struct shared *shared;
	int size, rank;
	char name[128];
};

static size_t bytes_of(const struct exchange *x)
{
	return sizeof(struct shared) +
	       (size_t)x->size * (size_t)x->size * sizeof(struct pipe);
}

struct exchange *exchange_join(const char *name, int size, int rank, int device)
{
	struct exchange *x = calloc(1, sizeof *x);
	int fd = shm_open(name, O_RDWR | O_CREAT, 0600);

	x->size = size;
	x->rank = rank;
	snprintf(x->name, sizeof x->name, "%s", name);
	if (size > EXCHANGE_MOST_RANKS || fd < 0 ||
	    ftruncate(fd, (off_t)bytes_of(x)) != 0)
		abort();
	x->shared = mmap(NULL, bytes_of(x), PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);
	close(fd);
	if (x->shared == MAP_FAILED)
		abort();
	x->shared->devices[rank] = device;
	/* The name has served once all have found it. */
	if (atomic_fetch_add(&x->shared->joined, 1) == size - 1)
		shm_unlink(name);
	return x;
}

bool exchange_all_here(const struct exchange *x)
{
	return atomic_load(&x->shared->joined) == x->size;
}

int exchange_duplicate(const struct exchange *x, int *other)
{
	for (int rank = 1; rank < x->size; rank++)
		for (*other = 0; *other < rank; ++*other)
			if (x->shared->devices[rank] ==
			    x->shared->devices[*other])
				return rank;
	return -1;
}

void exchange_leave(struct exchange *x)
{
	if (!exchange_all_here(x))
		shm_unlink(x->name);
	munmap(x->shared, bytes_of(x));
	free(x);
}

/* ---- moving ------------------------------------------------------------ */

/* Copies between a ring and a line, as far as both have room. */
static size_t copy(char *line, char *ring, size_t at, size_t bytes, bool out)
{
	size_t place = at % PIPE_BYTES;

	if (bytes > PIPE_BYTES - place)
		bytes = PIPE_BYTES - place;
	if (out)
		memcpy(ring + place, line, bytes);
	else
		memcpy(line, ring + place, bytes);
	return bytes;
}

/* Moves what can be moved of t at once; returns how much that was. */
static size_t step(struct exchange *x, struct transfer *t)
{
	int from = t->out ? x->rank : t->peer;
	int to = t->out ? t->peer : x->rank;
	struct pipe *pipe = &x->shared->pipes[from * x->size + to];
	size_t written = atomic_load(&pipe->written);
	size_t read = atomic_load(&pipe->read);
	size_t room = t->out ? PIPE_BYTES - (written - read) : written - read;
	size_t bytes = t->bytes - t->done < room ? t->bytes - t->done : room;

	if (bytes == 0)
		return 0;
	bytes = copy(t->data + t->done, pipe->bytes, t->out ? written : read,
		     bytes, t->out);
	t->done += bytes;
	atomic_fetch_add(t->out ? &pipe->written : &pipe->read, bytes);
	return bytes;
}

/* Whether an earlier transfer on the same pipe is not through yet. */
static bool is_blocked(const struct transfer *transfers, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (transfers[before].out == transfers[i].out &&
		    transfers[before].peer == transfers[i].peer &&
		    transfers[before].done < transfers[before].bytes)
			return true;
	return false;
}

/* Whoever waits leaves the processors to those it waits for. */
static void rest(unsigned *idle)
{
	struct timespec moment = {.tv_nsec = 50000};

	if (++*idle < 100)
		sched_yield();
	else
		nanosleep(&moment, NULL);
}

void exchange_run(struct exchange *x, struct transfer *transfers, size_t count,
		  const atomic_bool *stop)
{
	size_t left = count, moved;
	unsigned idle = 0;

	while (left > 0 && !atomic_load(stop)) {
		left = moved = 0;
		for (size_t i = 0; i < count; i++) {
			struct transfer *t = &transfers[i];

			if (t->done < t->bytes && !is_blocked(transfers, i))
				moved += step(x, t);
			left += t->done < t->bytes;
		}
		if (moved > 0)
			idle = 0;
		else if (left > 0)
			rest(&idle);
	}
}
