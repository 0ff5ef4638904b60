/*
 * log_arguments.h - flags for facts that a log of nccl-tests does not contain;
 * shared by validate and calibrate.
 */
#ifndef LOCKSTEP_CLI_LOG_ARGUMENTS_H
#define LOCKSTEP_CLI_LOG_ARGUMENTS_H

#include "model/measured/log.h"
#include "model/measured/machine.h"
#include "scenarios/arguments.h"

/* NULL and 0: not given. */
struct log_arguments {
	const char *machine;
	const char *transport;
	const char *collective;
	const char *version;
	int nodes;
	int ranks;
};

/* The first is --machine. */
extern const struct option log_options[];

/* log_arguments_facts returns the given facts, for a log of library. */
struct log_facts log_arguments_facts(const struct log_arguments *arguments,
				     const char *library);

/* log_machine_load loads the machine of facts, which must have the network of
 * its transport. Errors: as dist__data_find, machine_load and
 * machine_network_choose. */
DIST_MUST_CHECK enum dist_error log_machine_load(const struct log_facts *facts,
						 struct machine *machine,
						 struct dist_message *message);

/* log_notes_print prints on stderr, as command, which parts of a log were
 * changed or skipped. */
void log_notes_print(const char *command, const char *path,
		     const struct log_notes *notes);

#endif
