/*
 * job.h - jobs over NCCL on the doubles of its libraries, and what each of
 * their ranks found.
 */
#ifndef LOCKSTEP_TESTS_NCCL_JOB_H
#define LOCKSTEP_TESTS_NCCL_JOB_H

#include <stdatomic.h>
#include <stdint.h>

#include "lockstep/dist.h"

#define SECOND         ((int64_t)1000000000)
#define JOB_MOST_RANKS 8

/* What a rank leaves, in memory shared with the test. */
struct job_note {
	enum dist_error error; /* of the first call that failed */
	char message[512];
	enum dist_error later; /* of the call after that */
	int64_t took_ns;       /* the failing call */
	int wrong;             /* things that a program found wrong */
	atomic_bool done;      /* its program has ended */
};

struct job {
	int world_size;
	int64_t timeout_ns;  /* 0: a minute */
	const char *fail;    /* DOUBLE_FAIL; NULL: nothing fails */
	bool real;           /* on the machine's own libraries */
	int devices;         /* 0: as many as ranks */
	const char *version; /* DOUBLE_NCCL_VERSION; NULL: the double's own */
	const char *sharing; /* NCCL_MULTI_RANK_GPU_ENABLE; NULL: not set */
	bool hasty; /* a rank ends with its program, and others with it */
	bool bare;  /* no launcher: nobody is ended with another */

	/* Run by each rank with a group; returns its exit status. NULL: the
	 * rank leaves at once. */
	int (*program)(struct dist_group *group, struct job_note *note);
};

/* What came of it. */
struct job_outcome {
	int status; /* of dist_launch(); bare: 0 */
	struct job_note *notes;
	char text[4096]; /* what the job said on stderr */
};

/* job_run runs it on the doubles. Unless in haste a rank stays until the
 * programs of all have ended, so that its end cuts no other short. */
struct job_outcome job_run(const struct job *job);

/* job_use_doubles makes this process, and its children, find the doubles, with
 * so many devices; job_use_real makes it look for the real libraries. */
void job_use_doubles(int devices);
void job_use_real(void);

/* job_use_gpu makes this process, and its children, find the machine's own
 * libraries and the first of its GPUs. Where there is none, or several ranks
 * are to share it and NCCL is too old for that, the test is skipped. */
void job_use_gpu(bool shared);

/* job_failed stores error, if it is the first, with the group's message;
 * returns whether it is an error. */
bool job_failed(struct dist_group *group, struct job_note *note,
		enum dist_error error);

#endif
