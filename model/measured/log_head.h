/*
 * log_head.h - what the lines of a log say of a run of nccl-tests, but for its
 * rows. Private to model/measured/log*.c.
 *
 * Understood are, whatever stands before them in their line:
 *
 *	# Collective test starting: NAME	(nccl-tests 2.17)
 *	... NAME_perf ...			(a command)
 *	# nccl-tests version V nccl-headers=N nccl-library=22807
 *	# nThread 1 nGpus 8 minBytes ... graph: 0
 *	#  Rank  0 Group  0 Pid 1 on HOST device  0 [0x1b] NVIDIA A100
 *	NCCL version 2.18.3+cuda12.2		(NCCL_DEBUG=VERSION)
 *	... NCCL INFO Using network Socket	(NCCL_DEBUG=INFO)
 *	... NCCL INFO comm 0x1 rank 0 nRanks 16 nNodes 2 ...
 *	... NCCL_ALGO set by environment to Ring
 *	# collective: all_reduce ranks: 16	(lockstep bench, or by hand)
 *	# nodes: 2
 */
#ifndef LOCKSTEP_MODEL_MEASURED_LOG_HEAD_H
#define LOCKSTEP_MODEL_MEASURED_LOG_HEAD_H

#include "lockstep/dist.h"
#include "model/measured/collectives.h"

/* How nccl-tests' programs are called, without "_perf". */
struct log_test {
	const char *name;
	enum collective collective;
	const char *why; /* it is not read; NULL: it is */
};

/* A host that ranks were listed on. */
struct log_host {
	const char *name; /* of the log's text, not ended */
	size_t len;
};

/* A run, or what was said before it. Texts are the log's. */
struct log_run {
	const struct log_test *test; /* NULL: not said */
	bool by_command;             /* it is a command's name alone */
	bool ambiguous;              /* and there were others */
	int ranks, nodes;            /* as a head line says them; 0: not said */
	int comm_ranks, comm_nodes;  /* as NCCL does */
	int last_ranks, last_nodes;  /* of the run before, of the same log */
	int listed;                  /* "Rank" lines */
	struct log_host *hosts;      /* owned */
	size_t num_hosts;
	const char *gpu;                  /* of the first "Rank" line */
	const char *version;              /* NCCL's */
	const char *network;              /* as NCCL calls it */
	const char *algorithm, *protocol; /* forced */
	bool in_place; /* the times of a table that has only one */
};

/* log_head_begins returns whether line is of the head of a run, so that rows
 * before it are another one's. */
bool log_head_begins(const char *line);

/* log_head_read notes what line, which it may cut, says of a run. Returns NULL,
 * or what was expected of the line; *no_memory: or there is none. */
const char *log_head_read(struct log_run *run, char *line, bool *no_memory);

/* log_run_next empties run, but for what holds of the next run of the same log
 * unless that says otherwise: ranks, nodes, GPUs, NCCL's version, network. */
void log_run_next(struct log_run *run);

/* log_run_release frees what run holds. */
void log_run_release(struct log_run *run);

/* log_run_ranks and log_run_nodes return how many there are, as far as the log
 * says; 0: it does not. */
int log_run_ranks(const struct log_run *run);
int log_run_nodes(const struct log_run *run);

/* log_network_has returns whether the network that NCCL calls `name` may be one
 * of that transport (of a machine's description). */
bool log_network_has(const char *name, const char *transport);

#endif
