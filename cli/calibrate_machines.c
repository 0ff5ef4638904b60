/* calibrate_machines.c - what the rows that are declared as calibration say of
 * the machines that come with Lockstep. */
#include "cli/calibrate_machines.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/data.h"
#include "cli/refuse.h"
#include "cli/validate.h"
#include "model/validation/fit.h"

#define PATH_SIZE 4096

/* Whether both say the same, as far as a machine's file shows: seven digits. */
static bool is_same(const struct calibration *a, const struct calibration *b)
{
	struct calibration c = *b;

	if (a->num_constants != b->num_constants ||
	    strcmp(a->from, b->from) != 0)
		return false;
	for (size_t i = 0; i < a->num_constants; i++) {
		const struct calibration_constant *other =
			library_calibration_constant(&c, a->constants[i].name);
		char one[32], two[32];

		if (!other)
			return false;
		snprintf(one, sizeof one, "%.7g", a->constants[i].value);
		snprintf(two, sizeof two, "%.7g", other->value);
		if (strcmp(one, two) != 0)
			return false;
	}
	return true;
}

/* Gives the machine what was fitted: of today, or as it stood. */
static enum dist_error keep(struct machine *machine,
			    const struct calibration *fitted,
			    struct dist_message *message)
{
	const struct calibration *known = library_calibration_find(
		machine->calibrations, machine->num_calibrations,
		fitted->library, fitted->transport);
	struct calibration now = *fitted;
	time_t seconds = time(NULL);
	struct tm day;

	if (known && is_same(known, fitted))
		return DIST_OK;
	strftime(now.date, sizeof now.date, "%Y-%m-%d",
		 gmtime_r(&seconds, &day));
	return fit_keep(machine, &now, message);
}

static enum dist_error write_machine(const struct calibrated_models *models,
				     const char *name, const char *dir,
				     struct dist_message *message)
{
	char path[PATH_SIZE], new_path[PATH_SIZE];
	struct machine machine;
	enum dist_error error = dist__data_find("machines", name, ".yaml", path,
						sizeof path, message);

	if (!error)
		error = machine_load(&machine, path, message);
	for (size_t i = 0; i < models->num && !error; i++) {
		const struct calibrated_model *model = models->all[i];

		if (model->calibration && strcmp(model->key.machine, name) == 0)
			error = keep(&machine, model->calibration, message);
	}
	snprintf(new_path, sizeof new_path, "%s/%s.yaml", dir, name);
	if (!error)
		error = machine_write(&machine, path, new_path, message);
	if (!error)
		printf("wrote %s\n", new_path);
	return error;
}

/* Whether model i is the first of a machine that is asked for and has been
 * calibrated. */
static bool is_first(const struct calibrated_models *models, size_t i,
		     const char *name)
{
	const char *machine = models->all[i]->key.machine;

	if (!models->all[i]->calibration ||
	    (name && strcmp(name, machine) != 0))
		return false;
	while (i-- > 0)
		if (models->all[i]->calibration &&
		    strcmp(models->all[i]->key.machine, machine) == 0)
			return false;
	return true;
}

int calibrate_machines(const char *name, const char *dir)
{
	const struct validate_request request = {.constants = CALIBRATED_ROWS};
	struct dist_message message = {""};
	struct validate validate;
	enum dist_error error = DIST_OK;
	bool any = false;
	int status = validate_make(&validate, &request);
	const struct calibrated_models *models = &validate.models;

	for (size_t i = 0; !status && i < models->num && !error; i++) {
		if (!is_first(models, i, name))
			continue;
		any = true;
		error = write_machine(models, models->all[i]->key.machine, dir,
				      &message);
	}
	if (error)
		status = refuse("calibrate", "%s", message.text);
	else if (!status && !any)
		status = refuse("calibrate",
				"--measured: expected a machine of which "
				"lockstep list measured has rows for "
				"calibration");
	validate_release(&validate);
	return status;
}
