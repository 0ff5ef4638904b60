/* library.c - the libraries by name. */
#include "model/library/library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/refuse.h"
#include "base/text.h"
#include "model/library/model.h"

static const struct library_model *const models[] = {
	&library_own,     &library_nccl,  &library_gloo,
	&library_openmpi, &library_mpich, NULL};

/* A profile that names no library is of our own. */
const struct library_model *library_find(const struct dist__profile *profile)
{
	const struct library_model *const *model = models;

	while (*model && profile->library[0] &&
	       strcmp((*model)->name, profile->library) != 0)
		model++;
	return *model;
}

static bool knows(const struct library_model *model, const char *constant)
{
	for (size_t i = 0; model->constants[i]; i++)
		if (strcmp(model->constants[i], constant) == 0)
			return true;
	return false;
}

static enum dist_error refuse_library(const struct dist__profile *profile,
				      struct dist_message *message)
{
	enum dist_error error = dist__refuse(
		message, "profile %s: unknown library \"%s\": expected",
		profile->name, profile->library);

	for (size_t i = 0; models[i]; i++)
		(void)dist__append(message->text, sizeof message->text, "%s %s",
				   i ? "," : "", models[i]->name);
	return error;
}

enum dist_error library_check(const struct dist__profile *profile,
			      struct dist_message *message)
{
	const struct library_model *model = library_find(profile);

	if (!model)
		return refuse_library(profile, message);
	if (model->algorithms && profile->num_rules > 0)
		return dist__refuse(message,
				    "profile %s: selection: expected none: %s "
				    "chooses by a model of its own",
				    profile->name, model->name);
	for (size_t i = 0; i < profile->num_constants; i++) {
		const char *name = profile->constants[i].name;

		if (knows(model, name))
			continue;
		return dist__refuse(
			message,
			"profile %s: library %s has no constant \"%s\"",
			profile->name, model->name, name);
	}
	return DIST_OK;
}

enum dist_error library_check_fabric(const struct dist__profile *profile,
				     const struct fabric *fabric,
				     struct dist_message *message)
{
	const struct library_model *model = library_find(profile);

	if (!model || !model->is_of_gpus)
		return DIST_OK;
	if (fabric->intra == FABRIC_HOST)
		return dist__refuse(
			message,
			"profile %s: what joins the GPUs of a node is not "
			"stated: expected property intra (nvswitch, nvlink or "
			"pcie) of the platform's outermost zone",
			profile->name);
	if (fabric->nodes > 1 && !fabric->transport[0])
		return dist__refuse(
			message,
			"profile %s: what joins the nodes is not stated: "
			"expected property transport (" TRANSPORT_WORDS
			") of the platform's outermost zone",
			profile->name);
	return DIST_OK;
}

enum dist_error library_force(struct dist__profile *profile, const char *words,
			      struct dist_message *message)
{
	const struct library_model *model = library_find(profile);

	return dist__profile_force(profile, model ? model->algorithms : NULL,
				   words, message);
}

enum dist_error library_check_latency(const struct dist__profile *profile,
				      bool inter, bool intra,
				      struct dist_message *message)
{
	const struct library_model *model = library_find(profile);

	inter = inter && model && model->has_own_hops;
	intra = intra && model && !model->has_steps;
	if (!inter && !intra)
		return DIST_OK;
	return dist__refuse(message,
			    "--%s-latency: the model of %s has a time of its "
			    "own for a step, whatever the links' latency: "
			    "expected another profile, such as ideal",
			    inter ? "inter" : "intra", model->name);
}

bool library_has_steps(const struct dist__profile *profile)
{
	const struct library_model *model = library_find(profile);

	return model && model->has_steps;
}

bool library_has_transfers(const struct dist__profile *profile)
{
	const struct library_model *model = library_find(profile);

	return model && model->has_transfers;
}

/* ---- what is fitted to all tables ---------------------------------------- */

const struct library_constant *
library_fitted(const struct dist__profile *profile)
{
	const struct library_model *model = library_find(profile);

	return model ? model->fitted : NULL;
}

/* Some are what every profile has, not one library's. */
static double *field_of(struct dist__profile *profile, const char *name)
{
	if (strcmp(name, "message_overhead_ns") == 0)
		return &profile->message_overhead_ns;
	if (strcmp(name, "reduce_Bps") == 0)
		return &profile->reduce_Bps;
	return NULL;
}

double library_constant_value(const struct dist__profile *profile,
			      const struct library_constant *constant)
{
	struct dist__profile copy = *profile;
	const double *field = field_of(&copy, constant->name);

	if (field)
		return *field > 0 ? *field : NAN;
	return dist__profile_constant(profile, constant->name, NAN);
}

enum dist_error library_constant_set(struct dist__profile *profile,
				     const struct library_constant *constant,
				     double value)
{
	double *field = field_of(profile, constant->name);

	if (!field)
		return dist__profile_set(profile, constant->name, value);
	*field = value;
	return DIST_OK;
}

/* ---- calibration -------------------------------------------------------- */

const char *library_name(const struct dist__profile *profile)
{
	const struct library_model *model = library_find(profile);

	return model ? model->name : "";
}

