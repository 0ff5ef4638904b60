/* bench.c - lockstep bench: a collective by size, in nccl-tests' columns. */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>
#include <popt.h>

#include "cli/forced.h"
#include "cli/place.h"
#include "cli/rewiring.h"
#include "cli/tally.h"
#include "lockstep/dist.h"
#include "realbackend/tcp/launcher.h"
#include "scenarios/arguments.h"
#include "scenarios/sweep.h"
#include "trace/output.h"

#define USAGE                                                                  \
	"[OPTION...] COLLECTIVE\n\n"                                           \
	"COLLECTIVE is one of " SWEEP_NAMES ".\n\n"                            \
	"Example: lockstep bench all_reduce -b 1K -e 64M --nproc-per-node 4\n"

/* Ranks when neither the option nor WORLD_SIZE says. */
#define DEFAULT_RANKS 4

/* The command line; strings are popt's. */
struct command_line {
	struct sweep_arguments arguments;
	struct rewiring_arguments rewiring;
	char links[DIST__LINKS_SIZE]; /* what they say, "": nothing */
	char *backend;
	char *platform;
	char *profile;
	char *algorithm;
	char *fidelity;
	char *intra;
	char *bind_to;
	char *trace;
	char *tsv;
	int ranks;
	int json;
};

static int refuse(const char *what)
{
	fprintf(stderr, "lockstep bench: %s\n", what);
	return DIST_EXIT_USAGE;
}

static bool is_simulated(const struct command_line *line)
{
	const char *backend =
		line->backend ? line->backend : getenv("LOCKSTEP_BACKEND");

	return backend && strcasecmp(backend, "sim") == 0;
}

/* Reads what is said of links; returns what is wrong with it, or NULL. */
static const char *read_links(struct command_line *line,
			      struct dist_message *message)
{
	struct dist__terms terms = {.name = ""};

	if (rewiring_read(&line->rewiring, &terms, line->links, message))
		return message->text;
	if (*line->links && !is_simulated(line))
		return "--backend: expected sim where links are changed";
	return NULL;
}

/* The collective as --algorithm names it; NULL: it is none. */
static const char *operation_of(int collective)
{
	switch ((enum sweep_collective)collective) {
	case SWEEP_ALL_TO_ALL:
		return "all_to_all";
	case SWEEP_SENDRECV:
		return NULL;
	default:
		return sweep_name((enum sweep_collective)collective);
	}
}

/* Reads what is said of algorithms, a name alone being one of the collective
 * that is benched; returns what is wrong with it, or NULL. */
static const char *read_algorithm(struct command_line *line, int collective,
				  struct dist_message *message)
{
	const char *inherited = getenv("LOCKSTEP_ALGORITHM");
	char *said = line->algorithm;
	bool good = true;

	if (said) {
		good = forced_spell_out(said, operation_of(collective),
					&line->algorithm, message);
		free(said);
	} else if (inherited && *inherited) {
		good = forced_check(inherited, message);
	}
	return good ? NULL : message->text;
}

static int launch(const struct command_line *line, struct sweep *sweep)
{
	const char *inherited = getenv("WORLD_SIZE");
	struct dist_launch_options options = {
		.backend = line->backend,
		.world_size = line->ranks,
		.platform = line->platform,
		.links = *line->links ? line->links : NULL,
		.profile = line->profile,
		.algorithm = line->algorithm,
		.fidelity = line->fidelity,
		.trace = line->trace,
	};

	/* The ranks are forks of this process, and read it there. */
	if ((line->intra && setenv("LOCKSTEP_INTRA", line->intra, 1) != 0) ||
	    (line->bind_to &&
	     setenv("LOCKSTEP_BIND_TO", line->bind_to, 1) != 0))
		return DIST_EXIT_INTERNAL;
	if (!line->ranks && !(inherited && *inherited))
		options.world_size = DEFAULT_RANKS;
	if (options.world_size > 0 && sweep->root >= options.world_size)
		return refuse("-r: expected a rank below the number of ranks");
	if (sweep->collective == SWEEP_SENDRECV && options.world_size == 1)
		return refuse("sendrecv: expected 2 ranks or more");
	return dist_launch(&options, sweep_rank, sweep);
}

/* The rows that rank 0 wrote. The ranks may have been processes of their own,
 * so they come through a file without a name. */
static struct sweep_row *read_rows(FILE *file, size_t *num)
{
	struct sweep_row *rows, row;

	*num = 0;
	rewind(file);
	while (fread(&row, sizeof(row), 1, file) == 1)
		(*num)++;
	rows = malloc((*num + 1) * sizeof(*rows));
	rewind(file);
	if (rows)
		*num = fread(rows, sizeof(*rows), *num, file);
	return rows;
}

static double average_busbw(const struct sweep_row *rows, size_t num)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < num; i++)
		sum += rows[i].busbw_GBps;
	return num ? sum / (double)num : 0;
}

