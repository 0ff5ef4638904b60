/* Reading what nccl-tests printed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/measured/log.h"
#include "tests/support/text_file.h"

#define HEAD                                                                   \
	"# nThread 1 nGpus 1 minBytes 8 maxBytes 16\n"                         \
	"#  Rank  0 Group  0 Pid  1 on  a device  0 [0x1b] NVIDIA A100\n"      \
	"#  Rank  1 Group  0 Pid  2 on  a device  1 [0x1c] NVIDIA A100\n"      \
	"#  Rank  2 Group  0 Pid  3 on  b device  0 [0x1b] NVIDIA A100\n"      \
	"#  Rank  3 Group  0 Pid  4 on  b device  1 [0x1c] NVIDIA A100\n"
#define COLUMNS                                                                \
	"#  size  count  type  redop  root  time  algbw  busbw #wrong  time  " \
	"algbw  busbw #wrong\n"                                                \
	"#   (B) (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)\n"
#define ROW "1000000 250000 float sum -1 250.0 4.00 6.00 0 200.0 5.00 7.50 0\n"
/* As of 2019, without root and in place. */
#define OLD                                                                    \
	"# collective: all_gather ranks: 2 backend: x\n# nodes: 1\n"           \
	"# size count type time algbw busbw error\n"                           \
	"0 0 half 3.10 0.00 0.00 N/A\n"                                        \
	"4000 1000 half 10.00 0.40 0.20 N/A\n"

static enum dist_error load(const char *text, const struct log_facts *facts,
			    struct collectives *table,
			    struct dist_message *message)
{
	enum dist_error error;

	with_text_file(
		text, path,
		error = collectives_load_log(table, path, facts, message));
	return error;
}

static const struct log_facts facts = {
	.machine = "m", .transport = "ib", .library = "nccl"};

Test(log, rows_are_those_in_and_out_of_place)
{
	struct dist_message message;
	struct collectives table;

	cr_assert_eq(load(HEAD "# all_reduce_perf\n" COLUMNS
			       "a:1:2 [0] NCCL INFO x\n" ROW
			       "# Out of bounds\n",
			  &facts, &table, &message),
		     DIST_OK, "%s", message.text);
	cr_assert_eq(table.tsv.num_rows, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct collective_row *row = &table.rows[i];

		cr_expect_eq(row->use, VALUE_VALIDATION);
		cr_expect_eq(row->collective, COLLECTIVE_ALL_REDUCE);
		cr_expect_str_eq(row->machine, "m");
		cr_expect_str_eq(row->transport, "ib");
		cr_expect_str_eq(row->dtype, "float32");
		cr_expect_str_eq(row->place, i ? "in" : "out");
		cr_expect_eq(row->nodes, 2);
		cr_expect_eq(row->ranks, 4);
		cr_expect_eq(row->bytes, 1000000);
		cr_expect_eq(row->time_us.value, i ? 200 : 250);
	}
	collectives_release(&table);
}

Test(log, columns_are_known_by_their_names)
{
	const struct log_facts alone = {.machine = "m", .library = "nccl"};
	struct dist_message message;
	struct collectives table;

	cr_assert_eq(load(OLD, &alone, &table, &message), DIST_OK, "%s",
		     message.text);
	cr_assert_eq(table.tsv.num_rows, 2);
	cr_expect_eq(table.rows[0].use, VALUE_NEITHER);
	cr_expect_eq(table.rows[1].collective, COLLECTIVE_ALL_GATHER);
	cr_expect_str_eq(table.rows[1].dtype, "float16");
	cr_expect_eq(table.rows[1].time_us.value, 10);
	cr_expect_eq(table.rows[1].ranks, 2);
	collectives_release(&table);
}

/* The log is refused in these words. */
static void refused(const char *text, const struct log_facts *of,
		    const char *words)
{
	struct dist_message message;
	struct collectives table;

	cr_assert_eq(load(text, of, &table, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, words), "%s", message.text);
	cr_expect_eq(table.tsv.num_rows, 0);
	cr_expect_null(table.rows);
}

Test(log, what_is_wrong_is_said_with_its_line)
{
	const struct log_facts alone = {.machine = "m", .library = "nccl"};
	const struct log_facts gather = {.machine = "m",
					 .transport = "ib",
					 .library = "nccl",
					 .collective = "all_gather"};

	refused(HEAD ROW, &facts, ":6: expected the line");
	refused(HEAD COLUMNS ROW, &facts, "expected the collective");
	refused(COLUMNS ROW, &gather, "expected the number of ranks");
	refused(HEAD COLUMNS ROW, &gather, ":8: expected busbw_GBps");
	refused(HEAD COLUMNS "8 2 float sum -1 3.0\n", &gather,
		":8: expected as many columns");
	refused(HEAD COLUMNS "", &gather, "expected rows of nccl-tests");
	refused(HEAD "# all_reduce_perf\n" COLUMNS ROW, &alone,
		"expected the transport");
}

Test(log, the_rule_gives_the_third_and_the_largest_size_away)
{
	static const size_t sizes[] = {8, 8, 16, 16, 32, 32, 64, 64, 4, 4};
	struct collective_row rows[10];
	struct collectives table = {.tsv = {.num_rows = 10}, .rows = rows};

	memset(rows, 0, sizeof rows);
	for (size_t i = 0; i < 10; i++) {
		rows[i].bytes = sizes[i];
		rows[i].use = VALUE_VALIDATION;
	}
	collectives_give_away(&table);
	for (size_t i = 0; i < 10; i++)
		cr_expect_eq(rows[i].use == VALUE_CALIBRATION, i == 3 || i == 7,
			     "row %zu", i);
	for (size_t i = 0; i < 10; i++) {
		rows[i].bytes *= 1000;
		rows[i].use = VALUE_VALIDATION;
	}
	collectives_give_away(&table);
	for (size_t i = 0; i < 10; i++)
		cr_expect_eq(rows[i].use == VALUE_CALIBRATION, i == 7);
}
