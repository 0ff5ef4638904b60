/*
 * write_fabric.c - the switches between nodes.
 *
 * A switch's links to the level above are one link of their bandwidth together:
 * traffic spreads evenly over spines, as with adaptive routing, and the
 * collisions of static hashing do not occur. A dragonfly's ways are minimal: at
 * most one link inside each group and one between.
 */
#include "model/cluster/writer.h"

#define NAME_SIZE 32

/* A fabric, counted out: its switches that have nodes. */
struct plan {
	const char *name; /* of the switches below which nodes hang */
	int nodes, ports; /* in all; under each switch */
	int switches;
	int pod; /* switches in a zone of their own; 0: none */
	int pods;
};

static int divide_up(int a, int b)
{
	return (a + b - 1) / b;
}

static struct plan make_plan(const struct platform_description *d)
{
	const struct platform_fabric *f = &d->fabric;
	struct plan plan = {.name = "leaf",
			    .nodes = platform_count_nodes(d),
			    .ports = PLATFORM_PORTS};

	if (f->topology == PLATFORM_LEAF_SPINE)
		plan.ports = divide_up(plan.nodes, f->shape[0]);
	else if (f->topology == PLATFORM_FAT_TREE)
		plan.ports = f->shape[0];
	if (f->topology == PLATFORM_FAT_TREE && f->levels == 3)
		plan.pod = f->shape[1];
	if (f->topology == PLATFORM_DRAGONFLY) {
		plan.name = "router";
		plan.ports = f->shape[2];
		plan.pod = f->shape[1];
	}
	plan.switches = divide_up(plan.nodes, plan.ports);
	if (plan.pod)
		plan.pods = divide_up(plan.switches, plan.pod);
	return plan;
}

/* What the cards of the nodes under a switch can send together, were it full
 * of the best of them. */
static double switch_Bps(const struct platform_description *d, int ports)
{
	double most = 0;

	for (int i = 0; i < d->kinds; i++) {
		const struct platform_inter *inter = &d->nodes[i].inter;
		double Bps = inter->nics * inter->nic.bandwidth_Bps;

		most = Bps > most ? Bps : most;
	}
	return most * ports;
}

/* ---- zones ----------------------------------------------------------- */

static void write_switch(struct platform_writer *w, const struct plan *plan,
			 int number)
{
	int first = number * plan->ports, last = first + plan->ports;
	char exit[NAME_SIZE];

	last = last < plan->nodes ? last : plan->nodes;
	snprintf(exit, sizeof exit, "%s%d.switch", plan->name, number);
	fprintf(w->out, "    <zone id=\"%s%d\" routing=\"DijkstraCache\">\n",
		plan->name, number);
	for (int node = first; node < last; node++)
		platform_write_parts(w, node);
	fprintf(w->out, "      <router id=\"%s\"/>\n", exit);
	for (int node = first; node < last; node++)
		platform_write_links(w, node);
	for (int node = first; node < last; node++)
		platform_write_ways(w, node, exit);
	fputs("    </zone>\n", w->out);
}

/* The way between two zones of a kind, each with a link up. */
static void write_way_up_and_down(struct platform_writer *w, const char *name,
				  int a, int b)
{
	fprintf(w->out,
		"    <zoneRoute src=\"%s%d\" dst=\"%s%d\" "
		"gw_src=\"%s%d.switch\" gw_dst=\"%s%d.switch\">"
		"<link_ctn id=\"%s%d.up\" direction=\"UP\"/>"
		"<link_ctn id=\"%s%d.up\" direction=\"DOWN\"/></zoneRoute>\n",
		name, a, name, b, name, a, name, b, name, a, name, b);
}

/* Joins zones first to last - 1 by their links up to one switch. */
static void join_by_spine(struct platform_writer *w, const char *name,
			  int first, int last, double uplink_Bps)
{
	struct platform_wire wire = {uplink_Bps, w->description->fabric.hop_s};

	for (int i = first; i < last; i++)
		platform_write_link(w, wire, "%s%d.up", name, i);
	for (int i = first; i < last; i++)
		for (int j = i + 1; j < last; j++)
			write_way_up_and_down(w, name, i, j);
}

/* ---- leaf and spine, fat tree ---------------------------------------- */

static double leaf_uplink_Bps(const struct platform_description *d, int ports)
{
	if (d->fabric.topology == PLATFORM_LEAF_SPINE)
		return d->fabric.uplink_Bps * d->fabric.shape[1];
	return switch_Bps(d, ports) / d->fabric.taper;
}

