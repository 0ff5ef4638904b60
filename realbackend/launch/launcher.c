#include "realbackend/launch/launcher.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/progress.h"
#include "realbackend/launch/agent.h"
#include "realbackend/launch/child.h"
#include "base/guardian.h"
#include "realbackend/launch/leader.h"
#include "realbackend/launch/python_notes.h"
#include "realbackend/launch/status_request.h"
#include "realbackend/launch/signals.h"
#include "realbackend/launch/hang_watchdog.h"
#include "realbackend/launch/workers.h"

struct job {
	const struct dist__job_spec *spec;
	struct dist__signals signals;
	struct dist__streams streams;
	struct dist__agent agent;
	struct dist__workers workers;
	struct dist__guardian guardian;
	struct dist__status_request status_request;
	struct dist__hang_watchdog watchdog;
	struct dist__progress gathering; /* until ranks run here */
	struct pollfd *fds;              /* signals, then the workers' */
	int store_fd;     /* leader: of the round to be started; -1: none */
	int signal;       /* that ends the job here; 0: none */
	bool interrupted; /* ranks ran when it came */
	bool leaving;     /* without the others: a signal, or no way on */
	bool cut;         /* ranks ran when the job ended well for others */
	int status;
};

/* ---- the ranks that failed, as torchrun lists them ----------------------- */

#define WIDTH 60

static bool failed(const struct dist__child *child)
{
	return child->ended && !child->stopping &&
	       (child->by_signal || child->code != 0);
}

static void print_line(FILE *out, char letter)
{
	for (int i = 0; i < WIDTH; i++)
		fputc(letter, out);
	fputc('\n', out);
}

/* A file of the rank, if it is there. */
static const char *find_file(const struct dist__child *child,
			     const struct dist__plumbing *plumbing,
			     const char *name, char *path, size_t size)
{
	const struct dist__streams_rank rank = {
		.round = plumbing->seat.round, .local_rank = child->local_rank};

	return dist__streams_path(plumbing->streams, &rank, name, path, size) &&
			       access(path, F_OK) == 0
		       ? path
		       : "<N/A>";
}

static void print_one(FILE *out, int number, const struct dist__child *child,
		      const struct dist__plumbing *plumbing)
{
	char time[32] = "?", host[64] = "?", path[4096];
	struct tm when;

	if (localtime_r(&child->ended_at.tv_sec, &when))
		strftime(time, sizeof time, "%Y-%m-%d_%H:%M:%S", &when);
	gethostname(host, sizeof host - 1);
	fprintf(out, "[%d]:\n  time      : %s\n  host      : %s\n", number,
		time, host);
	fprintf(out, "  rank      : %d (local_rank: %d)\n", child->rank,
		child->local_rank);
	fprintf(out, "  exitcode  : %d (pid: %ld)\n",
		child->by_signal ? -child->code : child->code,
		(long)child->was);
	fprintf(out, "  error_file: %s\n",
		find_file(child, plumbing, "error.json", path, sizeof path));
	fprintf(out, "  log_file  : %s\n",
		find_file(child, plumbing, "stderr.log", path, sizeof path));
	if (child->stopping)
		fputs("  traceback : ended by lockstep\n", out);
	else if (child->by_signal)
		fprintf(out,
			"  traceback : Signal %d (%s) received by PID %ld\n",
			child->code, strsignal(child->code), (long)child->was);
	else if (!dist__notes_any(child->notes_fd))
		fputs("  traceback : <N/A>\n", out);
	if (!child->stopping && dist__notes_any(child->notes_fd))
		dist__notes_print(out, child->notes_fd,
				  child->by_signal ? "              "
						   : "  traceback : ",
				  "              ");
}

static bool earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
				      : a->tv_nsec < b->tv_nsec;
}

/* The child of rank first, else the first to end; NULL: none failed. */
static const struct dist__child *find_first(const struct dist__child *children,
					    int num_children, int first)
{
	const struct dist__child *found = NULL;

	for (int i = 0; i < num_children; i++) {
		if (!failed(&children[i]))
			continue;
		if (children[i].rank == first)
			return &children[i];
		if (!found || earlier(&children[i].ended_at, &found->ended_at))
			found = &children[i];
	}
	return found;
}

static const struct dist__child *find_rank(const struct dist__child *children,
					   int num_children, int rank)
{
	for (int i = 0; i < num_children; i++)
		if (children[i].rank == rank)
			return &children[i];
	return NULL;
}

/* Lists the children that failed before they were told to end, the cause last.
 * The cause is culprit, the rank at fault in the verdict, even if it ended well
 * or runs on another node; without a verdict (-1) rank first, or (-1) the first
 * to end. name is the program's. Prints nothing if no child failed. */