const struct calibration *
library_calibration(const struct dist__profile *profile,
		    const struct fabric *fabric)
{
	return library_calibration_find(
		fabric->calibrations, fabric->num_calibrations,
		library_name(profile),
		fabric->nodes > 1 ? fabric->transport : NULL);
}

/* What a model without constants of its own to move has: the share of the
 * profile's rates that is reached, and hops' time in multiples of its. */
const struct library_freedom library_any_freedoms[] = {
	{"hop_times", 1, NULL, 0.05, 20, false},
	{"rate_share", 1, NULL, 0.05, 2, true},
	{.constant = NULL},
};

/* Room for a profile's constants and what is known beside them. */
#define MOST_CONSTANTS 64

static void put(struct dist__profile *merged, const char *name, double value)
{
	size_t i = 0;

	while (i < merged->num_constants &&
	       strcmp(merged->constants[i].name, name) != 0)
		i++;
	if (i == MOST_CONSTANTS)
		return;
	if (i == merged->num_constants)
		snprintf(merged->constants[merged->num_constants++].name,
			 sizeof merged->constants->name, "%s", name);
	merged->constants[i].value = value;
}

/* The constants that hold for a call: of "2.18.3", the 18 too. */
static void merge(const struct library_model *model,
		  const struct calibration *calibration,
		  const struct library_call *call, struct dist__profile *merged)
{
	const char *version = call->version;
	double minor;

	if (!version && calibration && calibration->version[0])
		version = calibration->version;
	if (version && knows(model, "minor") &&
	    sscanf(version, "%*d.%lf", &minor) == 1)
		put(merged, "minor", floor(minor));
	for (size_t i = 0; calibration && i < calibration->num_constants; i++)
		put(merged, calibration->constants[i].name,
		    calibration->constants[i].value);
}

static void stretch(const struct dist__profile *profile,
		    struct library_estimate *estimate)
{
	double hops = dist__profile_constant(profile, "hop_times", 1);

	estimate->start_ns *= hops;
	estimate->latency_ns *= hops;
	estimate->transfer_ns /=
		dist__profile_constant(profile, "rate_share", 1);
}

enum dist_error library_estimate(const struct dist__profile *profile,
				 const struct fabric *fabric,
				 const struct library_call *call,
				 struct library_estimate *estimate,
				 struct dist_message *message)
{
	const struct library_model *model = library_find(profile);
	const struct calibration *calibration =
		library_calibration(profile, fabric);
	struct dist__constant constants[MOST_CONSTANTS];
	struct dist__profile merged = *profile;
	enum dist_error error;

	*estimate = (struct library_estimate){.channels = 0};
	if (!model)
		return refuse_library(profile, message);
	if (dist__op_is_p2p(call->op) &&
	    (call->op != DIST__SEND || !model->has_exchanges))
		return dist__refuse(message,
				    "send and receive have no formula");
	if (fabric->guessed && !calibration)
		return dist__refuse(
			message,
			"no rate of %s is known, and none calibrated: expected "
			"it in the machine's description",
			fabric->nodes > 1 ? fabric->transport
					  : "the links inside");
	if (profile->num_constants > MOST_CONSTANTS - CALIBRATION_CONSTANTS - 1)
		return dist__refuse(message,
				    "profile %s: expected at most %d constants",
				    profile->name,
				    MOST_CONSTANTS - CALIBRATION_CONSTANTS - 1);
	if (profile->num_constants > 0)
		memcpy(constants, profile->constants,
		       profile->num_constants * sizeof constants[0]);
	merged.constants = constants;
	merge(model, calibration, call, &merged);
	error = model->estimate(&merged, fabric, call, estimate, message);
	if (!error && !model->freedoms)
		stretch(&merged, estimate);
	return error;
}

const struct calibration *
library_calibration_say(const struct dist__profile *profile,
			const struct fabric *fabric, char *text, size_t size)
{
	const struct calibration *known = library_calibration(profile, fabric);

	if (known)
		library_calibration_describe(known, text, size);
	else
		snprintf(text, size, "none, the library's profile alone%s",
			 strcmp(profile->name, "nccl") == 0 &&
					 library_is_stand_in(fabric->gpu)
				 ? "; RCCL is taken for NCCL, and was not "
				   "measured"
				 : "");
	return known;
}

/* Made from NCCL: github.com/ROCm/rccl. */
bool library_is_stand_in(const char *gpu)
{
	return strncmp(gpu, "MI", 2) == 0;
}

const char *library_of_gpu(const char *gpu)
{
	/* How the names of NVIDIA's kinds begin: of data centres by their
	 * architecture, then of workstations. */
	static const char *const kinds[] = {
		"P100", "V100", "T4",    "A10",   "A30",   "A40",
		"A100", "A800", "L4",    "H20",   "H100",  "H200",
		"H800", "B200", "B300",  "GH200", "GB200", "GB300",
		"RTX",  "GTX",  "TITAN", "Tesla", "Quadro"};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strncmp(gpu, kinds[i], strlen(kinds[i])) == 0)
			return "nccl";
	return library_is_stand_in(gpu) ? "nccl" : NULL;
}
