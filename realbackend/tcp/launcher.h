/*
 * launcher.h - a job of local processes: started with torchrun's variables,
 * watched, and ended together.
 *
 * Every child is given RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE,
 * GROUP_RANK, GROUP_WORLD_SIZE, ROLE_RANK, ROLE_WORLD_SIZE, ROLE_NAME,
 * MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RESTART_COUNT,
 * TORCHELASTIC_MAX_RESTARTS, TORCHELASTIC_RUN_ID, LOCKSTEP_BACKEND=tcp, those
 * LOCKSTEP_ variables that the job sets, LOCKSTEP_BOARD_FD (the records) and,
 * for rank 0, LOCKSTEP_STORE_FD (the store's listening socket, bound before the
 * first child starts, so that nobody can take the port in between).
 */
#ifndef LOCKSTEP_TCP_LAUNCHER_H
#define LOCKSTEP_TCP_LAUNCHER_H

#include "lockstep/dist.h"

/* All-zero but for nproc and start is a good job. Strings are borrowed. */
struct dist__job_spec {
	int nproc;               /* number of ranks, 1 or more */
	const char *master_addr; /* NULL: 127.0.0.1 */
	int master_port;         /* 0: a free one */
	const char *trace;       /* LOCKSTEP_TRACE; NULL: leave as it is */
	const char *profile;     /* LOCKSTEP_PROFILE; likewise */
	const char *algorithm;   /* LOCKSTEP_ALGORITHM; likewise */
	int64_t timeout_ns;      /* LOCKSTEP_TIMEOUT; 0: likewise */
	bool prefix_output;      /* "[rank]: " before each line of output */

	/* Runs in each child, which exits with its return value. It may as
	 * well replace the process (exec). */
	int (*start)(void *arg);
	void *arg;
};

/*
 * dist__job_run starts the job and blocks until every process of it is gone.
 *
 * When a child ends by a signal or with a non-zero status, the others are sent
 * SIGTERM at once and SIGKILL a second later, their own children included
 * (each rank is a process group; terminal input is theirs only if it is no
 * terminal). The rank that ended first and the verdict on the job go to stderr.
 * SIGINT, SIGTERM and SIGHUP are passed on and end the job the same way. If the
 * caller is killed, the kernel kills the ranks (Linux).
 *
 * Returns one of enum dist_exit: OK; FAILED (a rank returned non-zero, with no
 * verdict); MISMATCH, DEADLOCK, TIMEOUT, RANK_LOST, RENDEZVOUS (verdicts; the
 * last also for a port that is taken); INTERNAL (the system refused a process
 * or a pipe); or 128 + the number of the signal that ended the caller's wait.
 */
int dist__job_run(const struct dist__job_spec *spec);

#endif
