/*
 * job.h - the recordings of all ranks together: the groups of the job, how far
 * each rank got, and where two ranks first disagree. Private to
 * check/recorder/.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_JOB_H
#define LOCKSTEP_CHECK_RECORDER_JOB_H

#include "check/recorder/recording.h"

/* A group of the job. Its ranks are those listed in one of its recordings or,
 * if none lists them, those that called there (known: false). */
struct job_group {
	uint32_t name, desc; /* indices into names */
	uint32_t num_ranks;
	uint32_t *ranks; /* by rank of the group; borrowed if known */
	bool known;      /* else owned */
	bool twins;      /* another group has the same description */
	bool on_board;   /* its calls matter for the verdict */
	uint32_t board_id;
	uint32_t furthest; /* most collectives begun by one rank */
};

struct job {
	struct recording *recordings;
	uint32_t num_recordings;
	struct recording_names names;

	uint32_t world_size;
	uint32_t *of_rank; /* by rank: number of the recording + 1; 0: none */
	struct job_group *groups;
	uint32_t num_groups;
	/* By recording: the number of calls that count, the first of them that
	 * is incomplete, and the call that the rank waits in; RECORDING_NONE:
	 * none. */
	uint32_t *limits, *open, *waiting;
};

/* check_job_settle sets everything below names; false: no memory. */
bool check_job_settle(struct job *job);
void check_job_release(struct job *job);

/* check_job_recording returns the recording of rank; NULL: there is none. */
static inline const struct recording *check_job_recording(const struct job *job,
							  uint32_t rank)
{
	uint32_t number = job->of_rank[rank];

	return number ? &job->recordings[number - 1] : NULL;
}

/* check_job_begun returns the number of collectives of the job's group `group`
 * that have begun on rank. */
uint32_t check_job_begun(const struct job *job, uint32_t rank, uint32_t group);

/* check_job_has_begun returns whether call i of a recording has begun. */
bool check_job_has_begun(const struct job *job, uint32_t recording, uint32_t i);

/* check_job_awaits returns whether call i of a recording waits for a rank that
 * has not come to it. */
bool check_job_awaits(const struct job *job, uint32_t recording, uint32_t i);

/* check_job_deadline_ns returns the deadline of call. */
int64_t check_job_deadline_ns(const struct recording_call *call);

/* check_job_global returns the global rank of a rank of group. */
int32_t check_job_global(const struct job *job,
			 const struct recording_group *group, int32_t rank);

#endif