/* How closely it was simulated, if it was. */
static void print_fidelity(const struct dist__tally *tally)
{
	char words[512];

	if (tally->fidelity == DIST__FIDELITY_AUTO)
		return;
	tally_describe(tally, words, sizeof(words));
	printf("# Fidelity             : %s%s%s\n",
	       dist__fidelity_name(tally->fidelity), *words ? ", " : "", words);
}

static void print_end(const struct sweep_row *rows, size_t num)
{
	int64_t wrong = 0;
	size_t i;

	print_fidelity(dist__sim_tally());

	for (i = 0; i < num; i++)
		wrong += rows[i].wrong > 0 ? rows[i].wrong : 0;
	if (num > 0 && rows[0].wrong >= 0)
		printf("# Out of bounds values : %lld %s\n", (long long)wrong,
		       wrong ? "FAILED" : "OK");
	printf("# Avg bus bandwidth    : %g\n", average_busbw(rows, num));
}

static json_t *json_row(const struct sweep_row *row)
{
	json_t *wrong = row->wrong < 0 ? json_null() : json_integer(row->wrong);

	return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}",
			 "size_bytes", (json_int_t)row->bytes, "count",
			 (json_int_t)row->numel, "time_us", row->time_us,
			 "min_us", row->min_us, "low_quartile_us",
			 row->low_quartile_us, "high_quartile_us",
			 row->high_quartile_us, "max_us", row->max_us,
			 "algbw_GBps", row->algbw_GBps, "busbw_GBps",
			 row->busbw_GBps, "wrong", wrong);
}

static int print_json(const struct sweep *sweep, const struct sweep_row *rows,
		      size_t num)
{
	const struct dist__tally *tally = dist__sim_tally();
	bool simulated = tally->fidelity != DIST__FIDELITY_AUTO;
	json_t *array = json_array(), *all;
	int status;
	size_t i;

	for (i = 0; i < num; i++)
		json_array_append_new(array, json_row(&rows[i]));
	all = json_pack("{s:s, s:i, s:i, s:i, s:b, s:b, s:o, s:f, s:s?, "
			"s:o}",
			"collective", sweep_name(sweep->collective),
			"iterations", sweep->iterations, "calls_an_iteration",
			sweep->calls, "warmup", sweep->warmup, "cold",
			sweep->cold, "together", sweep->together, "rows", array,
			"average_busbw_GBps", average_busbw(rows, num),
			"fidelity",
			simulated ? dist__fidelity_name(tally->fidelity) : NULL,
			"collectives", tally_json(tally));
	status = all ? json_dumpf(all, stdout,
				  JSON_INDENT(2) | JSON_REAL_PRECISION(9))
		     : -1;
	json_decref(all);
	putchar('\n');
	return status ? DIST_EXIT_INTERNAL : DIST_EXIT_OK;
}

static int write_tsv(const char *path, const struct sweep *sweep,
		     const struct sweep_row *rows, size_t num)
{
	struct dist_message message = {""};
	struct dist__output *out;
	size_t i;

	if (dist__output_open(path, &out, &message))
		return refuse(message.text);
	dist__output_print(out,
			   "# collective: %s, %d iterations of %d calls, %s\n"
			   "size_bytes\tcount\ttime_us\tmin_us\tmax_us\t"
			   "algbw_GBps\tbusbw_GBps\twrong\t"
			   "low_quartile_us\thigh_quartile_us\n",
			   sweep_name(sweep->collective), sweep->iterations,
			   sweep->calls, sweep->cold ? "cold" : "warm");
	for (i = 0; i < num; i++)
		dist__output_print(
			out,
			"%zu\t%zu\t%.3f\t%.3f\t%.3f\t%.6f\t%.6f\t%lld"
			"\t%.3f\t%.3f\n",
			rows[i].bytes, rows[i].numel, rows[i].time_us,
			rows[i].min_us, rows[i].max_us, rows[i].algbw_GBps,
			rows[i].busbw_GBps, (long long)rows[i].wrong,
			rows[i].low_quartile_us, rows[i].high_quartile_us);
	if (dist__output_close(out, &message))
		return refuse(message.text);
	return DIST_EXIT_OK;
}

/* What is left to say once the ranks are done. */
static int conclude(const struct command_line *line, const struct sweep *sweep)
{
	int status = DIST_EXIT_OK;
	struct sweep_row *rows;
	size_t num;

	rows = read_rows(sweep->rows, &num);
	if (!rows) {
		fprintf(stderr, "lockstep bench: out of memory\n");
		return DIST_EXIT_INTERNAL;
	}
	/* Of ranks that are processes of their own rank 0 alone has rows. */
	if (line->tsv && num > 0)
		status = write_tsv(line->tsv, sweep, rows, num);
	if (!status && line->json)
		status = print_json(sweep, rows, num);
	else if (!status)
		print_end(rows, num);
	free(rows);
	return status;
}

