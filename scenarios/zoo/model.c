#include "scenarios/zoo/model.h"

#include <string.h>

void zoo_model_list(struct zoo_model *model)
{
	static const char *const names[ZOO_PARAMETERS] = {
		"encoder.weight", "encoder.bias", "head.weight", "head.bias"};

	memset(model, 0, sizeof *model);
	for (int i = 0; i < ZOO_PARAMETERS; i++)
		model->list[i] = (struct dist_ddp_parameter){
			names[i], zoo_floats(model->values[i]),
			zoo_floats(model->gradients[i])};
}

enum dist_error zoo_model_new(struct zoo *zoo, struct zoo_model *model,
			      const struct dist_ddp_options *options)
{
	const double layer_mb = 2.0 * sizeof model->values[0] / (1 << 20);
	struct dist_ddp_options two = {.first_bucket_mb = 0};

	if (options)
		two = *options;
	two.first_bucket_mb = two.bucket_cap_mb = layer_mb;
	zoo_model_list(model);
	return dist_ddp_new(zoo->group, model->list, ZOO_PARAMETERS, &two,
			    &model->ddp);
}

enum dist_error zoo_backward_at(const char *file, int line,
				struct zoo_model *model, int first)
{
	for (int i = ZOO_PARAMETERS; i-- > first;)
		zoo_try((dist_ddp_gradient_ready)(dist_ddp_at(model->ddp, file,
							      line),
						  (size_t)i));
	return DIST_OK;
}
