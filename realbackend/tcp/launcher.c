#include "realbackend/tcp/launcher.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend.h"
#include "realbackend/tcp/board.h"
#include "realbackend/tcp/child.h"
#include "realbackend/tcp/clock.h"
#include "realbackend/tcp/outcome.h"
#include "realbackend/tcp/signals.h"
#include "realbackend/tcp/socket.h"

/* How long after the first failure the end that caused it may still come. */
#define SETTLE_NS ((int64_t)300 * 1000000)
/* From SIGTERM to SIGKILL. */
#define MERCY_NS ((int64_t)1000000000)

enum phase {
	RUNNING,
	SETTLING, /* a rank failed because another is gone: which one? */
	ENDING,   /* SIGTERM, or the signal that we got, has been sent */
	KILLING   /* SIGKILL too */
};

struct job {
	const struct dist__job_spec *spec;
	const char *trace; /* that the ranks write parts of; NULL: none */
	struct dist__plumbing plumbing;
	struct dist__signals signals;
	struct check_board *board;
	struct dist__child *children; /* spec->nproc */
	struct pollfd *fds;           /* signals, two outputs a child */
	int started;
	enum phase phase;
	int64_t phase_ends_ns;
	int signal; /* that ended our wait; 0: none */
	int status;
};

/* ---- ending ------------------------------------------------------------- */

static void signal_all(const struct job *job, int number)
{
	for (int i = 0; i < job->started; i++)
		dist__child_signal(&job->children[i], number);
}

static void enter(struct job *job, enum phase phase, int64_t duration_ns)
{
	job->phase = phase;
	job->phase_ends_ns = dist__clock_after(duration_ns);
}

/* The records are judged before the survivors are made to write more. */
static void end_job(struct job *job)
{
	job->status = dist__outcome_report(stderr, job->children, job->started,
					   job->board, job->spec->timeout_ns);
	signal_all(job, SIGTERM);
	enter(job, ENDING, MERCY_NS);
}

static void handle_signals(struct job *job)
{
	int number;

	while ((number = dist__signals_next(&job->signals)) != 0) {
		if (number == SIGCHLD)
			continue;
		/* Whoever asks twice does not want to wait. */
		signal_all(job, job->signal ? SIGKILL : number);
		job->signal = number;
		if (job->phase < ENDING)
			enter(job, ENDING, MERCY_NS);
	}
}

/* Looks for ranks that have ended; returns how many are left. */
static int look_at_children(struct job *job)
{
	bool failed = false, clear = false;
	int left = 0;

	for (int i = 0; i < job->started; i++) {
		struct dist__child *child = &job->children[i];

		dist__child_look(child);
		left += !child->ended;
		if (!dist__outcome_failed(child))
			continue;
		failed = true;
		clear |= !dist__outcome_follows(child, job->board);
	}
	if (!failed || job->phase >= ENDING)
		return left;
	if (clear || left == 0)
		end_job(job);
	else if (job->phase == RUNNING)
		enter(job, SETTLING, SETTLE_NS);
	return left;
}

static void check_phase(struct job *job)
{
	if (job->phase == RUNNING || dist__clock_ns() < job->phase_ends_ns)
		return;
	if (job->phase == SETTLING) {
		end_job(job);
	} else {
		signal_all(job, SIGKILL);
		enter(job, KILLING, DIST_TIMEOUT_NEVER);
	}
}

/* ---- watching ----------------------------------------------------------- */

static struct dist__relay *output_of(const struct job *job, int i)
{
	return &job->children[i / 2].outputs[i % 2];
}

static void wait_for_news(struct job *job)
{
	int n = 2 * job->started;
	int64_t until_ns =
		job->phase == RUNNING ? DIST_TIMEOUT_NEVER : job->phase_ends_ns;

	job->fds[0] = (struct pollfd){.fd = job->signals.fd, .events = POLLIN};
	for (int i = 0; i < n; i++)
		job->fds[1 + i] = (struct pollfd){.fd = output_of(job, i)->fd,
						  .events = POLLIN};
	if (poll(job->fds, 1 + (nfds_t)n, dist__clock_poll_ms(until_ns)) <= 0)
		return;
	for (int i = 0; i < n; i++)
		if (job->fds[1 + i].revents)
			dist__relay_pass(output_of(job, i));
}

