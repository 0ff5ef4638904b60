#include "model/measured/steps.h"

#include <string.h>

/* ---- fields ----------------------------------------------------------- */

static const char *read_unit(const char *text, void *into)
{
	*(const char **)into = text;
	return strcmp(text, "samples") == 0 || strcmp(text, "tokens") == 0 ||
			       strcmp(text, "mels") == 0
		       ? NULL
		       : "samples, tokens or mels";
}

#define FIELD(kind, field) TSV_FIELD(struct step_row, kind, field)

static const struct tsv_field fields[] = {
	{FIELD(value_read_use, use), .required = true},
	{FIELD(dist__tsv_text, machine)},
	{FIELD(dist__tsv_text, gpu), .required = true},
	{FIELD(dist__tsv_text, framework)},
	{FIELD(dist__tsv_text, variant)},
	{FIELD(dist__tsv_text, model), .required = true},
	{FIELD(dist__tsv_text, precision)},
	{FIELD(dist__tsv_text, transport)},
	{FIELD(dist__tsv_text, schedule)},
	{FIELD(dist__tsv_text, at)},
	{FIELD(value_read_count, nodes)},
	{FIELD(value_read_count, gpus), .required = true},
	{FIELD(value_read_count, batch_per_gpu)},
	{FIELD(value_read_count, accumulation)},
	{FIELD(value_read_count, tokens)},
	{FIELD(value_read_count, layers)},
	{FIELD(value_read_count, hidden)},
	{FIELD(value_read_count, heads)},
	{FIELD(value_read_size, parameters)},
	{FIELD(value_read_number, bucket_cap_mb)},
	{FIELD(value_read_number, step_ms)},
	{FIELD(dist__tsv_text, statistic)},
	{FIELD(read_unit, unit)},
	{FIELD(value_read_number, throughput)},
	{FIELD(value_read_number, throughput_std)},
	{FIELD(value_read_number, throughput_per_gpu)},
	{.name = NULL},
};

/* ---- consistency ------------------------------------------------------ */

/* What that rate counts of one step; 0: not known. */
static double work_of(const struct step_row *row)
{
	int accumulation = row->accumulation ? row->accumulation : 1;
	double samples = (double)row->batch_per_gpu * accumulation;

	if (row->throughput.known)
		samples *= row->gpus;
	if (strcmp(row->unit, "samples") == 0)
		return samples;
	return strcmp(row->unit, "tokens") == 0 ? samples * row->tokens : 0;
}

/* Whether step_ms, rounded, and rate, rounded or cut off, can be of the same
 * step. */
static bool agree(const struct value_number *step,
		  const struct value_number *rate, double work)
{
	double most = (step->value + step->rounding) *
		      (rate->value + 2 * rate->rounding) / 1e3;
	double least = (step->value - step->rounding) *
		       (rate->value - rate->rounding) / 1e3;

	return least <= work * (1 + 1e-9) && work <= most * (1 + 1e-9);
}

static enum dist_error check_row(const struct tsv_table *tsv, size_t i,
				 const void *of, struct dist_message *message)
{
	const struct step_row *row = of;
	const struct value_number *rate = row->throughput.known
						  ? &row->throughput
						  : &row->throughput_per_gpu;
	int line = tsv->lines[i];
	double work;

	if (!(row->step_ms.value > 0 || rate->value > 0))
		return dist__tsv_refuse(tsv, line, message,
					"step_ms or throughput, above 0");
	if (rate->known && !row->unit)
		return dist__tsv_refuse(tsv, line, message,
					"the unit of throughput");
	if (row->nodes > row->gpus)
		return dist__tsv_refuse(tsv, line, message,
					"at least a GPU in each of %d nodes",
					row->nodes);
	if (!row->step_ms.known || !rate->known)
		return DIST_OK;
	work = work_of(row);
	if (work > 0 && !agree(&row->step_ms, rate, work))
		return dist__tsv_refuse(
			tsv, line, message,
			"step_ms %.6g, in which %.10g %s pass at "
			"%.10g a second, got %.10g",
			1e3 * work / rate->value, work, row->unit, rate->value,
			row->step_ms.value);
	return DIST_OK;
}

/* ---- the table -------------------------------------------------------- */

TSV_LOADER(steps_load, steps, fields, check_row)
