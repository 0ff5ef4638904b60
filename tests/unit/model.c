/* Reading models, and spreading a step's time over them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/training/model.h"
#include "base/statistics.h"
#include "model/training/schedule.h"
#include "tests/support/okay.h"
#include "tests/support/text_file.h"

#define HEADER     "parameter,numel,forward_flops\n"
#define WIDE(more) "parameter,numel,forward_flops" more "\n"

static struct dist_message message;
static struct model model;

TEXT_LOADER(load_text, model_load, struct model)

Test(model, reads_rows_in_order)
{
	okay_or(load_text("# words\n\n" HEADER "w,6,100\n"
			  "tied,0,50\nb,2,0\r\n",
			  &model, &message),
		message);
	cr_assert_eq(model.num_rows, 3);
	cr_assert_eq(model.num_parameters, 2);
	cr_assert_eq(model.numel, 8);
	cr_assert_eq(model.forward_flops, 150);
	cr_assert_str_eq(model.rows[0].name, "w");
	cr_assert_eq(model.rows[1].numel, 0);
	cr_assert_eq(model.rows[2].numel, 2);
	model_release(&model);
}

Test(model, columns_behind_the_first_come_in_any_order)
{
	okay_or(load_text(WIDE(",mlp,positions,heads,width") "w,9,100,,7,4,"
							     "8\nm,1,1,1,,,\n",
			  &model, &message),
		message);
	cr_expect_eq(model.rows[0].width, 8);
	cr_expect_eq(model.rows[0].positions, 7);
	cr_expect_eq(model.rows[0].heads, 4);
	cr_expect_not(model.rows[0].mlp);
	cr_expect_eq(model.rows[0].line, 2);
	cr_expect_eq(model.rows[1].width, 0);
	cr_expect(model.rows[1].mlp);
	model_release(&model);
}

struct bad {
	const char *text;
	const char *line; /* ":LINE: " of the message */
	const char *words;
};

Test(model, bad_files_are_refused_with_their_line)
{
	static const struct bad table[] = {
		{"", ":1: ", "header"},
		{"# only words\n", ":2: ", "header"},
		{"name,numel,flops\nw,1,1\n", ":1: ", "header"},
		{HEADER "w,1\n", ":2: ", "3 fields"},
		{HEADER "w,1,2,3\n", ":2: ", "3 fields"},
		{HEADER "w,1,1\n\n# words\nw,-1,1\n", ":5: ", "numel"},
		{HEADER "w,1.5,1\n", ":2: ", "numel"},
		{HEADER "w,,1\n", ":2: ", "numel"},
		{HEADER "w,1,1e9\n", ":2: ", "forward_flops"},
		{HEADER "w,99999999999999999999,1\n", ":2: ", "numel"},
		{HEADER ",1,1\n", ":2: ", "name"},
		{HEADER "w,8796093022208,1\nx,1,1\n", ":3: ", "2^43"},
		{HEADER "w,9007199254740992,1\n", ":2: ", "2^43"},
		{HEADER, ":2: ", "at least one row"},
		{HEADER "tied,0,5\n", ":3: ", "at least one row"},
		{HEADER "w,5,0\n", ":3: ", "forward_flops above 0"},
		{WIDE(",size"), ":1: ", "header"},
		{WIDE(",width,width"), ":1: ", "header"},
		{WIDE(","), ":1: ", "header"},
		{"numel,parameter,forward_flops\n", ":1: ", "header"},
		{"parameter,numel,width\n", ":1: ", "header"},
		{WIDE(",width,positions") "w,1,1\n", ":2: ", "5 fields"},
		{WIDE(",width,positions") "w,1,1,2,\n", ":2: ", "both"},
		{WIDE(",width,positions") "w,1,1,,2\n", ":2: ", "both"},
		{WIDE(",width,positions") "w,1,1,x,2\n", ":2: ", "width to be"},
		{WIDE(",width,positions") "w,9,1,10,2\n",
		 ":2: ", "width to be at most numel"},
		{WIDE(",positions,width") "w,1,1,9007199254740992,2\n",
		 ":2: ", "width times positions"},
		{WIDE(",heads") "w,1,1,4\n", ":2: ", "beside heads"},
		{WIDE(",heads") "w,1,1,4294967296\n", ":2: ", "heads to be at"},
		{WIDE(",mlp") "w,1,1,2\n", ":2: ", "mlp to be 1"},
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		cr_assert_eq(load_text(table[i].text, &model, &message),
			     DIST_ERR_INVALID_ARGUMENT, "case %zu", i);
		cr_assert(strstr(message.text, table[i].line), "case %zu: %s",
			  i, message.text);
		cr_assert(strstr(message.text, table[i].words), "case %zu: %s",
			  i, message.text);
		cr_assert_null(model.rows);
		cr_assert_not(strchr(message.text, '\n'));
	}
}

