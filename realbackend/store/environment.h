/* environment.h - what the launcher, or a person, says about this rank's place:
 * torchrun's variables and ours; where RANK and WORLD_SIZE are not set, those
 * of mpirun and srun. Private to realbackend/store/. */
#ifndef LOCKSTEP_STORE_ENVIRONMENT_H
#define LOCKSTEP_STORE_ENVIRONMENT_H

#include <stdint.h>

#include "core/backend.h"
#include "core/init_method.h"

/* What LOCKSTEP_INTRA and LOCKSTEP_BIND_TO expect, for messages and for help.
 */
#define DIST__INTRA_WORDS "shm or tcp"
#define DIST__BIND_WORDS  "none or core"

struct dist__environment {
	int rank, world_size; /* RANK, WORLD_SIZE, or a scheduler's */
	int local_world_size; /* LOCAL_WORLD_SIZE; 0: not said */
	int group_rank;       /* GROUP_RANK, the node's number; -1: not said */
	struct dist__init_method method;
	struct dist_store *store; /* with DIST__INIT_STORE; borrowed */
	const char *master_addr;  /* method's, MASTER_ADDR; NULL: not said */
	int master_port;          /* method's, or its store's; -1: not said */
	int64_t timeout_ns;       /* LOCKSTEP_TIMEOUT, seconds */
	int64_t keep_alive_ns;    /* LOCKSTEP_KEEP_ALIVE, seconds; 0: never */
	int unexpected_mib;       /* LOCKSTEP_UNEXPECTED; 0: not said */
	enum dist__debug debug;   /* LOCKSTEP_DEBUG */
	const char *profile;      /* LOCKSTEP_PROFILE; NULL: the built-in one */
	const char *algorithm;    /* LOCKSTEP_ALGORITHM; NULL: as selected */
	bool shares;              /* LOCKSTEP_INTRA: shm, not tcp */
	bool binds;               /* LOCKSTEP_BIND_TO: core, not none */
	const char *trace;        /* LOCKSTEP_TRACE; NULL: none */
	const char *secret;       /* LOCKSTEP_SECRET; NULL: none */
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

/* dist__job_is_rank returns whether this process has been started as one rank
 * of a job: RANK is set, or it is one of several of mpirun or srun. */
bool dist__job_is_rank(void);

/* dist__intra_parse reads what ranks of one machine talk through: *shares is
 * whether it is memory ("shm"), not sockets ("tcp"). false: text is neither.
 */
bool dist__intra_parse(const char *text, bool *shares);

/* dist__bind_parse reads what ranks are bound to: *binds is whether it is a
 * processor each ("core"), not nothing ("none"). false: text is neither. */
bool dist__bind_parse(const char *text, bool *binds);

/* dist__secret_copy returns a copy of LOCKSTEP_SECRET, which the caller frees;
 * NULL: not set, or empty; or no memory, and then *failed. */
char *dist__secret_copy(bool *failed);

/* dist__secret_warn says on stderr that whoever reaches the listening socket
 * can disturb the job, where others than this machine can, and there is no
 * secret. */
void dist__secret_warn(int listener);

/* dist__secret_is_empty returns whether LOCKSTEP_SECRET is set, and to nothing;
 * then message says so. */
bool dist__secret_is_empty(struct dist_message *message);

#endif
