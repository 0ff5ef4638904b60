/* refuse.h - the one error line of a command. */
#ifndef LOCKSTEP_CLI_REFUSE_H
#define LOCKSTEP_CLI_REFUSE_H

/* refuse prints "lockstep COMMAND: ..." on stderr and returns the status
 * USAGE. */
__attribute__((format(printf, 2, 3))) int refuse(const char *command,
						 const char *format, ...);

/* out_of_memory prints that there is no memory, and returns INTERNAL. */
int out_of_memory(const char *command);

#endif
