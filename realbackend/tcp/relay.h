/* relay.h - passing on what a rank prints, line by line, with its number in
 * front. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_RELAY_H
#define LOCKSTEP_TCP_RELAY_H

#include <stdbool.h>
#include <stddef.h>

/* A longer line is broken. */
#define DIST__OUTPUT_LINE 16384

/* One stream of one rank. */
struct dist__relay {
	int fd;     /* read end of the pipe; -1: at its end */
	int target; /* descriptor of ours that it is passed on to */
	int rank;
	size_t len; /* of the line begun */
	char *line; /* owned; DIST__OUTPUT_LINE bytes */
};

/* dist__relay_open makes the pipe; *write_fd is the child's end. false: the
 * system refused. */
bool dist__relay_open(struct dist__relay *output, int rank, int target,
		      int *write_fd);

/* dist__relay_pass passes on what has come, whole lines only. */
void dist__relay_pass(struct dist__relay *output);

/* dist__relay_close passes on the rest and closes. */
void dist__relay_close(struct dist__relay *output);

#endif
