/* The membership: when rounds start and stop, and what restarts cost; and that
 * what agents tell each other survives being written down. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "realbackend/launch/membership.h"

#define SECOND ((int64_t)1000000000)

static struct dist__membership membership;
static struct dist__orders orders;
static struct dist__report reports[8]; /* by ticket */
static int64_t now_ns;

static void begin(int min, int max, int max_restarts, bool numbered)
{
	struct dist__membership_rules rules = {.min_nodes = min,
					       .max_nodes = max,
					       .max_restarts = max_restarts,
					       .numbered = numbered,
					       .join_ns = 60 * SECOND,
					       .last_call_ns = 10 * SECOND,
					       .keep_alive_ns = 5 * SECOND};

	now_ns = SECOND;
	dist__membership_init(&membership, &rules, now_ns);
	for (int i = 0; i < 8; i++) {
		reports[i] = (struct dist__report){.round = -1,
						   .nproc = i + 1,
						   .node_rank = -1,
						   .pid = 100 + i};
		strcpy(reports[i].role, "r");
		strcpy(reports[i].host, "h");
	}
}

static void end(void)
{
	dist__membership_release(&membership);
	dist__orders_release(&orders);
}

TestSuite(membership, .fini = end);

/* The agents with tickets 0 to n - 1 report; a second passes. */
static void report(int n)
{
	now_ns += SECOND;
	for (int i = 0; i < n; i++) {
		reports[i].beat++;
		cr_assert(dist__membership_hear(&membership, i, &reports[i],
						now_ns));
	}
}

static enum dist__membership_advice think(void)
{
	dist__orders_release(&orders);
	memset(&orders, 0, sizeof orders);
	return dist__membership_think(&membership, now_ns, &orders);
}

static void set(int ticket, enum dist__agent_state state, bool busy)
{
	reports[ticket].state = state;
	reports[ticket].busy = busy;
	reports[ticket].round = membership.round;
}

/* Agents 0 to n - 1 come and start. */
static void start(int n)
{
	report(n);
	now_ns += 11 * SECOND;
	for (int i = 0; i < 2 && membership.phase != DIST__MEMBERSHIP_RUNNING;
	     i++) {
		report(n);
		(void)think();
		now_ns += 11 * SECOND;
	}
	cr_assert_eq(membership.phase, DIST__MEMBERSHIP_RUNNING);
	for (int i = 0; i < n; i++)
		set(i, DIST__AGENT_RUNNING, true);
	report(n);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
}

/* ---- gathering ---------------------------------------------------------- */

Test(membership, starts_when_all_are_there)
{
	begin(3, 3, 0, false);
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_START);
	cr_assert_eq(orders.round, 0);
	cr_assert_eq(orders.num_nodes, 3);
	cr_assert_eq(orders.nodes[2].ticket, 2);
	cr_assert_eq(orders.nodes[2].nproc, 3);
}

Test(membership, gives_node_ranks_as_told)
{
	begin(2, 2, 0, true);
	reports[0].node_rank = 0;
	reports[1].node_rank = 1;
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_START);
	cr_assert_eq(orders.nodes[1].ticket, 1);
}

Test(membership, refuses_two_nodes_of_one_rank)
{
	begin(3, 3, 0, true);
	reports[0].node_rank = 0;
	reports[1].node_rank = reports[2].node_rank = 2;
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_APART);
	cr_assert_not_null(strstr(orders.text, "two nodes of rank 2"), "%s",
			   orders.text);
}

Test(membership, refuses_a_node_outside)
{
	begin(2, 2, 0, true);
	reports[0].node_rank = 0;
	reports[1].node_rank = 2;
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_APART);
	cr_assert_not_null(strstr(orders.text, "node 2 came"), "%s",
			   orders.text);
}

Test(membership, waits_for_more_until_the_last_call)
{
	begin(1, 3, 0, false);
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
	for (int i = 0; i < 9; i++) {
		report(2);
		cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
	}
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_START);
	cr_assert_eq(orders.num_nodes, 2);
}

