/* Reading what nccl-tests printed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/measured/log.h"
#include "tests/support/okay.h"
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
	struct log_notes notes;

	with_text_file(text, path,
		       error = collectives_load_log(table, path, facts, &notes,
						    message));
	return error;
}

static const struct log_facts facts = {
	.machine = "m", .transport = "ib", .library = "nccl"};

Test(log, rows_are_those_in_and_out_of_place)
{
	struct dist_message message;
	struct collectives table;

	okay_or(load(HEAD "# all_reduce_perf\n" COLUMNS
			  "a:1:2 [0] NCCL INFO x\n" ROW "# Out of bounds\n",
		     &facts, &table, &message),
		message);
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
	dist__tsv_release(&table.tsv);
}

Test(log, columns_are_known_by_their_names)
{
	const struct log_facts alone = {.machine = "m", .library = "nccl"};
	struct dist_message message;
	struct collectives table;

	okay_or(load(OLD, &alone, &table, &message), message);
	cr_assert_eq(table.tsv.num_rows, 2);
	cr_expect_eq(table.rows[0].use, VALUE_NEITHER);
	cr_expect_eq(table.rows[1].collective, COLLECTIVE_ALL_GATHER);
	cr_expect_str_eq(table.rows[1].dtype, "float16");
	cr_expect_eq(table.rows[1].time_us.value, 10);
	cr_expect_eq(table.rows[1].ranks, 2);
	dist__tsv_release(&table.tsv);
}

Test(log, one_thread_may_have_several_gpus)
{
	const struct log_facts alone = {.machine = "m", .library = "nccl"};
	struct dist_message message;
	struct collectives table;

	okay_or(load("# nThread 1 nGpus 4 minBytes 8 maxBytes 16\n"
		     "# collective: all_reduce ranks: 4\n# nodes: 1\n"
		     "# all_reduce_perf\n" COLUMNS ROW,
		     &alone, &table, &message),
		message);
	cr_assert_eq(table.tsv.num_rows, 2);
	cr_expect_eq(table.rows[0].process_ranks, 4);
	dist__tsv_release(&table.tsv);
}

/* The log is refused in these words. */
static void refused(const char *text, const struct log_facts *of,
		    const char *words)
{
	struct dist_message message;
	struct collectives table;

	refused_with(load(text, of, &table, &message), message, words);
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
		":8: expected rows with as many columns");
	refused(HEAD COLUMNS "", &gather, "expected rows of nccl-tests");
	refused(HEAD "# all_reduce_perf\n" COLUMNS ROW, &alone,
		"expected the transport");
}

/* Reads text, which must have rows, each with this collective, these ranks. */
static struct collectives read_good(const char *text,
				    const struct log_facts *of)
{
	struct dist_message message;
	struct collectives table;

	okay_or(load(text, of, &table, &message), message);
	return table;
}

Test(log, what_launchers_and_terminals_add_is_taken_away)
{
	static const char *const texts[] = {
		"[1,0]<stdout>:# Collective test starting: all_reduce_perf\n"
		"[1,0]<stdout>:# ranks: 4\n[1,0]<stdout>:# nodes: 1\n"
		"[1,0]<stdout>:#  size  count  type  redop  root  time  algbw "
		"busbw #wrong\n"
		"[1,0]<stderr>:warning\n"
		"[1,0]<stdout>:  1000000 250000 float sum -1 250.0 4.0 6.0 0\n",
		" 0: # Collective test starting: all_reduce_perf\r\n"
		" 0: # ranks: 4 nodes: 1\r\n"
		" 0: #  size  count  type  redop  root  time  algbw  busbw "
		"#wrong\r\n"
		" 0:   1000000 250000 float sum -1 250.0 4.0 6.0 0\r\n",
		"2026-01-02T03:04:05.67Z # Collective test starting: "
		"all_reduce_perf_mpi\n"
		"2026-01-02T03:04:05.67Z # ranks: 4 nodes: 1\n"
		"2026-01-02T03:04:05.67Z #  size  count  type  redop  root  "
		"time  algbw  busbw #wrong\n"
		"2026-01-02T03:04:16.789Z 1000000 250000 float sum -1 250.0 "
		"4.0 6.0 0\n",
		"(head, rank=0, pid=12) [1,0]<stdout>:# nodes: 1 ranks: 4\n"
		"(head, rank=0, pid=12) $ mpirun -x A=b ./all_reduce_perf -b "
		"8\n"
		"(head, rank=0, pid=12) [1,0]<stdout>:# size count type redop "
		"root time algbw busbw #wrong\n"
		"(head, rank=0, pid=12) [1,0]<stdout>: 1000000 250000 float "
		"sum -1 250.0 4.0 6.0 0\n",
		"\033[1m# Collective test starting: all_reduce_perf\033[0m\n"
		"# ranks: 4 nodes: 1\n"
		"\033[32m# size count type redop root time algbw busbw "
		"#wrong\033[0m\n"
		"\033[32m 1000000\033[m 250000 float sum -1 250.0 4.0 6.0 0",
		/* As documents have it. */
		"$ ./build/all_reduce_perf -g 4\n# ranks: 4 nodes: 1\n"
		"size count type redop root time algbw busbw #wrong\n"
		"# 1000000 250000 float sum -1 250.0 4.0 6.0 0\n",
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct collectives table = read_good(texts[i], &facts);

		cr_assert_eq(table.tsv.num_rows, 1, "%zu", i);
		cr_expect_eq(table.rows[0].collective, COLLECTIVE_ALL_REDUCE);
		cr_expect_eq(table.rows[0].ranks, 4);
		cr_expect_eq(table.rows[0].nodes, 1);
		cr_expect_eq(table.rows[0].time_us.value, 250);
		dist__tsv_release(&table.tsv);
	}
}

