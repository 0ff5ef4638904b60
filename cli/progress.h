/* progress.h - how far a long command is, on a terminal. */
#ifndef LOCKSTEP_CLI_PROGRESS_H
#define LOCKSTEP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	bool shown; /* stderr is a terminal */
	size_t done;
	size_t num;
	int64_t start_ns;
};

/* progress_begin shows that none of num pieces are done. Nothing is ever shown
 * unless stderr is a terminal. */
void progress_begin(struct progress *progress, size_t num);

/* progress_step shows that one more is done, and what time the others will
 * take if they are like those before. */
void progress_step(struct progress *progress);

/* progress_end clears the line. */
void progress_end(const struct progress *progress);

#endif
