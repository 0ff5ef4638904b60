/* What is known of GPUs, and what of a prediction none of them can do. */
#include <stdio.h>
#include <string.h>

#include "model/measured/machine.h"
#include "scenarios/gpu.h"
#include "scenarios/physics.h"
#include "tests/support/data_files.h"

#define GIB 1073741824.0

/* ---- what is known ------------------------------------------------------ */

struct rate {
	const char *gpu, *precision, *model;
	double tflops;
	const char *text;
};

Test(gpu, trains_as_measured_else_at_a_share_of_its_peak)
{
	static const struct rate rates[] = {
		{"a100", "amp", "resnet50", 60.6, "A100 SXM 80GB, ResNet-50"},
		{"A100 40GB", NULL, "resnet50", 60.6, "achieved by A100 SXM"},
		{"V100 SXM2 32GB", "fp32", "bert_large", 11.8, "BERT-large"},
		{"RTX 2080 Ti", "fp32", "resnet50", 6.2, "train fp32"},
		{"RTX 2080 Ti", NULL, "resnet50", 0.4 * 53.8,
		 "RTX-2080-Ti fp16 peak"},
		{"H100 80GB", NULL, "resnet50", 68.4, "H100 SXM 80GB, Res"},
		{"H100 80GB", NULL, "resnet101", 0.4 * 989,
		 "assumed: 0.4 of "
		 "the H100-SXM bf16 "
		 "peak, 989 TFLOP/s"},
		{"H100 64GB", "fp32", "gpt2_xl", 0.4 * 67, "fp32 peak"},
		{"V100", NULL, "vgg16", 0.4 * 125, "fp16 peak"},
		{"h100 pcie", "amp", "vgg16", 0.4 * 756, "H100-PCIe"},
		{"A100 40GB PCIe", NULL, "resnet50", 0.4 * 312,
		 "A100-PCIe-40GB"},
		{"GB200", NULL, "gpt2_xl", 0.4 * 2500, "GB200 bf16 peak"},
	};

	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		struct dist_message message;
		struct gpu_rate rate;
		struct gpu gpu;

		okay(gpu_find(&gpu, rates[i].gpu, rates[i].model, &message));
		cr_assert_eq(
			gpu_choose(&gpu, rates[i].precision, &rate, &message),
			DIST_OK, "%s: %s", rates[i].gpu, message.text);
		cr_expect_float_eq(rate.flops, rates[i].tflops * 1e12, 1e9,
				   "%s: %g", rates[i].gpu, rate.flops);
		cr_expect(strstr(rate.text, rates[i].text), "%s: %s",
			  rates[i].gpu, rate.text);
	}
}

Test(gpu, of_which_nothing_is_known_is_refused)
{
	static const char *const names[] = {"abacus", "H30", "A1", "80GB", ""};
	struct dist_message message;
	struct gpu_rate rate;
	struct gpu gpu;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		okay(gpu_find(&gpu, names[i], "resnet50", &message));
		cr_expect_null(gpu_peak(&gpu, NULL), "%s", names[i]);
		cr_expect_eq(gpu_choose(&gpu, NULL, &rate, &message),
			     DIST_ERR_INVALID_ARGUMENT, "%s", names[i]);
	}
	cr_expect(strstr(message.text, "A100, H100 80GB"), "%s", message.text);
	okay(gpu_find(&gpu, "V100", "resnet50", &message));
	refused_with(gpu_choose(&gpu, "tf32", &rate, &message), message,
		     "one of amp fp32");
}

struct memory {
	const char *gpu;
	double gib; /* 0: not known */
};

Test(gpu, has_the_memory_that_its_name_says_or_the_most)
{
	static const struct memory table[] = {
		{"A100 40GB", 40}, {"A100 64GB", 64},   {"A100", 80},
		{"V100", 32},      {"V100 16GB", 16},   {"H200 141GB", 141},
		{"H20 96GB", 96},  {"GH200 120GB", 96}, {"MI250X", 64},
		{"abacus", 0}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct dist_message message;
		struct gpu gpu;

		okay(gpu_find(&gpu, table[i].gpu, "m", &message));
		cr_expect_float_eq(gpu.memory_bytes, table[i].gib * GIB, 1,
				   "%s: %g", table[i].gpu, gpu.memory_bytes);
	}
}

