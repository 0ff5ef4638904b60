/* validate_make.c - reading the tables, and predicting those asked for. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/validate.h"
#include "cli/log_arguments.h"
#include "cli/profile_table.h"
#include "cli/refuse.h"
#include "base/array.h"
#include "base/data.h"
#include "base/progress.h"
#include "base/text.h"
#include "lockstep/dist.h"

/* Whether the file has the fields of steps; what is no table has none. */
static bool has_steps(const char *path)
{
	struct dist_message ignored;
	struct tsv_table tsv;
	bool has;

	if (dist__tsv_load(&tsv, path, &ignored))
		return false;
	has = tsv.num_rows > 0 && dist__tsv_get(&tsv, 0, "gpus");
	dist__tsv_release(&tsv);
	return has;
}

/* Appends an empty table; NULL: no memory. */
static struct validate_table *append(struct validate *validate,
				     const char *path)
{
	static const struct validate_table empty;
	struct validate_table *table = dist__array_add(
		&validate->tables, &validate->num, &empty, sizeof empty);

	if (table)
		dist__stem(table->name, VALIDATE_NAME, path, ".tsv");
	return table;
}

static int read_table(struct validate *validate, const char *path, bool wanted)
{
	struct validate_table *table = append(validate, path);
	struct dist_message message;
	enum dist_error err;

	if (!table)
		return out_of_memory("validate");
	table->wanted = wanted;
	table->is_steps = has_steps(path);
	err = table->is_steps
		      ? steps_load(&table->steps, path, &message)
		      : collectives_load(&table->collectives, path, &message);
	return err ? refuse("validate", "%s", message.text) : DIST_EXIT_OK;
}

/* The machine of logs, which must be known and have the network. */
static int read_machine(struct validate *validate,
			const struct log_facts *facts)
{
	struct dist_message message;

	return log_machine_load(facts, &validate->machine, &message)
		       ? refuse("validate", "%s", message.text)
		       : DIST_EXIT_OK;
}

static int read_profile(struct validate_table *table, const char *path,
			const struct log_facts *facts,
			const struct validate_request *request)
{
	struct dist_message message;
	struct profile_notes notes;

	if (facts->collective || facts->nodes || facts->ranks ||
	    request->calibrate)
		return refuse("validate",
			      "%s: expected a log with --collective, --nodes, "
			      "--ranks and --calibrate, not a profile",
			      path);
	if (profile_table_load(&table->collectives, path, facts, &notes,
			       &message))
		return refuse("validate", "%s", message.text);
	profile_notes_print("validate", path, &notes);
	return DIST_EXIT_OK;
}

static int read_log(struct validate *validate, const char *path,
		    const struct validate_request *request)
{
	struct validate_table *table = append(validate, path);
	struct log_facts facts = request->facts;
	struct dist_message message;
	struct log_notes notes;

	if (!table)
		return out_of_memory("validate");
	table->wanted = true;
	facts.described = &validate->machine;
	table->is_profile = profile_is(path);
	if (table->is_profile)
		return read_profile(table, path, &facts, request);
	if (collectives_load_log(&table->collectives, path, &facts, &notes,
				 &message))
		return refuse("validate", "%s", message.text);
	log_notes_print("validate", path, &notes);
	if (request->calibrate)
		collectives_give_away(&table->collectives);
	return DIST_EXIT_OK;
}

/* Reads what comes with Lockstep. */
static int read_all(struct validate *validate, const char *kind, bool wanted)
{
	struct dist__files files;
	int status = DIST_EXIT_OK;

	if (dist__data_files(&files, kind, ".tsv") == DIST_ERR_NO_MEMORY)
		status = out_of_memory("validate");
	for (size_t i = 0; !status && i < files.num; i++)
		status = read_table(validate, files.paths[i], wanted);
	dist__files_release(&files);
	return status;
}

/* Those that come with Lockstep and have no part in it. */
static int want_unseen(struct validate *validate)
{
	size_t num = validate->num;
	int status = read_all(validate, "measured/collectives-unseen", true);

	for (; num < validate->num; num++)
		validate->tables[num].is_unseen = true;
	return status;
}

