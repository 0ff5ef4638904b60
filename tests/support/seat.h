/*
 * seat.h - a rank of a simulation at work over the bare transport: its slots
 * as plain functions that fail the test when they fail. On star4 a message of n
 * bytes takes 2 us + n / 12.5 GB/s.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_SEAT_H
#define LOCKSTEP_TESTS_SUPPORT_SEAT_H

#include "core/backend.h"

#define STAR4 "tests/support/star4.xml"
#define NEVER DIST_TIMEOUT_NEVER
#define US    INT64_C(1000)
#define MS    INT64_C(1000000)

/* One megabyte takes 2 us + 80 us. */
#define MEGABYTE    ((size_t)1000000)
#define MEGABYTE_NS (82 * US)

/* The calling rank, and the slots of its transport as plain functions. */
struct seat {
	struct dist__place place;
	struct dist__transport *t;
	int rank;
};

/* A job of a lane: one message of a megabyte from rank 0 to rank 1. */
struct task {
	struct dist__job job;
	struct seat *seat;
	struct dist__lane *lane;
	struct dist__op op;
};

struct seat seat_take(void);
struct dist__message seat_message(int peer, void *data, size_t bytes);
void seat_leave(struct seat *seat);
int64_t seat_now(struct seat *seat);
void seat_compute(struct seat *seat, int64_t ns);
struct dist__request *seat_isend(struct seat *seat, int peer, const void *data,
				 size_t bytes);
struct dist__request *seat_irecv(struct seat *seat, int peer, void *data,
				 size_t bytes);
enum dist_error seat_wait(struct seat *seat, struct dist__request *request,
			  int64_t deadline_ns);
void seat_finish(struct seat *seat, struct dist__request *request);
/* SEAT_TEST begins what each of the ranks does, at its seat, in a test of its
 * own: one simulation on star4, by the text of a profile (NULL: none), which
 * ends with status. */
#define SEAT_TEST(suite, name, ranks, status, profile)                         \
	static void suite##_##name(struct seat *seat);                         \
	Test(suite, name)                                                      \
	{                                                                      \
		seat_test(ranks, status, profile, suite##_##name);             \
	}                                                                      \
	static void suite##_##name(struct seat *seat)

typedef void seat_program(struct seat *seat);
void seat_test(int ranks, int status, const char *profile,
	       seat_program *program);

int seat_launch(int ranks, int (*program)(void *arg), void *arg);
int seat_simulate(int ranks, int (*program)(void *arg), void *arg);
/* The same on another platform, by the text of a profile. */
int seat_simulate_by(const char *platform, const char *profile, int ranks,
		     int (*program)(void *arg));
void seat_record_recv(struct seat *seat, int peer);
void task_submit(struct seat *seat, struct dist__lane *lane, struct task *task);

#endif
