/* What workloads stand on: layers, rates, lots, waits, arguments. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/layers.h"
#include "scenarios/pace.h"
#include "scenarios/waits.h"
#include "scenarios/workload.h"
#include "tests/support/data_files.h"

/* ---- layers ------------------------------------------------------------- */

struct cut {
	const char *model;
	size_t layers;
	size_t activation; /* of the first layer */
};

Test(layers, are_the_blocks_of_a_model)
{
	/* 1024 and 128 tokens of 768, 56 x 56 positions of 256 channels, 26 x
	 * 26 of 32, 224 x 224 of 64. */
	static const struct cut cuts[] = {
		{"gpt2_small", 12, 1024 * 768}, {"gpt2_xl", 48, 1024 * 1600},
		{"bert_base", 12, 128 * 768},   {"resnet50", 16, 56 * 56 * 256},
		{"mnist", 4, 26 * 26 * 32},     {"vgg16", 16, 224 * 224 * 64}};

	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		struct dist_message message;
		struct layers layers;
		struct model model;
		size_t numel = 0, rows = 0;
		double flops = 0;

		cr_assert_eq(model_load(&model, cuts[i].model, &message), 0);
		okay(layers_init(&layers, &model));
		cr_expect_eq(layers.num, cuts[i].layers, "%s: %zu layers",
			     cuts[i].model, layers.num);
		cr_expect_eq(layers.list[0].activation, cuts[i].activation,
			     "%s: %zu", cuts[i].model,
			     layers.list[0].activation);
		for (size_t l = 0; l < layers.num; l++) {
			cr_expect_eq(layers.list[l].first_row, rows);
			rows += layers.list[l].num_rows;
			numel += layers.list[l].numel;
			flops += layers.list[l].forward_flops;
		}
		cr_expect_eq(rows, model.num_rows);
		cr_expect_eq(numel, model.numel);
		cr_expect_eq(flops, model.forward_flops);
		layers_release(&layers);
		model_release(&model);
	}
}

Test(layers, may_have_names_without_modules)
{
	struct model_row rows[] = {{.name = (char[]){".w"}, .numel = 4},
				   {.name = (char[]){"."}, .numel = 2},
				   {.name = (char[]){"w."}, .numel = 2}};
	const struct model model = {
		.rows = rows, .num_rows = 3, .num_parameters = 3, .numel = 8};
	struct layers layers;

	okay(layers_init(&layers, &model));
	cr_expect_eq(layers.num, 3);
	layers_release(&layers);
}

/* What pipelines, tensor groups and experts need of each layer. */
static void expect_columns(const char *path)
{
	struct dist_message message;
	struct layers layers;
	struct model model;
	size_t attentions = 0;

	okay_or(model_load(&model, path, &message), message);
	okay(layers_init(&layers, &model));
	for (size_t l = 0; l < layers.num; l++)
		attentions += (size_t)layers.list[l].attentions;
	for (size_t l = 0; l < layers.num; l++) {
		const struct layer *layer = &layers.list[l];

		cr_expect_gt(layer->activation, 0, "%s: layer %zu", path, l);
		if (attentions == 0)
			continue;
		cr_expect_eq(layer->attentions, 1, "%s: layer %zu", path, l);
		cr_expect_eq(layer->width * layer->tokens, layer->attention,
			     "%s: layer %zu", path, l);
		cr_expect_gt(layer->mlp_numel, 8 * layer->width * layer->width);
	}
	cr_expect_eq(attentions > 0,
		     strstr(path, "/gpt") || strstr(path, "/bert"), "%s", path);
	layers_release(&layers);
	model_release(&model);
}

Test(layers, of_all_models_have_their_columns)
{
	struct dist__files files = data_files("models", ".csv");

	for (size_t i = 0; i < files.num; i++)
		expect_columns(files.paths[i]);
	cr_expect_geq(files.num, (size_t)15);
	dist__files_release(&files);
}

/* FLOPs of each layer of a model, and where its stages begin. */
struct stages {
	double flops[6];
	int num;
	size_t begins[6];
};

Test(layers, are_dealt_out_to_stages)
{
	static const struct stages table[] = {
		{{1, 1, 1, 1, 1, 1}, 3, {0, 2, 4}},
		{{1, 1, 1, 1, 1, 1}, 6, {0, 1, 2, 3, 4, 5}},
		{{9, 1, 1, 1, 1, 1}, 2, {0, 1}},
		{{1, 1, 1, 1, 1, 9}, 2, {0, 5}},
		{{1, 1, 1, 1, 1, 90}, 3, {0, 4, 5}},
		{{90, 1, 1, 1, 1, 1}, 3, {0, 1, 2}},
		{{0, 0, 0, 0, 0, 0}, 2, {0, 1}}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct layer list[6] = {{.first_row = 0}};
		struct layers layers = {.list = list, .num = 6};
		size_t first, count, end = 0;

		for (int l = 0; l < 6; l++)
			list[l].forward_flops = table[i].flops[l];
		for (int stage = 0; stage < table[i].num; stage++) {
			layers_stage(&layers, table[i].num, stage, &first,
				     &count);
			cr_expect_eq(first, table[i].begins[stage],
				     "%zu: stage %d begins at %zu", i, stage,
				     first);
			cr_expect_eq(first, end);
			cr_expect_geq(count, 1);
			end = first + count;
		}
		cr_expect_eq(end, 6, "%zu", i);
	}
}

