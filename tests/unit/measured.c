/* Reading tables of measured figures, and holding them against each other. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/measured/collectives.h"
#include "model/measured/steps.h"
#include "tests/support/data_files.h"
#include "tests/support/text_file.h"

#define ABOUT "# title: t\n# source: s\n"
#define HEAD                                                                   \
	ABOUT "# machine: m\n# transport: tcp\n# library: nccl\n"              \
	      "# collective: all_reduce\n# ranks: 4\n# statistic: mean\n"
#define COLUMNS "use\tbytes\ttime_us\talgbw_GBps\tbusbw_GBps\n"
#define ROW     "validation\t1000000\t250.0\t4.00\t6.00\n"

#define STEP_HEAD                                                              \
	ABOUT "# gpu: A100\n# model: gpt\n# nodes: 1\n# batch_per_gpu: 10\n"   \
	      "# accumulation: 2\n# tokens: 100\n"
#define STEP_COLUMNS "use\tgpus\tstep_ms\tunit\tthroughput\n"

static struct dist_message message;

TEXT_LOADER(load_text, collectives_load, struct collectives)

TEXT_LOADER(load_steps, steps_load, struct steps)

Test(measured, a_field_stands_in_the_head_or_in_a_column)
{
	struct collectives table;

	okay_or(load_text(HEAD "# algorithm: ring\n" COLUMNS
			       "calibration\t8\t12.5\t-\t-\r\n" ROW,
			  &table, &message),
		message);
	cr_assert_eq(table.tsv.num_rows, 2);
	cr_assert_str_eq(dist__tsv_title(&table.tsv), "t");
	cr_assert_str_eq(dist__tsv_source(&table.tsv), "s");
	cr_assert_eq(table.rows[0].use, VALUE_CALIBRATION);
	cr_assert_eq(table.rows[0].bytes, 8);
	cr_assert_eq(table.rows[0].time_us.value, 12.5);
	cr_assert_eq(table.rows[0].time_us.rounding, 0.05);
	cr_assert_not(table.rows[0].algbw_GBps.known);
	cr_assert_eq(table.rows[1].use, VALUE_VALIDATION);
	cr_assert_eq(table.rows[1].ranks, 4);
	cr_assert_eq(table.rows[1].nodes, 0);
	cr_assert_eq(table.tsv.lines[1], 12);
	cr_assert_str_eq(table.rows[1].algorithm, "ring");
	cr_assert_eq(table.rows[1].collective, COLLECTIVE_ALL_REDUCE);
	cr_assert_null(table.rows[1].protocol);
	cr_assert_eq(table.rows[1].busbw_GBps.value, 6);
	dist__tsv_release(&table.tsv);
}

struct bad {
	const char *text;
	const char *line; /* ":LINE: " of the message */
	const char *words;
};

static void refuse_all(const struct bad *bad, size_t num, bool are_steps)
{
	struct collectives table;
	struct steps steps;

	for (size_t i = 0; i < num; i++) {
		const struct tsv_table *tsv =
			are_steps ? &steps.tsv : &table.tsv;

		cr_assert_eq(are_steps
				     ? load_steps(bad[i].text, &steps, &message)
				     : load_text(bad[i].text, &table, &message),
			     DIST_ERR_INVALID_ARGUMENT, "case %zu", i);
		cr_assert(strstr(message.text, bad[i].line), "case %zu: %s", i,
			  message.text);
		cr_assert(strstr(message.text, bad[i].words), "case %zu: %s", i,
			  message.text);
		cr_assert_null(are_steps ? (void *)steps.rows
					 : (void *)table.rows);
		cr_assert_null(tsv->text);
		cr_assert_not(strchr(message.text, '\n'));
	}
}

