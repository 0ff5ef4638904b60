/*
 * launcher.h - a job of processes: started with torchrun's variables, watched,
 * restarted, and ended together, on one node or on several.
 *
 * Every child gets RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK,
 * GROUP_WORLD_SIZE, ROLE_RANK, ROLE_WORLD_SIZE, ROLE_NAME, MASTER_ADDR,
 * MASTER_PORT, TORCHELASTIC_RESTART_COUNT, TORCHELASTIC_MAX_RESTARTS,
 * TORCHELASTIC_RUN_ID, TORCHELASTIC_USE_AGENT_STORE, TORCHELASTIC_ERROR_FILE
 * (with logs), LOCKSTEP_BACKEND, those LOCKSTEP_ variables that the job sets,
 * LOCKSTEP_BOARD_FD (the records), LOCKSTEP_STORE_PORT and, for rank 0,
 * LOCKSTEP_STORE_FD (the store's listening socket). MASTER_PORT is for the
 * program and kept free for rank 0. Our store listens on another port; ranks
 * use it if MASTER_PORT is still the one given (LOCKSTEP_MASTER_PORT). Both
 * ports are reserved before the first child starts. Records and store are new
 * in every start.
 */
#ifndef LOCKSTEP_LAUNCH_LAUNCHER_H
#define LOCKSTEP_LAUNCH_LAUNCHER_H

#include "lockstep/dist.h"
#include "realbackend/store/environment.h"

/* The nodes of a job; all-zero: this one alone. With more than one, the strings
 * and times must be set. */
struct dist__nodes_spec {
	int min_nodes, max_nodes;  /* max_nodes 0 or 1: this one */
	int node_rank;             /* of this node; -1: in order of arrival */
	const char *run_id;        /* the same for all of them */
	const char *endpoint_host; /* where the first of them listens */
	int endpoint_port;
	bool host_known, is_host; /* node_rank -1: whether this node may listen;
				     not known: if the endpoint is here */
	int64_t join_ns;          /* torchrun's join_timeout */
	int64_t last_call_ns;     /* last_call_timeout */
	int64_t keep_alive_ns;    /* interval times attempts */
};

/* Bits for the streams of a rank, torchrun's codes. */
#define DIST__STDOUT 1
#define DIST__STDERR 2

/* Where the output of ranks goes; all-zero: to the launcher's output. The
 * arrays are by local rank, with nproc entries. */
struct dist__output_spec {
	const char *log_dir;            /* NULL: one in $TMPDIR, if needed */
	const unsigned char *redirects; /* only to a file; NULL: none */
	const unsigned char *tee;       /* to a file and here; NULL: none */
	const bool *shown;              /* not hidden here; NULL: all */
	bool prefix;                    /* "[rank]: " before each line here */
};

/* A job; only nproc and start must not be zero. Strings are borrowed. */
struct dist__job_spec {
	int nproc;               /* number of ranks here, 1 or more */
	const char *backend;     /* LOCKSTEP_BACKEND; NULL: tcp */
	const char *master_addr; /* one node: of rank 0; NULL: 127.0.0.1 */
	int master_port;         /* one node: the program's; 0: a free one */
	const char *trace;       /* LOCKSTEP_TRACE; NULL: leave as it is */
	const char *profile;     /* LOCKSTEP_PROFILE; likewise */
	const char *algorithm;   /* LOCKSTEP_ALGORITHM; likewise */
	const char *debug;       /* LOCKSTEP_DEBUG; likewise */
	int64_t timeout_ns;      /* LOCKSTEP_TIMEOUT; 0: likewise */
	const char *role;        /* ROLE_NAME; NULL: "default" */
	const char *summary;     /* name of the program, to list failed ranks
				    as torchrun does; NULL: no list */
	bool is_python;          /* ranks are Python with our sitecustomize,
				    which uses LOCKSTEP_NOTES */
	int max_restarts;        /* of all ranks, after a failure */
	int64_t monitor_ns; /* between looks at the other nodes; 0: 0.1 s */
	struct dist__nodes_spec nodes;
	struct dist__output_spec output;

	/* Runs in each child, which exits with its result, or replaces the
	 * process (exec). */
	int (*start)(void *arg);
	void *arg;
};

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
 * ranks (Linux), and a guardian process kills their process groups.
 *
 * Returns one of enum dist_exit: OK; FAILED (a rank returned non-zero, with no
 * verdict); MISMATCH, DEADLOCK, TIMEOUT, RANK_LOST, RENDEZVOUS (verdicts; the
 * last also for a port in use and for nodes that do not come); INTERNAL (the
 * system refused a process, a file or a pipe); or 128 + the number of the
 * signal that ended the caller's wait.
 */
int dist__job_run(const struct dist__job_spec *spec);

#endif
