#include "realbackend/launch/workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realbackend/launch/board.h"
#include "base/guardian.h"
#include "base/clock.h"
#include "base/file_limit.h"
#include "realbackend/wire/memory_file.h"

/* How long after the first failure the end that caused it may still come, or
 * the call of another rank that shows who is alone with his. */
#define SETTLE_NS ((int64_t)300 * 1000000)
/* So much longer where ranks waited for a processor meanwhile. */
#define STARVED_NS ((int64_t)4 * 1000000000)
/* So much longer, in looks, where a rank has left in order and another is in
 * its own code: that it leaves, too, or calls, shows who is alone. With what a
 * rank may take to end this stays within the two seconds of dist.h. */
#define UNDECIDED_NS ((int64_t)600 * 1000000)
#define LOOK_NS      ((int64_t)50 * 1000000)
/* From SIGTERM to SIGKILL. */
#define MERCY_NS ((int64_t)1000000000)

struct check_board *dist__workers_records(const struct dist__workers *workers)
{
	return workers->world_size
		       ? dist__board_copy(workers->plumbing.board_fd,
					  (uint32_t)workers->world_size)
		       : NULL;
}

struct check_board *
dist__workers_own_records(const struct dist__workers *workers)
{
	return workers->plumbing.own_path[0]
		       ? dist__board_copy_own(workers->plumbing.own_fd)
		       : NULL;
}

void dist__workers_take(const struct dist__workers *workers,
			struct dist__outcome *outcome)
{
	dist__outcome_take(outcome, workers->children, workers->started,
			   dist__workers_records(workers),
			   dist__workers_own_records(workers));
}

/* ---- ending ------------------------------------------------------------- */

static void signal_all(struct dist__workers *workers, int number)
{
	for (int i = 0; i < workers->started; i++)
		dist__child_signal(&workers->children[i], number);
}

static void enter(struct dist__workers *workers, enum dist__workers_phase phase,
		  int64_t duration_ns)
{
	workers->phase = phase;
	workers->phase_ends_ns = dist__clock_after(duration_ns);
}

void dist__workers_end(struct dist__workers *workers, int number)
{
	if (!dist__workers_busy(workers))
		return;
	/* The records are taken before the survivors are made to write more. */
	if (workers->phase < DIST__WORKERS_ENDING) {
		dist__workers_take(workers, &workers->outcome);
		workers->stopped = workers->outcome.cause.weight == 0;
		enter(workers, DIST__WORKERS_ENDING, MERCY_NS);
	}
	signal_all(workers, number);
}

void dist__workers_condemn(struct dist__workers *workers,
			   const struct check_cause *cause)
{
	dist__workers_end(workers, SIGTERM);
	if (workers->outcome.cause.weight == 0)
		workers->outcome.cause = *cause;
	workers->stopped = false;
}

void dist__workers_kill(struct dist__workers *workers)
{
	dist__workers_end(workers, SIGKILL);
}

bool dist__workers_busy(const struct dist__workers *workers)
{
	return workers->phase > DIST__WORKERS_NONE &&
	       workers->phase < DIST__WORKERS_GONE;
}

/* ---- watching ----------------------------------------------------------- */

static struct dist__relay *output_of(const struct dist__workers *workers, int i)
{
	return &workers->children[i / 2].outputs[i % 2];
}

int dist__workers_polled(const struct dist__workers *workers)
{
	return 2 * workers->started;
}

void dist__workers_poll(const struct dist__workers *workers, struct pollfd *fds)
{
	for (int i = 0; i < 2 * workers->started; i++)
		fds[i] = (struct pollfd){.fd = output_of(workers, i)->fd,
					 .events = POLLIN};
}

int64_t dist__workers_deadline(const struct dist__workers *workers)
{
	return dist__workers_busy(workers) ? workers->phase_ends_ns
					   : DIST_TIMEOUT_NEVER;
}

/* The longest time that a rank has had no processor since settling began. */
static int64_t find_starved(const struct dist__workers *workers)
{
	int64_t most = 0;

	for (int i = 0; i < workers->started; i++) {
		const struct dist__child *child = &workers->children[i];
		int64_t starved = child->ended ? 0
					       : dist__child_starved(child) -
							 child->starved_ns;

		most = starved > most ? starved : most;
	}
	return most;
}

