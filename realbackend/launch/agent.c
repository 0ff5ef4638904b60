#include "realbackend/launch/agent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/refuse.h"
#include "realbackend/launch/signals.h"
#include "realbackend/store/environment.h"
#include "realbackend/store/store_client.h"
#include "realbackend/store/store_server.h"
#include "realbackend/wire/socket.h"

/* Deaf to all signals but SIGKILL: those of the terminal are the launcher's. */
static _Noreturn void
keep(int listener, const struct dist__store_agents *agents, pid_t launcher)
{
	struct dist__store_server *server;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher ||
	    dist__store_server_lead(listener, agents, &server) != DIST_OK)
		_exit(DIST_EXIT_INTERNAL);
	for (;;)
		pause();
}

/* Forks a process that serves the store of agents of
 * the job called run on the listening socket, until it is stopped or its parent
 * has ended. It takes ownership of listener, also after an error. *leader is
 * the leader's own socket to it. -1: the system refused. */
static pid_t store_process_start(int listener, const char *run, int *leader)
{
	struct dist__store_agents agents = {.run = run};
	pid_t launcher = getpid(), pid = -1;
	sigset_t all, before;
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
		error = errno;
		close(listener);
		errno = error;
		return -1;
	}
	agents.leader = ends[0];
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		keep(listener, &agents, launcher);
	}
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(listener);
	close(ends[0]);
	if (pid < 0)
		close(ends[1]);
	*leader = ends[1];
	errno = error;
	return pid;
}

static void store_process_stop(pid_t store_process)
{
	kill(store_process, SIGKILL);
	while (waitpid(store_process, NULL, 0) < 0 && errno == EINTR)
		;
}

/* How long we wait for the leader before we look for signals. */
#define SLICE_NS ((int64_t)200 * 1000000)
/* Between looks at a store that hung up, in milliseconds. */
#define PAUSE_MS 20
/* Between exchanges, where the job says nothing. */
#define INTERVAL_NS ((int64_t)100 * 1000000)

/* ---- leading ------------------------------------------------------------ */

/* Whether the endpoint's host is this machine: then the first agent that binds
 * its port leads. */
