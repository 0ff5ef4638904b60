#include "realbackend/launch/membership.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void dist__membership_init(struct dist__membership *membership,
			   const struct dist__membership_rules *rules,
			   int64_t now_ns)
{
	memset(membership, 0, sizeof *membership);
	membership->rules = *rules;
	membership->round = -1;
	membership->since_ns = now_ns;
}

void dist__membership_release(struct dist__membership *membership)
{
	free(membership->members);
	membership->members = NULL;
	membership->num_members = 0;
}

static bool make_room(struct dist__membership *membership, int ticket)
{
	struct dist__member *more;
	size_t n = (size_t)ticket + 1;

	if (ticket < membership->num_members)
		return true;
	more = realloc(membership->members, n * sizeof *more);
	if (!more)
		return false;
	membership->members = more;
	for (int i = membership->num_members; i <= ticket; i++)
		more[i] = (struct dist__member){.node = -1};
	membership->num_members = ticket + 1;
	return true;
}

bool dist__membership_hear(struct dist__membership *membership, int ticket,
			   const struct dist__report *report, int64_t now_ns)
{
	struct dist__member *member;

	if (ticket < 0 || !make_room(membership, ticket))
		return false;
	member = &membership->members[ticket];
	if (member->heard_ns && member->report.beat == report->beat)
		return true;
	member->report = *report;
	member->heard_ns = now_ns;
	member->present = report->state != DIST__AGENT_LEFT;
	return true;
}

bool dist__membership_lose(struct dist__membership *membership, int ticket)
{
	if (ticket < 0 || !make_room(membership, ticket))
		return false;
	membership->members[ticket].gone = true;
	membership->members[ticket].present = false;
	return true;
}

/* Ticket 0 is the leader's own: it hears itself. */
static void notice_silence(struct dist__membership *membership, int64_t now_ns)
{
	for (int i = 1; i < membership->num_members; i++) {
		struct dist__member *member = &membership->members[i];

		if (now_ns - member->heard_ns > membership->rules.keep_alive_ns)
			member->present = false;
	}
}

/* What the agents do, counted. */
struct count {
	int present; /* agents */
	int ready;   /* of these, without processes */
	int idle;    /* of these, outside the round */
	int lost;    /* of the round, not present any more */
	int failed;  /* of the round */
	int done;    /* of the round */
};

static struct count count_members(const struct dist__membership *membership)
{
	struct count count = {0};

	for (int i = 0; i < membership->num_members; i++) {
		const struct dist__member *member = &membership->members[i];
		const struct dist__report *r = &member->report;
		bool inside = member->node >= 0;
		bool about = inside && r->round == membership->round;

		count.present += member->present;
		count.ready += member->present && !r->busy;
		count.idle += member->present && !r->busy && !inside;
		count.lost += inside && !member->present;
		count.failed += about && r->state == DIST__AGENT_FAILED;
		count.done += about && r->state == DIST__AGENT_DONE;
	}
	return count;
}

/* ---- gathering ---------------------------------------------------------- */

/* Appends to the text of orders. */
#define say(orders, ...)                                                       \
	(void)dist__append((orders)->text, sizeof(orders)->text, __VA_ARGS__)

/* Says who is there. */
static void list_present(const struct dist__membership *membership,
			 struct dist__orders *orders)
{
	const char *separator = "";

	for (int i = 0; i < membership->num_members; i++) {
		const struct dist__report *r = &membership->members[i].report;

		if (!membership->members[i].present)
			continue;
		say(orders, "%s", separator);
		if (r->node_rank >= 0)
			say(orders, "node %d on ", r->node_rank);
		say(orders, "%s (process %ld)", r->host, r->pid);
		separator = ", ";
	}
}

static bool is_there(const struct dist__membership *membership, int node_rank)
{
	for (int i = 0; i < membership->num_members; i++)
		if (membership->members[i].present &&
		    membership->members[i].report.node_rank == node_rank)
			return true;
	return false;
}

static enum dist__membership_advice too_few(struct dist__membership *membership,
					    const struct count *count,
					    struct dist__orders *orders)
{
	const struct dist__membership_rules *rules = &membership->rules;
	const char *separator = "; missing: node ";

	say(orders,
	    "rendezvous: %d of %s%d nodes came in %.3g s: ", count->present,
	    rules->min_nodes < rules->max_nodes ? "at least " : "",
	    rules->min_nodes, (double)rules->join_ns / 1e9);
	list_present(membership, orders);
	for (int i = 0; rules->numbered && i < rules->max_nodes; i++) {
		if (is_there(membership, i))
			continue;
		say(orders, "%s%d", separator, i);
		separator = ", ";
	}
	membership->phase = DIST__MEMBERSHIP_OVER;
	return DIST__MEMBERSHIP_APART;
}

/* Node ranks that cannot be: two of one, one outside. false: all is well. */
static bool find_conflict(const struct dist__membership *membership,
			  struct dist__orders *orders)
{
	const struct dist__member *m = membership->members;
	int n = membership->num_members, max = membership->rules.max_nodes;

	for (int i = 0; i < n; i++) {
		const struct dist__report *r = &m[i].report;
		int j = i + 1;

		if (!m[i].present)
			continue;
		if (r->node_rank < 0 || r->node_rank >= max) {
			say(orders,
			    "rendezvous: node %d came, on %s (process %ld), to "
			    "a job of %d nodes",
			    r->node_rank, r->host, r->pid, max);
			return true;
		}
		while (j < n &&
		       !(m[j].present && m[j].report.node_rank == r->node_rank))
			j++;
		if (j == n)
			continue;
		say(orders,
		    "rendezvous: two nodes of rank %d came: on %s (process "
		    "%ld) and on %s (process %ld)",
		    r->node_rank, r->host, r->pid, m[j].report.host,
		    m[j].report.pid);
		return true;
	}
	return false;
}

