/* Traces of torch.profiler: a file a rank, clocks that differ. */
#include <stdio.h>
#include <string.h>

#include "tests/support/okay.h"
#include "tests/support/recording.h"
#include "trace/compare.h"
#include "trace/read.h"

TestSuite(trace_profile, .fini = recording_clean);

#define RANKS 3

/* What a rank's file says: the calls of a GPU by its own clock. */
struct profile {
	int rank;
	double clock_us;    /* ahead of rank 0's */
	double late_us[2];  /* of its two all-reduces */
	bool tells;         /* the kernels tell their call */
	const char *kind;   /* of the events that do: "kernel", "cpu_op" */
	const char *suffix; /* of the file's name */
};

/* Two all-reduces end at 100 and 300 us, the last rank's take 10 us; before
 * each a kernel of 5 us. */
static void write_profile(const char *folder, struct profile p)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/r%d%s.json", folder, p.rank, p.suffix);
	file = fopen(path, "w");
	cr_assert(file);
	fprintf(file, "{\"traceEvents\": [\n");
	for (int i = 0; i < 2; i++) {
		double end = 100 + 200 * i + p.clock_us;
		double took = 60 - p.late_us[i];

		fprintf(file,
			"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
			"\"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": %.3f, "
			"\"dur\": 5, \"args\": {\"device\": 0}},\n",
			end - took - 5);
		fprintf(file,
			"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
			"\"record_param_comms\", \"pid\": 9, \"tid\": 9, "
			"\"ts\": %.3f, \"dur\": 1, \"args\": {\"Collective "
			"name\": \"wait\", \"In msg nelems\": 0}},\n",
			end - 1);
		fprintf(file,
			"{\"ph\": \"X\", \"cat\": \"%s\", \"name\": "
			"\"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", \"pid\": "
			"0, \"tid\": 8, \"ts\": %.3f, \"dur\": %.3f, "
			"\"args\": {%s}}%s\n",
			p.kind, end - took, took,
			p.tells ? "\"Collective name\": \"allreduce\", "
				  "\"dtype\": \"Float\", \"In msg nelems\": "
				  "1000, \"Group size\": 3, \"Process Group "
				  "Name\": \"0\""
				: "",
			i == 0 ? "," : "");
	}
	/* The head may come last. */
	fprintf(file,
		"], \"deviceProperties\": [{\"name\": \"NVIDIA H100\"}], "
		"\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, "
		"\"world_size\": 3, \"nccl_version\": \"2.21.5\", "
		"\"pg_config\": [{\"pg_name\": \"0\", \"ranks\": [0, 1, "
		"2]}]}}\n",
		p.rank);
	cr_assert_eq(fclose(file), 0);
}

/* The folder of the three ranks, the last of which comes 50 us late. */
static void write_job(char *folder, size_t size, const char *kind, bool tells)
{
	static const double clocks_us[RANKS] = {0, 5000, -700.5};

	recording_path(folder, size, "x");
	*strrchr(folder, '/') = '\0';
	for (int rank = 0; rank < RANKS; rank++) {
		double late_us = rank == 2 ? 50 : 10 * rank;

		write_profile(folder,
			      (struct profile){.rank = rank,
					       .clock_us = clocks_us[rank],
					       .late_us = {late_us, late_us},
					       .tells = tells,
					       .kind = kind,
					       .suffix = ""});
	}
}

static void read_job(const char *folder, struct dist__trace *trace)
{
	struct dist_message message = {""};

	okay_or(dist__trace_read(folder, trace, &message), message);
}

Test(trace_profile, clocks_of_a_folder_are_aligned)
{
	struct dist__trace trace;
	char folder[128];

	write_job(folder, sizeof folder, "kernel", true);
	read_job(folder, &trace);
	cr_assert_eq(trace.num_ranks, RANKS);
	cr_assert_eq(trace.num_calls, 2 * RANKS, "wait is no call");
	cr_assert_eq(trace.num_spans, 2 * RANKS);
	for (size_t i = 0; i < trace.num_calls; i++) {
		const struct dist__trace_call *call = &trace.calls[i];

		cr_expect_eq(call->rank, (int)(i / 2));
		/* The first event is rank 0's kernel, 65 us before the end. */
		cr_expect_eq(call->ended_ns, i % 2 ? 265000 : 65000,
			     "rank %d: %lld", call->rank,
			     (long long)call->ended_ns);
		cr_expect_eq(call->bytes, 4000);
	}
	cr_expect_eq(trace.calls[4].ended_ns - trace.calls[4].started_ns,
		     10000);
	cr_expect_eq(trace.spans[0].started_ns, 0);
	cr_expect_str_eq(trace.spans[0].label, "kernel");
	cr_expect_str_eq(trace.nccl_version, "2.21.5");
	cr_expect_str_eq(trace.gpu, "NVIDIA H100");
	cr_assert_eq(trace.num_groups, 1);
	cr_expect_eq(trace.groups[0].num_ranks, RANKS);
	cr_expect_eq(trace.groups[0].ranks[2], 2);
	cr_expect(dist__trace_fact(&trace, "clocks"));
	cr_expect_null(dist__trace_fact(&trace, "left out"));
	dist__trace_release(&trace);
}

Test(trace_profile, kernels_of_old_profiles_are_counted)
{
	struct dist__trace trace;
	char folder[128];

	write_job(folder, sizeof folder, "kernel", false);
	read_job(folder, &trace);
	cr_expect_eq(trace.num_calls, 0);
	cr_assert(dist__trace_fact(&trace, "left out"));
	cr_expect(strstr(dist__trace_fact(&trace, "left out"),
			 "6 kernels of NCCL"));
	dist__trace_release(&trace);
}

/* Without kernels the time of a call is that of issuing it. */
Test(trace_profile, issuing_is_not_compared)
{
	struct dist__comparison comparison;
	struct dist__trace trace;
	char folder[128];

	write_job(folder, sizeof folder, "cpu_op", true);
	read_job(folder, &trace);
	cr_expect_eq(trace.num_calls, 2 * RANKS);
	cr_expect(dist__trace_fact(&trace, "times"));
	okay(dist__compare(&trace, &trace, &comparison));
	cr_expect_not(comparison.comparable);
	cr_expect(strstr(comparison.reason, "issued"), "%s", comparison.reason);
	dist__comparison_release(&comparison);
	dist__trace_release(&trace);
}

static void refused(const char *folder, const char *words)
{
	struct dist_message message = {""};
	struct dist__trace trace;

	cr_expect_eq(dist__trace_read(folder, &trace, &message),
		     DIST_ERR_INVALID_ARGUMENT);
	cr_expect(strstr(message.text, words), "expected %s\n  found %s", words,
		  message.text);
	dist__trace_release(&trace);
}

Test(trace_profile, a_rank_has_one_file)
{
	char folder[128];

	write_job(folder, sizeof folder, "kernel", true);
	write_profile(folder, (struct profile){.rank = 1,
					       .tells = true,
					       .kind = "kernel",
					       .suffix = "-again"});
	refused(folder, "r1.json: expected one trace a rank");
}

Test(trace_profile, a_folder_has_traces)
{
	char folder[128];

	recording_path(folder, sizeof folder, "x");
	*strrchr(folder, '/') = '\0';
	refused(folder, "expected files *.json or *.json.gz");
}
