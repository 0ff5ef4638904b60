/* calibrate_log.h - a profile fitted to a log of nccl-tests or lockstep bench.
 */
#ifndef LOCKSTEP_CLI_CALIBRATE_LOG_H
#define LOCKSTEP_CLI_CALIBRATE_LOG_H

#include "base/rows.h"
#include "coll/profile.h"
#include "model/measured/log.h"

/* What is asked for; texts are the caller's. */
struct calibrate_log {
	const char *log;
	const char *profile;    /* a name or a file: what is to be fitted */
	const char *dir;        /* gets the machine's name.yaml; it is there */
	struct log_facts facts; /* but for the library: the profile's */
	enum dist__form form;   /* of what is said: any but TSV */
};

/* calibrate_log fits the profile, says which constants moved and what is left,
 * and writes it. Returns one of enum dist_exit; a failure has been reported. */
int calibrate_log(const struct calibrate_log *request);

/*
 * calibrate_write_profile writes a profile that has no rules to path, as
 * dist__profile_load() reads it. Errors: IO, NO_MEMORY; message says what.
 */
DIST_MUST_CHECK enum dist_error
calibrate_write_profile(const char *path, const struct dist__profile *profile,
			struct dist_message *message);

#endif