Test(log, several_runs_are_told_apart)
{
	struct collectives table = read_good(
		"# nccl-tests version 2.17.6 nccl-headers=22807 "
		"nccl-library=22807\n"
		"# Collective test starting: all_reduce_perf\n" HEAD COLUMNS ROW
		"# Out of bounds values : 0 OK\n"
		"# Collective test concluded: all_reduce_perf\n"
		/* Not all say their ranks again. */
		"# Collective test starting: alltoall_perf\n" COLUMNS
		"1000000 62500 float none -1 250.0 4.00 3.00 0 250.0 4.00 3.00 "
		"N/A\n"
		"# Collective test starting: sendrecv_perf\n"
		"NCCL version 2.18.3+cuda12.2\n"
		"#  Rank  0 Group  0 Pid  1 on  a device  0 [0x1b] GPU\n"
		"#  Rank  1 Group  0 Pid  1 on  a device  1 [0x1b] "
		"GPU\n" COLUMNS
		"1000000 250000 float sum -1 250.0 4.00 4.00 0 - - - N/A\n"
		"# Collective test starting: hypercube_perf\n" COLUMNS
		"1000000 250000 float sum -1 250.0 4.00 4.00 0 250.0 4.00 4.00 "
		"0\n",
		&facts);
	static const enum collective collectives[] = {
		COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_REDUCE,
		COLLECTIVE_ALL_TO_ALL, COLLECTIVE_ALL_TO_ALL,
		COLLECTIVE_SENDRECV};

	cr_assert_eq(table.tsv.num_rows, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct collective_row *row = &table.rows[i];

		cr_expect_eq(row->collective, collectives[i], "row %zu", i);
		cr_expect_eq(row->ranks, i < 4 ? 4 : 2, "row %zu", i);
		cr_expect_eq(row->nodes, i < 4 ? 2 : 1, "row %zu", i);
		cr_expect_str_eq(row->version, i < 4 ? "2.28" : "2.18.3");
	}
	collectives_give_away(&table);
	cr_expect_eq(table.rows[1].use, VALUE_CALIBRATION);
	cr_expect_eq(table.rows[3].use, VALUE_CALIBRATION);
	cr_expect_eq(table.rows[4].use, VALUE_CALIBRATION);
	dist__tsv_release(&table.tsv);
}

Test(log, tables_of_all_ages_are_read)
{
	/* 1.0 has milliseconds; until 2020 an all-gather's algbw was its
	 * busbw; until 2.12 redop may be blank. */
	struct collectives table = read_good(
		"# ranks: 4 nodes: 1\n./all_reduce_perf\n"
		"#  bytes  N  type  op  time  algbw  busbw  res\n"
		"1000000 250000 float sum 0.250 4.00 6.00 N/A\n"
		"./all_gather_perf\n"
		"# size count type time algbw busbw error\n"
		"1000000 62500 float 250.0 3.00 3.00 N/A\n"
		"./alltoall_perf\n"
		"# size count type redop time algbw busbw error\n"
		"1000000 62500 float 250.0 4.00 3.00 0e+00\n"
		"./broadcast_perf\n" COLUMNS
		"100000000000 25000000000 float none 0 2.5e+07 4.00 4.00 0 "
		"2.5e+07 4.00 4.00 0\n",
		&facts);
	static const double times[] = {250, 250, 250, 2.5e7, 2.5e7};

	cr_assert_eq(table.tsv.num_rows, 5);
	for (size_t i = 0; i < 5; i++)
		cr_expect_float_eq(table.rows[i].time_us.value, times[i], 1e-9);
	cr_expect_not(table.rows[1].algbw_GBps.known);
	cr_expect_eq(table.rows[2].collective, COLLECTIVE_ALL_TO_ALL);
	cr_expect_eq(table.rows[4].collective, COLLECTIVE_BROADCAST);
	dist__tsv_release(&table.tsv);
}

