/*
 * workload.h - kinds of training steps: what each does to the network between
 * its ranks, as rank functions over the public headers; used by the programs
 * of their names and by `lockstep predict --workload`.
 */
#ifndef LOCKSTEP_SCENARIOS_WORKLOAD_H
#define LOCKSTEP_SCENARIOS_WORKLOAD_H

#include <stdio.h>

#include "scenarios/gpu.h"
#include "scenarios/layers.h"
#include "model/training/model.h"
#include "scenarios/pace.h"
#include "model/training/schedule.h"
#include "scenarios/workload_arguments.h"

/* Buckets of which the sizes are handed back. */
#define WORKLOAD_BUCKETS 256

enum workload_contents {
	WORKLOAD_AUTO, /* phantom in simulation, else real */
	WORKLOAD_PHANTOM,
	WORKLOAD_REAL
};

/* What is counted of a rank's calls in one step. */
enum workload_call {
	WORKLOAD_ALL_REDUCE,
	WORKLOAD_ALL_GATHER,
	WORKLOAD_REDUCE_SCATTER,
	WORKLOAD_ALL_TO_ALL,
	WORKLOAD_SEND
};
#define WORKLOAD_NUM_CALLS (WORKLOAD_SEND + 1)

/* Calls of one kind that rank 0 made in a step; bytes are those of the whole
 * tensor, of an all-to-all and a send what leaves the rank. */
struct workload_calls {
	uint64_t num;
	uint64_t bytes;
};

/*
 * What came out, as rank 0 knows it. Times of a step are the slowest rank's,
 * from the barrier before it to the end of its optimizer. The three parts of
 * it are means over the ranks that compute: what they computed, waited for
 * others that had not come yet, and waited for bytes.
 */
struct workload_result {
	int world_size;
	int64_t step_ns; /* median over the steps */
	int64_t min_ns;
	int64_t max_ns;
	int64_t compute_ns;
	int64_t idle_ns;
	int64_t exposed_ns;
	int64_t wrong; /* elements found wrong by check, on the worst rank */
	struct workload_calls calls[WORKLOAD_NUM_CALLS];
	size_t num_buckets;                    /* of ddp; 0: no such thing */
	size_t bucket_bytes[WORKLOAD_BUCKETS]; /* the first of them, as sent */
};

struct training;
struct llm_run;

/* What is run, given to the rank function. Shared by simulated ranks, so
 * constant. */
struct workload_job {
	const struct workload *workload;
	const struct workload_arguments *arguments;
	const struct model *model;
	const struct layers *layers;
	const struct schedule *schedule;
	const struct pace *pace;
	const char *compute;       /* what the durations stand on, in words */
	const char *impossible;    /* why no device can do it; NULL, "": it
				    * can, or nobody asked */
	const struct llm_run *llm; /* of the llm workload; else NULL */
	enum workload_contents contents;
	bool check;                     /* verify contents; needs real ones */
	bool only_steps;                /* nobody asks what precedes them */
	FILE *out;                      /* rank 0 prints here; NULL: not */
	struct workload_result *result; /* filled by rank 0; NULL: not. Works
					   where ranks share memory */
};

/* Elements of the model that the rank holds which holds most of them, or of
 * which it keeps what the optimizer has to remember. */
struct workload_held {
	double parameters;
	double gradients;
	double states;
};

/* One kind. The functions run on one rank of it; NULL: there is nothing to
 * do. */
struct workload {
	const char *name;
	const char *example;    /* what stands behind lockstep run */
	const char *prediction; /* and behind lockstep predict --workload X */
	const char *contents;   /* what check finds right: "gradients" */
	bool has_groups;        /* besides calls of all ranks there are others,
				 * or messages, which may share links */

	/* Returns NULL if the model can be cut so that world_size ranks do it,
	 * else the option that stands against it; message says what was
	 * expected. */
	const char *(*misfit)(const struct workload_job *job, int world_size,
			      struct dist_message *message);