static void write_pod(struct platform_writer *w, const struct plan *plan,
		      int pod)
{
	double Bps = leaf_uplink_Bps(w->description, plan->ports);
	int first = pod * plan->pod, last = first + plan->pod;

	last = last < plan->switches ? last : plan->switches;
	fprintf(w->out, "  <zone id=\"pod%d\" routing=\"Full\">\n", pod);
	for (int i = first; i < last; i++)
		write_switch(w, plan, i);
	fprintf(w->out,
		"    <zone id=\"pod%d.core\" routing=\"Full\">"
		"<router id=\"pod%d.switch\"/></zone>\n",
		pod, pod);
	join_by_spine(w, "leaf", first, last, Bps);
	for (int i = first; i < last; i++)
		fprintf(w->out,
			"    <zoneRoute src=\"leaf%d\" dst=\"pod%d.core\" "
			"gw_src=\"leaf%d.switch\" gw_dst=\"pod%d.switch\">"
			"<link_ctn id=\"leaf%d.up\" direction=\"UP\"/>"
			"</zoneRoute>\n",
			i, pod, i, pod, i);
	fputs("  </zone>\n", w->out);
}

static void write_tree(struct platform_writer *w, const struct plan *plan)
{
	double leaf_Bps = leaf_uplink_Bps(w->description, plan->ports);

	for (int i = 0; i < plan->pods; i++)
		write_pod(w, plan, i);
	for (int i = 0; !plan->pods && i < plan->switches; i++)
		write_switch(w, plan, i);
	if (plan->pods > 1)
		join_by_spine(w, "pod", 0, plan->pods,
			      leaf_Bps * plan->pod /
				      w->description->fabric.taper);
	else if (!plan->pods && plan->switches > 1)
		join_by_spine(w, "leaf", 0, plan->switches, leaf_Bps);
}

/* ---- dragonfly ------------------------------------------------------- */

static void write_group(struct platform_writer *w, const struct plan *plan,
			int group)
{
	const struct platform_fabric *f = &w->description->fabric;
	struct platform_wire wire = {f->local_Bps, f->hop_s};
	int first = group * plan->pod, last = first + plan->pod;

	last = last < plan->switches ? last : plan->switches;
	fprintf(w->out, "  <zone id=\"group%d\" routing=\"Full\">\n", group);
	for (int i = first; i < last; i++)
		write_switch(w, plan, i);
	for (int i = first; i < last; i++)
		for (int j = i + 1; j < last; j++)
			platform_write_link(w, wire, "local%d-%d", i, j);
	for (int i = first; i < last; i++)
		for (int j = i + 1; j < last; j++)
			fprintf(w->out,
				"    <zoneRoute src=\"router%d\" "
				"dst=\"router%d\" gw_src=\"router%d.switch\" "
				"gw_dst=\"router%d.switch\">"
				"<link_ctn id=\"local%d-%d\" direction=\"UP\"/>"
				"</zoneRoute>\n",
				i, j, i, j, i, j);
	fputs("  </zone>\n", w->out);
}

/* The router of a group at which its link to another ends: they take turns. */
static int gateway(const struct plan *plan, int group, int other)
{
	int first = group * plan->pod, routers = plan->switches - first;

	routers = routers < plan->pod ? routers : plan->pod;
	return first + (other < group ? other : other - 1) % routers;
}

static void write_dragonfly(struct platform_writer *w, const struct plan *plan)
{
	const struct platform_fabric *f = &w->description->fabric;
	struct platform_wire wire = {f->global_Bps, f->hop_s};

	for (int i = 0; i < plan->pods; i++)
		write_group(w, plan, i);
	for (int i = 0; i < plan->pods; i++)
		for (int j = i + 1; j < plan->pods; j++)
			platform_write_link(w, wire, "global%d-%d", i, j);
	for (int i = 0; i < plan->pods; i++)
		for (int j = i + 1; j < plan->pods; j++)
			fprintf(w->out,
				"  <zoneRoute src=\"group%d\" dst=\"group%d\" "
				"gw_src=\"router%d.switch\" "
				"gw_dst=\"router%d.switch\">"
				"<link_ctn id=\"global%d-%d\" "
				"direction=\"UP\"/></zoneRoute>\n",
				i, j, gateway(plan, i, j), gateway(plan, j, i),
				i, j);
}

void platform_write_fabric(struct platform_writer *w)
{
	struct plan plan = make_plan(w->description);

	if (w->description->fabric.topology == PLATFORM_DRAGONFLY)
		write_dragonfly(w, &plan);
	else
		write_tree(w, &plan);
}
