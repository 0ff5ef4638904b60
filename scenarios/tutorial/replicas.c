#include "scenarios/tutorial/replicas.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PARAMETERS (2 * TOYMODEL_LAYERS) /* a weight and a bias each */

enum dist_error replicas_new(struct dist_group *group, struct toymodel *model,
			     struct dist_ddp **ddp)
{
	struct dist_ddp_parameter params[PARAMETERS];

	for (int i = 0; i < TOYMODEL_LAYERS; i++) {
		struct layer layer = toymodel_layer(model, i);
		size_t numel = layer.inputs * layer.outputs;

		params[2 * i] = (struct dist_ddp_parameter){
			"weight",
			dist_tensor(layer.weight, numel, DIST_FLOAT32),
			dist_tensor(layer.weight_grad, numel, DIST_FLOAT32)};
		numel = layer.outputs;
		params[2 * i + 1] = (struct dist_ddp_parameter){
			"bias", dist_tensor(layer.bias, numel, DIST_FLOAT32),
			dist_tensor(layer.bias_grad, numel, DIST_FLOAT32)};
	}
	return dist_ddp_new(group, params, PARAMETERS, NULL, ddp);
}

enum dist_error replicas_average(struct dist_ddp *ddp)
{
	enum dist_error error = DIST_OK;

	for (size_t i = PARAMETERS; !error && i-- > 0;)
		error = dist_ddp_gradient_ready(ddp, i);
	return error ? error : dist_ddp_finish(ddp);
}

enum dist_error replicas_check(struct dist_group *group,
			       const struct toymodel *model, bool *same)
{
	int64_t mine = (int64_t)dist__hash_bytes(
		DIST__HASH_BEGIN, model->params, sizeof model->params);
	int r, differs = 0, size = dist_get_world_size(group);
	int64_t *all = calloc((size_t)size, sizeof *all);
	enum dist_error error;

	if (!all)
		return DIST_ERR_NO_MEMORY;
	error = dist_all_gather_single(
		group, dist_tensor(all, (size_t)size, DIST_INT64),
		dist_tensor(&mine, 1, DIST_INT64), NULL);
	for (r = 1; r < size && !differs; r++)
		differs = all[r] != all[0] ? r : 0;
	free(all);
	if (error)
		return error;
	*same = !differs;
	if (dist_get_rank(group) != 0)
		return DIST_OK;
	if (differs)
		fprintf(stderr, "rank %d does not hold rank 0's weights\n",
			differs);
	else
		printf("weights: the same on all ranks, to the bit\n");
	return DIST_OK;
}
