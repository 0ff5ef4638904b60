/*
 * log_arguments.h - the flags that say of a log of nccl-tests what it does not
 * say itself; shared by validate and calibrate.
 */
#ifndef LOCKSTEP_CLI_LOG_ARGUMENTS_H
#define LOCKSTEP_CLI_LOG_ARGUMENTS_H

#include <popt.h>

#include "measured/log.h"
#include "measured/machine.h"

/* Strings are popt's, NULL when not given; numbers are 0 then. */
struct log_arguments {
	char *machine;
	char *transport;
	char *collective;
	int nodes;
	int ranks;
};

/* Room for the entries, the end included. */
#define LOG_ARGUMENTS_TABLE 6

/* log_arguments_init clears arguments and fills table with the options that set
 * them, to be included in a command's own. */
void log_arguments_init(struct log_arguments *arguments,
			struct poptOption table[LOG_ARGUMENTS_TABLE]);

/* log_arguments_are_more returns whether more than the machine is given. */
bool log_arguments_are_more(const struct log_arguments *arguments);

/* log_arguments_fault returns what was expected of a value that cannot be, with
 * its flag; NULL: all can. */
const char *log_arguments_fault(const struct log_arguments *arguments);

/* log_arguments_facts returns what is given, of a log of that library. */
struct log_facts log_arguments_facts(const struct log_arguments *arguments,
				     const char *library);

/* log_arguments_release frees the strings. */
void log_arguments_release(struct log_arguments *arguments);

/* log_machine_load loads the machine of facts, which must have the network of
 * its transport. Errors: as dist__data_find, machine_load and
 * machine_network_choose. */
DIST_MUST_CHECK enum dist_error log_machine_load(const struct log_facts *facts,
						 struct machine *machine,
						 struct dist_message *message);

#endif
