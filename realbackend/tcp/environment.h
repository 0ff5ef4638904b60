/* environment.h - what the launcher, or a person, says about this rank's place:
 * torchrun's variables and ours. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_ENVIRONMENT_H
#define LOCKSTEP_TCP_ENVIRONMENT_H

#include <stdint.h>

#include "lockstep/dist.h"

struct dist__environment {
	int rank, world_size;    /* RANK, WORLD_SIZE */
	int local_world_size;    /* LOCAL_WORLD_SIZE; 0: not said */
	const char *master_addr; /* MASTER_ADDR; NULL: not said */
	int master_port;         /* MASTER_PORT; -1: not said */
	int64_t timeout_ns;      /* LOCKSTEP_TIMEOUT, seconds */
	const char *profile;     /* LOCKSTEP_PROFILE; NULL: the built-in one */
	const char *algorithm;   /* LOCKSTEP_ALGORITHM; NULL: as selected */
	const char *trace;       /* LOCKSTEP_TRACE; NULL: none */
	int store_fd; /* LOCKSTEP_STORE_FD: rank 0's listener; -1: none */
	int board_fd; /* LOCKSTEP_BOARD_FD: memory for records; -1: none */
};

/*
 * dist__environment_read fills *e; options win over the environment. The
 * strings are the environment's. Errors: INVALID_ARGUMENT (message names the
 * variable, its value and what was expected).
 */
enum dist_error dist__environment_read(const struct dist_init_options *options,
				       struct dist__environment *e,
				       struct dist_message *message);

#endif
