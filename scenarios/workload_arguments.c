#include "scenarios/workload_arguments.h"

#include <stdio.h>
#include <string.h>
#include "base/text.h"

#define DEFAULT_BATCH 32.0

#define DDP_STEP " ddp_step "
#define FSDP     " fsdp "
#define PIPELINE " hybrid or pipeline "
#define TENSOR   " hybrid or tensor_parallel "

#define AT(field) offsetof(struct workload_arguments, field)
#define TEXT      OPTION_TEXT
#define CHOICE    OPTION_CHOICE
#define NUMBER    OPTION_NUMBER
#define COUNT     OPTION_COUNT
#define SWITCH    OPTION_SWITCH

const struct option workload_options[] = {
	{"model", TEXT, AT(model), "MODEL",
	 .help = "network: a name or a CSV file", .usual = "resnet50",
	 .list = "models"},
	{"batch", NUMBER, AT(rate.batch), "N", .help = "samples per replica",
	 .usual = "32", .above = true},
	{"flops", OPTION_RATE, AT(rate.flops), "RATE",
	 .help = "achieved FLOP/s of a device, such as 60T",
	 .usual = "the rate of --gpu"},
	{"gpu", TEXT, AT(gpu), "NAME",
	 .help = "device: gives the rate (measured, else a share of its peak) "
		 "and the memory",
	 .usual = "the machine's"},
	{"precision", CHOICE, AT(precision), "fp32|tf32|amp",
	 .help = "precision of computing",
	 .usual = "the first known one of amp, tf32, fp32"},
	{"optimizer", CHOICE, AT(optimizer), "adam|momentum|sgd",
	 .help = "optimizer, for its memory", .usual = "adam"},
	{"step-ms", NUMBER, AT(rate.step_ms), "T",
	 .help = "measured ms of a step on one device, instead of --flops"},
	WORKLOAD_PACE_ROWS(0),
	{"bucket-cap-mb", NUMBER, AT(bucket_cap_mb), "MB",
	 .help = "size of a bucket in MiB", .usual = "25", .takers = DDP_STEP},
	{"first-bucket-mb", NUMBER, AT(first_bucket_mb), "MB",
	 .help = "size of the first bucket in MiB", .usual = "1",
	 .takers = DDP_STEP},
	{"per-tensor", SWITCH, AT(per_tensor), NULL,
	 .help = "a bucket for each gradient", .takers = DDP_STEP},
	{"no-overlap", SWITCH, AT(no_overlap), NULL,
	 .help = "average gradients after backward, by default in one bucket",
	 .takers = DDP_STEP},
	{"accumulate", COUNT, AT(accumulate), "N",
	 .help = "micro-batches of a step; all except the last with no_sync",
	 .usual = "1", .takers = DDP_STEP, .min = 1, .max = 1e6},
	{"find-unused-parameters", SWITCH, AT(find_unused_parameters), NULL,
	 .help = "exchange which parameters each rank used",
	 .takers = DDP_STEP},
	{"static-graph", SWITCH, AT(static_graph), NULL,
	 .help = "the first step decides which parameters are used",
	 .takers = DDP_STEP},
	{"comm-hook", CHOICE, AT(comm_hook),
	 "allreduce|fp16_compress|bf16_compress",
	 .help = "how buckets are averaged", .usual = "allreduce",
	 .takers = DDP_STEP},
	{"zero", COUNT, AT(zero), "N",
	 .help = "ZeRO stage: 1 optimizer state, 2 and gradients, 3 and "
		 "parameters",
	 .usual = "3", .takers = FSDP, .min = 1, .max = 3},
	{"no-prefetch", SWITCH, AT(no_prefetch), NULL,
	 .help = "gather a layer's parameters only when they are needed",
	 .takers = FSDP},
	{"tp", COUNT, AT(tp), "N", .help = "ranks of a tensor group",
	 .usual = "1; tensor_parallel: all", .takers = TENSOR, .min = 1,
	 .max = 1 << 24},
	{"pp", COUNT, AT(pp), "N", .help = "stages", .usual = "1",
	 .takers = " hybrid ", .min = 1, .max = 1 << 24},
	{"stages", COUNT, AT(pp), "N", .help = "stages",
	 .usual = "as many as ranks", .takers = " pipeline ", .min = 1,
	 .max = 1 << 24},
	{"micro-batches", COUNT, AT(micro_batches), "N",
	 .help = "micro-batches of a step in the pipeline", .usual = "4",
	 .takers = PIPELINE, .min = 1, .max = 1e6},
	{"schedule", CHOICE, AT(schedule), "gpipe|1f1b",
	 .help = "order of the micro-batches", .usual = "1f1b",
	 .takers = PIPELINE},
	{"experts", COUNT, AT(experts), "N", .help = "experts of a layer",
	 .usual = "as many as ranks", .takers = " moe ", .min = 1,
	 .max = 1 << 24},
	{"top-k", COUNT, AT(top_k), "K", .help = "experts of a token",
	 .usual = "2", .takers = " moe ", .min = 1, .max = 1 << 24},
	{"imbalance", NUMBER, AT(imbalance_percent), "PERCENT",
	 .help = "standard deviation of the experts' tokens, log-normal",
	 .usual = "0", .takers = " moe ", .max = 1000},
	{"servers", COUNT, AT(servers), "N",
	 .help = "parameter servers, the first ranks", .usual = "1",
	 .takers = " ps ", .min = 1, .max = 1 << 24},
	{"via", CHOICE, AT(via), "messages|rpc",
	 .help = "how workers and servers communicate", .usual = "messages",
	 .takers = " ps "},
	{.name = NULL}};

