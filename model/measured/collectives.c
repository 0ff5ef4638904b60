#include "model/measured/collectives.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

static const char *const names[] = {
	[COLLECTIVE_ALL_REDUCE] = "all_reduce",
	[COLLECTIVE_ALL_GATHER] = "all_gather",
	[COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
	[COLLECTIVE_ALL_TO_ALL] = "all_to_all",
	[COLLECTIVE_BROADCAST] = "broadcast",
	[COLLECTIVE_REDUCE] = "reduce",
	[COLLECTIVE_GATHER] = "gather",
	[COLLECTIVE_SCATTER] = "scatter",
	[COLLECTIVE_SENDRECV] = "sendrecv",
};

const char *collective_name(enum collective collective)
{
	return names[collective];
}

const char *collective_profile(const char *library)
{
	return strcmp(library, "cray-mpich") == 0 ? "mpich" : library;
}

bool collective_find(const char *name, enum collective *collective)
{
	const char *const *found = DIST__NAMED(
		names, strcmp(name, "alltoall") ? name : "all_to_all");

	if (found)
		*collective = (enum collective)(found - names);
	return found != NULL;
}

double collective_bus_factor(enum collective collective, int ranks)
{
	double others = (double)(ranks - 1) / ranks;

	switch (collective) {
	case COLLECTIVE_ALL_REDUCE:
		return 2 * others;
	case COLLECTIVE_BROADCAST:
	case COLLECTIVE_REDUCE:
	case COLLECTIVE_SENDRECV:
		return 1;
	default:
		return others;
	}
}

/* ---- fields ----------------------------------------------------------- */

static const char *read_collective(const char *text, void *into)
{
	return collective_find(text, into) ? NULL : COLLECTIVE_NAMES;
}

static const char *read_place(const char *text, void *into)
{
	*(const char **)into = text;
	return strcmp(text, "in") == 0 || strcmp(text, "out") == 0
		       ? NULL
		       : "in or out";
}

static const char *read_memory(const char *text, void *into)
{
	*(const char **)into = text;
	return strcmp(text, "host") == 0 || strcmp(text, "device") == 0
		       ? NULL
		       : "host or device";
}

static const char *read_caller(const char *text, void *into)
{
	*(const char **)into = text;
	return strcmp(text, "torch") == 0 ? NULL : "torch";
}

#define FIELD(kind, field) TSV_FIELD(struct collective_row, kind, field)

static const struct tsv_field fields[] = {
	{FIELD(value_read_use, use), .required = true},
	{FIELD(read_collective, collective), .required = true},
	{FIELD(dist__tsv_text, machine), .required = true},
	{FIELD(dist__tsv_text, transport), .required = true},
	{FIELD(dist__tsv_text, library), .required = true},
	{FIELD(dist__tsv_text, version)},
	{FIELD(dist__tsv_text, algorithm)},
	{FIELD(dist__tsv_text, protocol)},
	{FIELD(dist__tsv_text, dtype)},
	{FIELD(read_memory, memory)},
	{FIELD(read_place, place)},
	{FIELD(dist__tsv_text, run)},
	{FIELD(value_read_count, nodes)},
	{FIELD(value_read_count, ranks), .required = true},
	{FIELD(value_read_count, process_ranks)},
	{FIELD(read_caller, caller)},
	{FIELD(value_read_size, bytes), .required = true},
	{FIELD(dist__tsv_text, statistic), .required = true},
	{FIELD(value_read_number, time_us), .required = true},
	{FIELD(value_read_number, min_us)},
	{FIELD(value_read_number, p25_us)},
	{FIELD(value_read_number, p75_us)},
	{FIELD(value_read_number, p99_us)},
	{FIELD(value_read_size, iterations)},
	{FIELD(value_read_number, algbw_GBps)},
	{FIELD(value_read_number, busbw_GBps)},
	{.name = NULL},
};

/* ---- consistency ------------------------------------------------------ */

/* Whether a published rate can be bytes / time * factor, both rounded. */
static bool is_rate(const struct value_number *rate,
		    const struct collective_row *row, double factor)
{
	const struct value_number *time = &row->time_us;
	double work = (double)row->bytes * factor / 1e3;
	double slack = 1e-9 * rate->value;
	double least = time->value + time->rounding;
	double most = time->value - time->rounding;

	return !rate->known ||
	       (rate->value + rate->rounding + slack >= work / least &&
		(most <= 0 ||
		 rate->value - rate->rounding - slack <= work / most));
}

static bool is_ordered(const struct value_number *less,
		       const struct value_number *more)
{
	return !less->known || !more->known || less->value <= more->value;
}

static enum dist_error check_row(const struct tsv_table *tsv, size_t i,
				 const void *of, struct dist_message *message)
{
	const struct collective_row *row = of;
	double factor = collective_bus_factor(row->collective, row->ranks);
	double rate = (double)row->bytes / row->time_us.value / 1e3;
	int line = tsv->lines[i];

	if (row->time_us.value <= 0)
		return dist__tsv_refuse(tsv, line, message, "time_us above 0");
	if (!is_rate(&row->algbw_GBps, row, 1))
		return dist__tsv_refuse(tsv, line, message,
					"algbw_GBps %.4g, which is bytes over "
					"time_us, got %.10g",
					rate, row->algbw_GBps.value);
	if (!is_rate(&row->busbw_GBps, row, factor))
		return dist__tsv_refuse(tsv, line, message,
					"busbw_GBps %.4g, which is bytes over "
					"time_us times %.4g, got %.10g",
					rate * factor, factor,
					row->busbw_GBps.value);
	if (!is_ordered(&row->min_us, &row->time_us) ||
	    !is_ordered(&row->p25_us, &row->time_us) ||
	    !is_ordered(&row->time_us, &row->p75_us) ||
	    !is_ordered(&row->time_us, &row->p99_us))
		return dist__tsv_refuse(tsv, line, message,
					"min_us and p25_us of at most time_us, "
					"p75_us and p99_us of at least it");
	return DIST_OK;
}

enum dist_error collectives_check(const struct collectives *table,
				  struct dist_message *message)
{
	enum dist_error error = DIST_OK;

	for (size_t i = 0; i < table->tsv.num_rows && !error; i++)
		error = check_row(&table->tsv, i, &table->rows[i], message);
	return error;
}

/* ---- the table -------------------------------------------------------- */

TSV_LOADER(collectives_load, collectives, fields, check_row)

struct collective_row *collectives_add(struct collectives *table,
				       const struct collective_row *row,
				       int line)
{
	size_t num = table->tsv.num_rows;

	if (!dist__array_grow(&table->tsv.lines, num, sizeof *table->tsv.lines))
		return NULL;
	table->tsv.lines[num] = line;
	row = dist__array_add(&table->rows, &table->tsv.num_rows, row,
			      sizeof *row);
	table->tsv.rows = table->rows;
	return row ? &table->rows[num] : NULL;
}
