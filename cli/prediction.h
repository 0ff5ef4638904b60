/*
 * prediction.h - predictions of training steps: requested by predict.c,
 * simulated by prediction.c, printed by prediction_print.c.
 */
#ifndef LOCKSTEP_CLI_PREDICTION_H
#define LOCKSTEP_CLI_PREDICTION_H

#include "base/refuse.h"
#include "cli/critical.h"
#include "cli/machine_platform.h"
#include "core/fidelity.h"
#include "coll/profile.h"
#include "lockstep/dist.h"
#include "scenarios/physics.h"
#include "model/validation/interval.h"
#include "scenarios/workload.h"
#include "sim/platform/platform.h"
#include "sim/tally.h"

/* Facts for a prediction that the simulation engine knows about a platform and
 * ranks on it. */
struct platform_survey {
	char network[1024];   /* the network model, in a line */
	struct fabric fabric; /* borrows these: */
	struct calibration calibrations[CALIBRATIONS];
	struct dist__narrowest narrowest; /* links 0: not determined */
};

/* platform_survey uses a child process, because an engine starts only once in a
 * process. Returns one of enum dist_exit, after a line on stderr when it is not
 * OK. */
int platform_survey(struct platform_survey *survey, const char *path, int ranks,
		    const struct dist__link_overrides *overrides);

/* Most world sizes in one table. */
#define PREDICTION_SIZES 64

/* A request. Strings are borrowed. */
struct prediction_request {
	const struct workload_setup *setup;
	const char *platform; /* as given; NULL: */
	const char *machine;  /* "NAME[:TRANSPORT]" */
	const char *gpu;      /* where the machine does not say; NULL: none */
	int ranks_per_node;   /* of the machine; 0: one a GPU */
	const char *topology; /* of its switches; NULL: a star */
	bool uncalibrated;    /* without the constants in the machine's file */
	struct dist__link_overrides overrides; /* of links */
	char links[DIST__LINKS_SIZE];          /* the same as given; "": none */
	const char *profile;                   /* as given; NULL: built-in */
	const char *algorithm;        /* as given; NULL: the profile's */
	enum dist__fidelity fidelity; /* may be AUTO */
	const char *engine;           /* as given; NULL: auto */
	const char *trace;            /* of the last world size; NULL: none */
	int world_sizes[PREDICTION_SIZES];
	size_t num_world_sizes;
};

/* The answer for one world size. */
struct prediction_row {
	struct workload_result step;  /* with computing */
	struct workload_result alone; /* the same calls without computing */
	struct platform_survey survey;
	enum dist__fidelity fidelity; /* never AUTO */
	struct dist__tally tally;     /* of the step */
	struct physics physics;
	struct interval interval; /* around the step */
};

/* The answer. */
struct prediction {
	const struct prediction_request *request;
	struct dist__profile profile; /* with the forced rules; owned */
	struct machine_platform room; /* if a machine was asked for */
	char path[4096];              /* of the platform, if it is not room's */
	int hosts;
	char gpu[64]; /* of its hosts; "": not known */
	struct prediction_row rows[PREDICTION_SIZES];
};

/*
 * prediction_open loads the profile and the platform or machine of request; its
 * setup may depend on them. Without world sizes, the request becomes one for
 * all ranks that the platform holds. In any case prediction_release frees what
 * *prediction holds. Errors: any; refusal says what was expected.
 */
DIST_MUST_CHECK enum dist_error
prediction_open(struct prediction *prediction,
		struct prediction_request *request,
		struct dist__refusal *refusal);

/* prediction_is_alike returns whether all ranks do the same, equally long. */
bool prediction_is_alike(const struct prediction_request *request,
			 int world_size);

/* prediction_check checks the world sizes against the setup, and the physics of
 * each. Errors: INVALID_ARGUMENT; refusal says what was expected. */
DIST_MUST_CHECK enum dist_error prediction_check(struct prediction *prediction,
						 struct dist__refusal *refusal);

/* prediction_make simulates the request in child processes. If trace is not
 * NULL, the last step runs in this process and is traced; the caller releases
 * trace, and this can be done only once. Returns one of enum dist_exit, after a
 * line on stderr when it is not OK. */
int prediction_make(struct prediction *prediction, struct dist__trace *trace);

/* prediction_release frees what prediction holds. */
void prediction_release(struct prediction *prediction);

/* prediction_print writes the conditions, the table and the explanation, in any
 * form but TSV. Returns 0, or -1 when there is no memory for it. */
int prediction_print(const struct prediction *prediction,
		     const struct explanation *explanation,
		     enum dist__form form, FILE *out);

/* prediction_write_tsv writes the table to path, whole or not at all, with the
 * conditions in lines that begin with '#'. Errors: of the file, with message.
 */
enum dist_error prediction_write_tsv(const struct prediction *prediction,
				     const char *path,
				     struct dist_message *message);

#endif
