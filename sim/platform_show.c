/*
 * platform_show.c - a platform as a table, for people.
 *
 * Bandwidths and latencies are the file's, before the model's factors; a route
 * has the sum of its links' latencies and the least of their bandwidths.
 */
#include "sim/platform.h"

#include <stdlib.h>

#include <simgrid/link.h>

#include "sim/engine_shim.h"
#include "sim/platform_state.h"

/* Up to so many hosts all pairs are looked at for the longest way. */
#define ALL_PAIRS 64

static int by_name(const void *a, const void *b)
{
	const sg_link_t *x = a, *y = b;

	return dist__platform_compare_names(sg_link_get_name(*x),
					    sg_link_get_name(*y));
}

static bool same_kind(sg_link_t a, sg_link_t b)
{
	return sg_link_get_bandwidth(a) == sg_link_get_bandwidth(b) &&
	       sg_link_get_latency(a) == sg_link_get_latency(b) &&
	       sg_link_is_shared(a) == sg_link_is_shared(b);
}

/* One line for links that follow each other by name and are of one kind. */
static void print_links(FILE *out, sg_link_t *links, size_t count)
{
	double bandwidth_Bps = sg_link_get_bandwidth(links[0]);
	double latency_s = sg_link_get_latency(links[0]);
	char names[128];

	snprintf(names, sizeof names, "%s%s%s", sg_link_get_name(links[0]),
		 count > 1 ? " .. " : "",
		 count > 1 ? sg_link_get_name(links[count - 1]) : "");
	fprintf(out, "%-36s %6zu %10.6g %10.6g %12.6g\n", names, count,
		bandwidth_Bps * 8e-9, bandwidth_Bps * 1e-9, latency_s * 1e6);
}

static void show_links(FILE *out)
{
	sg_link_t *links = sg_link_list();
	size_t count = sg_link_count(), next;

	qsort(links, count, sizeof(sg_link_t), by_name);
	fprintf(out, "\n%-36s %6s %10s %10s %12s\n", "link", "count", "Gbit/s",
		"GB/s", "latency us");
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count; next++)
			if (!same_kind(links[i], links[next]))
				break;
		print_links(out, links + i, next - i);
	}
	free(links);
}

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
		fprintf(out, "%-36s none\n", names);
	else
		fprintf(out, "%-36s %6zu %10.6g %10.6g %12.6g  %s\n", names,
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

static void show_routes(const struct dist__platform *p, FILE *out)
{
	size_t from = 0, to = 1;

	if (p->num_seats < 2)
		return;
	find_distant(p, &from, &to);
	fprintf(out, "\n%-36s %6s %10s %10s %12s\n", "route", "links", "Gbit/s",
		"GB/s", "latency us");
	print_route(out, p->seats[0].host, p->seats[1].host, "first two hosts");
	print_route(out, p->seats[from].host, p->seats[to].host,
		    "most distant hosts");
}

enum dist_error dist__platform_show(const char *path, FILE *out,
				    struct dist_message *message)
{
	struct dist__platform *p = NULL;
	const struct dist__fact *facts;
	enum dist_error error;
	size_t n;

	error = dist__platform_open(path, 0, &p, message);
	if (error)
		return error;
	facts = dist__platform_facts(p, &n);
	fprintf(out, "%-26s %s\n", "platform", path);
	fprintf(out, "%-26s %d\n", "room for ranks", p->num_ranks);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%-26s %s\n", facts[i].key, facts[i].value);
	show_links(out);
	show_routes(p, out);
	dist__platform_close(p);
	return DIST_OK;
}
