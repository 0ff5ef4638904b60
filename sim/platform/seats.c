/*
 * seats.c - where ranks sit: hosts in a fixed order, each with its ranks.
 *
 * SimGrid lists hosts in the order of a hash table, and a <cluster> is many
 * hosts at once, so the order of ranks comes from the names, or from the
 * property "rank" where hosts have one.
 */
#include "sim/platform/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/refuse.h"
#include "sim/engine/engine.h"

/* The most ranks a host may hold: more is a slip of the pen. */
#define MOST_RANKS_A_HOST 4096

/* ---- order ---------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Compares the numbers at *a and *b, and steps over them. */
static int compare_numbers(const char **a, const char **b)
{
	const char *x, *y;
	size_t len_x, len_y;
	int order;

	while (**a == '0')
		++*a;
	while (**b == '0')
		++*b;
	for (x = *a; is_digit(**a); ++*a)
		;
	for (y = *b; is_digit(**b); ++*b)
		;
	len_x = (size_t)(*a - x);
	len_y = (size_t)(*b - y);
	if (len_x != len_y)
		return len_x < len_y ? -1 : 1;
	order = memcmp(x, y, len_x);
	return order;
}

int dist__platform_compare_names(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;
	int order;

	while (*a && *b) {
		if (is_digit(*a) && is_digit(*b)) {
			order = compare_numbers(&a, &b);
			if (order)
				return order;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	if (*a || *b)
		return *a ? 1 : -1;
	return strcmp(whole_a, whole_b);
}

static int by_order_and_name(const void *a, const void *b)
{
	const struct dist__seat *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return dist__platform_compare_names(x->name, y->name);
}

/* ---- seats ---------------------------------------------------------- */

/* Reads an integer property of host; *value stays as it is without one. */
static enum dist_error read_property(const struct dist__platform *p,
				     const struct dist__seat *seat,
				     const char *name, long most, long *value,
				     struct dist_message *message)
{
	const char *text =
		dist__graph_host_property(p->graph, seat->host, name);
	int64_t number;

	if (!text)
		return DIST_OK;
	if (!dist__count_read(text, 0, most, &number))
		return dist__refuse(message,
				    "%s: host %s: property \"%s\" is "
				    "\"%.32s\": expected 0 to %ld",
				    p->path, seat->name, name, text, most);
	*value = (long)number;
	return DIST_OK;
}

static enum dist_error read_pace(const struct dist__platform *p,
				 struct dist__seat *seat,
				 struct dist_message *message)
{
	const char *text =
		dist__graph_host_property(p->graph, seat->host, "pace");

	seat->pace = 1;
	if (!text)
		return DIST_OK;
	if (dist__number_read(text, &seat->pace) &&
	    seat->pace >= DIST__LEAST_PACE && seat->pace <= DIST__MOST_PACE)
		return DIST_OK;
	return dist__refuse(message,
			    "%s: host %s: property \"pace\" is \"%.32s\": "
			    "expected %g to %g",
			    p->path, seat->name, text, DIST__LEAST_PACE,
			    DIST__MOST_PACE);
}

static enum dist_error read_seats(struct dist__platform *p,
				  struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < p->num_hosts && !error; i++) {
		struct dist__seat *seat = &p->seats[i];
		long ranks = 1;

		seat->host = (uint32_t)i;
		seat->name = p->graph->hosts[i].name;
		seat->node =
			dist__graph_host_property(p->graph, seat->host, "node");
		if (!seat->node)
			seat->node = seat->name;
		seat->order = -1;
		error = read_property(p, seat, "rank", INT32_MAX, &seat->order,
				      message);
		if (!error)
			error = read_property(p, seat, "ranks",
					      MOST_RANKS_A_HOST, &ranks,
					      message);
		if (!error)
			error = read_pace(p, seat, message);
		seat->ranks = (int)ranks;
	}
	return error;
}

/* When some hosts are numbered, the others, sorted to the front, stay empty. */
static void skip_unnumbered(struct dist__platform *p)
{
	size_t skip = 0;

	while (skip < p->num_hosts && p->seats[skip].order < 0)
		skip++;
	if (skip == p->num_hosts)
		skip = 0;
	p->num_seats = p->num_hosts - skip;
	memmove(p->seats, p->seats + skip, p->num_seats * sizeof p->seats[0]);
}

enum dist_error dist__platform_seat_ranks(struct dist__platform *p,
					  struct dist_message *message)
{
	enum dist_error error;

	p->num_hosts = p->graph->num_hosts;
	if (p->num_hosts == 0)
		return dist__refuse(message, "%s: no host in it", p->path);
	p->seats = calloc(p->num_hosts, sizeof p->seats[0]);
	error = p->seats ? read_seats(p, message) : DIST_ERR_NO_MEMORY;
	if (error)
		return error;
	qsort(p->seats, p->num_hosts, sizeof p->seats[0], by_order_and_name);
	skip_unnumbered(p);
	/* Gives every seat its first rank, and refuses two seats of one number.
	 */
	for (size_t i = 0; i < p->num_seats; i++) {
		struct dist__seat *seat = &p->seats[i];

		if (i && seat->order >= 0 && seat->order == seat[-1].order)
			return dist__refuse(message,
					    "%s: hosts %s and %s have the same "
					    "property \"rank\", %ld",
					    p->path, seat[-1].name, seat->name,
					    seat->order);
		seat->first = p->num_ranks;
		p->num_ranks += seat->ranks;
	}
	return DIST_OK;
}

static const struct dist__seat *seat_of(const struct dist__platform *p,
					int rank)
{
	size_t low = 0, high = p->num_seats;

	assert(rank >= 0 && rank < p->num_ranks && p->seats);
	if (p->any_node_ranks)
		rank = dist__platform_any_seat(p, rank);
	/* Mostly a host has one rank. */
	if ((size_t)rank + 1 < high && p->seats[rank].first == rank &&
	    p->seats[rank + 1].first == rank + 1)
		return &p->seats[rank];
	/* Invariant: the seat of rank is in [low, high). */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (p->seats[middle].first <= rank)
			low = middle;
		else
			high = middle;
	}
	return &p->seats[low];
}

uint32_t dist__platform_host(const struct dist__platform *p, int rank)
{
	return seat_of(p, rank)->host;
}

uint32_t dist__platform_seat(const struct dist__platform *p, int rank)
{
	return (uint32_t)(seat_of(p, rank) - p->seats);
}

const char *dist__platform_host_name(const struct dist__platform *p, int rank)
{
	return seat_of(p, rank)->name;
}

size_t dist__platform_way(const struct dist__platform *p, uint32_t from,
			  uint32_t to, uint32_t *links, size_t most)
{
	size_t num = p->graph->find_way(p->graph, from, to, links, most, NULL);

	return num <= most ? num : 0;
}

bool dist__platform_start(struct dist__platform *p, bool own)
{
	uint32_t *hosts = calloc(p->num_seats, sizeof *hosts);
	bool well = hosts != NULL;

	for (size_t i = 0; well && i < p->num_seats; i++)
		hosts[i] = p->seats[i].host;
	well = well && dist__engine_start(own, p->graph, hosts, p->num_seats);
	free(hosts);
	p->plain = NULL;
	return well;
}

double dist__platform_pace(const struct dist__platform *p, int rank)
{
	return seat_of(p, rank)->pace;
}
