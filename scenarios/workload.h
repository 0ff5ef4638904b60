/*
 * workload.h - kinds of training steps as rank functions over the public
 * headers; used by the programs of their names and by `lockstep predict
 * --workload`.
 */
#ifndef LOCKSTEP_SCENARIOS_WORKLOAD_H
#define LOCKSTEP_SCENARIOS_WORKLOAD_H

#include <stdio.h>

#include "base/refuse.h"
#include "scenarios/gpu.h"
#include "scenarios/layers.h"
#include "model/training/model.h"
#include "scenarios/pace.h"
#include "model/training/schedule.h"
#include "scenarios/workload_arguments.h"

/* The most buckets whose sizes are returned. */
#define WORKLOAD_BUCKETS 256

enum workload_contents {
	WORKLOAD_AUTO, /* phantom in simulation, else real */
	WORKLOAD_PHANTOM,
	WORKLOAD_REAL
};

/* Kinds of calls that are counted in a step. */
enum workload_call {
	WORKLOAD_ALL_REDUCE,
	WORKLOAD_ALL_GATHER,
	WORKLOAD_REDUCE_SCATTER,
	WORKLOAD_ALL_TO_ALL,
	WORKLOAD_SEND
};
#define WORKLOAD_NUM_CALLS (WORKLOAD_SEND + 1)

/* Calls of one kind that rank 0 made in a step. bytes: of the whole tensor; of
 * an all-to-all and a send, what the rank sends. */
struct workload_calls {
	uint64_t num;
	uint64_t bytes;
};

/*
 * The result, as rank 0 knows it. A step is timed on the slowest rank, from the
 * barrier before it to the end of its optimizer. Its three parts are means over
 * the ranks that compute: computing, waiting for ranks that had not called yet,
 * and waiting for bytes.
 */
struct workload_result {
	int world_size;
	int64_t step_ns; /* median over the steps */
	int64_t min_ns;
	int64_t max_ns;
	int64_t compute_ns;
	int64_t idle_ns;
	int64_t exposed_ns;
	int64_t wrong; /* wrong elements found by check, on the worst rank */
	struct workload_calls calls[WORKLOAD_NUM_CALLS];
	size_t num_buckets;                    /* of ddp; 0: no buckets */
	size_t bucket_bytes[WORKLOAD_BUCKETS]; /* of the first ones, as sent */
};

struct training;
struct llm_run;

/* The argument of the rank function. Simulated ranks share it, so it is
 * constant. */
struct workload_job {
	const struct workload *workload;
	const struct workload_arguments *arguments;
	const struct model *model;
	const struct layers *layers;
	const struct schedule *schedule;
	const struct pace *pace;
	const char *compute;       /* text: the basis of the durations */
	const char *impossible;    /* why no device can do it; NULL, "":
				      possible, or not checked */
	const struct llm_run *llm; /* of the llm workload; else NULL */
	enum workload_contents contents;
	bool check;                     /* verify contents; needs real tensors
					 */
	bool only_steps;                /* what precedes the steps is not needed
					 */
	FILE *out;                      /* rank 0 prints here; NULL: nothing */
	struct workload_result *result; /* filled in by rank 0 if ranks share
					   memory; NULL: not wanted */
};

/* Elements on the fullest rank: parameters, gradients, and parameters with
 * optimizer state. */
struct workload_held {
	double parameters;
	double gradients;
	double states;
};

/* A kind of step. Its functions run on one rank; NULL: nothing to do. */
struct workload {
	const char *name;
	const char *example;    /* arguments after lockstep run */
	const char *prediction; /* arguments after lockstep predict --workload X
				 */
	const char *contents;   /* what check finds right: "gradients" */
	bool has_groups;        /* it has calls of smaller groups, or messages,
				   which may share links */
	bool has_lanes;         /* calls of all ranks go on side by side */

	/* Whether ranks do not all do the same; NULL: they do. */
	bool (*differs)(const struct workload_job *job, int world_size);

	/* Refuses an option with which world_size ranks cannot run the model.
	 * NULL: all can. */
	enum dist_error (*check)(const struct workload_job *job, int world_size,
				 struct dist__refusal *refusal);

	/* Batches of all ranks together in a step; NULL: one a rank. */
	double (*batches)(const struct workload_job *job, int world_size);

	/* NULL: all of the model. */
	struct workload_held (*held)(const struct workload_job *job,
				     int world_size);

	size_t state_size; /* of t->state: zero, and freed behind stop */