Test(measured, bad_files_are_refused_with_their_line)
{
	static const struct bad bad[] = {
		{"", ":1: ", "a title and a source"},
		{"# title: t\nuse\nx\n", ":4: ", "a title and a source"},
		{ABOUT, ":3: ", "at least one row"},
		{"# words\n", ":1: ", "\"# name: value\""},
		{ABOUT "# title: again\n", ":3: ", "\"title\" once"},
		{ABOUT "use\tuse\n", ":3: ", "each once"},
		{ABOUT "# use: x\nuse\n", ":4: ", "not in the head"},
		{ABOUT "\n", ":3: ", "names of columns"},
		{HEAD "use\tbytes\n" ROW,
		 ":10: ", "2 fields separated by tabs"},
		{HEAD COLUMNS "validation\t\t1\t1\t1\n",
		 ":10: ", "a value or - for bytes"},
		{HEAD COLUMNS ROW "# late: head\n", ":11: ", "the head ends"},
		{HEAD COLUMNS ROW "\n", ":11: ", "5 fields"},
		{HEAD "# speed: 1\n" COLUMNS ROW, ":9: ", "no field \"speed\""},
		{HEAD "use\tsize\nx\t1\n", ":9: ", "no column \"size\""},
		{ABOUT COLUMNS ROW, ":3: ", "a column \"collective\""},
	};

	refuse_all(bad, sizeof(bad) / sizeof(bad[0]), false);
}

Test(measured, bad_values_are_refused_with_their_line)
{
	static const struct bad bad[] = {
		{HEAD COLUMNS "both\t8\t1\t-\t-\n", ":10: ", "use to be"},
		{HEAD COLUMNS "validation\t8k\t1\t-\t-\n", ":10: ", "bytes"},
		{HEAD COLUMNS "validation\t8\t-1\t-\t-\n", ":10: ", "time_us"},
		{HEAD COLUMNS "validation\t8\t1e3\t-\t-\n", ":10: ", "time_us"},
		{HEAD COLUMNS "validation\t8\t.5\t-\t-\n", ":10: ", "time_us"},
		{HEAD COLUMNS "validation\t8\t-\t-\t-\n", ":10: ", "known"},
		{HEAD COLUMNS "validation\t8\t0\t-\t-\n", ":10: ", "above 0"},
		{HEAD "# nodes: 0\n" COLUMNS ROW, ":11: ", "nodes to be"},
		{HEAD "# place: left\n" COLUMNS ROW, ":11: ", "in or out"},
		{HEAD "# memory: disk\n" COLUMNS ROW,
		 ":11: ", "host or device"},
	};

	refuse_all(bad, sizeof(bad) / sizeof(bad[0]), false);
}

/* Of the same measurement, each with one figure in another unit, by another
 * count of ranks or of another collective. */
Test(measured, figures_that_contradict_each_other_are_refused)
{
	static const struct bad bad[] = {
		{HEAD COLUMNS "validation\t1000000\t0.250\t4.00\t6.00\n",
		 ":10: ", "algbw_GBps 4000"},
		{HEAD COLUMNS "validation\t1000\t250.0\t4.00\t6.00\n",
		 ":10: ", "algbw_GBps 0.004"},
		{HEAD COLUMNS "validation\t1000000\t250.0\t3.73\t6.00\n",
		 ":10: ", "algbw_GBps 4"},
		{HEAD COLUMNS "validation\t1000000\t250.0\t4.00\t48.0\n",
		 ":10: ", "busbw_GBps 6"},
		{HEAD COLUMNS "validation\t1000000\t250.0\t4.00\t7.00\n",
		 ":10: ", "times 1.5"},
		{HEAD COLUMNS "validation\t1000000\t250.0\t4.02\t6.00\n",
		 ":10: ", "algbw_GBps 4"},
		{HEAD "# p25_us: 251.0\n" COLUMNS ROW, ":11: ", "p25_us"},
		{HEAD "# p75_us: 0.249\n" COLUMNS ROW, ":11: ", "p75_us"},
	};

	refuse_all(bad, sizeof(bad) / sizeof(bad[0]), false);
}