/* Gives node ranks out: as told, or those first who came first. */
static bool choose_nodes(struct dist__membership *membership,
			 struct dist__orders *orders, int num_nodes)
{
	struct dist__node *nodes = calloc((size_t)num_nodes, sizeof *nodes);
	int next = 0;

	for (int i = 0; nodes && i < membership->num_members; i++) {
		struct dist__member *member = &membership->members[i];
		const struct dist__report *r = &member->report;
		int node = membership->rules.numbered ? r->node_rank : next;

		member->node = -1;
		if (!member->present || node >= num_nodes)
			continue;
		member->node = node;
		nodes[node].ticket = i;
		nodes[node].nproc = r->nproc;
		memcpy(nodes[node].role, r->role, sizeof r->role);
		next++;
	}
	orders->nodes = nodes;
	return nodes != NULL;
}

static enum dist__membership_advice start(struct dist__membership *membership,
					  const struct count *count,
					  struct dist__orders *orders)
{
	int n = count->ready < membership->rules.max_nodes
			? count->ready
			: membership->rules.max_nodes;

	if (!choose_nodes(membership, orders, n))
		return DIST__MEMBERSHIP_KEEP; /* memory may come back */
	membership->num_nodes = n;
	membership->round++;
	membership->phase = DIST__MEMBERSHIP_RUNNING;
	orders->num_nodes = n;
	orders->round = membership->round;
	return DIST__MEMBERSHIP_START;
}

static enum dist__membership_advice gather(struct dist__membership *membership,
					   const struct count *count,
					   int64_t now_ns,
					   struct dist__orders *orders)
{
	const struct dist__membership_rules *rules = &membership->rules;

	if (rules->numbered && find_conflict(membership, orders)) {
		membership->phase = DIST__MEMBERSHIP_OVER;
		return DIST__MEMBERSHIP_APART;
	}
	/* Who is busy has missed that we stopped: we shall hear of it. */
	if (count->ready < count->present)
		return DIST__MEMBERSHIP_KEEP;
	if (count->ready < rules->min_nodes) {
		membership->quorum_ns = 0;
		return now_ns - membership->since_ns > rules->join_ns
			       ? too_few(membership, count, orders)
			       : DIST__MEMBERSHIP_KEEP;
	}
	if (!membership->quorum_ns)
		membership->quorum_ns = now_ns;
	/* Between rounds everyone who may come is known. */
	if (count->ready < rules->max_nodes && membership->round < 0 &&
	    now_ns - membership->quorum_ns < rules->last_call_ns)
		return DIST__MEMBERSHIP_KEEP;
	return start(membership, count, orders);
}

/* ---- running ------------------------------------------------------------ */

static enum dist__membership_advice watch(struct dist__membership *membership,
					  const struct count *count)
{
	bool room = membership->num_nodes < membership->rules.max_nodes;

	if (count->done == membership->num_nodes) {
		membership->phase = DIST__MEMBERSHIP_OVER;
		return DIST__MEMBERSHIP_DONE;
	}
	/* Where some have ended, it is too late to join. */
	if (!count->failed && !count->lost &&
	    (!room || !count->idle || count->done))
		return DIST__MEMBERSHIP_KEEP;
	membership->phase = DIST__MEMBERSHIP_STOPPING;
	return DIST__MEMBERSHIP_STOP;
}

static enum dist__membership_advice settle(struct dist__membership *membership,
					   const struct count *count,
					   int64_t now_ns)
{
	bool enough = count->present >= membership->rules.min_nodes;

	if (count->ready < count->present)
		return DIST__MEMBERSHIP_KEEP;
	membership->paid = count->lost ? !enough : count->failed > 0;
	if (membership->paid &&
	    membership->restarts == membership->rules.max_restarts) {
		membership->phase = DIST__MEMBERSHIP_OVER;
		return DIST__MEMBERSHIP_FAIL;
	}
	membership->restarts += membership->paid;
	membership->phase = DIST__MEMBERSHIP_GATHERING;
	membership->since_ns = now_ns;
	membership->quorum_ns = 0;
	return DIST__MEMBERSHIP_AGAIN;
}

enum dist__membership_advice
dist__membership_think(struct dist__membership *membership, int64_t now_ns,
		       struct dist__orders *orders)
{
	struct count count;

	notice_silence(membership, now_ns);
	count = count_members(membership);
	switch (membership->phase) {
	case DIST__MEMBERSHIP_GATHERING:
		return gather(membership, &count, now_ns, orders);
	case DIST__MEMBERSHIP_RUNNING:
		return watch(membership, &count);
	case DIST__MEMBERSHIP_STOPPING:
		return settle(membership, &count, now_ns);
	case DIST__MEMBERSHIP_OVER:
		break;
	}
	return DIST__MEMBERSHIP_KEEP;
}

bool dist__membership_is_empty(struct dist__membership *membership,
			       int64_t now_ns)
{
	notice_silence(membership, now_ns);
	for (int i = 1; i < membership->num_members; i++)
		if (membership->members[i].present)
			return false;
	return true;
}

int dist__membership_culprit(const struct dist__membership *membership)
{
	int best = -1, best_weight = 0;

	for (int i = 0; i < membership->num_members; i++) {
		const struct dist__member *member = &membership->members[i];
		const struct dist__report *r = &member->report;
		int weight =
			r->round == membership->round ? r->cause.weight : 0;

		if (member->node < 0)
			continue;
		/* Who went without a word outweighs those who followed. */
		if (!member->present && weight < 2)
			weight = 2;
		if (weight > best_weight) {
			best = i;
			best_weight = weight;
		}
	}
	return best;
}
