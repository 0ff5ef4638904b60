/*
 * endless.c - a rank that calls one collective after another until one fails.
 *
 *	endless DIR [stubborn] [late] [waits]
 *
 * It writes into DIR/RANK a line "start PID PORT" as it begins, "joined" once
 * all have met, and "error SECONDS NAME" when a call fails (on the clock of the
 * day, with the error's words), and exits with 1. Stubborn: deaf to SIGTERM, so
 * that nothing but its own error, or SIGKILL, ends it. Late: rank R waits 80 R
 * ms before it joins. Waits: for a message that nobody sends.
 */
#include <lockstep/dist.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST ((size_t)1 << 18)

static enum dist_error fail_at_last(struct dist_group *group)
{
	static float x[MOST];
	enum dist_error error = DIST_OK;

	/* From messages of a few bytes to some that sockets do not hold. */
	for (size_t numel = 1; !error; numel = numel < MOST ? 4 * numel : 1) {
		error = dist_all_reduce(group,
					dist_tensor(x, numel, DIST_FLOAT32),
					DIST_MAX, NULL);
		if (!error)
			error = dist_broadcast(
				group, dist_tensor(x, numel, DIST_FLOAT32), 1,
				NULL);
		if (!error)
			error = dist_barrier(group, NULL);
	}
	return error;
}

static void tell_error(FILE *out, enum dist_error error)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(out, "error %lld.%06ld %s\n", (long long)now.tv_sec,
		now.tv_nsec / 1000, dist_error_string(error));
}

/* Rank 0 waits for rank 1, every other rank for rank 0. */
static enum dist_error wait_in_vain(struct dist_group *group)
{
	static float x;
	struct dist_tensor tensor = dist_tensor(&x, 1, DIST_FLOAT32);
	enum dist_error error = dist_barrier(group, NULL);

	return error ? error
		     : dist_recv(group, tensor, dist_get_rank(group) == 0, 0);
}

static int run(FILE *out, const struct timespec *gap, bool waits)
{
	struct dist_group *group;
	enum dist_error error;

	fprintf(out, "start %ld %s\n", (long)getpid(),
		getenv("LOCKSTEP_STORE_PORT"));
	nanosleep(gap, NULL);
	error = dist_init_process_group(NULL, &group);
	if (!error) {
		fputs("joined\n", out);
		error = waits ? wait_in_vain(group) : fail_at_last(group);
		(void)dist_destroy_process_group(group);
	}
	tell_error(out, error);
	return 1;
}

int main(int argc, char **argv)
{
	char path[4096];
	const char *rank = getenv("RANK");
	struct timespec gap = {0, 0};
	bool waits = false;
	FILE *out;
	int status;

	if (argc < 2 || !rank)
		return 2;
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], "stubborn") == 0)
			signal(SIGTERM, SIG_IGN);
		else if (strcmp(argv[i], "late") == 0)
			gap.tv_nsec = 80000000L * atoi(rank);
		else if (strcmp(argv[i], "waits") == 0)
			waits = true;
	alarm(120); /* but not longer than a test that went wrong */
	snprintf(path, sizeof path, "%s/%s", argv[1], rank);
	out = fopen(path, "w");
	if (!out)
		return 2;
	setvbuf(out, NULL, _IOLBF, 0);
	status = run(out, &gap, waits);
	return fclose(out) == 0 ? status : 2;
}