Test(measured, the_bus_factors_are_those_of_nccl_tests)
{
	cr_assert_eq(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 4), 1.5);
	cr_assert_eq(collective_bus_factor(COLLECTIVE_ALL_GATHER, 4), 0.75);
	cr_assert_eq(collective_bus_factor(COLLECTIVE_REDUCE_SCATTER, 4), 0.75);
	cr_assert_eq(collective_bus_factor(COLLECTIVE_ALL_TO_ALL, 4), 0.75);
	cr_assert_eq(collective_bus_factor(COLLECTIVE_BROADCAST, 4), 1);
	cr_assert_eq(collective_bus_factor(COLLECTIVE_REDUCE, 4), 1);
}

Test(measured, missing_files_are_named)
{
	struct collectives table;

	refused_with(collectives_load(&table, "/tmp/no-such.tsv", &message),
		     message, "/tmp/no-such.tsv");
	cr_assert_neq(collectives_load(&table, "/tmp/", &message), DIST_OK);
}

Test(measured, steps_have_a_time_or_a_throughput)
{
	struct steps table;

	okay_or(load_steps(STEP_HEAD STEP_COLUMNS
			   "calibration\t1\t20\t-\t-\n"
			   "validation\t4\t-\tmels\t900.0\n"
			   "validation\t4\t20.0\tsamples\t4000\n"
			   "validation\t4\t20.0\ttokens\t400000\n",
			   &table, &message),
		message);
	cr_assert_eq(table.rows[0].use, VALUE_CALIBRATION);
	cr_assert_eq(table.rows[0].step_ms.value, 20);
	cr_assert_not(table.rows[0].throughput.known);
	cr_assert_str_eq(table.rows[1].unit, "mels");
	cr_assert_eq(table.rows[1].gpus, 4);
	cr_assert_eq(table.rows[1].batch_per_gpu, 10);
	cr_assert_eq(table.rows[1].accumulation, 2);
	cr_assert_eq(table.rows[1].tokens, 100);
	cr_assert_null(table.rows[1].machine);
	dist__tsv_release(&table.tsv);
}

Test(measured, the_throughput_may_be_that_of_one_gpu)
{
	struct steps table;

	okay_or(load_steps(STEP_HEAD "# throughput_per_gpu: 1000\n"
				     "use\tgpus\tstep_ms\tunit\n"
				     "validation\t4\t20.0\tsamples\n",
			   &table, &message),
		message);
	cr_assert_eq(table.rows[0].throughput_per_gpu.value, 1000);
	dist__tsv_release(&table.tsv);
}

Test(measured, steps_that_contradict_themselves_are_refused)
{
	static const struct bad bad[] = {
		{STEP_HEAD STEP_COLUMNS "validation\t4\t-\t-\t-\n",
		 ":10: ", "step_ms or throughput"},
		{STEP_HEAD STEP_COLUMNS "validation\t4\t0\tsamples\t0\n",
		 ":10: ", "step_ms or throughput"},
		{STEP_HEAD STEP_COLUMNS "validation\t4\t20\t-\t4000\n",
		 ":10: ", "the unit of throughput"},
		{STEP_HEAD STEP_COLUMNS "validation\t4\t20\timages\t4000\n",
		 ":10: ", "unit to be samples, tokens or mels"},
		{STEP_HEAD STEP_COLUMNS "validation\t4\t0.02\tsamples\t4000\n",
		 ":10: ", "step_ms 20, in which 80 samples"},
		{STEP_HEAD STEP_COLUMNS "validation\t1\t20\tsamples\t4000\n",
		 ":10: ", "step_ms 5"},
		{STEP_HEAD STEP_COLUMNS "validation\t4\t20\ttokens\t4000\n",
		 ":10: ", "step_ms 2000"},
		{ABOUT "# nodes: 8\n# gpu: A100\n# model: gpt\n" STEP_COLUMNS
		       "validation\t4\t20\t-\t-\n",
		 ":7: ", "a GPU in each of 8 nodes"},
		{ABOUT STEP_COLUMNS "validation\t4\t20\t-\t-\n",
		 ":3: ", "a column \"gpu\""},
	};

	refuse_all(bad, sizeof(bad) / sizeof(bad[0]), true);
}

/* What a table gives away for calibration: two rows at most, of a small size
 * and of the largest. */