static void print_summary(FILE *out, const char *name, int culprit, int first,
			  const struct dist__child *children, int num_children,
			  const struct dist__plumbing *plumbing)
{
	const struct dist__child *cause =
		find_first(children, num_children, first);
	bool is_first = culprit < 0 || (cause && cause->rank == culprit);
	int number = 0, cause_number;

	if (!cause)
		return;
	if (!is_first)
		cause = find_rank(children, num_children, culprit);
	print_line(out, '=');
	fprintf(out, "%s FAILED\n", name);
	print_line(out, '-');
	fputs("Failures:\n", out);
	cause_number = 0;
	for (int i = 0; i < num_children; i++) {
		if (&children[i] == cause)
			cause_number = number++;
		else if (failed(&children[i]))
			print_one(out, number++, &children[i], plumbing);
	}
	if (number == 1 && cause)
		fputs("  <NO_OTHER_FAILURES>\n", out);
	print_line(out, '-');
	if (!cause) {
		fprintf(out, "Root Cause: rank %d, on another node\n", culprit);
	} else {
		fprintf(out, "Root Cause (%s):\n",
			is_first ? "first observed failure"
				 : "by the verdict above");
		print_one(out, cause_number, cause, plumbing);
	}
	print_line(out, '=');
}

/* ---- what happens here -------------------------------------------------- */

static void handle_signals(void *arg)
{
	struct job *job = arg;
	int number;

	while ((number = dist__signals_next(&job->signals)) != 0) {
		if (number == SIGUSR1)
			dist__status_request_ask(&job->status_request,
						 &job->agent);
		if (number == SIGCHLD || number == SIGUSR1)
			continue;
		/* Whoever asks twice does not want to wait. */
		if (!job->signal)
			job->interrupted = dist__workers_busy(&job->workers);
		if (job->signal)
			dist__workers_kill(&job->workers);
		else
			dist__workers_end(&job->workers, number);
		job->signal = number;
		job->leaving = true;
	}
}

static void wait_for_news(struct job *job)
{
	int64_t until_ns = dist__workers_deadline(&job->workers);
	int64_t stall_ns = dist__hang_watchdog_deadline(
		&job->watchdog, &job->agent, &job->workers);
	int n = dist__workers_polled(&job->workers);

	if (job->agent.next_ns < until_ns)
		until_ns = job->agent.next_ns;
	if (stall_ns < until_ns)
		until_ns = stall_ns;
	job->fds[0] = (struct pollfd){.fd = job->signals.fd, .events = POLLIN};
	dist__workers_poll(&job->workers, job->fds + 1);
	if (poll(job->fds, 1 + (nfds_t)n, dist__clock_poll_ms(until_ns)) <= 0)
		n = 0;
	handle_signals(job);
	dist__workers_look(&job->workers, n ? job->fds + 1 : NULL);
}

static enum dist__agent_state state_of(const struct job *job)
{
	const struct dist__workers *workers = &job->workers;

	if (job->leaving)
		return DIST__AGENT_LEFT;
	if (workers->phase == DIST__WORKERS_NONE || workers->stopped)
		return DIST__AGENT_IDLE;
	if (workers->phase < DIST__WORKERS_ENDING)
		return DIST__AGENT_RUNNING;
	return workers->outcome.cause.weight ? DIST__AGENT_FAILED
					     : DIST__AGENT_DONE;
}

/* Writes into the report how things stand; returns whether that is news. */
static bool take_stock(struct job *job)
{
	struct dist__report *r = &job->agent.report;
	struct dist__report before = *r;
	const struct dist__workers *workers = &job->workers;
	struct dist__slot_key where = {.name = "slot"};

	r->state = state_of(job);
	r->busy = dist__workers_busy(workers);
	r->cause = workers->outcome.cause;
	if (workers->phase != DIST__WORKERS_NONE)
		r->round = workers->plumbing.seat.round;
	/* The leader judges when nobody is busy: the records come first. */
	where.number = r->round;
	if (before.busy && !r->busy && !job->agent.leads &&
	    workers->outcome.board)
		dist__agent_give_slots(
			&job->agent, &where, workers->outcome.board,
			workers->plumbing.seat.first_rank, workers->started);
	return r->state != before.state || r->busy != before.busy ||
	       r->round != before.round;
}

/* ---- what the orders say ------------------------------------------------ */

static void find_seat(const struct job *job, int node, struct dist__seat *seat)
{
	const struct dist__orders *orders = &job->agent.orders;
	const char *role = orders->nodes[node].role;

	*seat = (struct dist__seat){.round = orders->round,
				    .node = node,
				    .num_nodes = orders->num_nodes,
				    .master_addr = orders->master_addr,
				    .master_port = orders->master_port,
				    .store_port = orders->store_port};
	for (int i = 0; i < orders->num_nodes; i++) {
		const struct dist__node *other = &orders->nodes[i];
		bool same_role = strcmp(other->role, role) == 0;

		if (i == node) {
			seat->first_rank = seat->world_size;
			seat->first_role_rank = seat->role_world_size;
		}
		seat->world_size += other->nproc;
		seat->role_world_size += same_role ? other->nproc : 0;
	}
}

