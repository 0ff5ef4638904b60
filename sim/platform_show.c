/*
 * platform_show.c - a platform for people: what it states, drawn, and as
 * tables.
 *
 * Bandwidths and latencies are the file's, before the model's factors; a route
 * has the sum of its links' latencies and the least of their bandwidths.
 */
#include "sim/platform_show.h"

#include <string.h>

#include <simgrid/zone.h>

#include "sim/engine_shim.h"
#include "sim/platform_state.h"

/* Up to so many hosts all pairs are looked at for the longest way. */
#define ALL_PAIRS 64

static void print_route(FILE *out, sg_host_t from, sg_host_t to,
			const char *note)
{
	double latency_s, bandwidth_Bps;
	size_t num_links;
	char names[128];

	snprintf(names, sizeof names, "%s -> %s", sg_host_get_name(from),
		 sg_host_get_name(to));
	if (!dist__engine_route(from, to, &latency_s, &bandwidth_Bps,
				&num_links))
		fprintf(out, "%-52s none\n", names);
	else
		fprintf(out, "%-52s %6zu %10.6g %10.6g %12.6g  %s\n", names,
			num_links, bandwidth_Bps * 8e-9, bandwidth_Bps * 1e-9,
			latency_s * 1e6, note);
}

/* Finds the pair of hosts with the longest latency between them; the first
 * such pair in the order of ranks. */
static void find_distant(const struct dist__platform *p, size_t *from,
			 size_t *to)
{
	size_t firsts = p->num_seats <= ALL_PAIRS ? p->num_seats : 1;
	double most_s = -1, latency_s;

	for (size_t i = 0; i < firsts; i++)
		for (size_t j = 0; j < p->num_seats; j++)
			if (i != j &&
			    dist__engine_route(p->seats[i].host,
					       p->seats[j].host, &latency_s,
					       NULL, NULL) &&
			    latency_s > most_s) {
				most_s = latency_s;
				*from = i;
				*to = j;
			}
}

/* The first host of another node than the first host's; 0 without. */
static size_t find_next_node(const struct dist__platform *p)
{
	const char *node = sg_host_get_property_value(p->seats[0].host, "node");

	for (size_t i = 1; node && i < p->num_seats; i++) {
		const char *other =
			sg_host_get_property_value(p->seats[i].host, "node");

		if (!other || strcmp(node, other) != 0)
			return i;
	}
	return 0;
}

static void show_routes(const struct dist__platform *p, FILE *out)
{
	size_t from = 0, to = 1, next = find_next_node(p);

	find_distant(p, &from, &to);
	fprintf(out, "\n%-52s %6s %10s %10s %12s\n", "route", "links", "Gbit/s",
		"GB/s", "latency us");
	print_route(out, p->seats[0].host, p->seats[1].host, "first two hosts");
	if (next > 1)
		print_route(out, p->seats[0].host, p->seats[next].host,
			    "first two nodes");
	print_route(out, p->seats[from].host, p->seats[to].host,
		    "most distant hosts");
}

static enum dist_error show_bisection(const struct dist__platform *p, FILE *out)
{
	double total_Bps, least_Bps;
	size_t half = p->num_seats / 2;
	enum dist_error error =
		dist__platform_bisect(p, &total_Bps, &least_Bps);

	if (error == DIST_ERR_INVALID_ARGUMENT) {
		fputs("\nbisection: not every host reaches its counterpart\n",
		      out);
		return DIST_OK;
	}
	if (!error)
		fprintf(out,
			"\nbisection %.6g GB/s each way: host i sends to host "
			"i + %zu, all %zu at once; a host has %.6g GB/s of it, "
			"the slowest %.6g\n",
			total_Bps * 1e-9, half, half,
			total_Bps * 1e-9 / (double)half, least_Bps * 1e-9);
	return error;
}

static void show_facts(const struct dist__platform *p, const char *path,
		       FILE *out)
{
	const char *command =
		sg_zone_get_property_value(sg_zone_get_root(), "command");
	const struct dist__fact *facts;
	size_t n;

	facts = dist__platform_facts(p, &n);
	fprintf(out, "%-26s %s\n", "platform", path);
	if (command)
		fprintf(out, "%-26s %s\n", "written by", command);
	fprintf(out, "%-26s %d\n", "room for ranks", p->num_ranks);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%-26s %s\n", facts[i].key, facts[i].value);
}

enum dist_error dist__platform_show(const char *path, FILE *out,
				    struct dist_message *message)
{
	struct dist__platform *p = NULL;
	enum dist_error error = dist__platform_open(path, 0, &p, message);

	if (error)
		return error;
	show_facts(p, path, out);
	error = dist__platform_show_tree(p, out);
	dist__platform_show_links(out);
	if (p->num_seats > 1) {
		show_routes(p, out);
		if (!error)
			error = show_bisection(p, out);
	}
	dist__platform_close(p);
	return error;
}
