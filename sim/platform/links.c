/*
 * links.c - the links of a platform as a table: those that are alike
 * and whose names differ in numbers only share a line.
 */
#include "sim/platform/show.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/link.h>

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

static int compare_kinds(sg_link_t a, sg_link_t b)
{
	int order = compare_patterns(sg_link_get_name(a), sg_link_get_name(b));

	if (!order)
		order = compare_numbers(sg_link_get_bandwidth(b),
					sg_link_get_bandwidth(a));
	if (!order)
		order = compare_numbers(sg_link_get_latency(a),
					sg_link_get_latency(b));
	return order ? order : sg_link_is_shared(a) - sg_link_is_shared(b);
}

static int by_kind_and_name(const void *a, const void *b)
{
	const sg_link_t *x = a, *y = b;
	int order = compare_kinds(*x, *y);

	return order ? order
		     : dist__platform_compare_names(sg_link_get_name(*x),
						    sg_link_get_name(*y));
}

static void add_links(struct dist__rows *rows, sg_link_t *links, size_t count)
{
	double bandwidth_Bps = sg_link_get_bandwidth(links[0]);
	const char *first = sg_link_get_name(links[0]);
	char names[128];

	snprintf(names, sizeof names, "%s%s%s", first, count > 1 ? " .. " : "",
		 count > 1 ? sg_link_get_name(links[count - 1]) : "");
	ADD_ROW(rows, cell_copy(names), cell_size(count),
		cell_number(CELL_REAL, 6, bandwidth_Bps * 8e-9),
		cell_number(CELL_REAL, 6, bandwidth_Bps * 1e-9),
		cell_number(CELL_REAL, 6, sg_link_get_latency(links[0]) * 1e6));
}

struct dist__rows dist__platform_links(void)
{
	struct dist__rows rows = {
		.columns = "link;count;Gbps|Gbit/s;GBps|GB/s;latency_us|"
			   "latency us"};
	sg_link_t *links = sg_link_list();
	size_t count = sg_link_count(), next;

	qsort(links, count, sizeof(sg_link_t), by_kind_and_name);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count; next++)
			if (compare_kinds(links[i], links[next]))
				break;
		add_links(&rows, links + i, next - i);
	}
	free(links);
	return rows;
}
