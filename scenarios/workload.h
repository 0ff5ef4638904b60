/*
 * workload.h - kinds of training steps: what each does to the network between
 * its ranks, as rank functions over the public headers; used by the programs
 * of their names and by `lockstep predict --workload`.
 */
#ifndef LOCKSTEP_SCENARIOS_WORKLOAD_H
#define LOCKSTEP_SCENARIOS_WORKLOAD_H

#include <stdio.h>

#include "scenarios/layers.h"
#include "scenarios/model.h"
#include "scenarios/pace.h"
#include "scenarios/schedule.h"
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

/* What is run, given to the rank function. Shared by simulated ranks, so
 * constant. */
struct workload_job {
	const struct workload *workload;
	const struct workload_arguments *arguments;
	const struct model *model;
	const struct layers *layers;
	const struct schedule *schedule;
	const struct pace *pace;
	enum workload_contents contents;
	bool check;                     /* verify contents; needs real ones */
	FILE *out;                      /* rank 0 prints here; NULL: not */
	struct workload_result *result; /* filled by rank 0; NULL: not. Works
					   where ranks share memory */
};

/* One kind. The functions run on one rank of it; NULL: there is nothing to
 * do. */
struct workload {
	const char *name;
	const char *example;  /* what stands behind lockstep run */
	const char *contents; /* what check finds right: "gradients" */

	/* Whether the model can be cut so that world_size ranks do it; message
	 * says what was expected otherwise. */
	bool (*fits)(const struct workload_job *job, int world_size,
		     struct dist_message *message);

	/* Makes what the steps need in t->state, which stop frees; it is
	 * called also where start failed. Errors: any. */
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

extern const struct workload workload_ddp_step;
extern const struct workload workload_fsdp;
extern const struct workload workload_hybrid;
extern const struct workload workload_moe;
extern const struct workload workload_pipeline;
extern const struct workload workload_ps;
extern const struct workload workload_tensor_parallel;

/* workload_find returns the kind named name, or NULL. */
const struct workload *workload_find(const char *name);

/* workload_call_name returns "all_reduce" and so on. */
const char *workload_call_name(enum workload_call call);

/* WORKLOAD_NAMES lists all names, in words. */
#define WORKLOAD_NAMES                                                         \
	"ddp_step, fsdp, hybrid, moe, pipeline, ps, tensor_parallel"

/* workload_fits returns whether job can run on world_size ranks; message says
 * what was expected otherwise. */
bool workload_fits(const struct workload_job *job, int world_size,
		   struct dist_message *message);

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
	char compute[256]; /* what the durations stand on, in words */
	struct workload_job job;
};

/*
 * workload_setup_init loads and computes what arguments, checked before, ask
 * for; setup->job is then complete but for what is run with it. arguments and
 * setup must stay where they are. Either way workload_setup_release frees what
 * *setup holds. Errors: DIST_ERR_INVALID_ARGUMENT, DIST_ERR_NO_MEMORY,
 * DIST_ERR_IO; message says what.
 */
DIST_MUST_CHECK enum dist_error
workload_setup_init(struct workload_setup *setup,
		    const struct workload *workload,
		    const struct workload_arguments *arguments,
		    struct dist_message *message);

/* workload_setup_release frees what setup holds. */
void workload_setup_release(struct workload_setup *setup);

#endif
