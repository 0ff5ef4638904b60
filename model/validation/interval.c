/*
 * interval.c - the factor that holds the share of like cases' errors. A
 * machine's errors hang together, so each machine counts once; and a machine
 * that nobody has seen is one more of them: of n machines the quantile is that
 * of share (n + 1) / n (V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning
 * in a Random World, 2005: conformal prediction).
 */
#include "model/validation/interval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "model/library/transport.h"
#include "model/measured/value.h"
#include "model/validation/population.h"

struct interval_line {
	const char *table, *machine, *what, *library, *nodes, *transport;
	const char *range, *constants, *date;
	size_t rows;
	struct value_number ratios[INTERVAL_QUANTILES];
};

/* ---- the file ---------------------------------------------------------- */

static const char *const ranges[] = {
	[ACCURACY_SMALL] = "to 32 KiB",
	[ACCURACY_MIDDLE] = "to 64 MiB",
	[ACCURACY_LARGE] = "above",
	[ACCURACY_ALL] = "all sizes",
};

const char *interval_range_name(enum accuracy_range range)
{
	return ranges[range];
}

static const char *read_ratio(const char *text, void *into)
{
	const struct value_number *number = into;
	const char *wrong = value_read_number(text, into);

	return wrong || number->value > 0 ? wrong : "a number above 0";
}

#define FIELD(kind, field) TSV_FIELD(struct interval_line, kind, field)
#define RATIO(i, title)                                                        \
	{                                                                      \
		.name = (title), .read = read_ratio,                           \
		.offset = offsetof(struct interval_line, ratios) +             \
			  (i) * sizeof(struct value_number),                   \
		.required = true                                               \
	}

static const struct tsv_field fields[] = {
	{FIELD(dist__tsv_text, table), .required = true},
	{FIELD(dist__tsv_text, machine), .required = true},
	{FIELD(dist__tsv_text, what), .required = true},
	{FIELD(dist__tsv_text, library)},
	{FIELD(dist__tsv_text, nodes), .required = true},
	{FIELD(dist__tsv_text, transport)},
	{FIELD(dist__tsv_text, range), .required = true},
	{FIELD(dist__tsv_text, constants), .required = true},
	{FIELD(dist__tsv_text, date), .required = true},
	{FIELD(value_read_size, rows), .required = true},
	RATIO(0, "q05"),
	RATIO(1, "q15"),
	RATIO(2, "q25"),
	RATIO(3, "q35"),
	RATIO(4, "q45"),
	RATIO(5, "q55"),
	RATIO(6, "q65"),
	RATIO(7, "q75"),
	RATIO(8, "q85"),
	RATIO(9, "q95"),
	{.name = NULL},
};

enum dist_error intervals_load(struct intervals *intervals,
			       struct dist_message *message)
{
	struct dist_message ignored;
	char path[4096];
	enum dist_error error;

	*intervals = (struct intervals){.lines = NULL};
	if (dist__data_find("measured", "blind-errors", ".tsv", path,
			    sizeof path, &ignored))
		return DIST_OK;
	error = dist__tsv_load_rows(&intervals->tsv, path, fields,
				    sizeof *intervals->lines, NULL, message);
	intervals->lines = intervals->tsv.rows;
	return error;
}

/* ---- cases ------------------------------------------------------------- */

/* Libraries whose errors are alike: those of MPI are. */
static const char *family_of(const char *library)
{
	return strcmp(library, "openmpi") == 0 || strcmp(library, "mpich") == 0
		       ? "mpi"
		       : library;
}

static bool is_sockets(const char *transport)
{
	return transport_is(transport, "tcp");
}

static const char *or_none(const char *text)
{
	return text ? text : "";
}

static struct interval_case case_of(const struct interval_line *line)
{
	enum accuracy_range range = ACCURACY_SMALL;

	while (range < ACCURACY_ALL && strcmp(ranges[range], line->range) != 0)
		range++;
	return (struct interval_case){
		.what = line->what,
		.library = or_none(line->library),
		.is_one_node = strcmp(line->nodes, "one") == 0,
		.transport = or_none(line->transport),
		.range = range,
		.is_calibrated = strcmp(line->constants, "own") == 0,
	};
}

static bool is_step(const struct interval_case *of)
{
	return of->range == ACCURACY_ALL;
}

