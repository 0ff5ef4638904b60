/*
 * links.c - the links of a platform as a table: those that are alike
 * and whose names differ in numbers only share a line.
 */
#include "sim/platform/show.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/platform/state.h"

/* Steps over a number; what it was does not matter. */
static const char *skip_number(const char *at)
{
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

/* Compares names as if every number in them were the same. */
static int compare_patterns(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			a = skip_number(a);
			b = skip_number(b);
		} else if (*a == *b) {
			a++;
			b++;
		} else {
			break;
		}
	}
	return (unsigned char)*a - (unsigned char)*b;
}

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_kinds(const struct dist__graph_link *a,
			 const struct dist__graph_link *b)
{
	int order = compare_patterns(a->name, b->name);

	if (!order)
		order = compare_numbers(b->bandwidth_Bps, a->bandwidth_Bps);
	if (!order)
		order = compare_numbers(a->latency_s, b->latency_s);
	return order ? order : a->is_shared - b->is_shared;
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct dist__graph_link *x = a, *y = b;
	int order = compare_kinds(x, y);

	return order ? order : dist__platform_compare_names(x->name, y->name);
}

static void add_links(struct dist__rows *rows,
		      const struct dist__graph_link *links, size_t count)
{
	char names[128];

	snprintf(names, sizeof names, "%s%s%s", links->name,
		 count > 1 ? " .. " : "",
		 count > 1 ? links[count - 1].name : "");
	ADD_ROW(rows, cell_copy(names), cell_size(count),
		cell_number(CELL_REAL, 6, links->bandwidth_Bps * 8e-9),
		cell_number(CELL_REAL, 6, links->bandwidth_Bps * 1e-9),
		cell_number(CELL_REAL, 6, links->latency_s * 1e6));
}

struct dist__rows dist__platform_links(const struct dist__platform *p)
{
	struct dist__rows rows = {.columns = "link;count;Gbps|Gbit/s;GBps|GB/"
					     "s;latency_us|latency us"};
	size_t count = p->graph->num_links, next;
	struct dist__graph_link *links = calloc(count, sizeof *links);

	if (!links)
		return rows;
	memcpy(links, p->graph->links, count * sizeof *links);
	qsort(links, count, sizeof *links, by_kind_and_name);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count; next++)
			if (compare_kinds(&links[i], &links[next]))
				break;
		add_links(&rows, links + i, next - i);
	}
	free(links);
	return rows;
}