Test(membership, names_who_came_in_vain)
{
	begin(3, 3, 0, true);
	reports[0].node_rank = 0;
	reports[1].node_rank = 2;
	for (int i = 0; i < 60; i++) {
		report(2);
		cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
	}
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_APART);
	cr_assert_str_eq(orders.text,
			 "rendezvous: 2 of 3 nodes came in 60 s: node 0 on h "
			 "(process 100), node 2 on h (process 101); missing: "
			 "node 1");
}

Test(membership, does_not_count_who_went_again)
{
	begin(2, 2, 0, false);
	report(1);
	reports[1].beat++;
	cr_assert(dist__membership_hear(&membership, 1, &reports[1], now_ns));
	reports[1].state = DIST__AGENT_LEFT;
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
}

/* ---- failing ------------------------------------------------------------ */

Test(membership, restarts_as_often_as_it_may)
{
	begin(2, 2, 1, false);
	start(2);
	for (int i = 0; i < 2; i++) {
		set(1, DIST__AGENT_FAILED, true);
		report(2);
		cr_assert_eq(think(), DIST__MEMBERSHIP_STOP);
		report(2);
		cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP, "some are busy");
		set(0, DIST__AGENT_IDLE, false);
		set(1, DIST__AGENT_FAILED, false);
		report(2);
		if (i == 1)
			break;
		cr_assert_eq(think(), DIST__MEMBERSHIP_AGAIN);
		cr_assert(membership.paid);
		cr_assert_eq(think(), DIST__MEMBERSHIP_START);
		cr_assert_eq(orders.round, 1);
		report(2);
		cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP, "an old failure");
		set(0, DIST__AGENT_RUNNING, true);
	}
	cr_assert_eq(think(), DIST__MEMBERSHIP_FAIL);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP, "once");
}

Test(membership, finds_the_cause_that_weighs_most)
{
	begin(3, 3, 0, false);
	start(3);
	set(0, DIST__AGENT_FAILED, false);
	reports[0].cause.weight = 1;
	set(1, DIST__AGENT_FAILED, false);
	reports[1].cause.weight = 3;
	set(2, DIST__AGENT_FAILED, false);
	reports[2].cause.weight = 2;
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_STOP);
	cr_assert_eq(think(), DIST__MEMBERSHIP_FAIL);
	cr_assert_eq(dist__membership_culprit(&membership), 1);
}

Test(membership, is_done_when_all_are)
{
	begin(2, 2, 3, false);
	start(2);
	set(0, DIST__AGENT_DONE, false);
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
	set(1, DIST__AGENT_DONE, false);
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_DONE);
	cr_assert_not(dist__membership_is_empty(&membership, now_ns));
	reports[1].state = DIST__AGENT_LEFT;
	report(2);
	cr_assert(dist__membership_is_empty(&membership, now_ns));
}

/* ---- changing ----------------------------------------------------------- */

Test(membership, shrinks_without_the_silent)
{
	begin(2, 3, 0, false);
	start(3);
	set(0, DIST__AGENT_FAILED, false);
	reports[0].cause.weight = 1;
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_STOP);
	set(1, DIST__AGENT_IDLE, false);
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP, "agent 2 may still live");
	for (int i = 0; i < 4; i++)
		report(2);
	cr_assert_eq(dist__membership_culprit(&membership), 0);
	cr_assert_eq(think(), DIST__MEMBERSHIP_AGAIN);
	cr_assert_not(membership.paid);
	cr_assert_eq(dist__membership_culprit(&membership), 2,
		     "who went is the cause");
	cr_assert_eq(think(), DIST__MEMBERSHIP_START);
	cr_assert_eq(orders.num_nodes, 2);
}

/* One of two agents leaves, which stops the other. */
static void lose_one(int max_restarts)
{
	begin(2, 2, max_restarts, false);
	start(2);
	reports[1].state = DIST__AGENT_LEFT;
	report(2);
	cr_assert_eq(think(), DIST__MEMBERSHIP_STOP);
	set(0, DIST__AGENT_IDLE, false);
	report(1);
}

Test(membership, fails_when_too_few_are_left)
{
	lose_one(0);
	cr_assert_eq(think(), DIST__MEMBERSHIP_FAIL);
	cr_assert_eq(dist__membership_culprit(&membership), 1);
}