static void watch(struct job *job)
{
	while (look_at_children(job) > 0) {
		wait_for_news(job);
		handle_signals(job);
		check_phase(job);
	}
	/* Grandchildren may hold the pipes open: what is there counts. */
	for (int i = 0; i < 2 * job->started; i++) {
		dist__relay_pass(output_of(job, i));
		dist__relay_close(output_of(job, i));
	}
	/* The groups of a job that failed end with it. */
	if (job->phase >= ENDING)
		signal_all(job, SIGKILL);
	for (int i = 0; i < job->started; i++)
		dist__child_reap(&job->children[i]);
}

/* ---- starting ----------------------------------------------------------- */

static int complain(const char *what)
{
	fprintf(stderr, "lockstep: cannot %s: %s\n", what, strerror(errno));
	return DIST_EXIT_INTERNAL;
}

/* Parts that an earlier job left would be merged into this one's trace. */
static void remove_old_parts(const struct job *job)
{
	char path[4096];
	int len;

	for (int rank = 0; job->trace && rank < job->spec->nproc; rank++) {
		len = snprintf(path, sizeof path, "%s.rank%d", job->trace,
			       rank);
		if (len > 0 && (size_t)len < sizeof path)
			unlink(path);
	}
}

static int open_job(struct job *job)
{
	const struct dist__job_spec *spec = job->spec;
	struct dist__plumbing *p = &job->plumbing;
	struct dist_message message;
	enum dist_error error;

	job->children = calloc((size_t)spec->nproc, sizeof *job->children);
	job->fds = calloc(1 + 2 * (size_t)spec->nproc, sizeof *job->fds);
	if (!job->children || !job->fds)
		return complain("allocate memory");
	p->spec = spec;
	p->signals = &job->signals;
	p->master_addr = spec->master_addr ? spec->master_addr : "127.0.0.1";
	error = dist__socket_listen(p->master_addr, spec->master_port,
				    &p->store_fd, &message);
	if (error) {
		fprintf(stderr, "lockstep: %s\n", message.text);
		return error == DIST_ERR_RENDEZVOUS ? DIST_EXIT_RENDEZVOUS
						    : DIST_EXIT_INTERNAL;
	}
	p->master_port = dist__socket_port(p->store_fd);
	if (dist__board_create((uint32_t)spec->nproc, &p->board_fd,
			       &job->board) != DIST_OK)
		return complain("make a file for the records");
	remove_old_parts(job);
	return DIST_EXIT_OK;
}

static int start_all(struct job *job)
{
	/* What is buffered would come out once more in every child. */
	fflush(NULL);
	while (job->started < job->spec->nproc) {
		if (!dist__child_start(&job->children[job->started],
				       job->started, &job->plumbing)) {
			(void)complain("start a rank");
			signal_all(job, SIGKILL);
			enter(job, KILLING, DIST_TIMEOUT_NEVER);
			return DIST_EXIT_INTERNAL;
		}
		job->started++;
	}
	return DIST_EXIT_OK;
}

static void close_job(struct job *job)
{
	dist__board_unmap(job->board);
	if (job->plumbing.board_fd >= 0)
		close(job->plumbing.board_fd);
	if (job->plumbing.store_fd >= 0)
		close(job->plumbing.store_fd);
	free(job->children);
	free(job->fds);
}

static void merge_trace(struct job *job)
{
	struct dist_message message = {""};

	if (!job->trace ||
	    !dist__recorder_merge(job->trace, job->spec->nproc, &message))
		return;
	fprintf(stderr, "lockstep: %s\n", message.text);
	if (job->status == DIST_EXIT_OK)
		job->status = DIST_EXIT_FAILED;
}

int dist__job_run(const struct dist__job_spec *spec)
{
	const char *trace =
		spec->trace ? spec->trace : getenv("LOCKSTEP_TRACE");
	struct job job = {.spec = spec,
			  .trace = trace && *trace ? trace : NULL,
			  .plumbing = {.store_fd = -1, .board_fd = -1}};
	int refused;

	job.status = open_job(&job);
	if (job.status == DIST_EXIT_OK) {
		if (dist__signals_catch(&job.signals)) {
			refused = start_all(&job);
			/* Only rank 0 holds the store's port now. */
			close(job.plumbing.store_fd);
			job.plumbing.store_fd = -1;
			watch(&job);
			dist__signals_restore(&job.signals);
			if (refused)
				job.status = refused;
			merge_trace(&job);
		} else {
			job.status = complain("catch signals");
		}
	}
	close_job(&job);
	return job.signal ? 128 + job.signal : job.status;
}