	/* Samples that all ranks together train on in a step, in batches; NULL:
	 * one a rank. */
	double (*batches)(const struct workload_job *job, int world_size);

	/* NULL: all of the model. */
	struct workload_held (*held)(const struct workload_job *job,
				     int world_size);

	size_t state_size; /* of t->state: zero, and freed behind stop */

	/* Makes what the steps need in t->state; stop releases what is in it,
	 * also where start failed. Errors: any. */
	enum dist_error (*start)(struct training *t);
	void (*stop)(struct training *t);

	/* Writes what step t->step works on; before its clock starts. */
	void (*fill)(struct training *t);

	/* One step. Errors: any. */
	enum dist_error (*step)(struct training *t);

	/* Returns how many elements are wrong after a step. */
	double (*count_wrong)(const struct training *t);

	/* Adds to *idle_ns what the waits of t's lanes do not tell. */
	enum dist_error (*idle)(struct training *t, int64_t *idle_ns);

	/* Adds to the result what only this kind knows; on rank 0. */
	void (*report)(const struct training *t,
		       struct workload_result *result);
};

/* The functions of one whose state is a struct of that name; in its file they
 * are called as the slots are. */
#define WORKLOAD_STEPS(state)                                                  \
	.state_size = sizeof(struct state), .start = start, .stop = stop,      \
	.fill = fill, .step = step, .count_wrong = count_wrong

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

/* workload_print_calls ends a line with what rank 0 calls in a step. */
void workload_print_calls(const struct workload_result *result, FILE *out);

/* WORKLOAD_NAMES lists all names, in words. */
#define WORKLOAD_NAMES                                                         \
	"ddp_step, fsdp, hybrid, moe, pipeline, ps, tensor_parallel"

/* workload_misfit returns NULL if job can run on world_size ranks, else the
 * option that stands against it, "straggler"; message says what was expected.
 */
const char *workload_misfit(const struct workload_job *job, int world_size,
			    struct dist_message *message);

/* workload_samples returns how many samples all ranks together train on in a
 * step. */
double workload_samples(const struct workload_job *job, int world_size);

/* workload_held returns what the fullest of world_size ranks, which job fits,
 * holds. */
struct workload_held workload_held(const struct workload_job *job,
				   int world_size);

/* workload_rank runs the steps on one rank; arg is a struct workload_job.
 * Returns 0, or 1 after an error or a wrong element. */
int workload_rank(void *arg);

/* workload_print writes a result for people. */
void workload_print(const struct workload_job *job, const char *backend,
		    const struct workload_result *result, FILE *out);

/* ---- from the command line to a job ----------------------------------- */

/* What a job points to, made of arguments. */
struct workload_setup {
	struct model model;
	struct layers layers;
	struct schedule schedule;     /* of the step */
	struct schedule no_computing; /* of its communication alone */
	struct pace pace;
	struct gpu gpu;      /* what computes; name "": not known */
	double flops;        /* FLOP/s at which it does */
	char compute[384];   /* what the durations stand on, in words */
	const char *refused; /* after an error: the option that it is about */
	struct llm_run *llm; /* of the llm workload, else NULL; owned */
	struct workload_job job;
};

/*
 * workload_setup_init loads and computes what arguments, checked before, ask
 * for; setup->job is then complete but for what is run with it. gpu names the
 * device where arguments name none; "": it is not known. Without a rate in
 * arguments or of the device the setup is refused; gpu NULL: a nominal rate
 * will do, and setup->compute says so. arguments and setup must stay where they
 * are. Either way workload_setup_release frees what *setup holds. Errors:
 * DIST_ERR_INVALID_ARGUMENT, DIST_ERR_NO_MEMORY, DIST_ERR_IO; message says
 * what.
 */
DIST_MUST_CHECK enum dist_error
workload_setup_init(struct workload_setup *setup,
		    const struct workload *workload,
		    const struct workload_arguments *arguments, const char *gpu,
		    struct dist_message *message);

/* workload_setup_release frees what setup holds. */
void workload_setup_release(struct workload_setup *setup);

#endif
