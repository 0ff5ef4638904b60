#include "realbackend/tcp/leader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend.h"
#include "core/clock.h"
#include "realbackend/tcp/socket.h"

bool dist__leader_end(struct dist__agent *agent, int status, const char *words)
{
	agent->orders.order = DIST__ORDER_END;
	agent->orders.status = status;
	snprintf(agent->orders.words, sizeof agent->orders.words, "%.399s",
		 words);
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
	const char *trace = agent->spec->trace ? agent->spec->trace
					       : getenv("LOCKSTEP_TRACE");

	return trace && *trace ? trace : NULL;
}

/* Parts that an earlier round or job left would be merged into this trace. */
static void remove_parts(const struct dist__agent *agent, int num_ranks)
{
	const char *trace = find_trace(agent);
	char path[4096];
	int len;

	for (int rank = 0; trace && rank < num_ranks; rank++) {
		len = snprintf(path, sizeof path, "%s.rank%d", trace, rank);
		if (len > 0 && (size_t)len < sizeof path)
			unlink(path);
	}
}

int dist__leader_merge(const struct dist__agent *agent, int status)
{
	struct dist_message message = {""};
	const char *trace = find_trace(agent);

	if (!trace || !agent->orders.nodes ||
	    !dist__recorder_merge(trace, count_ranks(&agent->orders), &message))
		return status;
	fprintf(stderr, "lockstep: %s\n", message.text);
	return status == DIST_EXIT_OK ? DIST_EXIT_FAILED : status;
}

/* ---- beginning a round -------------------------------------------------- */

/* Takes over the nodes of *chosen and opens the round's store. Where the agents
 * meet, the endpoint's port is theirs: the ranks get another. */
static bool start(struct dist__agent *agent, struct dist__orders *chosen,
		  int *store_fd)
{
	const struct dist__job_spec *spec = agent->spec;
	struct dist__orders *orders = &agent->orders;
	const char *host = spec->master_addr ? spec->master_addr : "127.0.0.1";
	int before = orders->nodes ? count_ranks(orders) : 0;
	int port = spec->master_port, now;
	struct dist_message message;
	enum dist_error error;

	if (agent->store) {
		host = spec->nodes.endpoint_host;
		port = 0;
	}
	free(orders->nodes);
	orders->nodes = chosen->nodes;
	orders->num_nodes = chosen->num_nodes;
	orders->round = chosen->round;
	now = count_ranks(orders);
	remove_parts(agent, now > before ? now : before);
	error = dist__socket_listen(host, port, store_fd, &message);
	if (error)
		return dist__leader_end(agent,
					error == DIST_ERR_RENDEZVOUS
						? DIST_EXIT_RENDEZVOUS
						: DIST_EXIT_INTERNAL,
					message.text);
	orders->order = DIST__ORDER_RUN;
	orders->master_port = dist__socket_port(*store_fd);
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
	const struct dist__muster *muster = &agent->muster;
	int ticket = dist__muster_culprit(muster);
	const struct dist__member *member;

	memset(cause, 0, sizeof *cause);
	if (ticket < 0)
		return false;
	member = &muster->members[ticket];
	if (member->report.round == muster->round)
		*cause = member->report.cause;
	if (member->present || cause->weight >= 2)
		return true;
	cause->weight = 3;
	cause->lost = true;
	cause->rank = first_rank(&agent->orders, member->node);
	snprintf(cause->how, sizeof cause->how, "went with node %d (on %.24s)",
		 member->node, member->report.host);
	return true;
}

/* Says why another round begins. */
static void tell_restart(const struct dist__agent *agent)
{
	const struct dist__muster *muster = &agent->muster;
	struct check_cause cause;

	fputs("lockstep: ", stderr);
	if (find_cause(agent, &cause))
		fprintf(stderr, "rank %d %s; ", cause.rank, cause.how);
	else
		fputs("a node has come; ", stderr);
	if (muster->paid)
		fprintf(stderr, "restart %d of %d\n", muster->restarts,
			muster->rules.max_restarts);
	else
		fputs("starting again with the nodes that are there\n", stderr);
}

void dist__leader_gather(struct dist__agent *agent, const char *shelf,
			 struct check_board *board)
{
	const struct dist__orders *orders = &agent->orders;
	int num_members = agent->muster.num_members;

	for (int i = 1; i < num_members; i++) {
		const struct dist__member *member = &agent->muster.members[i];
		int node = member->node, first;

		if (node < 0)
			continue;
		first = first_rank(orders, node);
		dist__agent_take_slots(agent, shelf, board, first,
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
	char words[128] = "", shelf[32];
	int status;

	if (own->board) {
		size_t bytes = check_board_bytes(own->board->world_size);

		all.board = malloc(bytes);
		if (all.board)
			memcpy(all.board, own->board, bytes);
	}
	if (find_cause(agent, &all.cause))
		snprintf(words, sizeof words, "rank %d %s", all.cause.rank,
			 all.cause.how);
	snprintf(shelf, sizeof shelf, "slot/%d", agent->muster.round);
	if (all.board && agent->store)
		dist__leader_gather(agent, shelf, all.board);
	status = dist__outcome_report(stderr, &all, agent->spec->timeout_ns);
	dist__outcome_release(&all);
	/* Our own words are out. */
	if (!dist__leader_end(agent, status, words))
		return false;
	agent->orders.words[0] = '\0';
	return true;
}

/* ---- deciding ----------------------------------------------------------- */

static bool act(struct dist__agent *agent, const struct dist__outcome *own,
		int *store_fd)
{
	struct dist__orders chosen = {.order = DIST__ORDER_RUN};

	switch (dist__muster_think(&agent->muster, dist__clock_ns(), &chosen)) {
	case DIST__MUSTER_KEEP:
		return true;
	case DIST__MUSTER_STOP:
		agent->orders.order = DIST__ORDER_WAIT;
		return dist__agent_publish(agent);
	case DIST__MUSTER_AGAIN:
		tell_restart(agent);
		return true;
	case DIST__MUSTER_START:
		return start(agent, &chosen, store_fd);
	case DIST__MUSTER_DONE:
	case DIST__MUSTER_FAIL:
		return conclude(agent, own);
	case DIST__MUSTER_APART:
		return dist__leader_end(agent, DIST_EXIT_RENDEZVOUS,
					chosen.words);
	}
	return true;
}

bool dist__leader_turn(struct dist__agent *agent,
		       const struct dist__outcome *own, int *store_fd)
{
	enum dist__muster_phase before;
	bool good = true;

	do {
		before = agent->muster.phase;
		good = agent->orders.order == DIST__ORDER_END ||
		       act(agent, own, store_fd);
	} while (good && agent->muster.phase != before);
	return good;
}
