/*
 * ddp_step.h - data-parallel training steps of a model, as a rank function;
 * used by the ddp_step program and by `lockstep predict`.
 */
#ifndef LOCKSTEP_SCENARIOS_DDP_STEP_H
#define LOCKSTEP_SCENARIOS_DDP_STEP_H

#include <stdio.h>

#include <popt.h>

#include "scenarios/model.h"
#include "scenarios/schedule.h"

/* Buckets of which the sizes are handed back. */
#define DDP_STEP_BUCKETS 256

enum ddp_step_gradients {
	DDP_STEP_AUTO, /* phantom in simulation, else real */
	DDP_STEP_PHANTOM,
	DDP_STEP_REAL
};

/* What came out, as rank 0 knows it. Times of a step are the slowest rank's,
 * from the barrier before it to the end of its optimizer. */
struct ddp_step_result {
	int world_size;
	int64_t step_ns; /* median over the steps */
	int64_t min_ns;
	int64_t max_ns;
	int64_t wrong; /* elements found wrong by check, on the worst rank */
	size_t num_buckets;
	size_t bucket_bytes[DDP_STEP_BUCKETS]; /* the first of them */
};

/* What the rank function is given. Shared by simulated ranks, so constant. */
struct ddp_step {
	const struct model *model;
	const struct schedule *schedule;
	double batch;           /* for the words only */
	double bucket_cap_mb;   /* 0: the default */
	double first_bucket_mb; /* 0: the default */
	int steps;
	enum ddp_step_gradients gradients;
	bool check;                     /* verify averages; needs real ones */
	FILE *out;                      /* rank 0 prints here; NULL: not */
	struct ddp_step_result *result; /* filled by rank 0; NULL: not. Works
					   where ranks share memory */
};

/* ddp_step_rank runs the steps on one rank; arg is a struct ddp_step. Returns
 * 0, or 1 after an error or a wrong average. */
int ddp_step_rank(void *arg);

/* The part of the command line that says what is trained, shared by the
 * program and by predict. Strings are popt's: to be freed. */
struct ddp_step_arguments {
	char *model;
	struct schedule_rate rate;
	double bucket_cap_mb;
	double first_bucket_mb;
	int steps;
};

/* Entries of the table below, its end included. */
#define DDP_STEP_TABLE 8

/* ddp_step_arguments_init sets the defaults and fills table with the options
 * that set the fields of arguments, to be included in a program's own. */
void ddp_step_arguments_init(struct ddp_step_arguments *arguments,
			     struct poptOption table[DDP_STEP_TABLE]);

/* ddp_step_arguments_check returns whether the numbers make sense; message
 * says which does not. */
bool ddp_step_arguments_check(const struct ddp_step_arguments *arguments,
			      struct dist_message *message);

#endif
