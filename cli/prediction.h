/*
 * prediction.h - what-if answers about training steps: asked for by
 * predict.c, simulated by prediction.c, printed by prediction_print.c.
 */
#ifndef LOCKSTEP_CLI_PREDICTION_H
#define LOCKSTEP_CLI_PREDICTION_H

#include "cli/explanation.h"
#include "cli/ground.h"
#include "cli/machine_room.h"
#include "core/fidelity.h"
#include "core/profile.h"
#include "lockstep/dist.h"
#include "scenarios/workload.h"
#include "sim/tally.h"

/* Most world sizes in one table. */
#define PREDICTION_SIZES 64

/* What is asked. Strings are borrowed. */
struct prediction_request {
	const struct workload_setup *setup;
	const char *platform;         /* as given; NULL: */
	const char *machine;          /* "NAME[:TRANSPORT]" */
	struct dist__terms terms;     /* about links; the name is found */
	char links[DIST__LINKS_SIZE]; /* about links, as given; "": nothing */
	const char *profile;          /* as given; NULL: built-in */
	const char *algorithm;        /* as given; NULL: the profile's */
	enum dist__fidelity fidelity; /* may be AUTO */
	const char *trace;            /* of the last world size; NULL: none */
	int world_sizes[PREDICTION_SIZES];
	size_t num_world_sizes;
};

/* The answer for one world size. */
struct prediction_row {
	struct workload_result step;  /* with compute */
	struct workload_result alone; /* the same calls without compute */
	struct ground ground;
	enum dist__fidelity fidelity; /* never AUTO */
	struct dist__tally tally;     /* of the step */
};

/* The answer. */
struct prediction {
	const struct prediction_request *request;
	struct dist__profile profile; /* with the forced rules; owned */
	struct machine_room room;     /* if that is what is asked about */
	char path[4096]; /* of the platform, unless it is the room's */
	int hosts;
	struct prediction_row rows[PREDICTION_SIZES];
};

/*
 * prediction_open looks whether what request asks can be answered: profile,
 * platform, and room there. A request without world sizes becomes one for all
 * that the platform holds. Returns one of enum dist_exit, after a line on
 * stderr when it is not OK. Either way prediction_release frees what
 * *prediction holds.
 */
int prediction_open(struct prediction *prediction,
		    struct prediction_request *request);

/* prediction_make simulates what was asked, one child process after the other.
 * Returns as prediction_open. */
int prediction_make(struct prediction *prediction);

/* prediction_release frees what prediction holds. */
void prediction_release(struct prediction *prediction);

/* prediction_print writes the conditions and the table for people, and the
 * explanation. Returns 0, or -1 when there is no memory for it. */
int prediction_print(const struct prediction *prediction,
		     const struct explanation *explanation, FILE *out);

/* prediction_print_json writes all of it as one JSON object. Returns 0, or -1
 * when there is no memory for it. */
int prediction_print_json(const struct prediction *prediction,
			  const struct explanation *explanation, FILE *out);

/* prediction_write_tsv writes the table to path, whole or not at all; the
 * conditions stand in lines starting with '#'. Errors: of the file; message
 * says what. */
enum dist_error prediction_write_tsv(const struct prediction *prediction,
				     const char *path,
				     struct dist_message *message);

#endif
