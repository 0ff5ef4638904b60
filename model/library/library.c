/* library.c - the libraries by name. */
#include "model/library/library.h"

#include <stdio.h>
#include <string.h>

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

struct dist__layout library_layout(const struct dist__profile *profile,
				   const struct fabric *fabric,
				   const struct library_call *call)
{
	return (struct dist__layout){.world_size = call->ranks,
				     .num_nodes = fabric->nodes,
				     .in_memory = fabric->nodes == 1 &&
						  profile->shares_memory};
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
	int used = snprintf(message->text, sizeof message->text,
			    "profile %s: unknown library \"%s\": expected",
			    profile->name, profile->library);

	for (size_t i = 0; models[i] && used < (int)sizeof message->text; i++)
		used += snprintf(message->text + used,
				 sizeof message->text - (size_t)used, "%s %s",
				 i ? "," : "", models[i]->name);
	return DIST_ERR_INVALID_ARGUMENT;
}

enum dist_error library_check(const struct dist__profile *profile,
			      struct dist_message *message)
{
	const struct library_model *model = library_find(profile);

	if (!model)
		return refuse_library(profile, message);
	for (size_t i = 0; i < profile->num_constants; i++) {
		const char *name = profile->constants[i].name;

		if (knows(model, name))
			continue;
		snprintf(message->text, sizeof message->text,
			 "profile %s: library %s has no constant \"%s\"",
			 profile->name, model->name, name);
		return DIST_ERR_INVALID_ARGUMENT;
	}
	return DIST_OK;
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

enum dist_error library_estimate(const struct dist__profile *profile,
				 const struct fabric *fabric,
				 const struct library_call *call,
				 struct library_estimate *estimate,
				 struct dist_message *message)
{
	const struct library_model *model = library_find(profile);

	*estimate = (struct library_estimate){.channels = 0};
	if (!model)
		return refuse_library(profile, message);
	return model->estimate(profile, fabric, call, estimate, message);
}
