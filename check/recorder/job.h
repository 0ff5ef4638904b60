/*
 * job.h - the recordings of all ranks side by side: the groups of the job, how
 * far each rank got, and where the first two disagree. Private to
 * check/recorder/.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_JOB_H
#define LOCKSTEP_CHECK_RECORDER_JOB_H

#include "check/recorder/recording.h"

/* A group of the job. Its ranks are those of one of its recordings, or, where
 * none knows them, those that called there (known: false). */
struct job_group {
	uint32_t name, desc; /* in the names */
	uint32_t num_ranks;
	uint32_t *ranks; /* by rank of the group; borrowed if known */
	bool known;      /* else owned */
	bool twins;      /* its description is not its own */
	bool on_board;   /* what happens there decides something */
	uint32_t board_id;
	uint32_t furthest; /* most collectives that one rank has begun */
};

struct job {
	struct recording *recordings;
	uint32_t num_recordings;
	struct recording_names names;

	uint32_t world_size;
	uint32_t *of_rank; /* by rank: number of the recording + 1; 0: none */
	struct job_group *groups;
	uint32_t num_groups;
	/* By recording: how many calls count, the first of them that is not
	 * complete, and the one that the rank waits in; RECORDING_NONE: none.
	 */
	uint32_t *limits, *open, *waiting;
};

/* check_job_settle finds all that; false: no memory. */
bool check_job_settle(struct job *job);
void check_job_release(struct job *job);

/* check_job_recording returns that of rank; NULL: there is none. */
static inline const struct recording *check_job_recording(const struct job *job,
							  uint32_t rank)
{
	uint32_t number = job->of_rank[rank];

	return number ? &job->recordings[number - 1] : NULL;
}

/* check_job_begun returns how many collectives of the group of the job have
 * begun on rank. */
uint32_t check_job_begun(const struct job *job, uint32_t rank, uint32_t group);

/* check_job_has_begun returns whether call number i of a recording has. */
bool check_job_has_begun(const struct job *job, uint32_t recording, uint32_t i);

/* check_job_awaits returns whether call number i of a recording waits for a
 * rank that has not come to it. */
bool check_job_awaits(const struct job *job, uint32_t recording, uint32_t i);

/* check_job_deadline_ns returns when the call was to be complete. */
int64_t check_job_deadline_ns(const struct recording_call *call);

/* check_job_global returns the rank of the job that is a rank of the group. */
int32_t check_job_global(const struct job *job,
			 const struct recording_group *group, int32_t rank);

#endif
