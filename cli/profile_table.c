/* profile_table.c - kernels of NCCL in a profile, as rows of measurements. */
#include "cli/profile_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/refuse.h"
#include "base/statistics.h"
#include "model/cluster/machine.h"
#include "trace/read.h"

/* The first character of file that is not a blank; -1: none. */
static int next_character(gzFile file)
{
	int c;

	do
		c = file ? gzgetc(file) : -1;
	while (c == ' ' || c == '\n' || c == '\r' || c == '\t');
	return c;
}

/* Whether file goes on with the first key of what nccl-tests writes with -J. */
static bool is_of_nccl_tests(gzFile file)
{
	static const char key[] = "version\"";
	char text[sizeof key] = "";

	return next_character(file) == '"' &&
	       gzread(file, text, sizeof key - 1) == sizeof key - 1 &&
	       strcmp(text, key) == 0;
}

bool profile_is(const char *path)
{
	struct stat status;
	gzFile file;
	bool is;

	if (stat(path, &status))
		return false;
	if (S_ISDIR(status.st_mode))
		return true;
	if (!S_ISREG(status.st_mode)) /* what is read from a pipe is gone */
		return false;
	file = gzopen(path, "rb");
	is = next_character(file) == '{' && !is_of_nccl_tests(file);
	if (file)
		gzclose(file);
	return is;
}

/* ---- calls ------------------------------------------------------------ */

/* A call of all its ranks. */
struct call {
	enum collective collective;
	int ranks, nodes;
	size_t bytes; /* as nccl-tests counts them */
	bool whole;   /* all ranks' kernels are there */
	double us;
};

struct calls {
	struct call *all; /* room for all of the trace */
	size_t num;
	struct profile_notes *notes;
	const struct dist__trace *trace;
	int gpus; /* of a node */
};

/* On how many nodes the ranks are; 0: not as many on each. */
static int count_nodes(const int *ranks, size_t num, int gpus)
{
	int nodes = 0, most = 0, here;

	for (size_t i = 0; i < num; i++) {
		here = 0;
		for (size_t j = 0; j < num; j++) {
			if (ranks[j] / gpus != ranks[i] / gpus)
				continue;
			if (j < i)
				break;
			here++;
		}
		nodes += here > 0;
		most = here > most ? here : most;
	}
	return (size_t)nodes * (size_t)most == num ? nodes : 0;
}

/* The nodes of the call's group; 0: left out. */
static int nodes_of(const struct calls *calls,
		    const struct dist__trace_call *call)
{
	const struct dist__trace *trace = calls->trace;
	int nodes;

	for (size_t i = 0; i < trace->num_groups; i++) {
		const struct dist__trace_group *group = &trace->groups[i];

		if (strcmp(group->name, call->group) != 0 ||
		    group->num_ranks != (size_t)call->group_size)
			continue;
		nodes = count_nodes(group->ranks, group->num_ranks,
				    calls->gpus);
		calls->notes->uneven += nodes == 0;
		return nodes;
	}
	if (call->group_size == trace->world_size)
		return (call->group_size + calls->gpus - 1) / calls->gpus;
	calls->notes->unknown++;
	return 0;
}

static bool find_collective(const char *op, enum collective *collective)
{
	size_t len = strlen(op), single = strlen("_single");
	char name[64];

	if (len >= sizeof name)
		return false;
	memcpy(name, op, len + 1);
	if (len > single && strcmp(name + len - single, "_single") == 0)
		name[len - single] = '\0';
	return collective_find(name, collective);
}

/* Adds what is a call of n ranks. */
static void add_call(struct calls *calls,
		     const struct dist__trace_call *const *ranks, size_t n)
{
	const struct dist__trace_call *first = ranks[0];
	struct call call = {.ranks = first->group_size,
			    .bytes = (size_t)first->bytes,
			    .whole = n == (size_t)first->group_size};
	int64_t shortest_ns = INT64_MAX;

	if (first->group_size < 2)
		return;
	if (!find_collective(first->op, &call.collective)) {
		calls->notes->other++;
		return;
	}
	if (call.collective == COLLECTIVE_ALL_GATHER)
		call.bytes *= (size_t)first->group_size;
	if (call.bytes < PROFILE_LEAST_BYTES) {
		calls->notes->small++;
		return;
	}
	call.nodes = nodes_of(calls, first);
	for (size_t i = 0; i < n; i++)
		if (ranks[i]->ended_ns - ranks[i]->started_ns < shortest_ns)
			shortest_ns = ranks[i]->ended_ns - ranks[i]->started_ns;
	call.us = (double)shortest_ns / 1e3;
	if (call.nodes > 0 && call.us > 0)
		calls->all[calls->num++] = call;
}

static bool collect(struct calls *calls)
{
	const struct dist__trace *trace = calls->trace;
	const struct dist__trace_call **sorted =
		dist__trace_sorted_calls(trace, dist__trace_by_collective);
	size_t next;

	calls->all = calloc(trace->num_calls + 1, sizeof *calls->all);
	for (size_t i = 0; sorted && calls->all && i < trace->num_calls;
	     i = next) {
		for (next = i + 1; next < trace->num_calls; next++)
			if (!dist__trace_same_call(sorted[i], sorted[next]))
				break;
		add_call(calls, sorted + i, next - i);
	}
	free(sorted);
	return sorted && calls->all;
}

/* ---- rows ------------------------------------------------------------- */

/* Whole calls of a row first, then by time. */
static int by_row(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	int order = (int)x->collective - (int)y->collective;

	if (order == 0)
		order = x->ranks - y->ranks;
	if (order == 0)
		order = x->nodes - y->nodes;
	if (order == 0)
		order = (x->bytes > y->bytes) - (x->bytes < y->bytes);
	if (order == 0)
		order = (int)y->whole - (int)x->whole;
	return order ? order : (x->us > y->us) - (x->us < y->us);
}

