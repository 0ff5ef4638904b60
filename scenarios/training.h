/*
 * training.h - one rank's run of a workload: the state that its functions
 * share.
 */
#ifndef LOCKSTEP_SCENARIOS_TRAINING_H
#define LOCKSTEP_SCENARIOS_TRAINING_H

#include "lockstep/dist.h"
#include "scenarios/waits.h"
#include "scenarios/workload.h"

struct call;
struct pipeline;

/* A group with the waits of its collectives. */
struct lane {
	struct dist_group *group;
	struct waits waits;
};

/* Most lanes of a rank; the first is the default group. */
#define TRAINING_LANES 8

struct training {
	const struct workload_job *job;
	struct dist_group *group; /* the default group */
	int rank, world_size;
	bool phantom;          /* tensors have no contents */
	bool computes;         /* counts in the means of the result */
	int step;              /* the current one */
	double factor;         /* factor on the declared computing time */
	int64_t start_ns;      /* of the step */
	void *state;           /* the workload's */
	const char *doing;     /* for the message of a failure */
	enum dist_error error; /* that ended the steps; set before stop() */

	struct lane lanes[TRAINING_LANES];
	size_t num_lanes;
	int64_t computed_ns;                             /* in all steps */
	struct workload_calls calls[WORKLOAD_NUM_CALLS]; /* of all steps */
	struct call **kept; /* call_keep(); the list is owned */
	size_t num_kept;
	struct pipeline *pipeline; /* of the stages; NULL: there is none */
	double wrong;              /* elements that calls got in this step */
	double *times; /* of each step, then the wrong elements; owned */
	void **memory; /* of its tensors; owned */
	size_t num_memory;
};

/* One operation that the rank will wait for. */
struct pending {
	struct dist_work *work; /* NULL: none */
	struct lane *lane;      /* NULL: a message */
	int64_t begun_ns;
};

/* training_lane returns the lane of a group that the workload made, which the
 * default group's end destroys. group NULL: none, and there are no waits. */
struct lane *training_lane(struct training *t, struct dist_group *group);

/* training_tensor makes a tensor of float32 that lives as long as the training;
 * a phantom if t->phantom. Errors: DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error
training_tensor(struct training *t, size_t numel, struct dist_tensor *tensor);

/* training_tensor_of does the same with another dtype. */
DIST_MUST_CHECK enum dist_error training_tensor_of(struct training *t,
						   size_t numel,
						   enum dist_dtype dtype,
						   struct dist_tensor *tensor);

/* training_compute lets duration_ns times the rank's factor pass. Errors: those
 * of dist_compute. */
DIST_MUST_CHECK enum dist_error
training_compute(struct training *t, int64_t duration_ns, const char *label);

/*
 * training_begin counts a call on tensor and notes its beginning. Returns the
 * lane's group, for the call with &pending->work:
 *
 *	err = dist_all_reduce(training_begin(t, &p, WORKLOAD_ALL_REDUCE, lane,
 *					     g),
 *			      g, DIST_SUM, &p.work);
 */
struct dist_group *training_begin(struct training *t, struct pending *pending,
				  enum workload_call call, struct lane *lane,
				  struct dist_tensor tensor);

/* training_wait waits for the pending operation, if there is one, and frees it.
 * Errors: those of the operation; DIST_ERR_NO_MEMORY. */
DIST_MUST_CHECK enum dist_error training_wait(struct training *t,
					      struct pending *pending);

#endif
