/* relay.h - copies a rank's output: by lines, with a prefix, to our output, and
 * unchanged to a file. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_RELAY_H
#define LOCKSTEP_LAUNCH_RELAY_H

#include <stdbool.h>
#include <stddef.h>

/* Longer lines are broken. */
#define DIST__OUTPUT_LINE 16384
/* Longer prefixes are cut. */
#define DIST__RELAY_PREFIX 128

/* One stream of one rank. */
struct dist__relay {
	int fd;     /* read end of the pipe; -1: at its end */
	int target; /* our descriptor that it is copied to */
	int log;    /* of the file; owned; -1: none */
	int error;  /* errno of the first failed write; 0: none */
	char prefix[DIST__RELAY_PREFIX];
	size_t len; /* of the unfinished line */
	char *line; /* owned; DIST__OUTPUT_LINE bytes */
};

#define DIST__RELAY_NONE ((struct dist__relay){.fd = -1, .log = -1})

/* dist__relay_open makes the pipe; *write_fd is the child's end. The relay owns
 * log from then on. false: the system refused; close the relay in any case.
 */
bool dist__relay_open(struct dist__relay *output, const char *prefix,
		      int target, int log, int *write_fd);

/* dist__relay_pass copies what has come, whole lines only. */
void dist__relay_pass(struct dist__relay *output);

/* dist__relay_close copies the rest and closes; error stays set. */
void dist__relay_close(struct dist__relay *output);

#endif
