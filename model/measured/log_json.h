/*
 * log_json.h - reads the file that nccl-tests writes with -J. Private to
 * model/measured/log*.c.
 *
 * Its form is that of nccl-tests' src/util.cu, versions 1 and 2: args, env,
 * nccl_version, config with the devices, and results with a size and the times
 * out of and in place.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LOG_JSON_H
#define LOCKSTEP_MODEL_MEASURED_LOG_JSON_H

#include <jansson.h>

#include "model/measured/log.h"
#include "model/measured/log_head.h"

/* log_json_read reads the text of table->tsv, which it may change, into rows of
 * table and facts of run. Texts of run are those of *document, which the caller
 * releases in any case. Errors: INVALID_ARGUMENT (message), NO_MEMORY. */
DIST_MUST_CHECK enum dist_error log_json_read(struct collectives *table,
					      struct log_run *run,
					      struct log_notes *notes,
					      json_t **document,
					      struct dist_message *message);

#endif
