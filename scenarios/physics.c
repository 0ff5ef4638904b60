#include "scenarios/physics.h"

#include "base/text.h"
#include "model/llm/device.h"

/* What an optimizer keeps of a parameter. */
static const struct optimizer {
	const char *name, *text;
	double state_bytes;
} optimizers[] = {{"adam", " and adam's two moments", 8},
		  {"momentum", " and momentum", 4},
		  {"sgd", "", 0}};

/* The first one, unless another is asked for; checked before. */
static const struct optimizer *optimizer_of(const struct workload_setup *setup)
{
	const char *name = setup->job.arguments->optimizer;
	const struct optimizer *found = DIST__NAMED(optimizers, name);

	return found ? found : optimizers;
}

void physics_describe(const struct workload_setup *setup, char *text,
		      size_t size)
{
	snprintf(text, size, "parameters, gradients%s in float32",
		 optimizer_of(setup)->text);
}

static double memory_of(const struct workload_setup *setup, int world_size)
{
	const struct workload_held held =
		workload_held(&setup->job, world_size);

	return sizeof(float) * (held.parameters + held.gradients) +
	       optimizer_of(setup)->state_bytes * held.states;
}

/* Returns the highest peak of all GPUs, in whatever precision, and what it is;
 * 0: none is known. */
static double highest_peak(char *text, size_t size)
{
	struct llm_device *devices;
	struct dist_message message;
	double highest = 0;
	size_t num;

	if (llm_device_list(&devices, &num, false, &message))
		return 0;
	for (size_t i = 0; i < num; i++)
		for (int p = 0; p < LLM_PRECISIONS; p++) {
			if (devices[i].peak[p] <= highest)
				continue;
			highest = devices[i].peak[p];
			snprintf(text, size, "%s %s peak", devices[i].name,
				 llm_precision_name((enum llm_precision)p));
		}
	llm_device_list_release(devices, num);
	return highest;
}

void physics_judge(const struct workload_setup *setup, int world_size,
		   struct physics *p)
{
	const struct gpu *gpu = &setup->gpu;
	const struct gpu_rate *peak =
		gpu_peak(gpu, setup->job.arguments->precision);
	char held[96];

	*p = (struct physics){.memory_bytes = memory_of(setup, world_size)};
	physics_describe(setup, held, sizeof held);
	if (!gpu->name[0]) {
		/* Where no GPU is named, but a rate. */
		char text[96];
		double highest = highest_peak(text, sizeof text);

		if (highest > 0 && setup->flops > highest)
			snprintf(p->impossible, sizeof p->impossible,
				 "computes at %.4g TFLOP/s, above that of any "
				 "GPU, the %s, %g TFLOP/s",
				 setup->flops / 1e12, text, highest / 1e12);
	}
	if (gpu->memory_bytes > 0 && p->memory_bytes > gpu->memory_bytes)
		snprintf(p->impossible, sizeof p->impossible,
			 "needs %.4g GB a rank for %s, %s has %.4g GB",
			 p->memory_bytes / 1e9, held, gpu->name,
			 gpu->memory_bytes / 1e9);
	if (peak && setup->flops > peak->flops * (1 + 1e-9))
		(void)dist__append(
			p->impossible, sizeof p->impossible,
			"%scomputes at %.4g TFLOP/s, above the %s, %g TFLOP/s",
			p->impossible[0] ? "; " : "", setup->flops / 1e12,
			peak->text, peak->flops / 1e12);
}
