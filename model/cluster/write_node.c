/*
 * write_node.c - a node: GPUs, what joins them, network cards.
 *
 *	gpu0 --nvlink-- nvswitch --nvlink-- gpu1	NVSWITCH
 *	gpu0 --nvlink0-1-- gpu1				MESH
 *	gpu0 --pcie-- socket0 --socket0-1-- socket1 ..	PCIE
 *	gpu0 --pcie, nic0-- switch			a rail
 *	gpu0 --nvlink-- nvswitch --nics-- switch	bonded, under an
 *NVSwitch gpu0 --pcie, nics-- switch			bonded
 *
 * A way out is one step of two links in SimGrid's graph, so that none through
 * the switch outside is as short as one inside.
 */
#include "model/cluster/writer.h"

#include <stdarg.h>
#include <string.h>

void platform_write_link(struct platform_writer *w, struct platform_wire wire,
			 const char *format, ...)
{
	const struct platform_description *d = w->description;
	char name[64];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof name, format, args);
	va_end(args);
	for (int i = 0; i < d->num_degraded; i++)
		if (strcmp(d->degraded[i].name, name) == 0) {
			wire.bandwidth_Bps *= d->degraded[i].factor;
			w->degraded[i] = true;
		}
	fprintf(w->out,
		"      <link id=\"%s\" bandwidth=\"%.9gBps\" latency=\"%.9gs\" "
		"sharing_policy=\"SPLITDUPLEX\"/>\n",
		name, wire.bandwidth_Bps, wire.latency_s);
}

static bool is_bonded_switch(const struct platform_nodes *n)
{
	return n->inter.bonded && n->intra.kind == PLATFORM_NVSWITCH;
}

/* ---- who belongs to whom --------------------------------------------- */

static int socket_of(const struct platform_nodes *n, int gpu)
{
	return gpu / (n->gpus / n->intra.sockets);
}

static double bundle_Bps(const struct platform_nodes *n)
{
	return n->inter.nic.bandwidth_Bps * n->inter.nics /
	       platform_count_bundles(n);
}

/* nic3, or nics where they are one. */
static void name_bundle(const struct platform_nodes *n, int bundle, char *name,
			size_t size)
{
	if (n->inter.bonded)
		snprintf(name, size, "nics");
	else
		snprintf(name, size, "nic%d", bundle);
}

/* ---- parts ----------------------------------------------------------- */

static double pace_of(const struct platform_description *d, int node)
{
	char name[32];

	snprintf(name, sizeof name, "node%d", node);
	for (int i = 0; i < d->num_slow; i++)
		if (strcmp(d->slow[i].name, name) == 0)
			return d->slow[i].factor;
	return 1;
}

void platform_write_parts(struct platform_writer *w, int node)
{
	const struct platform_nodes *n =
		platform_nodes_of(w->description, node);
	double pace = pace_of(w->description, node);

	for (int i = 0; i < n->gpus; i++) {
		fprintf(w->out,
			"      <host id=\"node%d.gpu%d\" speed=\"1Gf\">"
			"<prop id=\"node\" value=\"node%d\"/>",
			node, i, node);
		if (pace < 1)
			fprintf(w->out, "<prop id=\"pace\" value=\"%.9g\"/>",
				pace);
		fputs("</host>\n", w->out);
	}
	if (n->intra.kind == PLATFORM_NVSWITCH)
		fprintf(w->out, "      <router id=\"node%d.nvswitch\"/>\n",
			node);
	for (int i = 0; i < n->intra.sockets; i++)
		fprintf(w->out, "      <router id=\"node%d.socket%d\"/>\n",
			node, i);
}

/* ---- links ----------------------------------------------------------- */

/* Links between pairs: NVLinks of a mesh, sockets. */
static void write_pairs(struct platform_writer *w, int node,
			const struct platform_nodes *n)
{
	struct platform_wire wire = n->intra.gpu;

	for (int i = 0; n->intra.kind == PLATFORM_MESH && i < n->gpus; i++)
		for (int j = i + 1; j < n->gpus; j++) {
			int links = n->intra.links[i][j];

			wire.bandwidth_Bps = links * n->intra.gpu.bandwidth_Bps;
			if (links)
				platform_write_link(w, wire,
						    "node%d.nvlink%d-%d", node,
						    i, j);
		}
	for (int i = 0; i < n->intra.sockets; i++)
		for (int j = i + 1; j < n->intra.sockets; j++)
			platform_write_link(w, n->intra.socket,
					    "node%d.socket%d-%d", node, i, j);
}

