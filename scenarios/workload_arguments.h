/*
 * workload_arguments.h - the flags that say what is trained and how, shared by
 * the programs and by predict. Every kind of step takes those of its own.
 */
#ifndef LOCKSTEP_SCENARIOS_WORKLOAD_ARGUMENTS_H
#define LOCKSTEP_SCENARIOS_WORKLOAD_ARGUMENTS_H

#include <limits.h>

#include <popt.h>

#include "scenarios/schedule.h"

/* As many as there are ranks. */
#define WORKLOAD_WHOLE_WORLD INT_MIN

/* Strings are popt's, NULL when not given. */
struct workload_arguments {
	/* all */
	char *model;
	struct schedule_rate rate;
	char *gpu;
	char *precision;
	double jitter_percent;
	char *stragglers;
	int seed;
	int steps;

	/* ddp_step */
	double bucket_cap_mb;   /* 0: the default */
	double first_bucket_mb; /* 0: the default */
	int no_overlap;
	int per_tensor;
	int accumulate;
	int find_unused_parameters;
	int static_graph;
	char *comm_hook;

	/* fsdp */
	int zero; /* stage */
	int no_prefetch;

	/* hybrid, pipeline, tensor_parallel */
	int tp; /* ranks of a tensor group, or WORKLOAD_WHOLE_WORLD */
	int pp; /* stages, so too */
	int micro_batches;
	char *schedule; /* NULL: 1f1b */

	/* moe */
	int experts; /* or WORKLOAD_WHOLE_WORLD */
	int top_k;
	double imbalance_percent;

	/* ps */
	int servers;
};

/* Room for the entries of one kind, its end included. */
#define WORKLOAD_TABLE 24

/* workload_arguments_init sets the defaults and fills table with the options
 * of the kind named workload that set the fields of arguments, to be included
 * in a program's own. */
void workload_arguments_init(struct workload_arguments *arguments,
			     const char *workload,
			     struct poptOption table[WORKLOAD_TABLE]);

/* workload_arguments_check returns whether those that the kind takes make
 * sense; message says which does not, and its legal range. */
bool workload_arguments_check(const struct workload_arguments *arguments,
			      const char *workload,
			      struct dist_message *message);

/* workload_arguments_describe writes those of the kind's own flags that are not
 * as by default, each behind a space, as they would be given. */
void workload_arguments_describe(const struct workload_arguments *arguments,
				 const char *workload, char *text, size_t size);

/* workload_arguments_release frees the strings. */
void workload_arguments_release(struct workload_arguments *arguments);

#endif
