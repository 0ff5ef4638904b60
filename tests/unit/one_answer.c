/* What a command predicts on a machine is what validate holds against the
 * measured rows: the same, whether the machine's description or the platform
 * made of it says what joins the ranks. */
#include <math.h>
#include <string.h>

#include "cli/machine_platform.h"
#include "cli/prediction.h"
#include "model/validation/call.h"
#include "model/validation/calibrated_model.h"
#include "tests/support/data_files.h"

#define MOST_TABLES 64
#define MOST_PLACES 96

/* As near as two ways to add the same numbers come. */
#define NEAR 1e-9

/* Ranks on nodes of a machine, and what their platform says. */
struct place {
	const struct calibrated_model *model;
	int nodes, ranks;
	struct platform_survey survey;
};

static struct place places[MOST_PLACES];
static size_t num_places;

/* As predict and bench do. */
static void survey(struct place *place)
{
	const struct calibrated_key *key = &place->model->key;
	struct machine_platform platform;
	struct dist_message message = {""};
	char name[128], text[256];

	snprintf(name, sizeof name, "%s%s%s", key->machine,
		 key->transport ? ":" : "",
		 key->transport ? key->transport : "");
	okay_or(machine_platform_open(&platform, name, &message), message);
	platform.ranks_per_node = place->ranks / place->nodes;
	machine_platform_calibration(&platform, &place->model->profile,
				     place->ranks, text, sizeof text);
	cr_expect_eq(strncmp(text, "none", 4) == 0, !place->model->calibration,
		     "%s: %s", name, text);
	cr_assert_eq(machine_platform_write(&platform, place->ranks, false,
					    &message),
		     DIST_OK, "%s: %s", name, message.text);
	cr_assert_eq(
		platform_survey(&place->survey, platform.path, place->ranks,
				&(struct dist__link_overrides){.name = ""}),
		0);
	machine_platform_close(&platform);
}

static const struct place *place_of(const struct calibrated_model *model,
				    const struct collective_row *row)
{
	for (size_t i = 0; i < num_places; i++)
		if (places[i].model == model && places[i].nodes == row->nodes &&
		    places[i].ranks == row->ranks)
			return &places[i];
	cr_assert_lt(num_places, (size_t)MOST_PLACES);
	places[num_places] = (struct place){
		.model = model, .nodes = row->nodes, .ranks = row->ranks};
	survey(&places[num_places]);
	return &places[num_places++];
}

/* Returns whether there is an answer. */
static bool hold(struct calibrated_models *models,
		 const struct collective_row *row, const char *table)
{
	const struct calibrated_key key = {
		.machine = row->machine,
		.transport = row->nodes == 1 ? NULL : row->transport,
		.library = row->library,
		.version = row->version};
	const struct library_call call = call_of_row(row);
	struct library_estimate validated, predicted;
	const struct calibrated_model *model;
	struct dist_message message = {""};

	okay(calibrated_models_get(models, &key, &model));
	if (calibrated_estimate(model, row->nodes, &call, &validated, &message))
		return false;
	cr_assert_eq(library_estimate(&model->profile,
				      &place_of(model, row)->survey.fabric,
				      &call, &predicted, &message),
		     DIST_OK, "%s: %s", table, message.text);
	cr_expect_str_eq(predicted.algorithm, validated.algorithm);
	cr_expect_leq(
		fabs(library_time_ns(&predicted) / library_time_ns(&validated) -
		     1),
		NEAR, "%s, %zu bytes: predicted %.9g ns, validated %.9g", table,
		row->bytes, library_time_ns(&predicted),
		library_time_ns(&validated));
	return true;
}

Test(one_answer, predict_is_validate_for_every_measured_row)
{
	static struct collectives tables[MOST_TABLES];
	const struct collectives *borrowed[MOST_TABLES];
	struct calibrated_models models;
	struct dist_message message = {""};
	size_t answers = 0;
	struct dist__files files = data_files("measured/collectives", ".tsv");

	cr_assert_leq(files.num, (size_t)MOST_TABLES);
	for (size_t t = 0; t < files.num; t++) {
		okay_or(collectives_load(&tables[t], files.paths[t], &message),
			message);
		borrowed[t] = &tables[t];
	}
	calibrated_models_init(&models, borrowed, files.num, CALIBRATED_STORED);
	for (size_t t = 0; t < files.num; t++)
		for (size_t i = 0; i < tables[t].tsv.num_rows; i++)
			if (tables[t].rows[i].use == VALUE_VALIDATION)
				answers += hold(&models, &tables[t].rows[i],
						files.paths[t]);
	cr_expect_gt(answers, (size_t)3000);
	calibrated_models_release(&models);
	for (size_t t = 0; t < files.num; t++)
		dist__tsv_release(&tables[t].tsv);
	dist__files_release(&files);
}
