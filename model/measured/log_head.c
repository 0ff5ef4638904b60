/* log_head.c - what the lines of a log say of a run of nccl-tests, but for its
 * rows. */
#include "model/measured/log_head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "model/library/transport.h"
#include "model/measured/log_line.h"

#define DIGITS "0123456789"

/* ---- tests ------------------------------------------------------------ */

static const struct log_test tests[] = {
	{"all_reduce", COLLECTIVE_ALL_REDUCE, NULL},
	{"all_gather", COLLECTIVE_ALL_GATHER, NULL},
	{"reduce_scatter", COLLECTIVE_REDUCE_SCATTER, NULL},
	{"alltoall", COLLECTIVE_ALL_TO_ALL, NULL},
	{"all_to_all", COLLECTIVE_ALL_TO_ALL, NULL},
	{"broadcast", COLLECTIVE_BROADCAST, NULL},
	{"reduce", COLLECTIVE_REDUCE, NULL},
	{"gather", COLLECTIVE_GATHER, NULL},
	{"scatter", COLLECTIVE_SCATTER, NULL},
	{"sendrecv", COLLECTIVE_SENDRECV, NULL},
	{"alltoallv", COLLECTIVE_ALL_TO_ALL,
	 "its messages differ by a pattern that the log does not have"},
	{"hypercube", COLLECTIVE_ALL_GATHER,
	 "it is not NCCL's all-gather but one of nccl-tests' own"},
};

/* The test of that name, of len characters, with "_perf" and what a build puts
 * behind it, or without; NULL: there is none. */
static const struct log_test *find_test(const char *name, size_t len)
{
	for (size_t i = 0; i + 5 <= len; i++)
		if (strncmp(name + i, "_perf", 5) == 0) {
			len = i;
			break;
		}
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
		if (strlen(tests[i].name) == len &&
		    strncmp(tests[i].name, name, len) == 0)
			return &tests[i];
	return NULL;
}

const struct log_test *log_test_find(const char *word, size_t len)
{
	size_t from = len;

	while (from > 0 && word[from - 1] != '/')
		from--;
	for (size_t i = from; i + 5 <= len; i++)
		if (strncmp(word + i, "_perf", 5) == 0)
			return find_test(word + from, len - from);
	return NULL;
}

/* What a head line says counts more than commands, which may be of runs that
 * are not there. */
static const char *note_test(struct log_run *run, const struct log_test *test,
			     bool by_command)
{
	if (run->test && run->test != test) {
		if (!by_command && !run->by_command)
			return "rows of one collective, not of another";
		if (by_command && !run->by_command)
			return NULL;
		run->ambiguous |= by_command;
	}
	if (!by_command)
		run->ambiguous = false;
	run->test = test;
	run->by_command = by_command;
	return NULL;
}

/* Every word of the line that is one of nccl-tests' programs. */
static void note_commands(struct log_run *run, const char *line)
{
	const char *word;
	size_t len;

	if (!strstr(line, "_perf"))
		return;
	while ((word = log_line_word(&line, &len))) {
		const struct log_test *test = log_test_find(word, len);

		if (test)
			(void)note_test(run, test, true);
	}
}

/* ---- numbers and words ------------------------------------------------ */

/* The first text behind mark, blanks skipped; NULL: line has no mark. */
static char *behind(const char *line, const char *mark)
{
	char *at = strstr(line, mark);

	return at ? at + strlen(mark) + strspn(at + strlen(mark), " \t") : NULL;
}

/* The whole number behind mark, 1 or more; else 0. */
static int number_behind(char *line, const char *mark)
{
	char *at = behind(line, mark);
	long number = at && strspn(at, DIGITS) ? strtol(at, NULL, 10) : 0;

	return number > 0 && number <= 1 << 24 ? (int)number : 0;
}

static void note_number(int *into, char *line, const char *mark)
{
	int number = number_behind(line, mark);

	if (number > 0)
		*into = number;
}

/* Cuts what is at `at` to the characters of a set. */
static const char *cut(char *at, const char *set)
{
	at[strspn(at, set)] = '\0';
	return *at ? at : NULL;
}

