/*
 * workload_arguments.h - flags for what is trained and how, shared by the
 * programs and predict. Each kind of step has its own.
 */
#ifndef LOCKSTEP_SCENARIOS_WORKLOAD_ARGUMENTS_H
#define LOCKSTEP_SCENARIOS_WORKLOAD_ARGUMENTS_H

#include <float.h>
#include <limits.h>

#include "model/training/schedule.h"
#include "scenarios/arguments.h"

/* As many as ranks. */
#define WORKLOAD_WHOLE_WORLD INT_MIN

/* The rate in FLOP/s was not given. */
#define WORKLOAD_NO_RATE (-DBL_MAX)

/* NULL: not given. */
struct workload_arguments {
	/* all */
	const char *model;
	struct schedule_rate rate;
	const char *gpu;
	const char *precision;
	const char *optimizer; /* NULL: adam */
	double jitter_percent;
	const char *stragglers;
	int seed; /* -1: not given */
	int steps;

	/* ddp_step */
	double bucket_cap_mb;   /* 0: the default */
	double first_bucket_mb; /* 0: the default */
	int no_overlap;
	int per_tensor;
	int accumulate;
	int find_unused_parameters;
	int static_graph;
	const char *comm_hook;

	/* fsdp */
	int zero; /* stage */
	int no_prefetch;

	/* hybrid, pipeline, tensor_parallel */
	int tp; /* ranks of a tensor group, or WORKLOAD_WHOLE_WORLD */
	int pp; /* stages, or WORKLOAD_WHOLE_WORLD */
	int micro_batches;
	const char *schedule; /* NULL: 1f1b */

	/* moe */
	int experts; /* or WORKLOAD_WHOLE_WORLD */
	int top_k;
	double imbalance_percent;

	/* ps */
	int servers;
	const char *via; /* "messages", "rpc"; NULL: messages */
};

/* How ranks compute and how often, for tables of options; at: the offset of the
 * arguments. */
#define WORKLOAD_PACE_ROWS(at)                                                 \
	{"jitter",                                                             \
	 OPTION_NUMBER,                                                        \
	 (at) + offsetof(struct workload_arguments, jitter_percent),           \
	 "PERCENT",                                                            \
	 .help = "standard deviation of computing time, log-normal, by rank "  \
		 "and step",                                                   \
	 .usual = "0",                                                         \
	 .max = 100},                                                          \
		{"straggler", OPTION_TEXT,                                     \
		 (at) + offsetof(struct workload_arguments, stragglers),       \
		 "RANK:FACTOR,...",                                            \
		 .help = "slow ranks: their computing takes FACTOR times as "  \
			 "long"},                                              \
		{"seed",                                                       \
		 OPTION_COUNT,                                                 \
		 (at) + offsetof(struct workload_arguments, seed),             \
		 "N",                                                          \
		 .help = "random seed",                                        \
		 .usual = "1"},                                                \
	{                                                                      \
		"steps", OPTION_COUNT,                                         \
			(at) + offsetof(struct workload_arguments, steps),     \
			"K", .help = "training steps", .usual = "1", .min = 1, \
			     .max = 1e6                                        \
	}

/* The options of all kinds, each a field of struct workload_arguments. */
extern const struct option workload_options[];

/* workload_arguments_init sets the defaults of the kind named workload. */
void workload_arguments_init(struct workload_arguments *arguments,
			     const char *workload);

/* workload_arguments_describe writes the kind's flags that differ from the
 * defaults, each after a space, as on a command line. */
void workload_arguments_describe(const struct workload_arguments *arguments,
				 const char *workload, char *text, size_t size);

#endif