/* Marks the table of that name, or reads the file. */
static int want(struct validate *validate, const char *name)
{
	struct dist_message message;

	for (size_t i = 0; i < validate->num; i++)
		if (strcmp(validate->tables[i].name, name) == 0) {
			validate->tables[i].wanted = true;
			return DIST_EXIT_OK;
		}
	if (strcmp(name, "unseen") == 0)
		return want_unseen(validate);
	if (access(name, R_OK)) {
		snprintf(message.text, sizeof message.text,
			 "no table \"%.128s\": expected a name that lockstep "
			 "list measured shows as collectives or steps, or a "
			 "readable file of that form",
			 name);
		return refuse("validate", "%s", message.text);
	}
	return read_table(validate, name, true);
}

/* ---- predicting ------------------------------------------------------- */

/* Errors: NO_MEMORY. */
static enum dist_error sum_up(struct validate_table *table)
{
	const struct step_outcome *steps = &table->step_outcome;
	double *scratch =
		calloc(table->outcome.num + steps->num + 1, sizeof *scratch);

	if (!scratch)
		return DIST_ERR_NO_MEMORY;
	for (int r = 0; r < ACCURACY_RANGES; r++)
		table->ranges[r] = outcome_accuracy(&table->outcome,
						    (enum accuracy_range)r,
						    false, scratch);
	for (int b = 0; b < VALIDATE_BLIND; b++)
		table->blind_errors[b] = outcome_accuracy(
			&table->blind[b], ACCURACY_ALL, false, scratch);
	table->fit =
		outcome_accuracy(&table->outcome, ACCURACY_ALL, true, scratch);
	for (int s = 0; s < STREAM_SCHEDULES; s++) {
		enum stream_schedule schedule = (enum stream_schedule)s;

		table->schedules[s] =
			step_outcome_accuracy(steps, schedule, scratch);
		table->blind_schedules[s] = step_outcome_accuracy(
			&table->blind_steps, schedule, scratch);
	}
	free(scratch);
	return DIST_OK;
}

/* The tables of steps but one, predicted without a doubling. */
static enum dist_error predict_others(struct validate *validate,
				      const struct validate_table *but,
				      struct step_outcome *others, size_t *num)
{
	struct schedule_job job = schedule_job_gpu;
	enum dist_error error = DIST_OK;

	job.doubling = 0;
	for (size_t i = 0; !error && i < validate->num; i++) {
		struct validate_table *table = &validate->tables[i];

		if (!table->is_steps || table == but)
			continue;
		error = step_outcome_make(&others[*num], &table->steps,
					  &validate->models, &job);
		*num += !error && others[*num].num > 0;
	}
	return error;
}

/* What a GPU takes in a job as if the table had never been seen: what DDP takes
 * is known from one of them alone. */
static enum dist_error forget_table(struct validate *validate,
				    const struct validate_table *table,
				    struct schedule_job *job)
{
	struct step_outcome *others = calloc(validate->num, sizeof *others);
	const struct step_outcome **all =
		calloc(validate->num, sizeof(const struct step_outcome *));
	enum dist_error error = DIST_ERR_NO_MEMORY;
	double *scratch = NULL;
	size_t num = 0, most = 1;

	*job = schedule_job_gpu;
	if (strcmp(table->name, SCHEDULE_JOB_TABLE) == 0)
		job->tensor_ns = job->bucket_ns = 0;
	if (others && all)
		error = predict_others(validate, table, others, &num);
	for (size_t i = 0; i < num; i++) {
		all[i] = &others[i];
		most += others[i].num;
	}
	if (!error)
		scratch = calloc(most, sizeof *scratch);
	if (scratch)
		job->doubling = step_outcome_doubling(all, num, scratch);
	else
		error = DIST_ERR_NO_MEMORY;
	for (size_t i = 0; i < num; i++)
		step_outcome_release(&others[i]);
	free(scratch);
	free(others);
	free(all);
	return error;
}

static enum dist_error predict_steps_blind(struct validate *validate,
					   struct validate_table *table)
{
	struct schedule_job job;
	enum dist_error error = forget_table(validate, table, &job);

	return error ? error
		     : step_outcome_make(&table->blind_steps, &table->steps,
					 &validate->blind[VALIDATE_OWN_ROWS],
					 &job);
}

