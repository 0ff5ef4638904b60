#include "realbackend/launch/orders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"

/* More nodes than a store has sessions for is a mistake, or more ranks on one
 * than any machine has processes for. */
#define MAX_NODES 4096
#define MAX_NPROC 65536

void dist__report_format(const struct dist__report *report,
			 char text[DIST__REPORT_TEXT])
{
	snprintf(text, DIST__REPORT_TEXT,
		 "%" PRId64 " %d %d %d %d %d %ld %s %s %d %d %d %s",
		 report->beat, (int)report->state, report->busy, report->round,
		 report->nproc, report->node_rank, report->pid, report->role,
		 report->host, report->cause.weight, report->cause.rank,
		 report->cause.lost, report->cause.how);
}

bool dist__report_parse(const char *text, struct dist__report *report)
{
	struct dist__report r = {.beat = 0};
	int state, busy, lost, end = 0;

	if (sscanf(text, "%" SCNd64 " %d %d %d %d %d %ld %63s %63s %d %d %d%n",
		   &r.beat, &state, &busy, &r.round, &r.nproc, &r.node_rank,
		   &r.pid, r.role, r.host, &r.cause.weight, &r.cause.rank,
		   &lost, &end) != 12 ||
	    state < DIST__AGENT_IDLE || state > DIST__AGENT_LEFT ||
	    r.nproc < 1 || r.nproc > MAX_NPROC || r.cause.rank < 0)
		return false;
	r.state = (enum dist__agent_state)state;
	r.busy = busy != 0;
	r.cause.lost = lost != 0;
	snprintf(r.cause.how, sizeof r.cause.how, "%s",
		 text[end] == ' ' ? text + end + 1 : "");
	dist__printable(r.role);
	dist__printable(r.host);
	dist__printable(r.cause.how);
	*report = r;
	return true;
}

char *dist__orders_format(const struct dist__orders *orders)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%d %d %d", (int)orders->order, orders->round,
		orders->status);
	if (orders->order == DIST__ORDER_RUN) {
		fprintf(out, " %s %d %d %d", orders->master_addr,
			orders->master_port, orders->store_port,
			orders->num_nodes);
		for (int i = 0; i < orders->num_nodes; i++)
			fprintf(out, " %d %d %s", orders->nodes[i].ticket,
				orders->nodes[i].nproc, orders->nodes[i].role);
	} else {
		fprintf(out, " %d %s", orders->culprit, orders->text);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool is_port(int number)
{
	return number >= 1 && number <= 65535;
}

/* The part of RUN that begins at text. */
static bool parse_nodes(const char *text, struct dist__orders *o)
{
	int end = 0;

	if (sscanf(text, " %255s %d %d %d%n", o->master_addr, &o->master_port,
		   &o->store_port, &o->num_nodes, &end) != 4 ||
	    o->num_nodes < 1 || o->num_nodes > MAX_NODES ||
	    !is_port(o->master_port) || !is_port(o->store_port))
		return false;
	dist__printable(o->master_addr);
	o->nodes = calloc((size_t)o->num_nodes, sizeof *o->nodes);
	for (int i = 0; o->nodes && i < o->num_nodes; i++) {
		struct dist__node *node = &o->nodes[i];

		text += end;
		if (sscanf(text, " %d %d %63s%n", &node->ticket, &node->nproc,
			   node->role, &end) != 3 ||
		    node->nproc < 1 || node->nproc > MAX_NPROC)
			return false;
		dist__printable(node->role);
	}
	return o->nodes != NULL;
}

bool dist__orders_parse(const char *text, struct dist__orders *orders)
{
	struct dist__orders o = {.order = DIST__ORDER_WAIT};
	int order, end = 0, more = 0;
	bool good;

	good = sscanf(text, "%d %d %d%n", &order, &o.round, &o.status, &end) ==
		       3 &&
	       order >= DIST__ORDER_WAIT && order <= DIST__ORDER_END &&
	       o.status >= 0 && o.status <= 255;
	if (good && order == DIST__ORDER_RUN)
		good = parse_nodes(text + end, &o);
	else if (good)
		good = sscanf(text + end, " %d%n", &o.culprit, &more) == 1;
	if (more && text[end + more] == ' ')
		snprintf(o.text, sizeof o.text, "%s", text + end + more + 1);
	if (!good) {
		dist__orders_release(&o);
		return false;
	}
	dist__printable(o.text);
	o.order = (enum dist__order)order;
	dist__orders_release(orders);
	*orders = o;
	return true;
}

void dist__orders_release(struct dist__orders *orders)
{
	free(orders->nodes);
	orders->nodes = NULL;
}