/* How much two cases must have in common; less and less. */
enum likeness {
	LIKE_COLLECTIVE,
	LIKE_NETWORK,
	LIKE_NODES,
	LIKE_LIBRARY,
	LIKE_SIZE
};

static bool is_like(const struct interval_case *a,
		    const struct interval_case *b, enum likeness likeness)
{
	if (is_step(a) || is_step(b))
		return is_step(a) && is_step(b);
	if (a->is_calibrated != b->is_calibrated || a->range != b->range)
		return false;
	if (likeness <= LIKE_LIBRARY &&
	    strcmp(family_of(a->library), family_of(b->library)) != 0)
		return false;
	if (likeness <= LIKE_NODES && a->is_one_node != b->is_one_node)
		return false;
	if (likeness <= LIKE_NETWORK &&
	    (is_sockets(a->transport) != is_sockets(b->transport) ||
	     !*a->transport != !*b->transport))
		return false;
	return likeness > LIKE_COLLECTIVE || strcmp(a->what, b->what) == 0;
}

/* Whether anything is known of such calls: of the collective by that
 * library. */
static bool is_known(const struct intervals *intervals,
		     const struct interval_case *of)
{
	for (size_t i = 0; i < intervals->tsv.num_rows; i++) {
		const struct interval_case line = case_of(&intervals->lines[i]);

		if (of->what && strcmp(line.what, of->what) == 0 &&
		    strcmp(family_of(line.library), family_of(of->library)) ==
			    0)
			return true;
	}
	return false;
}

/* ---- the factor -------------------------------------------------------- */

struct weighed {
	double error, weight; /* |log of a ratio| */
};

/* Errors of lines. */
struct pool {
	const struct intervals *intervals;
	const struct interval_line **lines; /* room for all of them */
	struct weighed *errors;             /* and for their ratios */
	size_t num;
	int machines;
};

static bool is_machine(const struct interval_line *line, const char *machine)
{
	return machine && strcmp(line->machine, machine) == 0;
}

/* How many of the pool's lines are of the machine. */
static int count_lines(const struct pool *pool, const char *machine, size_t num)
{
	int lines = 0;

	for (size_t i = 0; i < num; i++)
		lines += is_machine(pool->lines[i], machine);
	return lines;
}

/* Fills the pool with what is like a case, but a machine's. */
static void collect(struct pool *pool, const struct interval_case *of,
		    enum likeness likeness, const char *without)
{
	const struct intervals *intervals = pool->intervals;

	pool->num = 0;
	pool->machines = 0;
	for (size_t i = 0; i < intervals->tsv.num_rows; i++) {
		const struct interval_line *line = &intervals->lines[i];
		const struct interval_case other = case_of(line);

		if (is_machine(line, without) || !is_like(of, &other, likeness))
			continue;
		pool->machines += !count_lines(pool, line->machine, pool->num);
		pool->lines[pool->num++] = line;
	}
}

static int by_error(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return (x->error > y->error) - (x->error < y->error);
}

/* The factor that holds the share of the pool, of n independent parts. */
static double factor_of(const struct pool *pool, int n)
{
	double left = fmin(1, INTERVAL_SHARE * (n + 1) / n);
	size_t num = 0;

	for (size_t i = 0; i < pool->num; i++) {
		const struct interval_line *line = pool->lines[i];
		double weight = 1.0 / INTERVAL_QUANTILES / pool->machines /
				count_lines(pool, line->machine, pool->num);

		for (int q = 0; q < INTERVAL_QUANTILES; q++)
			pool->errors[num++] = (struct weighed){
				fabs(log(line->ratios[q].value)), weight};
	}
	qsort(pool->errors, num, sizeof *pool->errors, by_error);
	for (size_t i = 0; i < num; i++) {
		left -= pool->errors[i].weight;
		if (left <= 1e-9 || i + 1 == num)
			return exp(pool->errors[i].error);
	}
	return NAN;
}

/* What cases of that likeness have in common. */
static void describe_like(const struct interval_case *of,
			  enum likeness likeness, char *text, size_t size)
{
	const char *nodes = of->is_one_node ? ", one node" : ", several nodes";
	const char *net = "";

	if (is_step(of)) {
		snprintf(text, size, "data-parallel steps");
		return;
	}
	if (likeness <= LIKE_NETWORK && *of->transport)
		net = is_sockets(of->transport) ? " by sockets"
						: " not by sockets";
	snprintf(text, size, "%s by %s%s%s, %s%s",
		 likeness == LIKE_COLLECTIVE ? of->what : "collectives",
		 likeness <= LIKE_LIBRARY ? family_of(of->library)
					  : "any library",
		 likeness <= LIKE_NODES ? nodes : "", net, ranges[of->range],
		 of->is_calibrated ? ", calibrated" : "");
}