static int bench(struct command_line *line, const char *name)
{
	struct dist_message message = {""};
	struct sweep sweep = {0};
	int status, end, found;
	const char *wrong;
	bool shares, binds;

	found = name ? sweep_find(name) : -1;
	if (found < 0)
		return refuse("which collective? expected " SWEEP_NAMES);
	if (line->intra && !dist__intra_parse(line->intra, &shares))
		return refuse("--intra: expected " DIST__INTRA_WORDS);
	if (line->bind_to && !dist__bind_parse(line->bind_to, &binds))
		return refuse("--bind-to: expected " DIST__BIND_WORDS);
	if (line->ranks < 0)
		return refuse("--nproc-per-node: expected 1 or more");
	wrong = read_algorithm(line, found, &message);
	if (!wrong)
		wrong = read_links(line, &message);
	if (wrong)
		return refuse(wrong);
	if (!place_check("bench", (const char *[]){line->tsv, line->trace}, 2))
		return DIST_EXIT_USAGE;
	if (!sweep_arguments_use(&line->arguments, is_simulated(line), &sweep,
				 &message))
		return refuse(message.text);
	sweep.collective = (enum sweep_collective)found;
	sweep.out = line->json ? NULL : stdout;
	sweep.rows = tmpfile();
	if (!sweep.rows) {
		fprintf(stderr, "lockstep bench: no temporary file: %s\n",
			strerror(errno));
		return DIST_EXIT_INTERNAL;
	}
	/* Ranks may be forks of this process: nothing in its buffers twice. */
	fflush(NULL);
	status = launch(line, &sweep);
	if (status == DIST_EXIT_OK || status == DIST_EXIT_FAILED) {
		end = conclude(line, &sweep);
		status = status ? status : end;
	}
	fclose(sweep.rows);
	return status;
}

/* Reads the options, then the one word that names the collective. */
static int parse(struct command_line *line, int argc, const char **argv,
		 const struct poptOption *table)
{
	poptContext context = poptGetContext(argv[0], argc, argv, table, 0);
	int rc, status = DIST_EXIT_USAGE;
	const char *name;

	poptSetOtherOptionHelp(context, USAGE);
	rc = poptGetNextOpt(context);
	if (rc < -1) {
		arguments_refuse("lockstep bench", context, rc);
	} else {
		name = poptGetArg(context);
		if (poptPeekArg(context))
			(void)refuse("one collective at a time");
		else
			status = bench(line, name);
	}
	poptFreeContext(context);
	return status;
}

int command_bench(int argc, const char **argv)
{
	struct command_line line = {.json = 0};
	struct poptOption shared[SWEEP_TABLE], links[REWIRING_TABLE];
	const struct poptOption table[] = {
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, shared, 0, NULL, NULL},
		{"backend", '\0', POPT_ARG_STRING, &line.backend, 0,
		 "sim, tcp or nccl (default $LOCKSTEP_BACKEND, else tcp)", "B"},
		{"nproc-per-node", '\0', POPT_ARG_INT, &line.ranks, 0,
		 "number of ranks (default $WORLD_SIZE, else 4)", "N"},
		{"world-size", '\0', POPT_ARG_INT, &line.ranks, 0, "the same",
		 "N"},
		{"platform", '\0', POPT_ARG_STRING, &line.platform, 0,
		 "sim: hosts and links, a name or an XML file", "P"},
		{NULL, '\0', POPT_ARG_INCLUDE_TABLE, links, 0, NULL, NULL},
		{"profile", '\0', POPT_ARG_STRING, &line.profile, 0,
		 "library: a name or a YAML file", "L"},
		{"algorithm", '\0', POPT_ARG_STRING, &line.algorithm, 0,
		 "algorithm instead of the profile's choice: a name, or "
		 "all_gather=ring,...",
		 "A"},
		{"fidelity", '\0', POPT_ARG_STRING, &line.fidelity, 0,
		 "sim: how closely it is simulated (default: auto, by the "
		 "number of ranks)",
		 "auto|message|flow|formula"},
		{"intra", '\0', POPT_ARG_STRING, &line.intra, 0,
		 "tcp: what ranks of one machine talk through (default shm)",
		 "shm|tcp"},
		{"bind-to", '\0', POPT_ARG_STRING, &line.bind_to, 0,
		 "tcp: core: a processor each for the ranks, by turns where "
		 "there are fewer (default none)",
		 "none|core"},
		{"trace", '\0', POPT_ARG_STRING, &line.trace, 0,
		 "write a trace", "FILE"},
		{"tsv", '\0', POPT_ARG_STRING, &line.tsv, 0,
		 "write the table, for plots", "FILE"},
		{"json", '\0', POPT_ARG_NONE, &line.json, 0,
		 "print JSON instead of a table", NULL},
		POPT_AUTOHELP POPT_TABLEEND};
	int status;

	sweep_arguments_init(&line.arguments, shared);
	rewiring_init(&line.rewiring, links);
	status = parse(&line, argc, argv, table);
	sweep_arguments_release(&line.arguments);
	rewiring_release(&line.rewiring);
	free(line.backend);
	free(line.platform);
	free(line.profile);
	free(line.algorithm);
	free(line.fidelity);
	free(line.intra);
	free(line.bind_to);
	free(line.trace);
	free(line.tsv);
	return status;
}