static enum dist_error predict_blind(struct validate *validate,
				     struct validate_table *table)
{
	enum dist_error error = DIST_OK;

	if (table->is_steps)
		return predict_steps_blind(validate, table);
	for (int b = 0; !error && b < VALIDATE_BLIND; b++)
		error = outcome_make(&table->blind[b], &table->collectives,
				     &validate->blind[b]);
	return error;
}

static enum dist_error predict(struct validate *validate,
			       struct validate_table *table)
{
	enum dist_error error;

	if (!table->wanted)
		return DIST_OK;
	if (table->is_steps)
		error = step_outcome_make(&table->step_outcome, &table->steps,
					  &validate->models, &schedule_job_gpu);
	else
		error = outcome_make(&table->outcome, &table->collectives,
				     &validate->models);
	if (!error && validate->is_blind)
		error = predict_blind(validate, table);
	return error ? error : sum_up(table);
}

static const enum calibrated_constants blind_constants[] = {
	[VALIDATE_NO_MACHINE] = CALIBRATED_WITHOUT_MACHINE,
	[VALIDATE_NO_FABRIC] = CALIBRATED_WITHOUT_FABRIC,
	[VALIDATE_OWN_ROWS] = CALIBRATED_BLIND_ROWS,
};

/* Predicts what is wanted, once all tables are there. */
static int predict_all(struct validate *validate,
		       enum calibrated_constants constants)
{
	size_t num = 0;

	validate->calibration =
		calloc(validate->num + 1, sizeof *validate->calibration);
	if (!validate->calibration)
		return out_of_memory("validate");
	for (size_t i = 0; i < validate->num; i++)
		if (!validate->tables[i].is_steps &&
		    !validate->tables[i].is_unseen)
			validate->calibration[num++] =
				&validate->tables[i].collectives;
	calibrated_models_init(&validate->models, validate->calibration, num,
			       constants);
	for (int b = 0; b < VALIDATE_BLIND; b++)
		calibrated_models_init(&validate->blind[b],
				       validate->calibration, num,
				       blind_constants[b]);
	validate->blind[VALIDATE_OWN_ROWS].kin =
		&validate->blind[VALIDATE_NO_MACHINE];
	for (size_t i = 0; i < validate->num; i++)
		if (predict(validate, &validate->tables[i]))
			return out_of_memory("validate");
	return DIST_EXIT_OK;
}

static int read_wanted(struct validate *validate,
		       const struct validate_request *request)
{
	int status = DIST_EXIT_OK;

	for (size_t i = 0; !status && i < request->num; i++)
		status =
			request->facts.machine
				? read_log(validate, request->names[i], request)
				: want(validate, request->names[i]);
	return status;
}

int validate_make(struct validate *validate,
		  const struct validate_request *request)
{
	bool all = request->num == 0;
	struct dist__progress progress;
	int status = DIST_EXIT_OK;

	*validate = (struct validate){.is_blind = request->blind};
	dist__progress_begin(&progress, "predicting what was measured", 0, 0);
	if (request->facts.machine)
		status = read_machine(validate, &request->facts);
	/* Logs that calibrate themselves need nobody. */
	if (!status && !request->calibrate)
		status = read_all(validate, "measured/collectives", all);
	if (!status && !request->calibrate)
		status = read_all(validate, "measured/steps", all);
	if (!status)
		status = read_wanted(validate, request);
	if (!status)
		status = predict_all(validate, request->constants);
	dist__progress_end(&progress);
	return status;
}

void validate_release(struct validate *validate)
{
	for (size_t i = 0; i < validate->num; i++) {
		struct validate_table *table = &validate->tables[i];

		outcome_release(&table->outcome);
		for (int b = 0; b < VALIDATE_BLIND; b++)
			outcome_release(&table->blind[b]);
		dist__tsv_release(&table->collectives.tsv);
		step_outcome_release(&table->step_outcome);
		step_outcome_release(&table->blind_steps);
		dist__tsv_release(&table->steps.tsv);
	}
	calibrated_models_release(&validate->models);
	for (int b = 0; b < VALIDATE_BLIND; b++)
		calibrated_models_release(&validate->blind[b]);
	free(validate->calibration);
	free(validate->tables);
	*validate = (struct validate){.num = 0};
}
