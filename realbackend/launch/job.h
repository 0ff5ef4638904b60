/* job.h - a job of processes: its ranks, its nodes, where output goes.
 * launcher.h runs it. */
#ifndef LOCKSTEP_LAUNCH_JOB_H
#define LOCKSTEP_LAUNCH_JOB_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
