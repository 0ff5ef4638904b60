/* calibrate_log.h - a machine's constants fitted to logs of nccl-tests or
 * lockstep bench. */
#ifndef LOCKSTEP_CLI_CALIBRATE_LOG_H
#define LOCKSTEP_CLI_CALIBRATE_LOG_H

#include "base/rows.h"
#include "coll/profile.h"
#include "model/measured/log.h"

/* What is asked for; texts are the caller's. */
struct calibrate_log {
	const char *const *logs;
	size_t num_logs;        /* 1 or more */
	const char *profile;    /* a name or a file: of the library */
	const char *dir;        /* gets the machine's name.yaml; it is there */
	struct log_facts facts; /* but for the library: the profile's */
	enum dist__form form;   /* of what is said: any but TSV */
};

/* calibrate_log fits the constants, says what they are and what is left, and
 * writes the machine's file with them. Returns one of enum dist_exit; a failure
 * has been reported. */
int calibrate_log(const struct calibrate_log *request);

#endif
