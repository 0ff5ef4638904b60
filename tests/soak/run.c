#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
/* Runs one case and judges it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/soak/soak.h"
#include "tests/support/tcp_world.h"

/* A rank that has not ended after so long hangs: less than the long time limits
 * of a case, more than a busy machine needs. */
#define HANG_NS (40 * SOAK_SECOND)

/* How a rank ended. */
#define STATUS_KILLED (128 + SIGKILL)

/* A world at work. */
struct world {
	const struct soak_case *c;
	struct soak_report *reports; /* by rank, shared with the ranks */
	int kept;                    /* what keeps the port */
	pid_t pids[SOAK_MOST_RANKS];
	int statuses[SOAK_MOST_RANKS]; /* -1: has not ended */
	int rank;                      /* the next to start */
	bool hangs[SOAK_MOST_RANKS];
	bool wrong;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SOAK_SECOND + t.tv_nsec;
}

static int start_rank(void *arg)
{
	struct world *w = arg;

	return soak_rank(w->c, w->rank, &w->reports[w->rank]);
}

static bool start(struct world *w)
{
	struct tcp_world world;
	int port;

	if (setenv("LOCKSTEP_INTRA", w->c->intra, 1) || !soak_arm(w->c))
		return false;
	w->kept = tcp_port_keep(&port);
	if (w->kept < 0 || !tcp_world_open_at(&world, port))
		return false;
	fflush(NULL);
	for (w->rank = 0; w->rank < w->c->world_size; w->rank++) {
		w->pids[w->rank] = tcp_world_start(
			&world, w->rank, w->c->world_size, start_rank, w);
		w->statuses[w->rank] = -1;
	}
	tcp_world_close(&world);
	return true;
}

/* Notes which ranks have ended; returns how many have not. */
static int look(struct world *w)
{
	int running = 0, status;

	for (int rank = 0; rank < w->c->world_size; rank++) {
		if (w->statuses[rank] >= 0)
			continue;
		if (waitpid(w->pids[rank], &status, WNOHANG) == w->pids[rank])
			w->statuses[rank] = WIFSIGNALED(status)
						    ? 128 + WTERMSIG(status)
						    : WEXITSTATUS(status);
		else
			running++;
	}
	return running;
}

static bool all_joined(const struct world *w)
{
	for (int rank = 0; rank < w->c->world_size; rank++)
		if (!atomic_load(&w->reports[rank].joined))
			return false;
	return true;
}

static void strike(struct world *w)
{
	int64_t until_ns = now_ns() + HANG_NS;

	while (!w->c->early && !all_joined(w) && now_ns() < until_ns)
		soak_pause(SOAK_MS / 10);
	soak_pause(w->c->after_ns);
	soak_strike(w->c, w->pids[w->c->victim]);
	for (int rank = 0; rank < w->c->world_size; rank++)
		atomic_store(&w->reports[rank].over, true);
}

/* Waits for all ranks, but for one that is stopped for good: that one is
 * killed, like those that hang. */
static void gather(struct world *w)
{
	int64_t until_ns = now_ns() + HANG_NS;
	int stopped = w->c->fault == SOAK_SILENCE;

	while (look(w) > (stopped && w->statuses[w->c->victim] < 0) &&
	       now_ns() < until_ns)
		soak_pause(SOAK_MS);
	for (int rank = 0; rank < w->c->world_size; rank++) {
		if (w->statuses[rank] >= 0)
			continue;
		w->hangs[rank] = !stopped || rank != w->c->victim;
		kill(w->pids[rank], SIGKILL);
		w->statuses[rank] = tcp_status(w->pids[rank]);
	}
	close(w->kept);
}

/* ---- judging ------------------------------------------------------------- */

static void say(struct world *w, int rank, const char *what)
{
	char text[1024];

	if (!w->wrong) {
		soak_describe(w->c, text, sizeof text);
		printf("soak: SEED=%llu: %s\n", (unsigned long long)w->c->seed,
		       text);
	}
	printf("soak:   rank %d: %s\n", rank, what);
	w->wrong = true;
}

/* Whether a call, or the meeting, may end with error after the fault. */
static bool may_end(const struct soak_case *c, enum dist_error error)
{
	switch (error) {
	case DIST_OK:
		return true;
	case DIST_ERR_PEER_LOST:
	case DIST_ERR_ABORTED:
		return !soak_is_harmless(c->fault);
	case DIST_ERR_TIMEOUT:
		return c->fault == SOAK_SILENCE ||
		       (c->early && !soak_is_harmless(c->fault));
	default:
		return false;
	}
}

static bool may_meet(const struct soak_case *c, enum dist_error error)
{
	return error == DIST_OK || (error == DIST_ERR_RENDEZVOUS && c->early &&
				    !soak_is_harmless(c->fault));
}

static void judge_status(struct world *w, int rank)
{
	bool fatal = w->c->fault == SOAK_KILL || w->c->fault == SOAK_SILENCE;
	int status = w->statuses[rank];
	char text[64];

	if (w->hangs[rank]) {
		say(w, rank, "hangs");
	} else if (status != 0 && !(fatal && rank == w->c->victim &&
				    status == STATUS_KILLED)) {
		snprintf(text, sizeof text, "exit status %d", status);
		say(w, rank, text);
	}
}

static void judge_rank(struct world *w, int rank, struct soak_counts *counts)
{
	const struct soak_report *report = &w->reports[rank];

	judge_status(w, rank);
	if (report->wrong[0])
		say(w, rank, report->wrong);
	if (!may_meet(w->c, report->meeting))
		say(w, rank, report->why);
	if (report->meeting)
		atomic_fetch_add(&counts->apart[-report->meeting], 1);
	for (int i = 0; i < report->num_ended; i++) {
		if (!may_end(w->c, report->ends[i]))
			say(w, rank, dist_error_string(report->ends[i]));
		atomic_fetch_add(&counts->ends[-report->ends[i]], 1);
	}
	if (w->statuses[rank] == 0 && !report->meeting &&
	    report->num_ended != w->c->num_calls)
		say(w, rank, "ended before its calls did");
}

void soak_run(const struct soak_case *c, struct soak_counts *counts)
{
	size_t bytes = sizeof(struct soak_report) * SOAK_MOST_RANKS;
	struct world w = {.c = c};

	w.reports = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.reports == MAP_FAILED || !start(&w)) {
		perror("soak");
		abort();
	}
	strike(&w);
	gather(&w);
	for (int rank = 0; rank < c->world_size; rank++)
		judge_rank(&w, rank, counts);
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		say(&w, 0, "a process is left");
	atomic_fetch_add(&counts->cases, 1);
	atomic_fetch_add(&counts->failed, w.wrong);
	fflush(stdout);
	munmap(w.reports, bytes);
}
