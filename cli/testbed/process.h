/* process.h - the switch that is a process, and the commands that are started.
 * Private to cli/testbed/. */
#ifndef LOCKSTEP_CLI_TESTBED_PROCESS_H
#define LOCKSTEP_CLI_TESTBED_PROCESS_H

#include <sys/types.h>

#include "cli/testbed/testbed.h"

/*
 * testbed_switch_start makes the device net0 of every host and starts the
 * process that carries their frames, in the switch's namespace; it ends when it
 * is killed. Errors: UNAVAILABLE (no TAP devices), IO.
 */
enum dist_error testbed_switch_start(const struct testbed *testbed,
				     struct dist_message *message);

/* testbed_command runs words, ended by NULL, quietly, and waits. Errors: IO,
 * with what it wrote to stderr, first line, as message; NO_MEMORY. */
enum dist_error testbed_command(const char *const *text,
				struct dist_message *message);

#endif
