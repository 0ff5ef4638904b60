/* environment.h - this rank's place from the environment: the variables of
 * torchrun and ours; if RANK and WORLD_SIZE are not set, those of mpirun and
 * srun. Private to realbackend/store/. */
#ifndef LOCKSTEP_STORE_ENVIRONMENT_H
#define LOCKSTEP_STORE_ENVIRONMENT_H

#include <stdint.h>

#include "core/backend.h"
#include "core/init_method.h"

/* The legal values of LOCKSTEP_INTRA and LOCKSTEP_BIND_TO, for messages and
 * help. */
#define DIST__INTRA_WORDS "shm or tcp"
#define DIST__BIND_WORDS  "none or core"

struct dist__environment {
	int rank, world_size; /* RANK, WORLD_SIZE, or a scheduler's */
	int local_world_size; /* LOCAL_WORLD_SIZE; 0: not set */
	int group_rank;       /* GROUP_RANK, the node's number; -1: not set */
	struct dist__init_method method;
	struct dist_store *store; /* with DIST__INIT_STORE; borrowed */
	const char *master_addr;  /* method's, MASTER_ADDR; NULL: not set */
	int master_port;          /* method's, or its store's; -1: not set */
	int64_t timeout_ns;       /* LOCKSTEP_TIMEOUT, seconds */
	int64_t keep_alive_ns;    /* LOCKSTEP_KEEP_ALIVE, seconds; 0: never */
	int unexpected_mib;       /* LOCKSTEP_UNEXPECTED; 0: not set */
	enum dist__debug debug;   /* LOCKSTEP_DEBUG */
	const char *profile;      /* LOCKSTEP_PROFILE; NULL: the built-in one */
	const char *algorithm;    /* LOCKSTEP_ALGORITHM; NULL: as selected */
	bool shares;              /* LOCKSTEP_INTRA: shm, not tcp */
	bool binds;               /* LOCKSTEP_BIND_TO: core, not none */
	const char *trace;        /* LOCKSTEP_TRACE; NULL: none */
	const char *secret;       /* LOCKSTEP_SECRET; NULL: none */
	char master_host[256];    /* buffer that master_addr may point to */
	int store_fd; /* LOCKSTEP_STORE_FD: rank 0's listener; -1: none */
};

/*
 * dist__environment_read fills *e, which must not move; options override the
 * environment. The strings belong to the environment, or are within *e. Errors:
 * INVALID_ARGUMENT (message names the variable, its value and what was
 * expected).
 */
enum dist_error dist__environment_read(const struct dist_init_options *options,
				       struct dist__environment *e,
				       struct dist_message *message);

/* dist__job_is_rank returns whether this process has been started as one rank
 * of a job: RANK is set, or it is one of several of mpirun or srun. */
bool dist__job_is_rank(void);

/* dist__intra_parse reads the transport of ranks on one machine: *shares is
 * true for memory ("shm"), false for sockets ("tcp"). false: text is neither.
 */
bool dist__intra_parse(const char *text, bool *shares);

/* dist__bind_parse reads what ranks are bound to: *binds is true for one
 * processor each ("core"), false for "none". false: text is neither. */
bool dist__bind_parse(const char *text, bool *binds);

/* dist__secret_copy returns a copy of LOCKSTEP_SECRET, which the caller frees;
 * NULL: not set, or empty; or no memory, and then *failed is true. */
char *dist__secret_copy(bool *failed);

/* dist__secret_warn warns on stderr that anybody who can connect to the
 * listening socket can disturb the job: if other machines can, and there is no
 * secret. */
void dist__secret_warn(int listener);

/* dist__secret_is_empty returns whether LOCKSTEP_SECRET is set, but empty; if
 * so, message says it. */
bool dist__secret_is_empty(struct dist_message *message);

#endif