static void check_uses(const struct collectives *table, const char *path)
{
	size_t calibration = 0, largest = 0;

	for (size_t i = 0; i < table->tsv.num_rows; i++)
		if (table->rows[i].bytes > largest)
			largest = table->rows[i].bytes;
	for (size_t i = 0; i < table->tsv.num_rows; i++) {
		const struct collective_row *row = &table->rows[i];

		if (row->use != VALUE_CALIBRATION)
			continue;
		calibration++;
		cr_assert(row->bytes <= 4096 || row->bytes == largest, "%s:%d",
			  path, table->tsv.lines[i]);
	}
	cr_assert_leq(calibration, 2, "%s", path);
	cr_assert_lt(2 * calibration, table->tsv.num_rows, "%s", path);
}

Test(measured, the_collectives_of_the_project_hold)
{
	struct collectives table;
	size_t rows = 0;
	struct dist__files files = data_files("measured/collectives", ".tsv");

	for (size_t i = 0; i < files.num; i++) {
		okay_or(collectives_load(&table, files.paths[i], &message),
			message);
		check_uses(&table, files.paths[i]);
		rows += table.tsv.num_rows;
		dist__tsv_release(&table.tsv);
	}
	dist__files_release(&files);
	cr_assert_geq(rows, 4134);
}

/* One GPU computes alone: its time is never predicted. */
Test(measured, the_steps_of_the_project_hold)
{
	struct steps table;
	size_t rows = 0;
	struct dist__files files = data_files("measured/steps", ".tsv");

	for (size_t i = 0; i < files.num; i++) {
		okay_or(steps_load(&table, files.paths[i], &message), message);
		for (size_t k = 0; k < table.tsv.num_rows; k++)
			cr_assert(table.rows[k].gpus > 1 ||
					  table.rows[k].use ==
						  VALUE_CALIBRATION ||
					  table.rows[k].bucket_cap_mb.known,
				  "%s:%d", files.paths[i], table.tsv.lines[k]);
		rows += table.tsv.num_rows;
		dist__tsv_release(&table.tsv);
	}
	dist__files_release(&files);
	cr_assert_geq(rows, 1146);
}

/* A constant is a number with a unit. */
static void check_constant(const struct tsv_table *tsv, size_t row)
{
	const char *text = dist__tsv_get(tsv, row, "value");
	struct value_number value;

	cr_assert_not_null(text, "%s:%d", tsv->path, tsv->lines[row]);
	cr_assert_null(value_read_number(text, &value), "%s:%d", tsv->path,
		       tsv->lines[row]);
	cr_assert_not_null(dist__tsv_get(tsv, row, "unit"), "%s:%d", tsv->path,
			   tsv->lines[row]);
}

Test(measured, the_constants_of_the_project_are_numbers_with_a_unit)
{
	static const char *const names[] = {"gpus", "interconnects",
					    "nccl-tuning"};
	struct tsv_table tsv;
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path),
			 "scenarios/measured/hardware/%s.tsv", names[i]);
		okay_or(dist__tsv_load(&tsv, path, &message), message);
		for (size_t row = 0; row < tsv.num_rows; row++)
			check_constant(&tsv, row);
		dist__tsv_release(&tsv);
	}
}

/* The buckets of three recorded steps, and what a model's parameters sum to. */
Test(measured, the_recorded_buckets_are_all_of_resnet50)
{
	struct tsv_table tsv;
	size_t sum = 0;

	okay_or(dist__tsv_load(&tsv,
			       "scenarios/measured/parts/"
			       "ddp-profile-resnet50.tsv",
			       &message),
		message);
	for (size_t row = 0; row < tsv.num_rows; row++) {
		const char *op = dist__tsv_get(&tsv, row, "collective");
		size_t elements;

		cr_assert_null(value_read_size(
			dist__tsv_get(&tsv, row, "elements"), &elements));
		sum += strcmp(op, "all_reduce") == 0 ? elements : 0;
	}
	cr_assert_eq(sum, 3 * 25557032);
	dist__tsv_release(&tsv);
}
