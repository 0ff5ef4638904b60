/*
 * log_head.h - reads facts of a run of nccl-tests from lines of a log other
 * than rows. Private to model/measured/log*.c.
 *
 * These are understood, with anything before them in the line:
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

/* A program of nccl-tests, without "_perf". */
struct log_test {
	const char *name;
	enum collective collective;
	const char *why; /* why it is not read; NULL: it is read */
};

/* A host that ranks were listed on. */
struct log_host {
	const char *name; /* in the text of the log, without a 0 */
	size_t len;
};

/* A run, or the lines before it. Texts are the log's. */
struct log_run {
	const struct log_test *test; /* NULL: not stated */
	bool by_command;             /* known only from the name of a command */
	bool ambiguous;              /* with commands of several tests */
	int ranks, nodes;            /* from a head line; 0: not stated */
	int comm_ranks, comm_nodes;  /* from NCCL's lines */
	int last_ranks, last_nodes;  /* of the run before in the same log */
	int listed;                  /* "Rank" lines */
	int process_ranks;      /* that one thread launches; 0: not stated */
	struct log_host *hosts; /* owned */
	size_t num_hosts;
	const char *gpu;                  /* of the first "Rank" line */
	const char *version;              /* NCCL's */
	const char *network;              /* NCCL's name of it */
	const char *algorithm, *protocol; /* forced */
	bool in_place; /* the only times of the table are in place */
};

/* What is expected of a run with several groups. */
#define LOG_ONE_GROUP                                                          \
	"ranks of one group: several at a time (NCCL_TESTS_SPLIT) are not "    \
	"modelled"

/* log_test_find returns the test that a word of len characters, like
 * "./build/all_reduce_perf", means; NULL: none. */
const struct log_test *log_test_find(const char *word, size_t len);

/* log_version_of_code turns NCCL's number of a version at `at`, "22807", into
 * "2.28" in its place, and returns it; NULL: it is none. The number is 10,000
 * major + 100 minor + patch, until 2.8 1,000 major (nccl.h). */
const char *log_version_of_code(char *at);

/* log_run_note_forced notes NCCL_ALGO and NCCL_PROTO, if line sets them. */
void log_run_note_forced(struct log_run *run, const char *line);

/* log_run_add_host adds a host that ranks are on, if it is new; name must
 * outlive run. Returns false: no memory. */
bool log_run_add_host(struct log_run *run, const char *name, size_t len);

/* log_head_begins returns whether line begins the head of a new run. */
bool log_head_begins(const char *line);

/* log_head_read stores the facts in line, which it may change. Returns NULL, or
 * what was expected of the line; *no_memory: it failed without memory. */
const char *log_head_read(struct log_run *run, char *line, bool *no_memory);

/* log_run_next clears run, except facts that also hold for the next run of the
 * log if it does not state them: ranks, nodes, GPUs, NCCL's version, network.
 */
void log_run_next(struct log_run *run);

/* log_run_release frees what run holds. */
void log_run_release(struct log_run *run);

/* log_run_ranks and log_run_nodes return their number, as the log states it; 0:
 * not stated. */
int log_run_ranks(const struct log_run *run);
int log_run_nodes(const struct log_run *run);

/* log_network_has returns whether NCCL's network `name` can be a network of
 * transport (of a machine's description). */
bool log_network_has(const char *name, const char *transport);

#endif