	/* Makes what the steps need in t->state; stop releases what is in it,
	 * also where start failed. Errors: any. */
	enum dist_error (*start)(struct training *t);
	void (*stop)(struct training *t);

	/* Writes the inputs of step t->step, before its clock starts. NULL:
	 * calls do. */
	void (*fill)(struct training *t);

	/* One step. Errors: any. */
	enum dist_error (*step)(struct training *t);

	/* Returns the number of wrong elements after a step, beside those of
	 * t->wrong. NULL: none. */
	double (*count_wrong)(const struct training *t);

	/* Adds results of this kind; on rank 0. */
	void (*report)(const struct training *t,
		       struct workload_result *result);
};

/* The functions of one whose state is a struct of that name; in its file they
 * are called as the slots are. */
#define WORKLOAD_STEPS(state)                                                  \
	.state_size = sizeof(struct state), .start = start, .stop = stop,      \
	.step = step

extern const struct workload workload_ddp_step;
extern const struct workload workload_fsdp;
extern const struct workload workload_hybrid;
extern const struct workload workload_llm;
extern const struct workload workload_moe;
extern const struct workload workload_pipeline;
extern const struct workload workload_ps;
extern const struct workload workload_tensor_parallel;

/* workload_find returns the kind named name, or NULL. */
const struct workload *workload_find(const char *name);

/* workload_call_name returns "all_reduce" and so on. */
const char *workload_call_name(enum workload_call call);

/* workload_describe_calls appends to text the calls of rank 0 in a step. */
void workload_describe_calls(const struct workload_result *result, char *text,
			     size_t size);

/* WORKLOAD_NAMES lists all names, for messages. */
#define WORKLOAD_NAMES                                                         \
	"ddp_step, fsdp, hybrid, moe, pipeline, ps, tensor_parallel"

/* workload_check refuses a job that cannot run on world_size ranks. Errors:
 * INVALID_ARGUMENT. */
DIST_MUST_CHECK enum dist_error workload_check(const struct workload_job *job,
					       int world_size,
					       struct dist__refusal *refusal);

/* workload_samples returns the samples of all ranks together in a step. */
double workload_samples(const struct workload_job *job, int world_size);

/* workload_held returns the elements on the fullest of world_size ranks, on
 * which job can run. */
struct workload_held workload_held(const struct workload_job *job,
				   int world_size);

/* workload_rank runs the steps on one rank; arg is a struct workload_job.
 * Returns 0, or 1 after an error or a wrong element. */
int workload_rank(void *arg);

/* workload_print writes a result for people. */
void workload_print(const struct workload_job *job, const char *backend,
		    const struct workload_result *result, FILE *out);

/* ---- from the command line to a job ----------------------------------- */

/* The objects that a job points to, made from arguments. */
struct workload_setup {
	struct model model;
	struct layers layers;
	struct schedule schedule;     /* of the step */
	struct schedule no_computing; /* of communication alone */
	struct pace pace;
	struct gpu gpu;      /* the device; name "": not known */
	double flops;        /* FLOP/s that it reaches */
	char compute[384];   /* text: the basis of the durations */
	struct llm_run *llm; /* of the llm workload, else NULL; owned */
	struct workload_job job;
};

/* workload_choose_pace reads how even the ranks compute. Errors: as
 * pace_read(), or --seed where nothing is random. */
DIST_MUST_CHECK enum dist_error
workload_choose_pace(struct workload_setup *setup,
		     const struct workload_arguments *arguments,
		     struct dist__refusal *refusal);

/*
 * workload_setup_init makes the setup from checked arguments; setup->job is
 * then complete, except the fields about how it is run. gpu is the device if
 * arguments name none; "": not known. Without a rate in arguments or of the
 * device the setup is refused, except if gpu is NULL: then a nominal rate is
 * used, and setup->compute says so. arguments and setup must not move in
 * memory. In any case workload_setup_release frees what *setup holds. Errors:
 * DIST_ERR_INVALID_ARGUMENT, DIST_ERR_NO_MEMORY, DIST_ERR_IO; refusal says why.
 */
DIST_MUST_CHECK enum dist_error
workload_setup_init(struct workload_setup *setup,
		    const struct workload *workload,
		    const struct workload_arguments *arguments, const char *gpu,
		    struct dist__refusal *refusal);

/* workload_setup_release frees what setup holds. */
void workload_setup_release(struct workload_setup *setup);

#endif