static void obey(struct job *job)
{
	const struct dist__hearing hearing = {handle_signals, job};
	const struct dist__orders *orders = &job->agent.orders;
	bool mine = dist__agent_node(&job->agent) >= 0 &&
		    job->workers.phase != DIST__WORKERS_NONE &&
		    job->workers.plumbing.seat.round == orders->round;
	struct dist__seat seat;

	if (!mine && job->workers.phase < DIST__WORKERS_ENDING) {
		job->cut |= orders->order == DIST__ORDER_END &&
			    dist__workers_busy(&job->workers);
		dist__workers_end(&job->workers, SIGTERM);
	}
	if (mine || dist__agent_node(&job->agent) < 0 ||
	    dist__workers_busy(&job->workers) || job->leaving)
		return;
	dist__progress_end(&job->gathering);
	find_seat(job, dist__agent_node(&job->agent), &seat);
	job->status = dist__workers_start(&job->workers, &seat, job->store_fd,
					  &hearing);
	job->store_fd = -1;
	job->leaving |= job->status != DIST_EXIT_OK;
	/* Those that ended meanwhile were heard, and not looked at. */
	dist__workers_look(&job->workers, NULL);
}

/* The leader is gone, and with it the only way to the others. */
static void lose_leader(struct job *job)
{
	const struct dist__nodes_spec *nodes = &job->spec->nodes;

	if (!job->leaving)
		fprintf(stderr,
			"lockstep: node 0, which led the job at %s:%d, is "
			"gone\n",
			nodes->endpoint_host, nodes->endpoint_port);
	job->leaving = true;
	job->status = DIST_EXIT_RANK_LOST;
	dist__workers_end(&job->workers, SIGTERM);
}

/* What there is to tell the others, and to hear, and to do about it. */
static bool take_turn(struct job *job, bool news)
{
	struct dist__agent *agent = &job->agent;

	if ((news || dist__clock_ns() >= agent->next_ns) &&
	    !dist__agent_exchange(agent))
		return false;
	return !agent->leads || job->leaving ||
	       dist__leader_turn(agent, &job->workers.outcome, &job->store_fd);
}

/* ---- the end ------------------------------------------------------------ */

/* Ends the job for the others, whom the leader leaves. */
static void abandon(struct job *job)
{
	char text[96];

	if (job->signal)
		snprintf(text, sizeof text, "node 0 was ended by signal %d",
			 job->signal);
	else
		snprintf(text, sizeof text, "node 0 could not go on");
	(void)dist__leader_end(&job->agent, DIST_EXIT_RANK_LOST, -1, text);
}

/* Says goodbye; the leader, whose store the others need, goes last. */
static void take_leave(struct job *job)
{
	struct dist__agent *agent = &job->agent;

	agent->report.state = DIST__AGENT_LEFT;
	agent->report.busy = false;
	if (!agent->store || !dist__agent_exchange(agent) || !agent->leads)
		return;
	while (!dist__membership_is_empty(&agent->membership,
					  dist__clock_ns())) {
		wait_for_news(job);
		if (!dist__agent_exchange(agent))
			return;
	}
}

static void run(struct job *job)
{
	struct dist__agent *agent = &job->agent;
	bool news = true;

	for (;;) {
		if (agent->leads && job->leaving &&
		    agent->orders.order != DIST__ORDER_END)
			abandon(job);
		if (!take_turn(job, news))
			lose_leader(job);
		obey(job);
		/* Where the ranks are: for whoever asked, and for a verdict on
		 * those that have not moved for a while. */
		dist__hang_watchdog_ask(&job->watchdog, &job->status_request,
					&job->agent, &job->workers);
		dist__status_request_turn(&job->status_request, &job->agent,
					  &job->workers);
		dist__hang_watchdog_judge(&job->watchdog, &job->status_request,
					  &job->agent, &job->workers);
		if (!dist__workers_busy(&job->workers) &&
		    (job->leaving || agent->orders.order == DIST__ORDER_END))
			break;
		news = take_stock(job);
		if (news)
			continue;
		wait_for_news(job);
		news = take_stock(job);
	}
	dist__progress_end(&job->gathering);
	if (!job->leaving)
		job->status = agent->orders.status;
	if (job->cut && job->status == DIST_EXIT_OK) {
		fputs("lockstep: the job ended well, says node 0, while ranks "
		      "ran here\n",
		      stderr);
		job->status = DIST_EXIT_RANK_LOST;
	}
	take_leave(job);
}