static struct interval find(struct pool *pool, const struct interval_case *of,
			    const char *without)
{
	struct interval interval = {.factor = NAN};
	int likeness = LIKE_COLLECTIVE;

	collect(pool, of, LIKE_COLLECTIVE, without);
	while (pool->machines < INTERVAL_MACHINES && likeness < LIKE_SIZE)
		collect(pool, of, (enum likeness)++ likeness, without);
	if (pool->num == 0)
		return interval;
	interval.factor =
		factor_of(pool, is_step(of) ? (int)pool->num : pool->machines);
	interval.machines = pool->machines;
	interval.is_alike = true;
	describe_like(of, (enum likeness)likeness, interval.like,
		      sizeof interval.like);
	return interval;
}

/* Whether one of the lines before is of such a case, too. */
static bool is_repeated(const struct intervals *intervals,
			const struct interval_case *of, size_t line)
{
	while (line-- > 0) {
		struct interval_case other = case_of(&intervals->lines[line]);

		if (is_like(of, &other, LIKE_COLLECTIVE))
			return true;
	}
	return false;
}

/* The widest of all cases. */
static struct interval find_widest(struct pool *pool)
{
	struct interval widest = {.factor = NAN};

	for (size_t i = 0; i < pool->intervals->tsv.num_rows; i++) {
		const struct interval_case of =
			case_of(&pool->intervals->lines[i]);
		struct interval now;

		if (is_repeated(pool->intervals, &of, i))
			continue;
		now = find(pool, &of, NULL);
		if (!(now.factor <= widest.factor))
			widest = now;
	}
	widest.is_alike = false;
	return widest;
}

static enum dist_error pool_init(struct pool *pool,
				 const struct intervals *intervals)
{
	size_t num = intervals->tsv.num_rows + 1;

	*pool = (struct pool){
		.intervals = intervals,
		.lines = calloc(num, sizeof(const struct interval_line *)),
		.errors =
			calloc(num * INTERVAL_QUANTILES, sizeof *pool->errors),
	};
	return pool->lines && pool->errors ? DIST_OK : DIST_ERR_NO_MEMORY;
}

static void pool_release(struct pool *pool)
{
	free(pool->lines);
	free(pool->errors);
}

enum dist_error intervals_find(const struct intervals *intervals,
			       const struct interval_case *of,
			       const char *machine, struct interval *interval)
{
	struct pool pool;
	enum dist_error error = pool_init(&pool, intervals);

	*interval = (struct interval){.factor = NAN};
	if (!error && is_known(intervals, of))
		*interval = find(&pool, of, machine);
	if (!error && !interval->is_alike)
		*interval = find_widest(&pool);
	pool_release(&pool);
	return error;
}

enum dist_error intervals_coverage(const struct intervals *intervals,
				   bool steps, bool is_calibrated,
				   double *share)
{
	size_t all = 0, held = 0;
	struct pool pool;
	enum dist_error error = pool_init(&pool, intervals);

	for (size_t i = 0; !error && i < intervals->tsv.num_rows; i++) {
		const struct interval_line *line = &intervals->lines[i];
		const struct interval_case of = case_of(line);
		double most;

		if (is_step(&of) != steps || of.is_calibrated != is_calibrated)
			continue;
		most = log(find(&pool, &of, line->machine).factor) + 1e-9;
		for (int q = 0; q < INTERVAL_QUANTILES; q++, all++)
			held += fabs(log(line->ratios[q].value)) <= most;
	}
	pool_release(&pool);
	*share = all ? (double)held / (double)all : NAN;
	return error;
}

void interval_describe(const struct interval *interval, char *text, size_t size)
{
	if (isnan(interval->factor))
		snprintf(text, size, "not known: there are no blind errors");
	else if (!interval->is_alike)
		snprintf(text, size,
			 "no like case was measured; the widest of others is a "
			 "factor of %.2f",
			 interval->factor);
	else
		snprintf(text, size,
			 "%g %% of like cases lie within a factor of %.2f: %s, "
			 "blind, of %d machines",
			 100 * INTERVAL_SHARE, interval->factor, interval->like,
			 interval->machines);
}
