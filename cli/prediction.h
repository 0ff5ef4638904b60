/*
 * prediction.h - what-if answers about training steps: asked for by
 * predict.c, simulated by prediction.c, printed by prediction_print.c.
 */
#ifndef LOCKSTEP_CLI_PREDICTION_H
#define LOCKSTEP_CLI_PREDICTION_H

#include "cli/explanation.h"
#include "cli/platform_survey.h"
#include "cli/machine_platform.h"
#include "core/fidelity.h"
#include "coll/profile.h"
#include "lockstep/dist.h"
#include "scenarios/physics.h"
#include "model/validation/interval.h"
#include "scenarios/workload.h"
#include "sim/tally.h"

/* Most world sizes in one table. */
#define PREDICTION_SIZES 64

/* What is asked. Strings are borrowed. */
struct prediction_request {
	const struct workload_setup *setup;
	const char *platform; /* as given; NULL: */
	const char *machine;  /* "NAME[:TRANSPORT]" */
	int ranks_per_node;   /* of the machine; 0: one a GPU */
	const char *topology; /* of its switches; NULL: a star */
	bool uncalibrated;    /* without what the machine's file knows */
	struct dist__link_overrides
		overrides;            /* about links; the name is found */
	char links[DIST__LINKS_SIZE]; /* about links, as given; "": nothing */
	const char *profile;          /* as given; NULL: built-in */
	const char *algorithm;        /* as given; NULL: the profile's */
	enum dist__fidelity fidelity; /* may be AUTO */
	const char *engine;           /* as given; NULL: auto */
	const char *trace;            /* of the last world size; NULL: none */
	int world_sizes[PREDICTION_SIZES];
	size_t num_world_sizes;
};

/* Why a request is refused. */
struct prediction_refusal {
	const char *option; /* whose value it is about; NULL: nobody's alone */
	size_t number;      /* which of its values, where it has several */
	struct dist_message message;
};

/* The answer for one world size. */
struct prediction_row {
	struct workload_result step;  /* with compute */
	struct workload_result alone; /* the same calls without compute */
	struct platform_survey survey;
	enum dist__fidelity fidelity; /* never AUTO */
	struct dist__tally tally;     /* of the step */
	struct physics physics;
	struct interval interval; /* how far off the step may be */
};

/* The answer. */
struct prediction {
	const struct prediction_request *request;
	struct dist__profile profile; /* with the forced rules; owned */
	struct machine_platform room; /* if that is what is asked about */
	char path[4096]; /* of the platform, unless it is the room's */
	int hosts;
	char gpu[64]; /* what computes there; "": not known */
	struct prediction_row rows[PREDICTION_SIZES];
};

/*
 * prediction_open looks for what request asks for but its setup, which may
 * depend on what is found: profile, platform or machine. A request without
 * world sizes becomes one for all that the platform holds. Either way
 * prediction_release frees what *prediction holds. Errors: any; refusal says
 * what was expected.
 */
DIST_MUST_CHECK enum dist_error
prediction_open(struct prediction *prediction,
		struct prediction_request *request,
		struct prediction_refusal *refusal);

/* prediction_check looks whether the world sizes fit the request's setup, and
 * judges them. Errors: INVALID_ARGUMENT; refusal says what was expected. */
DIST_MUST_CHECK enum dist_error
prediction_check(struct prediction *prediction,
		 struct prediction_refusal *refusal);

/* prediction_make simulates what was asked, in child processes; if trace is not
 * NULL the last step in this one, once, which makes its trace, to be released
 * by the caller. Returns one of enum dist_exit, after a line on stderr when it
 * is not OK. */
int prediction_make(struct prediction *prediction, struct dist__trace *trace);

/* prediction_release frees what prediction holds. */
void prediction_release(struct prediction *prediction);

/* prediction_print writes the conditions, the table and the explanation, in any
 * form but TSV. Returns 0, or -1 when there is no memory for it. */
int prediction_print(const struct prediction *prediction,
		     const struct explanation *explanation,
		     enum dist__form form, FILE *out);

/* prediction_write_tsv writes the table to path, whole or not at all; the
 * conditions stand in lines starting with '#'. Errors: of the file; message
 * says what. */
enum dist_error prediction_write_tsv(const struct prediction *prediction,
				     const char *path,
				     struct dist_message *message);

#endif