const char *log_version_of_code(char *at)
{
	size_t digits = strspn(at, DIGITS);

	if (digits < 4 || digits > 5)
		return NULL;
	at[digits - 1] = '\0';
	if (digits == 5)
		at[3] = at[2];
	at[2] = at[1];
	at[1] = '.';
	return at;
}

/* The names that NCCL_ALGO and NCCL_PROTO have; one alone forces it. */
static const char *find_forced(const char *at, const char *const *names)
{
	size_t len = strcspn(at, " \t\"'");

	for (; *names; names++)
		if (strlen(*names) == len && strncasecmp(*names, at, len) == 0)
			return *names;
	return NULL;
}

void log_run_note_forced(struct log_run *run, const char *line)
{
	static const char *const algorithms[] = {"ring", "tree", "nvls",
						 "nvlstree", NULL};
	static const char *const protocols[] = {"LL", "LL128", "Simple", NULL};
	static const char by_environment[] = " set by environment to ";
	const char *algorithm = behind(line, "NCCL_ALGO=");
	const char *protocol = behind(line, "NCCL_PROTO=");

	if (strstr(line, by_environment)) {
		const char *to = behind(line, by_environment);

		if (strstr(line, "NCCL_ALGO set"))
			algorithm = to;
		if (strstr(line, "NCCL_PROTO set"))
			protocol = to;
	}
	if (algorithm)
		run->algorithm = find_forced(algorithm, algorithms);
	if (protocol)
		run->protocol = find_forced(protocol, protocols);
}

/* ---- ranks ------------------------------------------------------------ */

bool log_run_add_host(struct log_run *run, const char *name, size_t len)
{
	size_t num = run->num_hosts;
	const struct log_host host = {name, len};

	/* Mostly ranks of a host follow each other. */
	while (num-- > 0)
		if (run->hosts[num].len == len &&
		    strncmp(run->hosts[num].name, name, len) == 0)
			return true;
	return dist__array_add(&run->hosts, &run->num_hosts, &host,
			       sizeof host) != NULL;
}

/* "Rank  0 Group  0 Pid  9167 on  HOST device  0 [0x1b] NVIDIA A100" */
static const char *note_rank(struct log_run *run, char *at, bool *no_memory)
{
	const char *on = strstr(at, " on "), *host;
	char *device = behind(at, " device ");
	bool is_first = atoi(at) == 0;
	size_t len;

	if (!on || !device || !strspn(device, DIGITS))
		return NULL;
	if (is_first && run->listed > 0)
		return "the ranks of one run, not rank 0 again (nccl-tests "
		       "built with MPI=1)";
	if (number_behind(at, "Group ") > 0)
		return LOG_ONE_GROUP;
	on += strlen(" on ");
	host = log_line_word(&on, &len);
	if (!host || !log_run_add_host(run, host, len)) {
		*no_memory = host != NULL;
		return host ? NULL : "a host after \"on\"";
	}
	run->listed++;
	device = strchr(device, ']');
	if (!run->gpu && device)
		run->gpu = device + 1 + strspn(device + 1, " ");
	return NULL;
}

/* ---- the line --------------------------------------------------------- */

/* Behind the '#' of a head; NULL: line has none. */
static char *find_comment(char *line)
{
	char *at = strchr(line, '#');

	return at ? at + 1 + strspn(at + 1, " \t") : NULL;
}

bool log_head_begins(const char *line)
{
	static const char *const marks[] = {
		"Collective test starting:", "# nccl-tests version",
		"# nThread ", "# Using devices", "# collective:"};
	const char *rank = strstr(line, "Rank ");

	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (strstr(line, marks[i]))
			return true;
	return (rank && strstr(rank, " on ") && strstr(rank, " device ")) ||
	       (strstr(line, "_perf") && !strstr(line, "test concluded:"));
}

static const char *note_test_named(struct log_run *run, char *at)
{
	size_t len = strcspn(at, " \t");
	const struct log_test *test = find_test(at, len);

	return test ? note_test(run, test, false) : NULL;
}