static bool is_undecided(const struct dist__workers *workers)
{
	struct check_board *board = dist__workers_records(workers);
	bool left = false, runs = false;

	for (int i = 0; board && i < workers->started; i++) {
		const struct dist__child *child = &workers->children[i];

		left |= child->ended && !dist__outcome_failed(child);
		runs |= !child->ended &&
			board->slots[child->rank].state == CHECK_RANK_RUNNING;
	}
	free(board);
	return left && runs;
}

static void begin_to_settle(struct dist__workers *workers)
{
	for (int i = 0; i < workers->started; i++)
		workers->children[i].starved_ns =
			dist__child_starved(&workers->children[i]);
	workers->starved_ns = 0;
	workers->undecided_ns = 0;
	enter(workers, DIST__WORKERS_SETTLING, SETTLE_NS);
}

/* Every process has ended: what is left of them goes. */
static void finish(struct dist__workers *workers)
{
	/* Grandchildren may hold the pipes open: what is there counts. */
	for (int i = 0; i < 2 * workers->started; i++) {
		dist__relay_pass(output_of(workers, i));
		dist__relay_close(output_of(workers, i));
		if (output_of(workers, i)->error)
			workers->output_error = output_of(workers, i)->error;
	}
	/* The groups of a round that failed end with it. */
	if (workers->phase >= DIST__WORKERS_ENDING)
		signal_all(workers, SIGKILL);
	else
		dist__workers_take(workers, &workers->outcome);
	dist__guardian_forget(workers->plumbing.guardian);
	for (int i = 0; i < workers->started; i++)
		dist__child_reap(&workers->children[i]);
	workers->phase = DIST__WORKERS_GONE;
}

/* When the ranks that are left, all of which a signal has stopped, have been so
 * for as long as a call may take; never, if one of them runs. */
static int64_t find_end_of_stop(const struct dist__workers *workers)
{
	int64_t timeout_ns = workers->plumbing.spec->timeout_ns;
	int64_t since_ns = 0;

	for (int i = 0; i < workers->started; i++) {
		const struct dist__child *child = &workers->children[i];

		if (!child->ended && !child->stopped_ns)
			return DIST_TIMEOUT_NEVER;
		if (!child->ended && child->stopped_ns > since_ns)
			since_ns = child->stopped_ns;
	}
	if (timeout_ns <= 0)
		timeout_ns = DIST_TIMEOUT_DEFAULT;
	return timeout_ns < DIST_TIMEOUT_NEVER - since_ns
		       ? since_ns + timeout_ns
		       : DIST_TIMEOUT_NEVER;
}

/* Ends the ranks, all of which a signal has stopped. */
static void end_stopped(struct dist__workers *workers)
{
	const struct dist__child *child = workers->children;
	struct check_cause cause = {.weight = CHECK_CAUSE_STOPPED};

	while (child->ended)
		child++;
	cause.rank = child->rank;
	snprintf(cause.how, sizeof cause.how,
		 "a signal has stopped its process");
	dist__workers_condemn(workers, &cause);
}

/* Looks for ranks that have ended; returns how many are left. */
static int look_at_children(struct dist__workers *workers)
{
	struct check_board *board = NULL;
	bool failed = false, clear = false;
	int left = 0;

	for (int i = 0; i < workers->started; i++) {
		struct dist__child *child = &workers->children[i];

		dist__child_look(child);
		left += !child->ended;
		if (!dist__outcome_failed(child))
			continue;
		if (!failed)
			board = dist__workers_records(workers);
		failed = true;
		clear |= dist__outcome_is_known(child, board);
	}
	free(board);
	if (workers->phase == DIST__WORKERS_RUNNING)
		workers->phase_ends_ns = find_end_of_stop(workers);
	if (!failed || workers->phase >= DIST__WORKERS_ENDING)
		return left;
	if (clear || left == 0)
		dist__workers_end(workers, SIGTERM);
	else if (workers->phase == DIST__WORKERS_RUNNING)
		begin_to_settle(workers);
	return left;
}

