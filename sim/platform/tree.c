/*
 * tree.c - zones, nodes and hosts as a tree.
 *
 * Hosts come in the order of ranks, each with the path of what it is in.
 * Branches that follow each other and are alike, down to how fast their hosts
 * reach others, are drawn once.
 */
#include "sim/platform/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/platform/state.h"

#define DEPTH 8
#define LINES 64 /* of a drawing; then it is cut off */

struct leaf {
	const char *path[DEPTH + 2]; /* zones, node, host; NULL behind */
	int ranks;
	double pace;
	double inside_Bps;  /* to the next host of its node; 0: there is none */
	double outside_Bps; /* to the next node, or the one before */
};

struct drawing {
	FILE *out;
	struct leaf *leaves;
	int lines;
};

/* ---- leaves ---------------------------------------------------------- */

static const char *node_of(const struct dist__platform *p,
			   const struct dist__seat *seat)
{
	return dist__graph_host_property(p->graph, seat->host, "node");
}

static bool share_node(const struct dist__platform *p,
		       const struct dist__seat *a, const struct dist__seat *b)
{
	const char *x = node_of(p, a), *y = node_of(p, b);

	return x && y && strcmp(x, y) == 0;
}

static double route_Bps(const struct dist__platform *p,
			const struct dist__seat *from,
			const struct dist__seat *to)
{
	double Bps;

	return dist__graph_route(p->graph, from->host, to->host, NULL, &Bps,
				 NULL)
		       ? Bps
		       : 0;
}

static void fill_path(const struct dist__platform *p,
		      const struct dist__seat *seat, struct leaf *leaf)
{
	size_t n = dist__graph_zones(p->graph, seat->host, leaf->path, DEPTH);
	const char *node = node_of(p, seat);

	if (node && (n == 0 || strcmp(leaf->path[n - 1], node) != 0))
		leaf->path[n++] = node;
	leaf->path[n] = seat->name;
}

/* Hosts first to end - 1 are of one node. */
static void fill_node(const struct dist__platform *p, size_t first, size_t end,
		      struct leaf *leaves)
{
	const struct dist__seat *next = &p->seats[end % p->num_seats];
	const struct dist__seat *last =
		&p->seats[(first + p->num_seats - 1) % p->num_seats];
	bool alone = first == 0 && end == p->num_seats;

	for (size_t i = first; i < end; i++) {
		const struct dist__seat *seat = &p->seats[i];
		size_t other = i + 1 < end ? i + 1 : first;

		fill_path(p, seat, &leaves[i]);
		leaves[i].ranks = seat->ranks;
		leaves[i].pace = seat->pace;
		if (other != i)
			leaves[i].inside_Bps =
				route_Bps(p, seat, &p->seats[other]);
		if (!alone)
			leaves[i].outside_Bps = fmax(route_Bps(p, seat, next),
						     route_Bps(p, seat, last));
	}
}

/* ---- what is alike --------------------------------------------------- */

static bool begins(const struct leaf *leaf, size_t depth)
{
	const char *a = leaf[-1].path[depth], *b = leaf->path[depth];

	return !a || !b || strcmp(a, b) != 0;
}

/* Whether the branches of `count` leaves at a and b are of the same form below
 * depth. */
static bool branches_alike(const struct leaf *a, const struct leaf *b,
			   size_t count, size_t depth)
{
	for (size_t i = 0; i < count; i++) {
		if (a[i].ranks != b[i].ranks || a[i].pace != b[i].pace ||
		    a[i].inside_Bps != b[i].inside_Bps ||
		    a[i].outside_Bps != b[i].outside_Bps)
			return false;
		for (size_t d = depth + 1; d < DEPTH + 2; d++)
			if (!a[i].path[d] != !b[i].path[d] ||
			    (i > 0 && a[i].path[d] &&
			     begins(&a[i], d) != begins(&b[i], d)))
				return false;
	}
	return true;
}

/* ---- drawing --------------------------------------------------------- */

/* The end of the branch that begins at first. */
static size_t branch_end(const struct leaf *leaves, size_t first, size_t end,
			 size_t depth)
{
	size_t i = first + 1;

	while (i < end && leaves[i].path[depth + 1] &&
	       !begins(&leaves[i], depth))
		i++;
	return i;
}

static void draw(struct drawing *d, size_t first, size_t end, size_t depth,
		 const char *indent);

/* `count` branches of `size` leaves each, the first of them at first. */
static void draw_branches(struct drawing *d, size_t first, size_t size,
			  size_t count, size_t depth, const char *indent,
			  bool last)
{
	const struct leaf *leaf = &d->leaves[first];
	char deeper[4 * (DEPTH + 2) * 3];

	fprintf(d->out, "%s%s %s", indent, last ? "└─" : "├─",
		leaf->path[depth]);
	if (count > 1)
		fprintf(d->out, " .. %s", leaf[(count - 1) * size].path[depth]);
	if (!leaf->path[depth + 1]) {
		fprintf(d->out, ": %zu rank%s", count * (size_t)leaf->ranks,
			count * (size_t)leaf->ranks == 1 ? "" : "s");
		if (leaf->inside_Bps > 0)
			fprintf(d->out, ", %.6g GB/s inside",
				leaf->inside_Bps * 1e-9);
		if (leaf->outside_Bps > 0)
			fprintf(d->out, ", %.6g GB/s out",
				leaf->outside_Bps * 1e-9);
		if (leaf->pace != 1)
			fprintf(d->out, ", pace %g", leaf->pace);
	} else if (count > 1)
		fprintf(d->out, ": %zu alike, each", count);
	fputc('\n', d->out);
	d->lines++;
	snprintf(deeper, sizeof deeper, "%s%s", indent, last ? "   " : "│  ");
	if (leaf->path[depth + 1])
		draw(d, first, first + size, depth + 1, deeper);
}

static void draw(struct drawing *d, size_t first, size_t end, size_t depth,
		 const char *indent)
{
	size_t next;

	for (size_t i = first; i < end; i = next) {
		size_t size = branch_end(d->leaves, i, end, depth) - i;

		if (d->lines >= LINES) {
			fprintf(d->out, "%s└─ and %zu hosts more\n", indent,
				end - i);
			return;
		}
		for (next = i + size; next < end; next += size)
			if (next + size > end ||
			    branch_end(d->leaves, next, end, depth) !=
				    next + size ||
			    !branches_alike(&d->leaves[i], &d->leaves[next],
					    size, depth))
				break;
		draw_branches(d, i, size, (next - i) / size, depth, indent,
			      next >= end);
	}
}

enum dist_error dist__platform_show_tree(const struct dist__platform *p,
					 FILE *out)
{
	struct drawing d = {.out = out};
	size_t end;

	d.leaves = calloc(p->num_seats, sizeof(struct leaf));
	if (!d.leaves)
		return DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < p->num_seats; i = end) {
		for (end = i + 1; end < p->num_seats; end++)
			if (!share_node(p, &p->seats[i], &p->seats[end]))
				break;
		fill_node(p, i, end, d.leaves);
	}
	fputs("\nall\n", out);
	draw(&d, 0, p->num_seats, 0, "");
	free(d.leaves);
	return DIST_OK;
}