Test(model, missing_models_are_named)
{
	refused_with(model_load(&model, "no-such-network", &message), message,
		     "no-such-network");
	cr_assert_neq(model_load(&model, "/tmp/", &message), DIST_OK);
}

struct known {
	const char *name;
	size_t numel;
	size_t parameters;
};

/* The counts that torchvision and transformers publish. */
Test(model, bundled_models_have_the_published_counts)
{
	static const struct known table[] = {
		{"resnet18", 11689512, 62},
		{"resnet50", 25557032, 161},
		{"resnet101", 44549160, 314},
		{"resnet152", 60192808, 467},
		{"vgg16", 138357544, 32},
		{"bert_base", 110106428, 206},
		{"bert_large", 336226108, 398},
		{"gpt2_small", 124439808, 148},
		{"gpt2_medium", 354823168, 292},
		{"gpt2_xl", 1557611200, 580},
		{"mnist", 1199882, 8},
		{"mnist_tutorial", 21840, 8},
		{"gpt_micro", 826368, 53},
		{"resnext50_32x4d", 25028904, 161},
		{"resnext101_32x8d", 88791336, 314}};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		okay_or(model_load(&model, table[i].name, &message), message);
		cr_expect_eq(model.numel, table[i].numel, "%s", table[i].name);
		cr_expect_eq(model.num_parameters, table[i].parameters, "%s",
			     table[i].name);
		cr_expect_str_eq(model.name, table[i].name);
		model_release(&model);
	}
}

Test(schedule, spreads_a_measured_step)
{
	struct schedule_rate rate = {.batch = 4, .flops = 1, .step_ms = 100};
	struct schedule schedule;
	int64_t sum;
	size_t i;

	okay(model_load(&model, "resnet50", &message));
	okay(schedule_init(&schedule, &model, &rate));
	sum = schedule.forward_ns + schedule.optimizer_ns;
	for (i = 0; i < model.num_rows; i++)
		sum += schedule.backward_ns[i];
	cr_assert_eq(sum, schedule.total_ns);
	/* Every duration is rounded on its own. */
	cr_assert_lt(llabs(sum - 100000000), 100);
	/* Backward is twice forward. */
	cr_assert_lt(
		llabs(sum - schedule.optimizer_ns - 3 * schedule.forward_ns),
		100);
	schedule_release(&schedule);
	model_release(&model);
}

Test(schedule, follows_the_rate)
{
	struct schedule_rate rate = {.batch = 2, .flops = 1e9};
	struct model_row rows[] = {
		{.name = (char[]){"w"}, .numel = 1000, .forward_flops = 1e6},
		{.name = (char[]){"b"}, .numel = 10}};
	struct model two = {.rows = rows,
			    .num_rows = 2,
			    .num_parameters = 2,
			    .numel = 1010,
			    .forward_flops = 1e6};
	struct schedule schedule;

	okay(schedule_init(&schedule, &two, &rate));
	cr_assert_eq(schedule.forward_ns, 2000000);
	cr_assert_eq(schedule.backward_ns[0], 4000000);
	cr_assert_eq(schedule.backward_ns[1], 0);
	cr_assert_eq(schedule.optimizer_ns, 4040);
	schedule_release(&schedule);
	rate.no_compute = true;
	okay(schedule_init(&schedule, &two, &rate));
	cr_assert_eq(schedule.total_ns, 0);
	schedule_release(&schedule);
	rate.batch = 0;
	cr_assert_eq(schedule_init(&schedule, &two, &rate),
		     DIST_ERR_INVALID_ARGUMENT);
	rate.batch = 1e30;
	rate.no_compute = false;
	cr_assert_eq(schedule_init(&schedule, &two, &rate),
		     DIST_ERR_INVALID_ARGUMENT);
}

Test(sample, describes_values)
{
	double values[] = {5, 1, 4, 2, 3};
	struct dist__sample s = dist__sample_of(values, 5);

	cr_assert_eq(s.min, 1);
	cr_assert_eq(s.max, 5);
	cr_assert_eq(s.median, 3);
	cr_assert_eq(s.low_quartile, 2);
	cr_assert_eq(s.high_quartile, 4);
	s = dist__sample_of(values, 2);
	cr_assert_eq(s.median, 1.5);
	s = dist__sample_of(values, 1);
	cr_assert_eq(s.median, 1);
}