Test(membership, pays_to_wait_for_a_replacement)
{
	lose_one(1);
	cr_assert_eq(think(), DIST__MEMBERSHIP_AGAIN);
	cr_assert(membership.paid);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_START);
	cr_assert_eq(orders.nodes[1].ticket, 2);
}

Test(membership, grows_by_whoever_comes)
{
	begin(1, 3, 0, false);
	start(2);
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_STOP);
	set(0, DIST__AGENT_IDLE, false);
	set(1, DIST__AGENT_IDLE, false);
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_AGAIN);
	cr_assert_not(membership.paid);
	cr_assert_eq(think(), DIST__MEMBERSHIP_START);
	cr_assert_eq(orders.num_nodes, 3);
}

Test(membership, keeps_those_waiting_for_whom_there_is_no_room)
{
	begin(1, 2, 0, false);
	start(2);
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
}

Test(membership, lets_nobody_join_what_is_ending)
{
	begin(1, 3, 0, false);
	start(2);
	set(0, DIST__AGENT_DONE, false);
	report(3);
	cr_assert_eq(think(), DIST__MEMBERSHIP_KEEP);
}

/* ---- written down ------------------------------------------------------- */

Test(membership, reports_survive_being_written_down)
{
	struct dist__report r = {
		.beat = 7,
		.state = DIST__AGENT_FAILED,
		.busy = true,
		.round = 2,
		.nproc = 4,
		.node_rank = -1,
		.pid = 99,
		.cause = {.weight = 3, .rank = 5, .lost = true},
		.role = "trainer",
		.host = "a.b"};
	struct dist__report back;
	char text[DIST__REPORT_TEXT];

	strcpy(r.cause.how, "was killed by signal 9 (Killed)");
	dist__report_format(&r, text);
	cr_assert(dist__report_parse(text, &back));
	cr_assert_eq(back.beat, 7);
	cr_assert_eq(back.state, DIST__AGENT_FAILED);
	cr_assert(back.busy && back.cause.lost);
	cr_assert_eq(back.round, 2);
	cr_assert_eq(back.nproc, 4);
	cr_assert_eq(back.node_rank, -1);
	cr_assert_eq(back.pid, 99);
	cr_assert_eq(back.cause.rank, 5);
	cr_assert_str_eq(back.role, "trainer");
	cr_assert_str_eq(back.host, "a.b");
	cr_assert_str_eq(back.cause.how, r.cause.how);
	cr_assert_not(dist__report_parse("", &back));
	cr_assert_not(dist__report_parse("1 9 0 0 1 0 1 r h 0 0 0", &back));
}

Test(membership, orders_survive_being_written_down)
{
	struct dist__node nodes[2] = {{0, 2, "a"}, {3, 4, "b"}};
	struct dist__orders run = {.order = DIST__ORDER_RUN,
				   .round = 1,
				   .master_port = 4711,
				   .store_port = 4712,
				   .master_addr = "::1",
				   .num_nodes = 2,
				   .nodes = nodes};
	struct dist__orders over = {.order = DIST__ORDER_END,
				    .status = 13,
				    .culprit = 1,
				    .text = "rank 1 was killed"};
	char *text = dist__orders_format(&run);

	cr_assert(dist__orders_parse(text, &orders));
	cr_assert_eq(orders.order, DIST__ORDER_RUN);
	cr_assert_eq(orders.master_port, 4711);
	cr_assert_eq(orders.store_port, 4712);
	cr_assert_str_eq(orders.master_addr, "::1");
	cr_assert_eq(orders.num_nodes, 2);
	cr_assert_eq(orders.nodes[1].ticket, 3);
	cr_assert_str_eq(orders.nodes[1].role, "b");
	text[strlen(text) - 2] = '\0';
	cr_assert_not(dist__orders_parse(text, &orders), "cut");
	cr_assert_eq(orders.nodes[1].nproc, 4, "as before");
	free(text);
	text = dist__orders_format(&over);
	cr_assert(dist__orders_parse(text, &orders));
	cr_assert_eq(orders.status, 13);
	cr_assert_eq(orders.culprit, 1);
	cr_assert_str_eq(orders.text, "rank 1 was killed");
	cr_assert_not(dist__orders_parse("7 0 0", &orders));
	free(text);
}
