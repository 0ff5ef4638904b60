#include "realbackend/launch/leader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/variable.h"
#include "base/clock.h"
#include "realbackend/store/environment.h"
#include "realbackend/wire/socket.h"
#include "trace/recorder.h"

bool dist__leader_end(struct dist__agent *agent, int status, int culprit,
		      const char *text)
{
	agent->orders.order = DIST__ORDER_END;
	agent->orders.status = status;
	agent->orders.culprit = culprit;
	snprintf(agent->orders.text, sizeof agent->orders.text, "%.399s", text);
	return dist__agent_publish(agent);
}

static int count_ranks(const struct dist__orders *orders)
{
	int ranks = 0;

	for (int i = 0; i < orders->num_nodes; i++)
		ranks += orders->nodes[i].nproc;
	return ranks;
}

/* ---- the trace ---------------------------------------------------------- */

/* The trace that ranks write parts of; NULL: none. */
static const char *find_trace(const struct dist__agent *agent)
{
	return dist__variable_or(agent->spec->trace, "LOCKSTEP_TRACE");
}

/* Holds the trace for this job. False: another job has it. Whether it can be
 * written at all is seen when it is written. */
static bool hold_trace(struct dist__agent *agent)
{
	const char *trace = find_trace(agent);

	if (!trace)
		return true;
	if (agent->trace_fd >= 0) /* what the round before left there goes */
		return ftruncate(agent->trace_fd, 0) == 0;
	agent->trace_fd = dist__recorder_hold(trace);
	return agent->trace_fd >= 0 || errno != EWOULDBLOCK;
}

/* Whether name is that of a part of the trace called `trace`, or of what goes
 * before one. */
static bool is_part(const char *name, const char *trace)
{
	size_t len = strlen(trace);

	if (strncmp(name, trace, len) != 0 ||
	    strncmp(name + len, ".rank", 5) != 0)
		return false;
	name += len + 5;
	len = strspn(name, "0123456789");
	return len > 0 && (!name[len] || strcmp(name + len, ".live") == 0);
}

/* Parts that an earlier round or job left would be merged into this trace, or
 * stay for ever: a launcher that is killed leaves them, of however many
 * ranks. The one that is held is empty. */
