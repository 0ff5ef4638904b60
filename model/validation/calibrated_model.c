#include "model/validation/calibrated_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "model/cluster/machine.h"
#include "model/validation/calibration.h"

/* Where a description knows no rate, any usual one will do: the calibration
 * says what it is. */
#define SOME_CARD_BPS  12.5e9
#define SOME_TCP_BPS   1.25e9 /* what NCCL takes sockets for, which choose */
#define SOME_INTRA_BPS 50e9

/* ---- predicting ------------------------------------------------------- */

/* Puts some rate where none is known; returns whether it had to. */
static bool fill_rates(struct fabric *fabric)
{
	bool filled = false;

	if (fabric->nodes > 1 && !(fabric->card_Bps > 0)) {
		fabric->card_Bps = strncmp(fabric->transport, "tcp", 3) == 0
					   ? SOME_TCP_BPS
					   : SOME_CARD_BPS;
		filled = true;
	}
	if (fabric->node_ranks > 1 && !(fabric->intra_Bps > 0)) {
		fabric->intra_Bps = SOME_INTRA_BPS;
		filled = true;
	}
	return filled;
}

enum dist_error calibrated_fabric(const struct calibrated_model *calibrated,
				  int nodes, const struct library_call *call,
				  struct fabric *fabric, bool *guessed,
				  struct dist_message *message)
{
	enum dist_error error;

	if (calibrated->refusal.text[0]) {
		*message = calibrated->refusal;
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (nodes == 0 || call->ranks % nodes != 0) {
		snprintf(message->text, sizeof message->text,
			 "%d ranks on %d nodes", call->ranks, nodes);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	error = machine_fabric(&calibrated->machine, calibrated->key.transport,
			       nodes, call->ranks / nodes, fabric, message);
	*guessed = !error && fill_rates(fabric);
	return error;
}

enum dist_error calibrated_estimate(const struct calibrated_model *calibrated,
				    int nodes, const struct library_call *call,
				    struct library_estimate *estimate,
				    struct dist_message *message)
{
	struct fabric fabric;
	enum dist_error error;
	bool guessed;

	error = calibrated_fabric(calibrated, nodes, call, &fabric, &guessed,
				  message);
	if (error)
		return error;
	if (guessed && calibrated->num_samples == 0) {
		snprintf(message->text, sizeof message->text,
			 "no rate of %s on %s is known",
			 calibrated->key.transport ? calibrated->key.transport
						   : "the links inside",
			 calibrated->key.machine);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	error = library_estimate(&calibrated->profile, &fabric, call, estimate,
				 message);
	if (error)
		return error;
	estimate->start_ns *= calibrated->fixed_scale;
	estimate->latency_ns *= calibrated->fixed_scale;
	estimate->transfer_ns *= calibrated->transfer_scale;
	return DIST_OK;
}

/* ---- the set ---------------------------------------------------------- */

/* Libraries of one family share a profile. */
static const char *profile_of(const char *library)
{
	return strcmp(library, "cray-mpich") == 0 ? "mpich" : library;
}

/* Finds the profile of the version (of "4.0.1" that called openmpi-4.0) if
 * there is one, else the library's. */
static enum dist_error find_profile(const struct calibrated_key *key,
				    char *path, size_t size,
				    struct dist_message *message)
{
	const char *library = profile_of(key->library);
	char name[64];
	int major, minor;

	if (key->version &&
	    sscanf(key->version, "%d.%d", &major, &minor) == 2) {
		snprintf(name, sizeof name, "%s-%d.%d", library, major, minor);
		if (!dist__data_find("profiles", name, ".yaml", path, size,
				     message))
			return DIST_OK;
	}
	return dist__data_find("profiles", library, ".yaml", path, size,
			       message);
}

/* A model that knows versions has a constant for it: of "2.18.3", 18. */
static enum dist_error set_version(struct calibrated_model *calibrated)
{
	const char *version = calibrated->key.version;
	double now = dist__profile_constant(&calibrated->profile, "minor", -1);
	double minor;

	if (!version || now < 0 || sscanf(version, "%*d.%lf", &minor) != 1)
		return DIST_OK;
	return dist__profile_set(&calibrated->profile, "minor", floor(minor));
}

static enum dist_error load(struct calibrated_model *calibrated,
			    struct dist_message *message)
{
	const struct calibrated_key *key = &calibrated->key;
	char path[4096];
	enum dist_error error;

	error = dist__data_find("machines", key->machine, ".yaml", path,
				sizeof path, message);
	if (!error)
		error = machine_load(&calibrated->machine, path, message);
	if (!error)
		error = find_profile(key, path, sizeof path, message);
	if (!error)
		error = dist__profile_load(&calibrated->profile, path, message);
	if (!error)
		error = set_version(calibrated);
	return error ? error : library_check(&calibrated->profile, message);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_for(const struct calibrated_model *calibrated,
		   const struct calibrated_key *key)
{
	return strcmp(calibrated->key.machine, key->machine) == 0 &&
	       same_text(calibrated->key.transport, key->transport) &&
	       strcmp(calibrated->key.library, key->library) == 0 &&
	       same_text(calibrated->key.version, key->version);
}

static enum dist_error add(struct calibrated_models *models,
			   const struct calibrated_key *key)
{
	struct calibrated_model **all =
		realloc(models->all, (models->num + 1) * sizeof *models->all);
	struct calibrated_model *calibrated = calloc(1, sizeof *calibrated);

	if (all)
		models->all = all;
	if (!all || !calibrated) {
		free(calibrated);
		return DIST_ERR_NO_MEMORY;
	}
	all[models->num++] = calibrated;
	calibrated->key = *key;
	calibrated->fixed_scale = calibrated->transfer_scale = 1;
	dist__profile_init(&calibrated->profile);
	if (load(calibrated, &calibrated->refusal) == DIST_OK) {
		calibrated->refusal.text[0] = '\0';
		calibration_take(calibrated, models);
	}
	return DIST_OK;
}

void calibrated_models_init(struct calibrated_models *models,
			    const struct collectives *const *tables,
			    size_t num_tables)
{
	*models = (struct calibrated_models){.tables = tables,
					     .num_tables = num_tables};
}

enum dist_error
calibrated_models_get(struct calibrated_models *models,
		      const struct calibrated_key *key,
		      const struct calibrated_model **calibrated)
{
	for (size_t i = 0; i < models->num; i++)
		if (is_for(models->all[i], key)) {
			*calibrated = models->all[i];
			return DIST_OK;
		}
	if (add(models, key))
		return DIST_ERR_NO_MEMORY;
	*calibrated = models->all[models->num - 1];
	return DIST_OK;
}

void calibrated_models_release(struct calibrated_models *models)
{
	for (size_t i = 0; i < models->num; i++) {
		dist__profile_release(&models->all[i]->profile);
		free(models->all[i]);
	}
	free(models->all);
	*models = (struct calibrated_models){.tables = NULL};
}
