/*
 * prediction.h - what-if answers about data-parallel steps: asked for by
 * predict.c, simulated by prediction.c, printed by prediction_print.c.
 */
#ifndef LOCKSTEP_CLI_PREDICTION_H
#define LOCKSTEP_CLI_PREDICTION_H

#include "core/profile.h"
#include "lockstep/dist.h"
#include "scenarios/ddp_step.h"

/* Most world sizes in one table. */
#define PREDICTION_SIZES 64

/* What is asked. Strings are borrowed. */
struct prediction_request {
	const struct ddp_step_arguments *arguments;
	const struct model *model;
	const char *platform;  /* as given */
	const char *profile;   /* as given; NULL: built-in */
	const char *algorithm; /* as given; NULL: the profile's */
	const char *trace;     /* NULL: none */
	int world_sizes[PREDICTION_SIZES];
	size_t num_world_sizes;
};

/* The answer for one world size. */
struct prediction_row {
	struct ddp_step_result step;  /* with compute */
	struct ddp_step_result alone; /* the same buckets without compute */
	int64_t compute_ns;
	int num_nodes; /* that the ranks sit on */
};

/* The answer. */
struct prediction {
	const struct prediction_request *request;
	struct dist__profile profile; /* with the forced rules; owned */
	char facts[1024]; /* "key: value" lines about the platform */
	int hosts;
	struct prediction_row rows[PREDICTION_SIZES];
};

/*
 * prediction_make simulates what request asks, one child process after the
 * other; a request without world sizes becomes one for all that the platform
 * holds. Returns one of enum dist_exit, after a line on stderr when it is not
 * OK. Either way prediction_release frees what *prediction holds.
 */
int prediction_make(struct prediction *prediction,
		    struct prediction_request *request);

/* prediction_release frees what prediction holds. */
void prediction_release(struct prediction *prediction);

/* prediction_print writes the conditions and the table for people. */
void prediction_print(const struct prediction *prediction, FILE *out);

/* prediction_print_json writes all of it as one JSON object. Returns 0, or -1
 * when there is no memory for it. */
int prediction_print_json(const struct prediction *prediction, FILE *out);

/* prediction_write_tsv writes the table to path, whole or not at all; the
 * conditions stand in lines starting with '#'. Errors: of the file; message
 * says what. */
enum dist_error prediction_write_tsv(const struct prediction *prediction,
				     const char *path,
				     struct dist_message *message);

#endif