static bool is_here(const char *host)
{
	enum { MOST = 8 };
	struct dist__address addresses[MOST];
	struct dist_message message;
	int n = dist__socket_resolve(host, 0, addresses, MOST, &message);
	int fd = -1;

	for (int i = 0; i < n && fd < 0; i++)
		if (dist__socket_listen_at(&addresses[i], &fd) != DIST_OK)
			fd = -1;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool may_lead(const struct dist__nodes_spec *nodes)
{
	if (nodes->node_rank >= 0)
		return nodes->node_rank == 0;
	if (nodes->host_known)
		return nodes->is_host;
	return is_here(nodes->endpoint_host);
}

static enum dist_error lead(struct dist__agent *agent,
			    struct dist_message *message)
{
	const struct dist__nodes_spec *nodes = &agent->spec->nodes;
	enum dist_error error;
	int listener, leader;

	error = dist__socket_listen(nodes->endpoint_host, nodes->endpoint_port,
				    &listener, message);
	if (error)
		return error;
	dist__secret_warn(listener);
	agent->leads = true;
	agent->store_process =
		store_process_start(listener, nodes->run_id, &leader);
	if (agent->store_process < 0) {
		agent->store_process = 0;
		return DIST_ERR_IO;
	}
	agent->store = dist__store_adopt(leader);
	if (!agent->store)
		return DIST_ERR_NO_MEMORY;
	return dist__agent_publish(agent) ? DIST_OK : DIST_ERR_IO;
}

/* ---- following ---------------------------------------------------------- */

/* Whether a signal came that ends the job. */
static bool interrupted(const struct dist__signals *signals, int *signal)
{
	int number;

	while ((number = dist__signals_next(signals)) != 0)
		if (number != SIGCHLD && number != SIGUSR1)
			*signal = number;
	return *signal != 0;
}

/* Looks once for the leader's store, and enrols there. *final: no other look
 * will do better, and message says why. */
static enum dist_error look_for_leader(struct dist__agent *agent, bool *final,
				       struct dist_message *message)
{
	const struct dist__nodes_spec *nodes = &agent->spec->nodes;
	int64_t deadline_ns = dist__clock_after(SLICE_NS);
	char report[DIST__REPORT_TEXT];
	struct dist_message why;
	enum dist_error error;

	error = dist__store_connect(nodes->endpoint_host, nodes->endpoint_port,
				    true, deadline_ns, &agent->store, message);
	if (error) {
		/* It waits for whoever may come; not with an unknown host or
		 * another secret. */
		*final = error == DIST_ERR_NO_MEMORY ||
			 (error == DIST_ERR_RENDEZVOUS &&
			  dist__clock_ns() < deadline_ns);
		return error;
	}
	dist__report_format(&agent->report, report);
	error = dist__store_enrol(agent->store, nodes->run_id, report, SLICE_NS,
				  &agent->ticket, &why);
	*final = error == DIST_OK;
	if (!error)
		return DIST_OK;
	/* The end of an earlier job, or no store at all. */
	dist__store_free(agent->store);
	agent->store = NULL;
	if (error != DIST_ERR_RENDEZVOUS)
		return DIST_ERR_IO;
	*final = true;
	return dist__refuse_as(
		message, DIST_ERR_RENDEZVOUS, "rendezvous: %.200s:%d: %.200s",
		nodes->endpoint_host, nodes->endpoint_port, why.text);
}

/* The same until it is found, for as long as may be. */
static enum dist_error find_leader(struct dist__agent *agent,
				   const struct dist__signals *signals,
				   int *signal, struct dist_message *message)
{
	const struct dist__nodes_spec *nodes = &agent->spec->nodes;
	int64_t until_ns = dist__clock_after(nodes->join_ns);
	enum dist_error error;
	bool final = false;

	do {
		if (interrupted(signals, signal))
			return DIST_ERR_ABORTED;
		error = look_for_leader(agent, &final, message);
		if (!final && error == DIST_ERR_IO)
			poll(NULL, 0, PAUSE_MS);
	} while (!final && dist__clock_ns() < until_ns);
	if (final)
		return error;
	if (error == DIST_ERR_IO)
		return dist__refuse_as(message, DIST_ERR_RENDEZVOUS,
				       "rendezvous: what listens at %.200s:%d "
				       "is no store of a job",
				       nodes->endpoint_host,
				       nodes->endpoint_port);
	return dist__refuse_as(message, DIST_ERR_RENDEZVOUS,
			       "rendezvous: nobody leads the job at %.200s:%d: "
			       "node 0 has not come in %.3g s",
			       nodes->endpoint_host, nodes->endpoint_port,
			       (double)nodes->join_ns / 1e9);
}

static enum dist_error follow(struct dist__agent *agent,
			      const struct dist__signals *signals, int *signal,
			      struct dist_message *message)
{
	const struct dist__nodes_spec *nodes = &agent->spec->nodes;
	enum dist_error error = find_leader(agent, signals, signal, message);

	if (error)
		return error;
	/* Where the way to the leader is cut, nobody says so. */
	dist__store_patience(agent->store, nodes->keep_alive_ns);
	if (!dist__agent_exchange(agent))
		return DIST_ERR_IO;
	if (agent->orders.order == DIST__ORDER_END)
		return dist__refuse_as(
			message, DIST_ERR_RENDEZVOUS,
			"rendezvous: the job at %.200s:%d has ended",
			nodes->endpoint_host, nodes->endpoint_port);
	return DIST_OK;
}

/* ---- life --------------------------------------------------------------- */

/* Often enough for nobody to be taken for silent. */
static int64_t choose_interval(const struct dist__job_spec *spec)
{
	int64_t wanted_ns = spec->monitor_ns ? spec->monitor_ns : INTERVAL_NS;
	int64_t most_ns = spec->nodes.keep_alive_ns / 4;

	return wanted_ns < most_ns ? wanted_ns : most_ns;
}

static void introduce(struct dist__agent *agent)
{
	const struct dist__job_spec *spec = agent->spec;
	struct dist__report *r = &agent->report;

	r->round = -1;
	r->nproc = spec->nproc;
	r->node_rank = spec->nodes.node_rank;
	r->pid = (long)getpid();
	snprintf(r->role, sizeof r->role, "%s",
		 spec->role ? spec->role : "default");
	if (gethostname(r->host, sizeof r->host) != 0 || !r->host[0])
		snprintf(r->host, sizeof r->host, "?");
	r->host[sizeof r->host - 1] = '\0';
}

enum dist_error dist__agent_open(struct dist__agent *agent,
				 const struct dist__job_spec *spec,
				 const struct dist__signals *signals,
				 int *signal, struct dist_message *message)
{
	const struct dist__nodes_spec *nodes = &spec->nodes;
	bool alone = nodes->max_nodes <= 1;
	struct dist__membership_rules rules = {
		.min_nodes = alone ? 1 : nodes->min_nodes,
		.max_nodes = alone ? 1 : nodes->max_nodes,
		.max_restarts = spec->max_restarts,
		.numbered = !alone && nodes->node_rank >= 0,
		.join_ns = nodes->join_ns,
		.last_call_ns = nodes->last_call_ns,
		.keep_alive_ns = nodes->keep_alive_ns,
	};
	enum dist_error error;

	memset(agent, 0, sizeof *agent);
	message->text[0] = '\0';
	agent->spec = spec;
	agent->master_fd = agent->trace_fd = -1;
	agent->orders.order = DIST__ORDER_WAIT;
	agent->orders.round = -1;
	agent->interval_ns = choose_interval(spec);
	agent->next_ns = alone ? DIST_TIMEOUT_NEVER : 0;
	introduce(agent);
	dist__membership_init(&agent->membership, &rules, dist__clock_ns());
	if (alone) {
		agent->leads = true;
		return DIST_OK;
	}
	if (!may_lead(nodes))
		return follow(agent, signals, signal, message);
	error = lead(agent, message);
	/* On one machine several may lead; the port went to another. */
	if (error == DIST_ERR_RENDEZVOUS && !agent->leads &&
	    nodes->node_rank < 0 && !nodes->host_known)
		error = follow(agent, signals, signal, message);
	return error;
}

void dist__agent_close(struct dist__agent *agent)
{
	dist__store_free(agent->store);
	if (agent->master_fd >= 0)
		close(agent->master_fd);
	if (agent->trace_fd >= 0)
		close(agent->trace_fd);
	if (agent->store_process)
		store_process_stop(agent->store_process);
	dist__orders_release(&agent->orders);
	dist__membership_release(&agent->membership);
}

/* ---- exchanging --------------------------------------------------------- */

/* Hears every agent that has arrived, and has not left. */
static bool hear_all(struct dist__agent *agent)
{
	struct dist__membership *membership = &agent->membership;
	struct dist__report report;
	enum dist_error error;
	char key[32], *text, *end;
	int64_t arrivals;
	size_t len;

	if (dist__store_add(agent->store, "arrivals", 0, &arrivals))
		return false;
	for (int i = 1; i <= arrivals; i++) {
		if (i < membership->num_members && membership->members[i].gone)
			continue;
		snprintf(key, sizeof key, "%d/report", i);
		error = dist__store_get(agent->store, key, 0, &text, &len);
		if (error)
			return false;
		end = strchr(text, '\n');
		if (end)
			*end = '\0';
		if (dist__report_parse(text, &report))
			(void)dist__membership_hear(membership, i, &report,
						    dist__clock_ns());
		if (end)
			(void)dist__membership_lose(membership, i);
		free(text);
	}
	return true;
}

static bool report_and_ask(struct dist__agent *agent)
{
	char key[32], text[DIST__REPORT_TEXT], *orders;
	int64_t patience_ns = agent->spec->nodes.keep_alive_ns;
	size_t len;
	bool good;

	snprintf(key, sizeof key, "%d/report", agent->ticket);
	dist__report_format(&agent->report, text);
	if (dist__store_set(agent->store, key, text, strlen(text)) ||
	    dist__store_get(agent->store, "orders", patience_ns, &orders, &len))
		return false;
	good = dist__orders_parse(orders, &agent->orders);
	free(orders);
	return good;
}

bool dist__agent_exchange(struct dist__agent *agent)
{
	bool good = true;

	agent->report.beat++;
	if (agent->store)
		agent->next_ns = dist__clock_after(agent->interval_ns);
	if (!agent->leads)
		return report_and_ask(agent);
	if (agent->store)
		good = hear_all(agent);
	return dist__membership_hear(&agent->membership, 0, &agent->report,
				     dist__clock_ns()) &&
	       good;
}

bool dist__agent_publish(struct dist__agent *agent)
{
	bool good;
	char *text;

	if (!agent->store)
		return true;
	text = dist__orders_format(&agent->orders);
	good = text && dist__store_set(agent->store, "orders", text,
				       strlen(text)) == DIST_OK;
	free(text);
	return good;
}

int dist__agent_node(const struct dist__agent *agent)
{
	for (int i = 0; i < agent->orders.num_nodes; i++)
		if (agent->orders.order == DIST__ORDER_RUN &&
		    agent->orders.nodes[i].ticket == agent->ticket)
			return i;
	return -1;
}

/* ---- records ------------------------------------------------------------ */

/* What is stored of a rank. */
struct given {
	int64_t number;
	struct check_slot slot;
};

static void name_slot(int ticket, const struct dist__slot_key *where, int rank,
		      char key[64])
{
	snprintf(key, 64, "%d/%s/%d", ticket, where->name, rank);
}

void dist__agent_give_slots(struct dist__agent *agent,
			    const struct dist__slot_key *where,
			    const struct check_board *board, int first,
			    int num_ranks)
{
	struct given *given = calloc(1, sizeof *given);
	enum dist_error error = given ? DIST_OK : DIST_ERR_NO_MEMORY;
	char key[64];

	for (int rank = first; !error && rank < first + num_ranks; rank++) {
		name_slot(agent->ticket, where, rank, key);
		given->number = where->number;
		given->slot = board->slots[rank];
		error = dist__store_set(agent->store, key, given,
					sizeof *given);
	}
	free(given);
}

void dist__agent_take_slots(struct dist__agent *agent,
			    const struct dist__slot_key *where,
			    struct check_board *board, int first, int num_ranks)
{
	const struct given *given;
	char key[64], *text;
	size_t len;

	for (int rank = first; rank < first + num_ranks; rank++) {
		name_slot(where->ticket, where, rank, key);
		if (dist__store_get(agent->store, key, 0, &text, &len))
			continue;
		given = (const void *)text;
		if (len == sizeof *given && given->number == where->number)
			board->slots[rank] = given->slot;
		(void)check_slot_mend(&board->slots[rank], board->world_size);
		free(text);
	}
}