static const struct machine two_networks = {
	.gpu = "H100 80GB",
	.num_networks = 2,
	.networks = {{.transport = "roce"}, {.transport = "tcp-10gbe"}}};

Test(log, what_nccl_says_of_itself_counts)
{
	const struct log_facts of = {
		.machine = "m", .described = &two_networks, .library = "nccl"};
	struct collectives table = read_good(
		"mpirun -np 16 ./all_reduce_perf\n# Using devices\n"
		"a:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n"
		"a:1:2 [0] NCCL INFO NCCL_PROTO set by environment to "
		"LL,LL128\n"
		"a:1:2 [0] NCCL INFO Using network Socket\n"
		"a:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 4 nNodes 2 "
		"localRanks 2\n" COLUMNS ROW,
		&of);

	cr_assert_eq(table.tsv.num_rows, 2);
	cr_expect_str_eq(table.rows[0].transport, "tcp-10gbe");
	cr_expect_str_eq(table.rows[0].algorithm, "ring");
	cr_expect_null(table.rows[0].protocol);
	cr_expect_eq(table.rows[0].ranks, 4);
	cr_expect_eq(table.rows[0].nodes, 2);
	dist__tsv_release(&table.tsv);
}

#define RANK0 "#  Rank  0 Group  0 Pid  1 on  a device  0 [0x1b] NVIDIA A100\n"
#define KNOWN "# collective: all_reduce ranks: 4\n# nodes: 2\n"

Test(log, what_is_missing_is_said_with_the_option_that_gives_it)
{
	const struct log_facts of = {
		.machine = "m", .described = &two_networks, .library = "nccl"};
	const struct log_facts given = {.machine = "m",
					.described = &two_networks,
					.library = "nccl",
					.transport = "roce"};

	refused("# ranks: 4 nodes: 1\n" COLUMNS ROW, &of,
		":2: expected the collective, which it does not say: "
		"--collective all_reduce, as busbw is above algbw");
	refused("./all_reduce_perf\n./reduce_perf\n# ranks: 4\n" COLUMNS ROW,
		&of, "several commands before it name");
	refused("./all_reduce_perf\n" COLUMNS ROW, &of,
		"--ranks 4, as busbw is 1.5 of algbw");
	refused("# collective: all_reduce ranks: 4\n" COLUMNS ROW, &of,
		"which it does not say: --nodes N");
	refused(KNOWN COLUMNS ROW, &of, "--transport roce or tcp-10gbe");
	refused("a NCCL INFO Using network Socket\n" KNOWN COLUMNS ROW, &given,
		"NCCL says \"Using network Socket\"");
	refused(KNOWN RANK0 COLUMNS ROW, &of, "H100 80GB, not NVIDIA A100");
}

Test(log, what_is_not_modelled_is_refused)
{
	refused(KNOWN RANK0 RANK0 COLUMNS ROW, &facts,
		":4: expected the ranks of one run");
	refused("#  Rank  0 Group  1 Pid  1 on  a device  0 [0x1b] GPU\n",
		&facts, "NCCL_TESTS_SPLIT");
	refused("# nodes: 1 ranks: 1\n./all_reduce_perf\n" COLUMNS ROW, &facts,
		"expected 2 ranks or more");
	refused("# rccl-tests version 2.17\n" KNOWN COLUMNS ROW, &facts,
		":1: expected a log of NCCL");
	refused(KNOWN "# size count type redop root cputime algbw busbw\n" ROW,
		&facts, ":3: expected times of the GPU");
	refused("# OSU MPI-CUDA Allreduce Latency Test v7.1\n# Size  Avg\n4 "
		"5.0\n",
		&facts, "not OSU's");
	refused("#bytes #repetitions t_min[usec]\n4 5 1.0\n", &facts,
		"not Intel's");
	refused("{\n\"version\": 1}\n", &facts, "results, as in the file");
	refused("# ranks: 4 nodes: 1\n./alltoallv_perf\n" COLUMNS ROW, &facts,
		"another collective than alltoallv");
	refused("# Collective test starting: all_reduce_perf\n" KNOWN COLUMNS
			ROW "# Collective test concluded: reduce_perf\n",
		&facts, "expected rows of one collective");
}

Test(log, rows_that_are_not_whole_are_left_out)
{
	struct dist_message message;
	struct collectives table;
	struct log_notes notes;
	enum dist_error error;

	with_text_file(KNOWN COLUMNS ROW "2000000 500000 float sum -1 a:1 [0] "
					 "NCCL WARN x\n"
					 "1000000 250000 float sum -1 250.0 "
					 "4.00 6.00 7\n",
		       path,
		       error = collectives_load_log(&table, path, &facts,
						    &notes, &message));
	okay_or(error, message);
	cr_expect_eq(table.tsv.num_rows, 3);
	cr_expect_eq(notes.cut_rows, 2);
	cr_expect_eq(notes.wrong_rows, 1);
	dist__tsv_release(&table.tsv);
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