Test(gpu, of_every_machine_has_a_rate_and_a_memory)
{
	struct dist__files files = data_files("machines", ".yaml");
	int num = 0;

	for (size_t i = 0; i < files.num; i++) {
		const char *path = files.paths[i];
		struct dist_message message;
		struct machine machine;
		struct gpu_rate rate;
		struct gpu gpu;

		okay(machine_load(&machine, path, &message));
		if (!machine.gpu[0])
			continue;
		num++;
		okay(gpu_find(&gpu, machine.gpu, "gpt2_xl", &message));
		cr_expect_eq(gpu_choose(&gpu, NULL, &rate, &message), DIST_OK,
			     "%s: %s", path, message.text);
		cr_expect_gt(gpu.memory_bytes, 0, "%s", path);
	}
	dist__files_release(&files);
	cr_expect_geq(num, 20);
}

/* ---- what is judged ----------------------------------------------------- */

/* A setup, as predict makes it of a command line. */
struct trial {
	struct workload_arguments arguments;
	struct workload_setup setup;
	struct physics physics;
};

static void judge(struct trial *t, const char *name, char *model,
		  const char *gpu, int ranks)
{
	struct dist__refusal refusal;

	t->arguments.model = model;
	okay_or(workload_setup_init(&t->setup, workload_find(name),
				    &t->arguments, gpu, &refusal),
		refusal.message);
	okay_or(workload_check(&t->setup.job, ranks, &refusal),
		refusal.message);
	physics_judge(&t->setup, ranks, &t->physics);
	workload_setup_release(&t->setup);
}

static void init(struct trial *t, const char *name)
{
	workload_arguments_init(&t->arguments, name);
}

/* Bytes a parameter of gpt2_medium, on so many ranks. */
static double held_by(struct trial *t, const char *name, int ranks)
{
	char model[] = "gpt2_medium";

	judge(t, name, model, "A100 80GB", ranks);
	cr_expect_str_empty(t->physics.impossible);
	return t->physics.memory_bytes / 354823168;
}

Test(physics, memory_goes_by_what_is_sharded)
{
	/* Of 24 layers: 8 d^2 + 5 d of the MLP. */
	const double mlp = 24.0 * (8 * 1024 + 5) * 1024 / 354823168;
	char momentum[] = "momentum", sgd[] = "sgd";
	struct trial t;

	init(&t, "ddp_step");
	cr_expect_float_eq(held_by(&t, "ddp_step", 8), 16, 1e-9);
	t.arguments.optimizer = momentum;
	cr_expect_float_eq(held_by(&t, "ddp_step", 8), 12, 1e-9);
	t.arguments.optimizer = sgd;
	cr_expect_float_eq(held_by(&t, "ddp_step", 8), 8, 1e-9);
	init(&t, "fsdp");
	cr_expect_float_eq(held_by(&t, "fsdp", 8), 16.0 / 8, 1e-9);
	t.arguments.zero = 2;
	cr_expect_float_eq(held_by(&t, "fsdp", 8), 4 + 12.0 / 8, 1e-9);
	t.arguments.zero = 1;
	cr_expect_float_eq(held_by(&t, "fsdp", 8), 8 + 8.0 / 8, 1e-9);
	init(&t, "tensor_parallel");
	cr_expect_float_eq(held_by(&t, "tensor_parallel", 8), 16.0 / 8, 1e-9);
	init(&t, "moe");
	cr_expect_float_eq(held_by(&t, "moe", 8), 16, 1e-9);
	t.arguments.experts = 24;
	cr_expect_float_eq(held_by(&t, "moe", 8), 16 * (1 + 2 * mlp), 1e-9);
	init(&t, "ps");
	cr_expect_float_eq(held_by(&t, "ps", 8), 16, 1e-9);
	t.arguments.servers = 2;
	cr_expect_float_eq(held_by(&t, "ps", 8), 8, 1e-9);
	/* The fullest stage holds more than its share. */
	init(&t, "hybrid");
	t.arguments.tp = t.arguments.pp = 2;
	cr_expect_gt(held_by(&t, "hybrid", 8), 16.0 / 4);
	cr_expect_lt(held_by(&t, "hybrid", 8), 16.0 / 3);
}

