#include "model/validation/calibrated_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/data.h"
#include "base/refuse.h"
#include "model/cluster/machine.h"
#include "model/library/transport.h"
#include "model/validation/fit.h"
#include "model/validation/population.h"

/* ---- predicting ------------------------------------------------------- */

enum dist_error calibrated_estimate(const struct calibrated_model *calibrated,
				    int nodes, const struct library_call *call,
				    struct library_estimate *estimate,
				    struct dist_message *message)
{
	struct fabric fabric;
	enum dist_error error;

	if (calibrated->refusal.text[0]) {
		*message = calibrated->refusal;
		return DIST_ERR_INVALID_ARGUMENT;
	}
	if (nodes == 0 || call->ranks % nodes != 0)
		return dist__refuse(message, "%d ranks on %d nodes",
				    call->ranks, nodes);
	error = machine_fabric(&calibrated->machine, calibrated->key.transport,
			       nodes, call->ranks / nodes, &fabric, message);
	return error ? error
		     : library_estimate(&calibrated->profile, &fabric, call,
					estimate, message);
}

/* ---- the set ---------------------------------------------------------- */

/* Finds the profile of the version (of "4.0.1" that called openmpi-4.0) if
 * there is one, else the library's. */
static enum dist_error find_profile(const struct calibrated_key *key,
				    char *path, size_t size,
				    struct dist_message *message)
{
	const char *library = collective_profile(key->library);
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

/* Errors: NO_MEMORY. */
static enum dist_error copy_constants(const struct dist__profile *from,
				      struct dist__profile *to)
{
	const struct library_constant *constant = library_fitted(to);
	enum dist_error error = DIST_OK;

	for (; !error && constant && constant->name; constant++)
		if (isfinite(library_constant_value(to, constant)))
			error = library_constant_set(
				to, constant,
				library_constant_value(from, constant));
	return error;
}

static const char *way_of(const struct calibrated_key *key)
{
	return key->transport ? key->transport : key->links;
}

/* Whether the same is left out for both. */
static bool forgets_the_same(const struct calibrated_models *models,
			     const struct calibrated_key *a,
			     const struct calibrated_key *b)
{
	return strcmp(a->machine, b->machine) == 0 &&
	       strcmp(collective_profile(a->library),
		      collective_profile(b->library)) == 0 &&
	       (models->constants != CALIBRATED_WITHOUT_FABRIC ||
		transport_is(way_of(a), way_of(b)));
}

/* A profile that forgets the same; NULL: there is none yet. */
static const struct dist__profile *
find_forgetful(const struct calibrated_models *models,
	       const struct calibrated_model *calibrated)
{
	for (size_t i = 0; i < models->num; i++)
		if (models->all[i] != calibrated &&
		    !models->all[i]->refusal.text[0] &&
		    forgets_the_same(models, &models->all[i]->key,
				     &calibrated->key))
			return &models->all[i]->profile;
	return models->kin ? find_forgetful(models->kin, calibrated) : NULL;
}

/* The library's constants, as if the machine had never been seen. */
static enum dist_error forget(struct calibrated_model *calibrated,
			      const struct calibrated_models *models)
{
	const struct calibrated_key *key = &calibrated->key;
	struct population population = {
		.tables = models->tables,
		.num_tables = models->num_tables,
		.without_machine = key->machine,
	};

	const struct dist__profile *found = find_forgetful(models, calibrated);

	if (found)
		return copy_constants(found, &calibrated->profile);
	if (models->constants == CALIBRATED_WITHOUT_FABRIC)
		population.without_transport = way_of(key);
	return population_fit(&population, collective_profile(key->library),
			      &calibrated->profile);
}

static enum dist_error load(struct calibrated_model *calibrated,
			    struct dist_message *message)
{
	const struct calibrated_key *key = &calibrated->key;
	char path[4096];
	enum dist_error error = dist__data_find(
		"machines", key->machine, ".yaml", path, sizeof path, message);

	if (!error)
		error = machine_load(&calibrated->machine, path, message);
	if (!error)
		error = find_profile(key, path, sizeof path, message);
	if (!error)
		error = dist__profile_load(&calibrated->profile, path, message);
	return error ? error : library_check(&calibrated->profile, message);
}

static bool is_for(const struct calibrated_model *calibrated,
		   const struct calibrated_key *key)
{
	return strcmp(calibrated->key.machine, key->machine) == 0 &&
	       dist__same_text(calibrated->key.transport, key->transport) &&
	       dist__same_text(calibrated->key.links, key->links) &&
	       strcmp(calibrated->key.library, key->library) == 0 &&
	       dist__same_text(calibrated->key.version, key->version);
}

/* What the machine's file does not say, the rows of tables may. */
static enum dist_error calibrate(struct calibrated_model *calibrated,
				 const struct calibrated_models *models,
				 struct dist_message *message)
{
	const struct fit_key key = {calibrated->key.machine,
				    calibrated->key.library,
				    calibrated->key.transport};
	struct machine *machine = &calibrated->machine;
	struct calibration fitted = {.date = "now"};
	enum dist_error error;

	bool blind = models->constants == CALIBRATED_BLIND_ROWS;
	bool alone = !blind && models->constants != CALIBRATED_STORED &&
		     models->constants != CALIBRATED_ROWS;

	if (alone || blind)
		machine->num_calibrations = 0;
	calibrated->calibration = library_calibration_find(
		machine->calibrations, machine->num_calibrations,
		library_name(&calibrated->profile), key.transport);
	if (blind || models->constants == CALIBRATED_WITHOUT_MACHINE ||
	    models->constants == CALIBRATED_WITHOUT_FABRIC) {
		error = forget(calibrated, models);
		if (error || !blind)
			return error;
	}
	if (alone ||
	    (models->constants == CALIBRATED_STORED && calibrated->calibration))
		return DIST_OK;
	if (calibrated->calibration)
		fitted = *calibrated->calibration;
	error = fit_rows(machine, &calibrated->profile, &key, models->tables,
			 models->num_tables, &fitted, message);
	if (error || fitted.rows == 0)
		return error;
	error = fit_keep(machine, &fitted, message);
	calibrated->calibration = library_calibration_find(
		machine->calibrations, machine->num_calibrations,
		fitted.library, fitted.transport);
	return error;
}

static enum dist_error add(struct calibrated_models *models,
			   const struct calibrated_key *key)
{
	struct calibrated_model *calibrated = calloc(1, sizeof *calibrated);

	if (!calibrated || !dist__array_add(&models->all, &models->num,
					    &calibrated, sizeof calibrated)) {
		free(calibrated);
		return DIST_ERR_NO_MEMORY;
	}
	calibrated->key = *key;
	dist__profile_init(&calibrated->profile);
	if (!load(calibrated, &calibrated->refusal) &&
	    !calibrate(calibrated, models, &calibrated->refusal))
		calibrated->refusal.text[0] = '\0';
	return DIST_OK;
}

void calibrated_models_init(struct calibrated_models *models,
			    const struct collectives *const *tables,
			    size_t num_tables,
			    enum calibrated_constants constants)
{
	*models = (struct calibrated_models){.tables = tables,
					     .num_tables = num_tables,
					     .constants = constants};
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