static const char *read_comment(struct log_run *run, char *at, bool *no_memory)
{
	static const char rank[] = "Rank ";
	const char *expected = NULL;
	char *name;

	if (strncmp(at, rank, strlen(rank)) == 0)
		return note_rank(run, at + strlen(rank), no_memory);
	note_number(&run->process_ranks, at, " nGpus ");
	note_number(&run->nodes, at, "nodes: ");
	note_number(&run->ranks, at, " ranks: ");
	if (strncmp(at, "ranks: ", strlen("ranks: ")) == 0)
		note_number(&run->ranks, at, "ranks: ");
	if (strncmp(at, "in-place", strlen("in-place")) == 0)
		run->in_place = true;
	name = behind(at, "Collective test starting:");
	if (!name)
		name = behind(at, "Collective test concluded:");
	if (!name && strncmp(at, "collective:", strlen("collective:")) == 0)
		name = behind(at, "collective:");
	if (name)
		expected = note_test_named(run, name);
	return expected;
}

/* What NCCL says of itself. Its texts are cut out of the line. */
static void note_library(struct log_run *run, char *line)
{
	char *at;

	note_number(&run->comm_ranks, line, " nranks ");
	note_number(&run->comm_ranks, line, " nRanks ");
	note_number(&run->comm_nodes, line, " nNodes ");
	at = behind(line, "NCCL INFO Using network ");
	if (at)
		run->network = at;
	at = behind(line, "nccl-library=");
	if (at && !run->version)
		run->version = log_version_of_code(at);
	at = behind(line, "NCCL version ");
	if (!at)
		at = behind(line, "# nccl_version: ");
	if (at && strspn(at, DIGITS))
		run->version = cut(at, DIGITS ".");
}

const char *log_head_read(struct log_run *run, char *line, bool *no_memory)
{
	char *comment = find_comment(line);
	const char *expected = NULL;

	if (strstr(line, "# rccl-tests version") ||
	    strstr(line, "rccl-tests: Version") || strstr(line, "RCCL version"))
		return "a log of NCCL, not of RCCL, which is not modelled";
	log_run_note_forced(run, line);
	note_commands(run, line);
	if (comment)
		expected = read_comment(run, comment, no_memory);
	if (!expected)
		note_library(run, line);
	return expected;
}

static int first_known(int a, int b, int c, int d)
{
	return a ? a : b ? b : c ? c : d;
}

int log_run_ranks(const struct log_run *run)
{
	return first_known(run->ranks, run->listed, run->comm_ranks,
			   run->last_ranks);
}

int log_run_nodes(const struct log_run *run)
{
	return first_known(run->nodes, (int)run->num_hosts, run->comm_nodes,
			   run->last_nodes);
}

void log_run_next(struct log_run *run)
{
	struct log_run next = {
		.last_ranks = log_run_ranks(run),
		.last_nodes = log_run_nodes(run),
		.gpu = run->gpu,
		.version = run->version,
		.network = run->network,
	};

	log_run_release(run);
	*run = next;
}

void log_run_release(struct log_run *run)
{
	free(run->hosts);
	*run = (struct log_run){.ranks = 0};
}

/* ---- networks --------------------------------------------------------- */

/* Whether transport is one of a list, or one of those with a suffix: "tcp" has
 * "tcp-10gbe". */
static bool is_among(const char *list, const char *transport)
{
	const char *word;
	size_t len;

	while ((word = log_line_word(&list, &len)))
		if (strncmp(word, transport, len) == 0 &&
		    (!transport[len] || transport[len] == '-'))
			return true;
	return false;
}

bool log_network_has(const char *name, const char *transport)
{
	static const struct {
		const char *begin; /* of NCCL's names, or its plugins' */
		const char *transports;
	} networks[] = {
		{"Socket", "tcp"},
		{"IB", "ib roce rdma opa"},
		{"AWS Libfabric", "efa slingshot"},
		{"Libfabric", "efa slingshot"},
		{"OFI", "efa slingshot"},
		{"FasTrak", "tcpxo"},
		{"GPUDirectTCPX", "tcpx"},
	};

	/* NVLinks between hosts are not what NCCL calls its network. */
	if (transport_is(transport, "nvlink"))
		return true;
	for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
		if (strncmp(name, networks[i].begin,
			    strlen(networks[i].begin)) == 0)
			return is_among(networks[i].transports, transport);
	return true;
}
