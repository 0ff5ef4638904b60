/*
 * show.c - a platform for people: what it states, drawn, and as
 * tables.
 *
 * Bandwidths and latencies are the file's, before the model's factors; a route
 * has the sum of its links' latencies and the least of their bandwidths.
 */
#include "sim/platform/show.h"

#include <math.h>
#include <string.h>

#include "sim/platform/state.h"

/* Up to so many hosts all pairs are looked at for the longest way. */
#define ALL_PAIRS 64

static void add_route(const struct dist__platform *p, struct dist__rows *rows,
		      size_t from, size_t to, const char *note)
{
	double latency_s = NAN, bandwidth_Bps = NAN;
	size_t num_links;
	char names[128];
	bool exists = dist__graph_route(p->graph, p->seats[from].host,
					p->seats[to].host, &latency_s,
					&bandwidth_Bps, &num_links);

	snprintf(names, sizeof names, "%s -> %s", p->seats[from].name,
		 p->seats[to].name);
	ADD_ROW(rows, cell_copy(names),
		cell_int(exists ? (int64_t)num_links : CELL_UNKNOWN),
		cell_number(CELL_REAL, 6, exists ? bandwidth_Bps * 8e-9 : NAN),
		cell_number(CELL_REAL, 6, exists ? bandwidth_Bps * 1e-9 : NAN),
		cell_number(CELL_REAL, 6, exists ? latency_s * 1e6 : NAN),
		cell_text(note));
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
			    dist__graph_route(p->graph, p->seats[i].host,
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
	const char *node =
		dist__graph_host_property(p->graph, p->seats[0].host, "node");

	for (size_t i = 1; node && i < p->num_seats; i++) {
		const char *other = dist__graph_host_property(
			p->graph, p->seats[i].host, "node");

		if (!other || strcmp(node, other) != 0)
			return i;
	}
	return 0;
}

static struct dist__rows routes_of(const struct dist__platform *p)
{
	struct dist__rows rows = {.columns = "route;links;Gbps|Gbit/s;GBps|GB/"
					     "s;latency_us|latency us;between"};
	size_t from = 0, to = 1, next;

	if (p->num_seats < 2)
		return rows;
	next = find_next_node(p);
	find_distant(p, &from, &to);
	add_route(p, &rows, 0, 1, "first two hosts");
	if (next > 1)
		add_route(p, &rows, 0, next, "first two nodes");
	add_route(p, &rows, from, to, "most distant hosts");
	return rows;
}

/* What one half of the hosts sends to the other. */
struct halves {
	bool exist, joined; /* every host reaches its counterpart */
	double total_Bps, least_Bps;
	size_t hosts;
};

/* Errors: NO_MEMORY. */
static enum dist_error find_halves(const struct dist__platform *p,
				   struct halves *halves)
{
	enum dist_error error;

	*halves = (struct halves){.exist = p->num_seats > 1,
				  .hosts = p->num_seats / 2};
	if (!halves->exist)
		return DIST_OK;
	error = dist__platform_bisect(p, &halves->total_Bps,
				      &halves->least_Bps);
	halves->joined = !error;
	return error == DIST_ERR_INVALID_ARGUMENT ? DIST_OK : error;
}

static json_t *halves_json(const struct halves *h)
{
	if (!h->joined)
		return json_null();
	return json_pack("{sf sf sI}", "GBps", h->total_Bps * 1e-9,
			 "least_GBps", h->least_Bps * 1e-9, "hosts",
			 (json_int_t)h->hosts);
}

static json_t *facts_of(const struct dist__platform *p, const char *path)
{
	const char *command = dist__graph_zone_property(p->graph, "command");
	const struct dist__fact *facts;
	json_t *object;
	size_t n;

	facts = dist__platform_facts(p, &n);
	object = json_pack("{ss ss* si}", "platform", path, "written by",
			   command, "room for ranks", p->num_ranks);
	for (size_t i = 0; i < n; i++)
		json_object_set_new(object, facts[i].key,
				    json_string(facts[i].value));
	return object;
}

static enum dist_error show_text(const struct dist__platform *p, json_t *facts,
				 const struct halves *halves,
				 enum dist__form form, FILE *out)
{
	struct dist__rows links = dist__platform_links(p),
			  routes = routes_of(p);
	const char *mark = form == FORM_MARKDOWN ? "- " : "", *key;
	enum dist_error error;
	int failed;
	json_t *value;

	json_object_foreach(facts, key, value)
	{
		fprintf(out, "%s%-26s ", mark, key);
		if (json_is_integer(value))
			fprintf(out, "%d\n", p->num_ranks);
		else
			fprintf(out, "%s\n", json_string_value(value));
	}
	json_decref(facts);
	fputs(form == FORM_MARKDOWN ? "\n```" : "", out);
	error = dist__platform_show_tree(p, out);
	fputs(form == FORM_MARKDOWN ? "```\n" : "", out);
	failed = dist__rows_section(&links, "", form, out);
	failed |= dist__rows_section(&routes, "", form, out);
	if (halves->joined)
		fprintf(out,
			"\nbisection %.6g GB/s each way: host i sends to host "
			"i + %zu, all %zu at once; a host has %.6g GB/s of it, "
			"the slowest %.6g\n",
			halves->total_Bps * 1e-9, halves->hosts, halves->hosts,
			halves->total_Bps * 1e-9 / (double)halves->hosts,
			halves->least_Bps * 1e-9);
	else if (halves->exist)
		fputs("\nbisection: not every host reaches its counterpart\n",
		      out);
	return failed ? DIST_ERR_NO_MEMORY : error;
}

static enum dist_error show(const struct dist__platform *p, const char *path,
			    enum dist__form form, FILE *out)
{
	json_t *facts = facts_of(p, path);
	struct dist__rows links, routes;
	struct halves halves;

	if (find_halves(p, &halves)) {
		json_decref(facts);
		return DIST_ERR_NO_MEMORY;
	}
	if (form != FORM_JSON)
		return show_text(p, facts, &halves, form, out);
	links = dist__platform_links(p);
	routes = routes_of(p);
	return dist__json_print(json_pack("{so so so so}", "facts", facts,
					  "links", dist__rows_json(&links),
					  "routes", dist__rows_json(&routes),
					  "bisection", halves_json(&halves)),
				out)
		       ? DIST_ERR_NO_MEMORY
		       : DIST_OK;
}

enum dist_error dist__platform_show(const char *path, enum dist__form form,
				    FILE *out, struct dist_message *message)
{
	struct dist__platform *p = NULL;
	enum dist_error error =
		dist__platform_open(path, 0, NULL, false, &p, message);

	if (error)
		return error;
	error = show(p, path, form, out);
	dist__platform_close(p);
	return error;
}
