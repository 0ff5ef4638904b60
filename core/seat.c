/* seat.c - shared by both sides of a seat: sleeping, waking, leaving. */
#define _GNU_SOURCE /* syscall */

#include "core/seat.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct dist__seat_slot *dist__seat_at(struct dist__seat_head *head, int rank)
{
	char *first = (char *)head + DIST__SEAT_HEAD;

	return (struct dist__seat_slot *)(first +
					  (size_t)rank * DIST__SEAT_BYTES);
}

int64_t dist__seat_of_lane(int present, int rank, int lane)
{
	int64_t seats =
		present + (int64_t)rank * DIST__SEAT_LANES + (int64_t)lane;

	return DIST__SEAT_HEAD + seats * DIST__SEAT_BYTES;
}

void dist__seat_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool dist__seat_sleep(_Atomic uint32_t *word, uint32_t value, int most_ms)
{
	const struct timespec longest = {most_ms / 1000,
					 most_ms % 1000 * 1000000L};

	return syscall(SYS_futex, word, FUTEX_WAIT, value, &longest, NULL, 0) ==
		       0 ||
	       errno != ETIMEDOUT;
}

void dist__seat_ring(struct dist__seat_slot *seat)
{
	seat->bell++;
	if (seat->dozes)
		dist__seat_wake(&seat->bell);
}

void dist__seat_leave(struct dist__seat_slot *seat, int status)
{
	if (seat->left)
		return;
	seat->status = status;
	seat->left = 1;
	dist__seat_ring(seat);
}

int dist__seat_reap(struct dist__seat_head *head, const pid_t *pids)
{
	int status, rank, other = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR) {
		for (rank = 0; rank < head->present && pids[rank] != pid;)
			rank++;
		if (pid > 0 && rank < head->present)
			dist__seat_leave(dist__seat_at(head, rank), status);
		else if (pid > 0)
			other = status;
	}
	return other;
}
