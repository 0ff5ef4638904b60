/*
 * streams.h - where the output of ranks goes: to the launcher's output, to
 * files as torchrun lays them out, to both, or nowhere.
 *
 *	LOG_DIR/RUN-ID_XXXXXX/attempt_N/LOCAL-RANK/{stdout,stderr}.log
 *
 * Private to realbackend/launch/.
 */
#ifndef LOCKSTEP_LAUNCH_STREAMS_H
#define LOCKSTEP_LAUNCH_STREAMS_H

#include "lockstep/dist.h"
#include "realbackend/launch/job.h"

/* Longer lines are broken. */
#define DIST__OUTPUT_LINE 16384
/* Longer prefixes are cut. */
#define DIST__RELAY_PREFIX 128

/* One stream of one rank: copied by lines, with a prefix, to our output, and
 * unchanged to a file. */
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

/* dist__relay_pass copies what has come, whole lines only. */
void dist__relay_pass(struct dist__relay *output);

/* dist__relay_close copies the rest and closes; error stays set. */
void dist__relay_close(struct dist__relay *output);

struct dist__streams {
	const struct dist__job_spec *spec;
	char *dir; /* of the run; NULL: no files */
};

/* The rank whose output it is. */
struct dist__streams_rank {
	int round;
	int rank;
	int local_rank;
};

/* dist__streams_open makes the folder of the run, if the job has files.
 * Errors: IO, NO_MEMORY; see message. */
enum dist_error dist__streams_open(struct dist__streams *streams,
				   const struct dist__job_spec *spec,
				   struct dist_message *message);
void dist__streams_close(struct dist__streams *streams);

/* dist__streams_begin makes the folders of all local ranks for a round. false:
 * see errno. */
bool dist__streams_begin(const struct dist__streams *streams, int round);

/* dist__streams_attach opens stdout and stderr of a rank: write_fds are the
 * child's, -1: the launcher's own. relays[i].fd is -1 if nothing is copied.
 * false: the system refused; close what is open in any case. */
bool dist__streams_attach(const struct dist__streams *streams,
			  const struct dist__streams_rank *rank,
			  struct dist__relay relays[2], int write_fds[2]);

/* dist__streams_path stores the path of a rank's file; false: it has none, or
 * size is too small. */
bool dist__streams_path(const struct dist__streams *streams,
			const struct dist__streams_rank *rank, const char *file,
			char *path, size_t size);

#endif
