/*
 * cases.h - the one conformance table, as a rank program over the public API.
 *
 * The table is a list of plain cases: call x dtype x reduce op x count x root
 * x blocking or not. Every rank walks it, checks each result against what
 * arithmetic says, and leaves a digest of the bytes it got, so that two worlds
 * can be held against each other bit for bit. No test framework is needed.
 */
#ifndef LOCKSTEP_TESTS_SUPPORT_CASES_H
#define LOCKSTEP_TESTS_SUPPORT_CASES_H

#include <stddef.h>
#include <stdint.h>

#define CASES_MAX_WORLD 16
#define CASES_MAX       8192

/* What all ranks write; lies in memory shared between processes. */
struct cases_outcome {
	uint32_t count; /* cases walked by rank 0 */
	uint32_t failures[CASES_MAX_WORLD];
	char first[CASES_MAX_WORLD][200]; /* the first failure, in words */
	uint64_t digest[CASES_MAX_WORLD][CASES_MAX];
};

/* cases_outcome_new maps an empty outcome; cases_outcome_free unmaps it. */
struct cases_outcome *cases_outcome_new(void);
void cases_outcome_free(struct cases_outcome *outcome);

/*
 * cases_run launches the table on backend with world_size ranks, algorithms
 * forced as dist_launch() takes them (NULL: as selected), platform for the
 * simulator.
 * Returns dist_launch()'s exit status. One simulation per process: call it in
 * a child of its own.
 */
int cases_run(const char *backend, const char *platform, const char *algorithms,
	      int world_size, struct cases_outcome *outcome);

#endif
