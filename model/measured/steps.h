/*
 * steps.h - measured times of training steps: tables of one form for every
 * model, machine and schedule. docs/measured.md explains each field.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_STEPS_H
#define LOCKSTEP_MODEL_MEASURED_STEPS_H

#include "base/tsv_table.h"
#include "model/measured/value.h"

/* One measurement. Texts are the table's; NULL and 0: not known. */
struct step_row {
	enum value_use use;
	const char *machine; /* NULL: the publisher names only the GPU */
	const char *gpu;
	const char *framework, *variant;
	const char *model;
	const char *precision;
	const char *transport; /* between machines */
	const char *schedule;  /* of the communication */
	const char *at;        /* place in the source */
	int nodes, gpus;
	int batch_per_gpu; /* of a micro-batch */
	int accumulation;  /* micro-batches a step; 0: 1 */
	int tokens;        /* of a sample */
	int layers, hidden, heads;
	size_t parameters;
	struct value_number bucket_cap_mb;
	struct value_number step_ms;
	const char *statistic; /* statistic of step_ms or throughput over the
				  steps */
	const char *unit;      /* of throughput, a second: "samples", ... */
	struct value_number throughput, throughput_std; /* of all GPUs */
	struct value_number throughput_per_gpu;
};

struct steps {
	struct tsv_table tsv;
	struct step_row *rows; /* tsv.num_rows; the tsv's */
};

/*
 * steps_load reads the table at path, for dist__tsv_release(&table->tsv); every
 * row has a step_ms or a throughput, and where it has both and the batch they
 * agree, within the rounding of what was published. On failure *table is empty
 * and message says "file:line: what was expected". Errors:
 * DIST_ERR_INVALID_ARGUMENT, DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error
steps_load(struct steps *table, const char *path, struct dist_message *message);

#endif