/* A signal ended the ranks: where they were. */
static void report_interrupted(struct job *job)
{
	struct dist__workers *workers = &job->workers;

	dist__outcome_narrow(&workers->outcome,
			     workers->plumbing.seat.first_rank,
			     workers->started);
	dist__outcome_interrupted(stderr, &workers->outcome,
				  job->spec->timeout_ns, job->signal);
}

static void report_end(struct job *job)
{
	const struct dist__workers *workers = &job->workers;
	const struct check_cause *cause = &workers->outcome.cause;
	const struct dist__orders *orders = &job->agent.orders;
	int first = cause->weight ? cause->rank : -1;

	if (job->interrupted && job->agent.leads)
		report_interrupted(job);
	if (!job->leaving && orders->text[0])
		fprintf(stderr, "lockstep: %s\n", orders->text);
	if (job->status != DIST_EXIT_OK && job->spec->summary)
		print_summary(stderr, job->spec->summary,
			      job->leaving ? -1 : orders->culprit, first,
			      workers->children, workers->started,
			      &workers->plumbing);
}

/* What ranks printed and nobody can read fails the job, as it fails a rank that
 * prints itself. */
static void check_output(struct job *job)
{
	if (!job->workers.output_error)
		return;
	fprintf(stderr, "lockstep: output of ranks: %s\n",
		strerror(job->workers.output_error));
	if (job->status == DIST_EXIT_OK)
		job->status = DIST_EXIT_FAILED;
}

/* ---- the beginning ------------------------------------------------------ */

static int complain(const char *what)
{
	fprintf(stderr, "lockstep: cannot %s: %s\n", what, strerror(errno));
	return DIST_EXIT_INTERNAL;
}

/* Finds the other nodes; false: there is no job to run. */
static bool join(struct job *job)
{
	struct dist_message message;
	const struct dist__nodes_spec *nodes = &job->spec->nodes;
	enum dist_error error;
	char what[64];

	if (nodes->max_nodes > 1) {
		snprintf(what, sizeof what, "waiting for %d nodes at %.30s:%d",
			 nodes->min_nodes, nodes->endpoint_host,
			 nodes->endpoint_port);
		dist__progress_begin(&job->gathering, what, 0, nodes->join_ns);
	}
	error = dist__agent_open(&job->agent, job->spec, &job->signals,
				 &job->signal, &message);
	if (!error)
		return true;
	dist__progress_end(&job->gathering);
	job->status = error == DIST_ERR_RENDEZVOUS ? DIST_EXIT_RENDEZVOUS
						   : DIST_EXIT_INTERNAL;
	if (error != DIST_ERR_ABORTED)
		fprintf(stderr, "lockstep: %s\n",
			message.text[0] ? message.text
					: dist_error_string(error));
	return false;
}

static int open_job(struct job *job)
{
	static const int numbers[] = {SIGCHLD, SIGINT,  SIGTERM,
				      SIGHUP,  SIGQUIT, SIGUSR1};
	struct dist_message message;

	job->fds = calloc(1 + 2 * (size_t)job->spec->nproc, sizeof *job->fds);
	if (!job->fds)
		return complain("allocate memory");
	if (dist__streams_open(&job->streams, job->spec, &message)) {
		fprintf(stderr, "lockstep: %s\n", message.text);
		return DIST_EXIT_INTERNAL;
	}
	if (!dist__signals_catch(&job->signals, numbers,
				 (int)(sizeof numbers / sizeof *numbers)))
		return complain("catch signals");
	if (!dist__guardian_start(&job->guardian))
		return complain("start a process");
	dist__hang_watchdog_open(&job->watchdog);
	job->workers.plumbing.spec = job->spec;
	job->workers.plumbing.streams = &job->streams;
	job->workers.plumbing.signals = &job->signals;
	job->workers.plumbing.guardian = &job->guardian;
	return DIST_EXIT_OK;
}

int dist__job_run(const struct dist__job_spec *spec)
{
	struct job job = {.spec = spec, .store_fd = -1};

	job.status = open_job(&job);
	if (job.status == DIST_EXIT_OK) {
		if (join(&job)) {
			run(&job);
			report_end(&job);
			check_output(&job);
			if (job.agent.leads)
				job.status = dist__leader_merge(
					&job.agent, job.status, job.signal);
		}
		free(dist__status_request_found(&job.status_request));
		dist__workers_release(&job.workers);
		dist__agent_close(&job.agent);
		dist__guardian_stop(&job.guardian);
		dist__signals_restore(&job.signals);
	}
	dist__streams_close(&job.streams);
	free(job.fds);
	return job.signal ? 128 + job.signal : job.status;
}