static void remove_parts(const struct dist__agent *agent)
{
	const char *trace = find_trace(agent), *slash;
	struct dirent *entry;
	char path[4096];
	DIR *folder;

	if (!trace || strlen(trace) >= sizeof path)
		return;
	slash = strrchr(trace, '/');
	snprintf(path, sizeof path, "%.*s",
		 slash ? (int)(slash - trace) + 1 : 1, slash ? trace : ".");
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (is_part(entry->d_name, slash ? slash + 1 : trace) &&
		    !strstr(entry->d_name, ".rank0.live"))
			(void)unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

int dist__leader_merge(const struct dist__agent *agent, int status, int signal)
{
	struct dist_message message = {""};
	const char *trace = find_trace(agent);

	if (!trace || !agent->orders.nodes ||
	    !dist__recorder_merge(trace, count_ranks(&agent->orders),
				  signal ? 128 + signal : status, &message))
		return status;
	fprintf(stderr, "lockstep: %s\n", message.text);
	return status == DIST_EXIT_OK ? DIST_EXIT_FAILED : status;
}

/* ---- beginning a round -------------------------------------------------- */

/* Opens the two ports of a round on the host of rank 0: that of our store, and
 * the program's own, MASTER_PORT, at which nobody listens yet. Where the agents
 * meet, the endpoint's port is theirs: the program gets another. */
static enum dist_error open_ports(struct dist__agent *agent, const char *host,
				  int *store_fd, struct dist_message *message)
{
	int master_fd, port = agent->store ? 0 : agent->spec->master_port;
	enum dist_error error =
		dist__socket_reserve(host, port, &master_fd, message);

	if (error)
		return error;
	if (agent->master_fd >= 0)
		close(agent->master_fd);
	agent->master_fd = master_fd;
	agent->orders.master_port = dist__socket_port(master_fd);
	error = dist__socket_listen(host, 0, store_fd, message);
	if (!error)
		agent->orders.store_port = dist__socket_port(*store_fd);
	return error;
}

/* Takes over the nodes of *chosen, and starts their round. */
static bool start(struct dist__agent *agent, struct dist__orders *chosen,
		  int *store_fd)
{
	const struct dist__job_spec *spec = agent->spec;
	struct dist__orders *orders = &agent->orders;
	const char *host = spec->master_addr ? spec->master_addr : "127.0.0.1";
	struct dist_message message;
	enum dist_error error;

	if (agent->store)
		host = spec->nodes.endpoint_host;
	free(orders->nodes);
	orders->nodes = chosen->nodes;
	orders->num_nodes = chosen->num_nodes;
	orders->round = chosen->round;
	if (!hold_trace(agent)) {
		snprintf(message.text, sizeof message.text,
			 "%.300s: another job writes this trace",
			 find_trace(agent));
		return dist__leader_end(agent, DIST_EXIT_USAGE, -1,
					message.text);
	}
	remove_parts(agent);
	error = open_ports(agent, host, store_fd, &message);
	if (error)
		return dist__leader_end(agent,
					error == DIST_ERR_RENDEZVOUS
						? DIST_EXIT_RENDEZVOUS
						: DIST_EXIT_INTERNAL,
					-1, message.text);
	if (!agent->store && orders->round == 0)
		dist__secret_warn(*store_fd);
	orders->order = DIST__ORDER_RUN;
	snprintf(orders->master_addr, sizeof orders->master_addr, "%s", host);
	return dist__agent_publish(agent);
}

/* ---- after a round ------------------------------------------------------ */

/* The first rank of a node of the last round. */
static int first_rank(const struct dist__orders *orders, int node)
{
	int rank = 0;

	for (int i = 0; i < node; i++)
		rank += orders->nodes[i].nproc;
	return rank;
}

/* Finds the cause among those of all nodes; false: a round without one. */
static bool find_cause(const struct dist__agent *agent,
		       struct check_cause *cause)
{
	const struct dist__membership *membership = &agent->membership;
	int ticket = dist__membership_culprit(membership);
	const struct dist__member *member;

	memset(cause, 0, sizeof *cause);
	if (ticket < 0)
		return false;
	member = &membership->members[ticket];
	if (member->report.round == membership->round)
		*cause = member->report.cause;
	/* As another process says, which need not be so. */
	if (cause->rank < 0 || cause->rank >= count_ranks(&agent->orders))
		cause->rank = first_rank(&agent->orders, member->node);
	if (member->present || cause->weight >= 2)
		return true;
	cause->weight = 3;
	cause->lost = true;
	cause->rank = first_rank(&agent->orders, member->node);
	snprintf(cause->how, sizeof cause->how, "went with node %d (on %.24s)",
		 member->node, member->report.host);
	return true;
}

/* Says why another round begins, at once: ranks write to stderr, too. */
static void report_restart(const struct dist__agent *agent)
{
	const struct dist__membership *membership = &agent->membership;
	char why[160] = "a node has come";
	struct check_cause cause;

	if (find_cause(agent, &cause))
		snprintf(why, sizeof why, "rank %d %s", cause.rank, cause.how);
	if (membership->paid)
		fprintf(stderr, "lockstep: %s; restart %d of %d\n", why,
			membership->restarts, membership->rules.max_restarts);
	else
		fprintf(stderr,
			"lockstep: %s; starting again with the nodes that are "
			"there\n",
			why);
}

void dist__leader_gather(struct dist__agent *agent, const char *name,
			 int64_t number, struct check_board *board)
{
	const struct dist__orders *orders = &agent->orders;
	int num_members = agent->membership.num_members;

	for (int i = 1; i < num_members; i++) {
		const struct dist__member *member =
			&agent->membership.members[i];
		const struct dist__slot_key where = {name, number, i};
		int node = member->node, first;

		if (node < 0)
			continue;
		first = first_rank(orders, node);
		dist__agent_take_slots(agent, &where, board, first,
				       orders->nodes[node].nproc);
		for (int j = 0;
		     !member->present && j < orders->nodes[node].nproc; j++)
			board->slots[first + j].state = CHECK_RANK_LOST;
	}
}

/* The last round is over: says why, if it failed. */
static bool conclude(struct dist__agent *agent, const struct dist__outcome *own)
{
	struct dist__outcome all = {.attempt = agent->orders.round};
	char text[160] = "";
	int status, culprit;

	if (own->board) {
		size_t bytes = check_board_bytes(own->board->world_size);

		all.board = malloc(bytes);
		if (all.board)
			memcpy(all.board, own->board, bytes);
	}
	if (find_cause(agent, &all.cause))
		snprintf(text, sizeof text, "rank %d %s", all.cause.rank,
			 all.cause.how);
	if (all.board && agent->store)
		dist__leader_gather(agent, "slot", agent->membership.round,
				    all.board);
	status = dist__outcome_report(stderr, &all, agent->spec->timeout_ns,
				      &culprit);
	dist__outcome_release(&all);
	/* Our own lines are out. */
	if (!dist__leader_end(agent, status, culprit, text))
		return false;
	agent->orders.text[0] = '\0';
	return true;
}

/* ---- deciding ----------------------------------------------------------- */

static bool act(struct dist__agent *agent, const struct dist__outcome *own,
		int *store_fd)
{
	struct dist__orders chosen = {.order = DIST__ORDER_RUN};

	switch (dist__membership_think(&agent->membership, dist__clock_ns(),
				       &chosen)) {
	case DIST__MEMBERSHIP_KEEP:
		return true;
	case DIST__MEMBERSHIP_STOP:
		agent->orders.order = DIST__ORDER_WAIT;
		return dist__agent_publish(agent);
	case DIST__MEMBERSHIP_AGAIN:
		report_restart(agent);
		return true;
	case DIST__MEMBERSHIP_START:
		return start(agent, &chosen, store_fd);
	case DIST__MEMBERSHIP_DONE:
	case DIST__MEMBERSHIP_FAIL:
		return conclude(agent, own);
	case DIST__MEMBERSHIP_APART:
		return dist__leader_end(agent, DIST_EXIT_RENDEZVOUS, -1,
					chosen.text);
	}
	return true;
}

bool dist__leader_turn(struct dist__agent *agent,
		       const struct dist__outcome *own, int *store_fd)
{
	enum dist__membership_phase before;
	bool good = true;

	do {
		before = agent->membership.phase;
		good = agent->orders.order == DIST__ORDER_END ||
		       act(agent, own, store_fd);
	} while (good && agent->membership.phase != before);
	return good;
}