static void check_phase(struct dist__workers *workers)
{
	if (dist__clock_ns() < dist__workers_deadline(workers))
		return;
	if (workers->phase == DIST__WORKERS_SETTLING) {
		int64_t more_ns = find_starved(workers) - workers->starved_ns;

		if (more_ns >= SETTLE_NS / 10 &&
		    workers->starved_ns < STARVED_NS) {
			workers->starved_ns += more_ns;
			workers->phase_ends_ns += more_ns;
			return;
		}
		if (workers->undecided_ns < UNDECIDED_NS &&
		    is_undecided(workers)) {
			workers->undecided_ns += LOOK_NS;
			workers->phase_ends_ns += LOOK_NS;
			return;
		}
		dist__workers_end(workers, SIGTERM);
	} else if (workers->phase == DIST__WORKERS_RUNNING) {
		end_stopped(workers);
	} else {
		signal_all(workers, SIGKILL);
		enter(workers, DIST__WORKERS_KILLING, DIST_TIMEOUT_NEVER);
	}
}

void dist__workers_look(struct dist__workers *workers, const struct pollfd *fds)
{
	if (!dist__workers_busy(workers))
		return;
	for (int i = 0; fds && i < 2 * workers->started; i++)
		if (fds[i].revents)
			dist__relay_pass(output_of(workers, i));
	if (look_at_children(workers) == 0)
		finish(workers);
	else
		check_phase(workers);
}

/* ---- starting ----------------------------------------------------------- */

static int complain(const char *what)
{
	fprintf(stderr, "lockstep: cannot %s: %s\n", what,
		dist__file_why(errno));
	return DIST_EXIT_INTERNAL;
}

static int prepare(struct dist__workers *workers)
{
	struct dist__plumbing *p = &workers->plumbing;
	char elsewhere[256];

	workers->children =
		calloc((size_t)p->spec->nproc, sizeof *workers->children);
	if (!workers->children)
		return complain("allocate memory");
	if (dist__board_create((uint32_t)p->seat.world_size, &p->board_fd) !=
	    DIST_OK)
		return complain("make a file for the records");
	if (dist__memory_file_full(p->board_fd, elsewhere, sizeof elsewhere))
		fprintf(stderr, "lockstep: %s\n", elsewhere);
	workers->world_size = p->seat.world_size;
	/* Ranks on other nodes cannot open it. */
	if (p->seat.num_nodes == 1)
		p->own_fd =
			dist__board_open_own(p->own_path, sizeof p->own_path);
	if (!dist__streams_begin(p->streams, p->seat.round))
		return complain("make a folder for logs");
	return DIST_EXIT_OK;
}

int dist__workers_start(struct dist__workers *workers,
			const struct dist__seat *seat, int store_fd,
			const struct dist__hearing *hearing)
{
	struct dist__plumbing *p = &workers->plumbing;
	int status;

	dist__workers_release(workers);
	p->seat = *seat;
	p->store_fd = store_fd;
	status = prepare(workers);
	/* What is buffered would come out once more in every child. */
	fflush(NULL);
	enter(workers, DIST__WORKERS_RUNNING, DIST_TIMEOUT_NEVER);
	while (!status && workers->started < p->spec->nproc &&
	       workers->phase == DIST__WORKERS_RUNNING) {
		if (dist__child_start(&workers->children[workers->started],
				      workers->started, p))
			workers->started++;
		else
			status = complain("start a rank");
		hearing->hear(hearing->arg);
	}
	/* Only rank 0 holds the store's port now. */
	if (store_fd >= 0)
		close(store_fd);
	p->store_fd = -1;
	if (status)
		dist__workers_kill(workers);
	return status;
}

void dist__workers_release(struct dist__workers *workers)
{
	dist__outcome_release(&workers->outcome);
	for (int i = 0; i < workers->started; i++)
		if (workers->children[i].notes_fd >= 0)
			close(workers->children[i].notes_fd);
	if (workers->world_size)
		close(workers->plumbing.board_fd);
	if (workers->plumbing.own_path[0])
		close(workers->plumbing.own_fd);
	workers->plumbing.own_path[0] = '\0';
	free(workers->children);
	workers->world_size = 0;
	workers->children = NULL;
	workers->started = 0;
	workers->stopped = false;
	workers->phase = DIST__WORKERS_NONE;
}
