/* relay.h - passing on what a rank prints, line by line, with a prefix that
 * tells whose it is, and to a file as it is. Private to realbackend/launch/. */
#ifndef LOCKSTEP_LAUNCH_RELAY_H
#define LOCKSTEP_LAUNCH_RELAY_H

#include <stdbool.h>
#include <stddef.h>

/* A longer line is broken. */
#define DIST__OUTPUT_LINE 16384
/* A longer prefix is cut. */
#define DIST__RELAY_PREFIX 128

/* One stream of one rank. */
struct dist__relay {
	int fd;     /* read end of the pipe; -1: at its end */
	int target; /* descriptor of ours that it is passed on to */
	int log;    /* of the file; owned; -1: none */
	int error;  /* errno of the first write that failed; 0: none */
	char prefix[DIST__RELAY_PREFIX];
	size_t len; /* of the line begun */
	char *line; /* owned; DIST__OUTPUT_LINE bytes */
};

#define DIST__RELAY_NONE ((struct dist__relay){.fd = -1, .log = -1})

/* dist__relay_open makes the pipe; *write_fd is the child's end. log is the
 * relay's from then on. false: the system refused; the relay is to be closed
 * all the same. */
bool dist__relay_open(struct dist__relay *output, const char *prefix,
		      int target, int log, int *write_fd);

/* dist__relay_pass passes on what has come, whole lines only. */
void dist__relay_pass(struct dist__relay *output);

/* dist__relay_close passes on the rest and closes; the error stays. */
void dist__relay_close(struct dist__relay *output);

#endif
