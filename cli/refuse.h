/* refuse.h - the one error line of a command. */
#ifndef LOCKSTEP_CLI_REFUSE_H
#define LOCKSTEP_CLI_REFUSE_H

/* refuse prints "lockstep COMMAND: ..." on stderr and returns the status
 * USAGE. */
__attribute__((format(printf, 2, 3))) int refuse(const char *command,
						 const char *format, ...);

/* out_of_memory prints that there is no memory, and returns INTERNAL. */
int out_of_memory(const char *command);

/* refuse_model prints that the command takes what is expected and no --model,
 * and which commands do. Returns USAGE. */
int refuse_model(const char *command, const char *expected);

#endif
