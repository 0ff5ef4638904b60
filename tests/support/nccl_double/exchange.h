/*
 * exchange.h - bytes between the processes of one communicator of the double,
 * through memory that they share: a pipe from each rank to each.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_NCCL_DOUBLE_EXCHANGE_H
#define LOCKSTEP_TESTS_SUPPORT_NCCL_DOUBLE_EXCHANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define EXCHANGE_MOST_RANKS 64

struct exchange;

/* One message: bytes go to `peer`, or come from it. */
struct transfer {
	bool out;
	int peer;
	char *data;
	size_t bytes;
	size_t done;
};

/* exchange_join maps the memory called name and enters it as rank of size,
 * which has device. */
struct exchange *exchange_join(const char *name, int size, int rank,
			       int device);

/* exchange_all_here returns whether every rank has joined;
 * exchange_duplicate then the first rank that shares its device with an earlier
 * one, which is stored in *other, or -1. */
bool exchange_all_here(const struct exchange *x);
int exchange_duplicate(const struct exchange *x, int *other);

/* exchange_run moves all transfers at once; those with one peer in one
 * direction follow each other. Ends early when *stop is set. */
void exchange_run(struct exchange *x, struct transfer *transfers, size_t count,
		  const atomic_bool *stop);

void exchange_leave(struct exchange *x);

#endif