/* ---- computing ---------------------------------------------------------- */

Test(pace, draws_have_mean_one_and_the_spread_asked_for)
{
	enum { DRAWS = 100000 };
	double sum = 0, squares = 0;

	for (uint64_t i = 0; i < DRAWS; i++) {
		double x = pace_draw(0.2, 7, i / 100, i % 100);

		cr_assert_gt(x, 0);
		sum += x;
		squares += (x - 1) * (x - 1);
	}
	/* Five standard errors, of the mean and of the deviation. */
	cr_expect_lt(fabs(sum / DRAWS - 1), 5 * 0.2 / sqrt(DRAWS));
	cr_expect_lt(fabs(sqrt(squares / DRAWS) - 0.2), 5 * 0.2 / sqrt(DRAWS));
	cr_expect_eq(pace_draw(0.2, 7, 1, 2), pace_draw(0.2, 7, 1, 2));
	cr_expect_neq(pace_draw(0.2, 7, 1, 2), pace_draw(0.2, 8, 1, 2));
	cr_expect_neq(pace_draw(0.2, 7, 1, 2), pace_draw(0.2, 7, 2, 1));
}

Test(pace, reads_stragglers)
{
	static const char *const wrong[] = {"",     "1",     "1:",    "1:0",
					    ":2",   "1:2,",  "-1:2",  "1:x",
					    "1:-2", "1:nan", "1:1001"};
	struct pace pace = {.jitter = 0};
	struct dist_message message;

	okay(pace_read(&pace, "3:1.5,0:0.5", &message));
	cr_expect_eq(pace_factor(&pace, 0, 4), 0.5);
	cr_expect_eq(pace_factor(&pace, 1, 4), 1);
	cr_expect_eq(pace_factor(&pace, 3, 4), 1.5);
	okay(pace_read(&pace, NULL, &message));
	cr_expect_eq(pace_factor(&pace, 3, 4), 1);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_expect_eq(pace_read(&pace, wrong[i], &message),
			     DIST_ERR_INVALID_ARGUMENT, "\"%s\"", wrong[i]);
}

/* ---- waits -------------------------------------------------------------- */

Test(waits, are_idle_until_the_last_begins)
{
	const struct wait wait = {.begun_ns = 5, .from_ns = 10, .to_ns = 30};

	cr_expect_eq(wait_idle_ns(&wait, 5), 0);
	cr_expect_eq(wait_idle_ns(&wait, 10), 0);
	cr_expect_eq(wait_idle_ns(&wait, 25), 15);
	cr_expect_eq(wait_idle_ns(&wait, 40), 20);
}

/* ---- arguments ---------------------------------------------------------- */

/* What is said of one word of a command line of ddp_step; "": nothing. */
static const char *said_of(const char *word, struct dist_message *message)
{
	static const struct option_group groups[] = {
		{.options = workload_options}, {.options = NULL}};
	const struct manual manual = {.groups = groups, .taker = "ddp_step"};
	const char *argv[] = {"ddp_step", word, NULL};
	struct workload_arguments a;
	bool helped;
	int argc = 2;

	message->text[0] = '\0';
	workload_arguments_init(&a, "ddp_step");
	cr_expect_eq(arguments_read(&manual, &argc, argv, &a, &helped, message),
		     !message->text[0]);
	return message->text;
}

Test(workload_arguments, have_ranges)
{
	struct dist_message m;

	cr_expect_str_eq(said_of("--batch=0.5", &m), "");
	cr_expect_str_eq(said_of("--batch=nan", &m),
			 "--batch: expected a number above 0, not \"nan\"");
	cr_expect_str_eq(said_of("--jitter=101", &m),
			 "--jitter: expected a number from 0 to 100, not "
			 "\"101\"");
	cr_expect_str_eq(said_of("--comm-hook=fp16_compres", &m),
			 "--comm-hook: expected allreduce, fp16_compress or "
			 "bf16_compress, not \"fp16_compres\"; did you mean "
			 "\"fp16_compress\"?");
	cr_expect_str_eq(said_of("--zero=3", &m),
			 "--zero=3: expected with fsdp, not ddp_step");
}

Test(workload_arguments, describe_what_is_not_by_default)
{
	struct workload_arguments a;
	char text[128];

	workload_arguments_init(&a, "ddp_step");
	workload_arguments_describe(&a, "ddp_step", text, sizeof text);
	cr_expect_str_eq(text, "");
	a.bucket_cap_mb = 2.5;
	a.no_overlap = 1;
	a.accumulate = 4;
	a.comm_hook = (char[]){"allreduce"};
	workload_arguments_describe(&a, "ddp_step", text, sizeof text);
	cr_expect_str_eq(text, " --bucket-cap-mb 2.5 --no-overlap "
			       "--accumulate 4 --comm-hook allreduce");
}
