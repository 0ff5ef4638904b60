/*
 * launcher.h - a job of processes: started with torchrun's variables, watched,
 * restarted, and ended together, on one node or on several.
 *
 * Every child gets RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK,
 * GROUP_WORLD_SIZE, ROLE_RANK, ROLE_WORLD_SIZE, ROLE_NAME, MASTER_ADDR,
 * MASTER_PORT, TORCHELASTIC_RESTART_COUNT, TORCHELASTIC_MAX_RESTARTS,
 * TORCHELASTIC_RUN_ID, TORCHELASTIC_USE_AGENT_STORE, TORCHELASTIC_ERROR_FILE
 * (with logs), LOCKSTEP_BACKEND, those LOCKSTEP_ variables that the job sets,
 * LOCKSTEP_BOARD_FD (the records), LOCKSTEP_OWN_RANKS (a file for those of
 * ranks that the program starts itself), LOCKSTEP_STORE_PORT and, for rank 0,
 * LOCKSTEP_STORE_FD (the store's listening socket). MASTER_PORT is for the
 * program and kept free for rank 0. Our store listens on another port; ranks
 * use it if MASTER_PORT is still the one given (LOCKSTEP_MASTER_PORT). Both
 * ports are reserved before the first child starts. Records and store are new
 * in every start.
 */
#ifndef LOCKSTEP_LAUNCH_LAUNCHER_H
#define LOCKSTEP_LAUNCH_LAUNCHER_H

#include "lockstep/dist.h"
#include "realbackend/launch/job.h"
#include "realbackend/store/environment.h"

/*
 * dist__job_run starts the job and blocks until all its processes here have
 * ended.
 *
 * When a child ends by a signal or with a non-zero status, the others, on all
 * nodes, get SIGTERM at once and SIGKILL a second later, including their own
 * children (each rank is a process group; it gets standard input only if that
 * is no terminal). Then all are started again, as long as restarts are left. If
 * a node is lost or joins, within the range of nodes, the world starts again
 * smaller or larger, which does not count as a restart. At the end, the first
 * node prints to stderr which rank ended first and the verdict on the last
 * start, because a verdict needs all records. SIGINT, SIGTERM, SIGQUIT and
 * SIGHUP are passed on and end the job in the same way. After SIGUSR1, on any
 * node, the first node reports where all ranks are, on stderr and in the JSON
 * that the environment asks for, and the job goes on; it, and the node that got
 * the signal, print the stacks of their Python ranks. With LOCKSTEP_DUMP the
 * first node writes the dumps of all ranks in both cases (docs/dumps.md). If no
 * rank has made a call for LOCKSTEP_PATIENCE seconds (default 5; 0: never) and
 * all records prove that they disagree, or that none can ever move, they are
 * ended as if one had failed. If the caller is killed, the kernel kills the
 * ranks (Linux), and a guardian process what they started (base/guardian.h).
 *
 * Returns one of enum dist_exit: OK; FAILED (a rank returned non-zero, with no
 * verdict); MISMATCH, DEADLOCK, TIMEOUT, RANK_LOST, RENDEZVOUS (verdicts; the
 * last also for a port in use and for nodes that do not come); INTERNAL (the
 * system refused a process, a file or a pipe); or 128 + the number of the
 * signal that ended the caller's wait.
 */
int dist__job_run(const struct dist__job_spec *spec);

#endif
