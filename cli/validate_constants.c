/* validate_constants.c - the constants that no source states, as all tables
 * come to them, and as they do without one machine at a time. */
#include <math.h>
#include <string.h>

#include "cli/validate.h"
#include "model/validation/population.h"

static enum dist_error load(const char *library, struct dist__profile *profile)
{
	struct dist_message ignored;

	dist__profile_init(profile);
	return dist__profile_find(profile, library, &ignored);
}

/* Adds the rows of one library; as: its profile, fit: as all tables say. */
static void add_library(const struct validate *validate, const char *library,
			const struct dist__profile *as,
			const struct dist__profile *fit,
			struct dist__rows *table)
{
	const struct library_constant *constant = library_fitted(as);

	for (; constant->name; constant++) {
		double low = INFINITY, high = -INFINITY;

		if (constant->spread == 0 ||
		    !isfinite(library_constant_value(as, constant)))
			continue;
		for (size_t i = 0; i < validate->blind[0].num; i++) {
			const struct calibrated_model *model =
				validate->blind[0].all[i];
			double value = library_constant_value(&model->profile,
							      constant);

			if (strcmp(model->profile.name, as->name) != 0)
				continue;
			low = fmin(low, value);
			high = fmax(high, value);
		}
		ADD_ROW(table, cell_text(library), cell_copy(constant->name),
			cell_real(constant->start),
			cell_real(library_constant_value(as, constant)),
			cell_real(library_constant_value(fit, constant)),
			cell_real(low), cell_real(high));
	}
}

struct dist__rows validate_constants(const struct validate *validate)
{
	static const char *const libraries[] = {"nccl", "openmpi", "mpich",
						"gloo"};
	const struct population population = {
		.tables = validate->models.tables,
		.num_tables = validate->models.num_tables};
	struct dist__rows table = {
		.columns = "library;constant;start;profile;all_tables|all "
			   "tables;least|least without one;most|most without "
			   "one"};

	for (size_t i = 0;
	     validate->is_blind && i < sizeof libraries / sizeof libraries[0];
	     i++) {
		struct dist__profile as, fit;

		if (load(libraries[i], &as) == DIST_OK &&
		    load(libraries[i], &fit) == DIST_OK &&
		    library_fitted(&as)) {
			if (population_fit(&population, libraries[i], &fit))
				table.failed = true;
			else
				add_library(validate, libraries[i], &as, &fit,
					    &table);
		}
		dist__profile_release(&as);
		dist__profile_release(&fit);
	}
	return table;
}