Test(physics, what_does_not_fit_is_impossible)
{
	char model[] = "gpt2_xl";
	struct trial t;

	init(&t, "ddp_step");
	judge(&t, "ddp_step", model, "V100 32GB", 8);
	cr_expect_str_empty(t.physics.impossible);
	judge(&t, "ddp_step", model, "V100 16GB", 8);
	cr_expect(strstr(t.physics.impossible,
			 "needs 24.92 GB a rank for parameters, gradients and "
			 "adam's two moments in float32, V100 16GB has 17.18 "
			 "GB"),
		  "%s", t.physics.impossible);
	/* Of an unknown device nothing is said that others reach. */
	t.arguments.rate.flops = 2000e12;
	judge(&t, "ddp_step", model, "", 8);
	cr_expect_str_empty(t.physics.impossible);
}

Test(physics, what_is_faster_than_the_peak_is_impossible)
{
	char model[] = "resnet50";
	struct trial t;

	init(&t, "ddp_step");
	t.arguments.rate.flops = 989e12;
	judge(&t, "ddp_step", model, "H100 80GB", 8);
	cr_expect_str_empty(t.physics.impossible);
	judge(&t, "ddp_step", model, "A100 80GB", 8);
	cr_expect(strstr(t.physics.impossible, "989 TFLOP/s, above the A100"),
		  "%s", t.physics.impossible);
	/* Three passes of 32 samples of 8.178 GFLOP in a millisecond. */
	t.arguments.rate.flops = 0;
	t.arguments.rate.step_ms = 1;
	judge(&t, "ddp_step", model, "H100 80GB", 8);
	cr_expect_str_empty(t.physics.impossible);
	judge(&t, "ddp_step", model, "A100 80GB", 8);
	cr_expect(strstr(t.physics.impossible, "785.1 TFLOP/s, above the A100"),
		  "%s", t.physics.impossible);
}

/* ---- samples ------------------------------------------------------------ */

static double samples(const char *name, int tp, int accumulate, int servers)
{
	struct workload_arguments arguments;
	struct workload_job job = {.workload = workload_find(name),
				   .arguments = &arguments};

	workload_arguments_init(&arguments, name);
	arguments.rate.batch = 10;
	arguments.accumulate = accumulate;
	arguments.servers = servers;
	arguments.tp = tp;
	return workload_samples(&job, 8);
}

Test(workload, samples_are_those_of_its_replicas)
{
	cr_expect_eq(samples("ddp_step", 1, 1, 1), 80);
	cr_expect_eq(samples("ddp_step", 1, 3, 1), 240);
	cr_expect_eq(samples("fsdp", 1, 1, 1), 80);
	cr_expect_eq(samples("moe", 1, 1, 1), 80);
	cr_expect_eq(samples("tensor_parallel", 8, 1, 1), 10);
	cr_expect_eq(samples("hybrid", 2, 1, 1), 40);
	cr_expect_eq(samples("pipeline", 1, 1, 1), 10);
	cr_expect_eq(samples("ps", 1, 1, 3), 50);
}

/* Of a device that nobody names. */
Test(physics, what_is_faster_than_every_gpu_is_impossible)
{
	char model[] = "resnet50";
	struct trial t;

	init(&t, "ddp_step");
	t.arguments.rate.flops = 2500e12;
	judge(&t, "ddp_step", model, "", 8);
	cr_expect_str_empty(t.physics.impossible);
	t.arguments.rate.flops = 1e18;
	judge(&t, "ddp_step", model, "", 8);
	cr_expect(strstr(t.physics.impossible,
			 "computes at 1e+06 TFLOP/s, above that of any GPU, "
			 "the "),
		  "%s", t.physics.impossible);
}
