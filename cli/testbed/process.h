/* process.h - the switch process, and commands that are run. Private to
 * cli/testbed/. */
#ifndef LOCKSTEP_CLI_TESTBED_PROCESS_H
#define LOCKSTEP_CLI_TESTBED_PROCESS_H

#include <sys/types.h>

#include "cli/testbed/testbed.h"

/*
 * testbed_switch_start makes the device net0 of every host and starts, in the
 * switch's namespace, the process that forwards frames until it is killed.
 * Errors: UNAVAILABLE (no TAP devices), IO.
 */
enum dist_error testbed_switch_start(const struct testbed *testbed,
				     struct dist_message *message);

/* testbed_command runs a command (arguments, then NULL) without output, and
 * waits. Errors: IO (message: the first line of its stderr), NO_MEMORY. */
enum dist_error testbed_command(const char *const *text,
				struct dist_message *message);

#endif
