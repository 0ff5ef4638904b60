/* environment.h - what the launcher, or a person, says about this rank's place:
 * torchrun's variables and ours; where RANK and WORLD_SIZE are not set, those
 * of mpirun and srun. Private to realbackend/tcp/. */
#ifndef LOCKSTEP_TCP_ENVIRONMENT_H
#define LOCKSTEP_TCP_ENVIRONMENT_H

#include <stdint.h>

#include "core/backend.h"
#include "core/init_method.h"

struct dist__environment {
	int rank, world_size; /* RANK, WORLD_SIZE, or a scheduler's */
	int local_world_size; /* LOCAL_WORLD_SIZE; 0: not said */
	int group_rank;       /* GROUP_RANK, the node's number; -1: not said */
	struct dist__init_method method;
	struct dist_store *store; /* with DIST__INIT_STORE; borrowed */
	const char *master_addr;  /* method's, MASTER_ADDR; NULL: not said */
	int master_port;          /* method's, MASTER_PORT; -1: not said */
	int64_t timeout_ns;       /* LOCKSTEP_TIMEOUT, seconds */
	enum dist__debug debug;   /* LOCKSTEP_DEBUG */
	const char *profile;      /* LOCKSTEP_PROFILE; NULL: the built-in one */
	const char *algorithm;    /* LOCKSTEP_ALGORITHM; NULL: as selected */
	bool shares;              /* LOCKSTEP_INTRA: shm, not tcp */
	bool binds;               /* LOCKSTEP_BIND_TO: core, not none */
	const char *trace;        /* LOCKSTEP_TRACE; NULL: none */
	char master_host[256];    /* what master_addr may point to */
	int store_fd; /* LOCKSTEP_STORE_FD: rank 0's listener; -1: none */
};

/*
 * dist__environment_read fills *e, which stays where it is; options win over
 * the environment. The strings are the environment's, or within *e. Errors:
 * INVALID_ARGUMENT (message names the variable, its value and what was
 * expected).
 */
enum dist_error dist__environment_read(const struct dist_init_options *options,
				       struct dist__environment *e,
				       struct dist_message *message);

#endif
