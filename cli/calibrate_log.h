/* calibrate_log.h - a machine's constants fitted to logs of nccl-tests or
 * lockstep bench. */
#ifndef LOCKSTEP_CLI_CALIBRATE_LOG_H
#define LOCKSTEP_CLI_CALIBRATE_LOG_H

#include "base/rows.h"
#include "model/measured/log.h"

/* A request; texts are borrowed. */
struct calibrate_log {
	const char *const *logs;
	size_t num_logs;        /* 1 or more */
	const char *profile;    /* of the library: a name or a file */
	const char *dir;        /* existing folder for the machine's name.yaml
				 */
	struct log_facts facts; /* without the library, which is the profile's
				 */
	enum dist__form form;   /* of the output: any but TSV */
};

/* calibrate_log fits the constants, prints them and the remaining error, and
 * writes them to the machine's file. Returns one of enum dist_exit; a failure
 * has been reported. */
int calibrate_log(const struct calibrate_log *request);

#endif