void platform_write_links(struct platform_writer *w, int node)
{
	const struct platform_nodes *n =
		platform_nodes_of(w->description, node);
	struct platform_wire wire = {bundle_Bps(n), n->inter.nic.latency_s};
	bool has_rail = n->inter.fabric[0] && !is_bonded_switch(n);
	struct platform_wire pcie = {bundle_Bps(n), PLATFORM_PCIE_HOP_S / 2};

	if (n->inter.pcie_Bps > 0)
		pcie.bandwidth_Bps = n->inter.pcie_Bps;
	if (n->intra.kind == PLATFORM_PCIE)
		pcie = n->intra.gpu;
	for (int i = 0; i < n->gpus; i++) {
		if (n->intra.kind == PLATFORM_NVSWITCH)
			platform_write_link(w, n->intra.gpu,
					    "node%d.gpu%d.nvlink", node, i);
		if (has_rail || n->intra.kind == PLATFORM_PCIE)
			platform_write_link(w, pcie, "node%d.gpu%d.pcie", node,
					    i);
	}
	write_pairs(w, node, n);
	for (int i = 0; n->inter.fabric[0] && i < platform_count_bundles(n);
	     i++) {
		char name[16];

		name_bundle(n, i, name, sizeof name);
		platform_write_link(w, wire, "node%d.%s", node, name);
	}
}

/* ---- ways ------------------------------------------------------------ */

#define NAME_SIZE 32

/* A step from a part of a node over links of that node. */
struct way {
	char from[NAME_SIZE]; /* "gpu0" */
	char links[3][NAME_SIZE];
	int num_links;
	int against; /* the link that is crossed downwards; 0: none */
};

/* A way's next link, whose name the caller writes. */
static char *next_link(struct way *way)
{
	return way->links[way->num_links++];
}

static void write_way(struct platform_writer *w, int node,
		      const struct way *way, const char *to)
{
	fprintf(w->out, "      <route src=\"node%d.%s\" dst=\"%s\">", node,
		way->from, to);
	for (int i = 0; i < way->num_links; i++)
		fprintf(w->out, "<link_ctn id=\"node%d.%s\" direction=\"%s\"/>",
			node, way->links[i],
			i > 0 && i == way->against ? "DOWN" : "UP");
	fputs("</route>\n", w->out);
}

/* From a part to another of the same node, over one link. */
static void write_step(struct platform_writer *w, int node, const char *from,
		       const char *link, const char *to)
{
	struct way way = {.num_links = 0};
	char whole[2 * NAME_SIZE];

	snprintf(way.from, NAME_SIZE, "%s", from);
	snprintf(next_link(&way), NAME_SIZE, "%s", link);
	snprintf(whole, sizeof whole, "node%d.%s", node, to);
	write_way(w, node, &way, whole);
}

/* A GPU's rail: its PCIe, where the card is on another socket (a lower one,
 * that of the first of its GPUs) the link there, and the card. */
static void write_rail(struct platform_writer *w, int node,
		       const struct platform_nodes *n, int gpu,
		       const char *exit)
{
	int bundle = gpu / (n->gpus / platform_count_bundles(n));
	struct way way = {.num_links = 0};

	snprintf(way.from, NAME_SIZE, "gpu%d", gpu);
	snprintf(next_link(&way), NAME_SIZE, "gpu%d.pcie", gpu);
	if (n->intra.kind == PLATFORM_PCIE) {
		int first = bundle * (n->gpus / platform_count_bundles(n));
		int here = socket_of(n, gpu), there = socket_of(n, first);

		if (here != there) {
			way.against = way.num_links;
			snprintf(next_link(&way), NAME_SIZE, "socket%d-%d",
				 there, here);
		}
	}
	name_bundle(n, bundle, next_link(&way), NAME_SIZE);
	write_way(w, node, &way, exit);
}

void platform_write_ways(struct platform_writer *w, int node, const char *exit)
{
	const struct platform_nodes *n =
		platform_nodes_of(w->description, node);
	struct way way = {
		.from = "nvswitch", .links = {"nics"}, .num_links = 1};
	char gpu[NAME_SIZE], link[NAME_SIZE], to[NAME_SIZE];

	for (int i = 0; i < n->gpus; i++) {
		snprintf(gpu, NAME_SIZE, "gpu%d", i);
		if (n->intra.kind == PLATFORM_NVSWITCH) {
			snprintf(link, NAME_SIZE, "gpu%d.nvlink", i);
			write_step(w, node, gpu, link, "nvswitch");
		} else if (n->intra.kind == PLATFORM_PCIE) {
			snprintf(link, NAME_SIZE, "gpu%d.pcie", i);
			snprintf(to, NAME_SIZE, "socket%d", socket_of(n, i));
			write_step(w, node, gpu, link, to);
		}
		for (int j = i + 1;
		     n->intra.kind == PLATFORM_MESH && j < n->gpus; j++) {
			snprintf(link, NAME_SIZE, "nvlink%d-%d", i, j);
			snprintf(to, NAME_SIZE, "gpu%d", j);
			if (n->intra.links[i][j])
				write_step(w, node, gpu, link, to);
		}
	}
	for (int i = 0; i < n->intra.sockets; i++)
		for (int j = i + 1; j < n->intra.sockets; j++) {
			snprintf(gpu, NAME_SIZE, "socket%d", i);
			snprintf(link, NAME_SIZE, "socket%d-%d", i, j);
			snprintf(to, NAME_SIZE, "socket%d", j);
			write_step(w, node, gpu, link, to);
		}
	if (!n->inter.fabric[0])
		return;
	if (is_bonded_switch(n))
		write_way(w, node, &way, exit);
	else
		for (int i = 0; i < n->gpus; i++)
			write_rail(w, node, n, i, exit);
}
