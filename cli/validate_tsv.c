/* validate_tsv.c - every row that was predicted, for plots. Steps have the
 * library "steps", their model as algorithm and no bytes. */
#include "cli/validate.h"
#include "trace/output.h"

static const char *or_dash(const char *text)
{
	return text && *text ? text : "-";
}

static void write_steps(struct dist__output *output,
			const struct validate_table *table)
{
	for (size_t i = 0; i < table->step_outcome.num; i++) {
		const struct step_outcome_row *row =
			&table->step_outcome.rows[i];

		dist__output_print(
			output,
			"%s\tsteps\t%s\t%d\t-\t%.64s\t-\t%.6g\t%.6g"
			"\t%.6g\t-\n",
			table->name, stream_schedule_name(row->schedule),
			row->row->gpus, row->row->model,
			1e3 * row->predicted_ms, 1e3 * row->measured_ms,
			row->predicted_ms / row->measured_ms);
	}
}

static void write_table(struct dist__output *output,
			const struct validate_table *table)
{
	for (size_t i = 0; i < table->outcome.num; i++) {
		const struct outcome_row *row = &table->outcome.rows[i];
		const struct collective_row *of = row->row;

		dist__output_print(
			output,
			"%s\t%.32s\t%s\t%d\t%zu\t%s\t%s\t%.6g\t%.6g"
			"\t%.6g\t%.6g\n",
			table->name, of->library,
			collective_name(of->collective), of->ranks, of->bytes,
			row->algorithm, or_dash(row->protocol),
			row->predicted_us, of->time_us.value,
			row->predicted_us / of->time_us.value, row->fit_us);
	}
}

enum dist_error validate_write_tsv(const struct validate *validate,
				   const char *path,
				   struct dist_message *message)
{
	struct dist__output *output;
	enum dist_error err = dist__output_open(path, &output, message);

	if (err)
		return err;
	dist__output_text(output,
			  "table\tlibrary\twhat\tranks\tbytes\talgorithm"
			  "\tprotocol\tpredicted_us\tmeasured_us\tratio\tfit_us"
			  "\n");
	for (size_t i = 0; i < validate->num; i++) {
		write_table(output, &validate->tables[i]);
		write_steps(output, &validate->tables[i]);
	}
	return dist__output_close(output, message);
}