static bool same_row(const struct call *a, const struct call *b)
{
	return a->collective == b->collective && a->ranks == b->ranks &&
	       a->nodes == b->nodes && a->bytes == b->bytes;
}

/* Of n calls, whole ones first. */
static struct collective_row row_of(const struct call *calls, size_t n,
				    const struct log_facts *facts,
				    const char *transport, double *times)
{
	size_t whole = 0;

	while (whole < n && calls[whole].whole)
		whole++;
	for (size_t i = 0; i < whole; i++)
		times[i] = calls[i].us;
	return (struct collective_row){
		.use = VALUE_VALIDATION,
		.collective = calls->collective,
		.machine = facts->machine,
		.transport = calls->nodes > 1 ? transport : "-",
		.library = facts->library,
		.version = facts->version,
		.memory = "device",
		.place = "out",
		.nodes = calls->nodes,
		.ranks = calls->ranks,
		.bytes = calls->bytes,
		.statistic = whole ? "median" : "min",
		.iterations = whole ? whole : n,
		.time_us = {.value = whole ? dist__quantile(times, whole, 0.5)
					   : calls->us,
			    .known = true}};
}

static enum dist_error make_rows(struct collectives *table, struct calls *calls,
				 const struct log_facts *facts,
				 const char *transport)
{
	double *times = calloc(calls->num + 1, sizeof *times);
	enum dist_error error = times ? DIST_OK : DIST_ERR_NO_MEMORY;
	struct collective_row row;
	size_t next;

	qsort(calls->all, calls->num, sizeof *calls->all, by_row);
	for (size_t i = 0; !error && i < calls->num; i = next) {
		for (next = i + 1; next < calls->num; next++)
			if (!same_row(&calls->all[i], &calls->all[next]))
				break;
		row = row_of(&calls->all[i], next - i, facts, transport, times);
		if (!collectives_add(table, &row, 0))
			error = DIST_ERR_NO_MEMORY;
	}
	free(times);
	return error;
}

/* ---- the whole -------------------------------------------------------- */

static enum dist_error check(const struct dist__trace *trace,
			     const struct log_facts *facts,
			     struct dist_message *message)
{
	const struct machine *machine = facts->described;
	const char *left_out = dist__trace_fact(trace, "left out");

	if (machine->gpus_per_node == 0)
		return dist__refuse(message,
				    "%.200s: expected a machine with GPUs, as "
				    "this is a profile of theirs",
				    facts->machine);
	if (trace->gpu && !machine_has_gpu(machine, trace->gpu))
		return dist__refuse(message,
				    "%.200s: expected GPUs of %s, %s, not "
				    "%.60s: --machine of those",
				    trace->path, facts->machine, machine->gpu,
				    trace->gpu);
	if (trace->num_calls == 0 || trace->issue_times)
		return dist__refuse(message,
				    "%.200s: expected kernels of collectives, "
				    "as torch.profiler records with "
				    "ProfilerActivity.CUDA%s%s",
				    trace->path, left_out ? "; left out: " : "",
				    left_out ? left_out : "");
	return DIST_OK;
}

static enum dist_error fill(struct collectives *table,
			    const struct dist__trace *trace,
			    struct log_facts facts, struct profile_notes *notes,
			    struct dist_message *message)
{
	struct calls calls = {.notes = notes,
			      .trace = trace,
			      .gpus = (int)facts.described->gpus_per_node};
	const struct machine_network *network = NULL;
	enum dist_error error = machine_network_choose(
		facts.described, facts.transport, &network, message);

	if (error)
		return error;
	table->tsv.path = strdup(trace->path);
	if (!facts.version && trace->nccl_version)
		facts.version = table->tsv.text = strdup(trace->nccl_version);
	if (!table->tsv.path || !collect(&calls))
		error = DIST_ERR_NO_MEMORY;
	if (!error)
		error = make_rows(table, &calls, &facts,
				  network ? network->transport : "-");
	if (error)
		(void)dist__refuse_as(message, error, "out of memory");
	else if (table->tsv.num_rows == 0)
		error = dist__refuse(message,
				     "%.200s: expected calls of %zu KiB or "
				     "more that are predicted; there are none",
				     trace->path, PROFILE_LEAST_BYTES >> 10);
	free(calls.all);
	return error;
}

enum dist_error profile_table_load(struct collectives *table, const char *path,
				   const struct log_facts *facts,
				   struct profile_notes *notes,
				   struct dist_message *message)
{
	struct dist__trace trace;
	enum dist_error error;

	*table = (struct collectives){.rows = NULL};
	*notes = (struct profile_notes){.small = 0};
	error = dist__trace_read(path, &trace, message);
	if (error)
		return error;
	error = check(&trace, facts, message);
	if (!error)
		error = fill(table, &trace, *facts, notes, message);
	dist__trace_release(&trace);
	if (error)
		dist__tsv_release(&table->tsv);
	table->rows = table->tsv.rows;
	return error;
}

static void print_note(const char *command, const char *path, size_t calls,
		       const char *why)
{
	if (calls)
		fprintf(stderr, "lockstep %s: %s: %zu calls are left out: %s\n",
			command, path, calls, why);
}

void profile_notes_print(const char *command, const char *path,
			 const struct profile_notes *notes)
{
	print_note(command, path, notes->small,
		   "below 64 KiB, where the launch counts, which a kernel's "
		   "time does not have");
	print_note(command, path, notes->other,
		   "messages and barriers are not predicted");
	print_note(command, path, notes->unknown,
		   "the ranks of their group are not known");
	print_note(command, path, notes->uneven,
		   "their group has more ranks on some nodes than on others");
}