void workload_arguments_init(struct workload_arguments *a, const char *workload)
{
	bool tensor = strcmp(workload, "tensor_parallel") == 0;
	bool pipeline = strcmp(workload, "pipeline") == 0;

	*a = (struct workload_arguments){
		.rate = {.batch = DEFAULT_BATCH, .flops = WORKLOAD_NO_RATE},
		.seed = -1,
		.steps = 1,
		.accumulate = 1,
		.zero = 3,
		.tp = tensor ? WORKLOAD_WHOLE_WORLD : 1,
		.pp = pipeline ? WORKLOAD_WHOLE_WORLD : 1,
		.micro_batches = tensor ? 1 : 4,
		.experts = WORKLOAD_WHOLE_WORLD,
		.top_k = 2,
		.servers = 1,
	};
}

/* Writes " VALUE" of a field, as it would be given, "" of a switch; returns
 * whether it is as by default. */
static bool print_value(const struct option *option, const void *field,
			const void *usual, char value[64])
{
	value[0] = '\0';
	switch (option->kind) {
	case OPTION_NUMBER:
	case OPTION_RATE:
		snprintf(value, 64, " %g", *(const double *)field);
		return memcmp(field, usual, sizeof(double)) == 0;
	case OPTION_TEXT:
	case OPTION_CHOICE:
		if (*(const char *const *)field)
			snprintf(value, 64, " %.60s",
				 *(const char *const *)field);
		return memcmp(field, usual, sizeof(char *)) == 0;
	case OPTION_COUNT:
		snprintf(value, 64, " %d", *(const int *)field);
		break;
	default:
		break;
	}
	return memcmp(field, usual, sizeof(int)) == 0;
}

void workload_arguments_describe(const struct workload_arguments *a,
				 const char *workload, char *text, size_t size)
{
	struct workload_arguments defaults;
	const struct option *o;
	char value[64];

	workload_arguments_init(&defaults, workload);
	text[0] = '\0';
	for (o = workload_options; o->name; o++) {
		const void *field = (const char *)a + o->offset;
		const void *usual = (const char *)&defaults + o->offset;

		if (!o->takers || !option_is_taken(o, workload) ||
		    print_value(o, field, usual, value))
			continue;
		(void)dist__append(text, size, " --%s%s", o->name, value);
	}
}
