/* bench.c - lockstep bench: a collective by size, in nccl-tests' columns. */
#include "base/variable.h"
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>
#include <stdbool.h>
#include <math.h>

#include "base/refuse.h"
#include "cli/check_writable.h"
#include "cli/machine_platform.h"
#include "cli/option_rows.h"
#include "cli/refuse.h"
#include "cli/rewiring.h"
#include "cli/tally.h"
#include "cli/usual_profile.h"
#include "core/fidelity.h"
#include "model/library/fidelity.h"
#include "model/library/library.h"
#include "lockstep/dist.h"
#include "scenarios/sweep.h"
#include "base/rows.h"
#include "base/spelling.h"
#include "worlds/worlds.h"
#include "coll/profile.h"
#include "model/validation/interval.h"
#include "sim/tally.h"

/* ---- how far simulated times may be off, by the size of a call -------- */

struct bench_interval {
	bool is_simulated; /* else the rest is unset */
	struct interval ranges[ACCURACY_RANGES];
};

/* bench_interval_make makes the intervals from the errors of like cases; gpu:
 * the machine's, or "". Errors: as intervals_load. */
static enum dist_error bench_interval_make(struct bench_interval *interval,
					   const struct dist__tally *tally,
					   const struct sweep *sweep,
					   const char *gpu,
					   struct dist_message *message)
{
	/* One of each range. */
	static const size_t bytes[] = {
		[ACCURACY_SMALL] = 0,
		[ACCURACY_MIDDLE] = 1 << 20,
		[ACCURACY_LARGE] = 1 << 30,
	};
	struct intervals intervals;
	enum dist_error error;

	*interval = (struct bench_interval){
		.is_simulated = tally->fidelity != DIST__FIDELITY_AUTO};
	if (!interval->is_simulated)
		return DIST_OK;
	error = intervals_load(&intervals, message);
	for (int r = 0; !error && r < ACCURACY_ALL; r++) {
		const struct interval_case of = tally_call(
			tally, collective_name(sweep->collective), bytes[r]);

		error = intervals_find(&intervals, &of, NULL,
				       &interval->ranges[r]);
		/* Of what NCCL stands for nothing was measured. */
		if (strcmp(tally->library, "nccl") == 0 &&
		    library_is_stand_in(gpu))
			interval->ranges[r].factor = NAN;
	}
	dist__tsv_release(&intervals.tsv);
	return error;
}

/* The factor between a row's time and the ends of its interval; NAN: not known,
 * or not simulated. */
static double factor_of(const struct bench_interval *interval,
			const struct sweep_row *row)
{
	return interval->is_simulated
		       ? interval->ranges[accuracy_range_of(row->bytes)].factor
		       : NAN;
}

static bool has_range(const struct sweep_row *rows, size_t num,
		      enum accuracy_range range)
{
	for (size_t i = 0; i < num; i++)
		if (accuracy_range_of(rows[i].bytes) == range)
			return true;
	return false;
}

/* bench_interval_print writes a line for each range of sizes in the rows, if
 * they were simulated. */
static void bench_interval_print(const struct bench_interval *interval,
				 const struct sweep_row *rows, size_t num,
				 FILE *out)
{
	char text[256], before[256] = "";

	for (int r = 0; interval->is_simulated && r < ACCURACY_ALL; r++) {
		if (!has_range(rows, num, (enum accuracy_range)r))
			continue;
		interval_describe(&interval->ranges[r], text, sizeof text);
		if (strcmp(text, before) != 0)
			fprintf(out, "# Interval             : %s\n", text);
		memcpy(before, text, sizeof before);
	}
}

/* forced_check returns whether the library of profile (NULL: ours) knows all
 * names in text; a name without a collective is one for all_reduce. */
static bool forced_check(const char *text, const char *name,
			 struct dist_message *message)
{
	struct dist__profile profile;
	enum dist_error error = DIST_OK;

	dist__profile_init(&profile);
	if (name)
		error = dist__profile_find(&profile, name, message);
	if (!error)
		error = library_force(&profile, text, message);
	dist__profile_release(&profile);
	return !error;
}

/* Whether a name stands alone among the words. */
static bool has_bare_name(const char *text)
{
	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (!memchr(text, '=', len))
			return true;
		text += len;
		if (!*text)
			return false;
	}
}

/* The words, spelled out; NULL: no memory. */
static char *spell_out(const char *text, const char *op)
{
	char *whole = malloc((strlen(text) + 1) * (strlen(op) + 2));
	char *end = whole;

	while (whole) {
		size_t len = strcspn(text, ",");

		if (!memchr(text, '=', len))
			end += sprintf(end, "%s=", op);
		end += sprintf(end, "%.*s", (int)len, text);
		text += len;
		if (!*text)
			break;
		*end++ = *text++;
	}
	return whole;
}

/*
 * algorithm_option_spell_out stores text in *whole with each name without a
 * collective completed by op: for op "all_gather", "ring,reduce=linear" becomes
 * "all_gather=ring,reduce=linear". With op NULL (no collective) such names are
 * refused. The caller frees *whole. Returns false with a message; for an
 * unknown name it lists the known ones.
 */
static bool algorithm_option_spell_out(const char *text, const char *op,
				       const char *profile, char **whole,
				       struct dist_message *message)
{
	*whole = NULL;
	if (!op && has_bare_name(text)) {
		snprintf(message->text, sizeof message->text,
			 "--algorithm: expected COLLECTIVE=NAME, not \"%.40s\"",
			 text);
		return false;
	}
	*whole = spell_out(text, op ? op : "");
	if (!*whole) {
		snprintf(message->text, sizeof message->text, "out of memory");
		return false;
	}
	return forced_check(*whole, profile, message);
}

/* Ranks when neither the option nor WORLD_SIZE says. */
#define DEFAULT_RANKS 4

/* The command line. */
struct command_line {
	struct sweep sweep;
	struct rewiring_arguments rewiring;
	char links[DIST__LINKS_SIZE]; /* what they say, "": nothing */
	const char *backend;
	const char *platform;
	const char *machine;
	int ranks_per_node;
	const char *topology;
	int uncalibrated;
	struct machine_platform room; /* of the machine */
	char calibration[256];        /* what it knows of the library */
	const char *profile;
	struct dist__profile known; /* what it names, of a machine */
	const char *algorithm;
	char *spelled_out; /* the algorithm, with its collective */
	const char *fidelity;
	const char *engine;
	const char *intra;
	const char *bind_to;
	const char *trace;
	const char *tsv;
	int ranks;
	int world_size; /* 0, or the same */
	int json;
};

#define AT(field) offsetof(struct command_line, field)

static const struct option bench_options[] = {
	{BACKEND_ROW(AT(backend))},
	{"nproc-per-node", OPTION_COUNT, AT(ranks), "N",
	 .help = "number of ranks", .usual = "$WORLD_SIZE, else 4",
	 .letter = 'g', .min = 1},
	{"world-size", OPTION_COUNT, AT(world_size), "N", .help = "the same",
	 .min = 1},
	{"platform", OPTION_TEXT, AT(platform), "PLATFORM",
	 .help = "sim: hosts and links, a name or an XML file",
	 .list = "platforms"},
	{"machine", OPTION_TEXT, AT(machine), "NAME[:TRANSPORT]",
	 .help = "sim, instead of a platform: a measured machine "
		 "with its constants, and as many nodes as needed; "
		 "with NVIDIA's or AMD's GPUs the profile is nccl",
	 .list = "machines"},
	{RANKS_PER_NODE_ROW(AT(ranks_per_node))},
	{TOPOLOGY_ROW(AT(topology))},
	{UNCALIBRATED_ROW(AT(uncalibrated))},
	{PROFILE_ROW(AT(profile), "sim: ")},
	{"algorithm", OPTION_TEXT, AT(algorithm), "A",
	 .help = "algorithm, instead of the profile's choice: a "
		 "name, or all_gather=ring,..."},
	{FIDELITY_ROW(OPTION_CHOICE, AT(fidelity), "sim: ", "it is")},
	{ENGINE_ROW(OPTION_CHOICE, AT(engine), "sim: ")},
	{INTRA_ROW(OPTION_CHOICE, AT(intra))},
	{BIND_TO_ROW(OPTION_CHOICE, AT(bind_to), "")},
	{"trace", OPTION_TEXT, AT(trace), "FILE", .help = "write a trace"},
	{"tsv", OPTION_TEXT, AT(tsv), "FILE",
	 .help = "write the table, for plots"},
	{"json", OPTION_SWITCH, AT(json), NULL,
	 .help = "print JSON instead of a table"},
	{.name = NULL}};

const struct manual manual_bench = {
	.usage = "[OPTION...] COLLECTIVE",
	.about = "Times a collective over a range of sizes, in the columns of "
		 "nccl-tests, and checks its results. The time is that of the "
		 "slowest rank, the median over the iterations. COLLECTIVE is "
		 "one of " SWEEP_NAMES ".",
	.examples = {"lockstep bench all_reduce -b 1K -e 64M --nproc-per-node "
		     "4",
		     "lockstep bench all_reduce --backend sim --platform "
		     "star-64 --world-size 64 -b 1M -e 64M"},
	.choices = "all_reduce|broadcast|reduce|all_gather|reduce_scatter|"
		   "alltoall|gather|scatter|sendrecv",
	.groups = GROUPS({"As nccl-tests has them", sweep_options, AT(sweep)},
			 {"World", .options = bench_options},
			 {"Links of sim", rewiring_options, AT(rewiring)}),
	.least_words = 1,
	.most_words = 1,
	.missing = "expected a collective: " SWEEP_NAMES};

static bool is_simulated(const struct command_line *line)
{
	const char *backend =
		dist__variable_or(line->backend, "LOCKSTEP_BACKEND");

	return backend && strcasecmp(backend, "sim") == 0;
}

static bool is_tcp(const struct command_line *line)
{
	const char *backend =
		dist__variable_or(line->backend, "LOCKSTEP_BACKEND");

	return !backend || strcasecmp(backend, "tcp") == 0;
}

/* Returns what is wrong with what is said of links, or NULL. */
static const char *check_links(const struct command_line *line)
{
	if (*line->links && !is_simulated(line))
		return "--backend: expected sim where links are changed";
	if ((line->engine || line->platform || line->fidelity) &&
	    !is_simulated(line))
		return "--platform, --fidelity, --engine: expected --backend "
		       "sim: real ranks have none";
	if ((line->intra || line->bind_to) && !is_tcp(line))
		return "--intra, --bind-to: expected --backend tcp: other "
		       "ranks have neither our sockets nor our processors";
	if (line->profile && !is_simulated(line) && !is_tcp(line))
		return "--profile: expected --backend sim or tcp: NCCL and MPI "
		       "choose for themselves";
	return NULL;
}

/* Reads what is said of algorithms, a name alone being one of the collective
 * that is benched; returns what is wrong with it, or NULL. */
static const char *read_algorithm(struct command_line *line, int collective,
				  struct dist_message *message)
{
	const char *inherited = getenv("LOCKSTEP_ALGORITHM");
	const char *profile =
		is_simulated(line)
			? dist__variable_or(line->profile, "LOCKSTEP_PROFILE")
			: NULL;
	bool good = true;

	if (line->algorithm) {
		good = algorithm_option_spell_out(
			line->algorithm,
			collective == COLLECTIVE_SENDRECV
				? NULL
				: collective_name((enum collective)collective),
			profile, &line->spelled_out, message);
	} else if (inherited && *inherited) {
		good = forced_check(inherited, profile, message);
	}
	return good ? NULL : message->text;
}

#define BY_LINKS "sends and receives go by the links alone"

/* A machine is simulated, whatever else says where to run. */
static enum dist_error open_machine(struct command_line *line, bool is_p2p,
				    const struct dist__link_overrides *links,
				    struct dist_message *message)
{
	struct machine_platform *room = &line->room;
	struct dist__profile *profile = &line->known;
	enum dist__fidelity fidelity;
	enum dist_error error;

	if (!line->machine &&
	    (line->ranks_per_node || line->topology || line->uncalibrated))
		return dist__refuse(message, "--ranks-per-node, --topology, "
					     "--uncalibrated: expected with "
					     "--machine");
	if (!line->machine)
		return DIST_OK;
	if (line->platform || (line->backend && !is_simulated(line)))
		return dist__refuse(message,
				    "--machine: expected without --platform, "
				    "and with --backend sim");
	if (!line->ranks)
		return dist__refuse(message, "--machine: expected --world-size "
					     "too: a machine has as many nodes "
					     "as are asked for");
	line->backend = "sim";
	error = machine_platform_open(room, line->machine, message);
	room->ranks_per_node = line->ranks_per_node;
	room->topology = line->topology;
	machine_platform_rewire(room, links);
	if (line->uncalibrated)
		room->machine.num_calibrations = 0;
	if (!error && !line->profile && !line->algorithm)
		line->profile = machine_platform_library(room);
	if (!error)
		error = machine_platform_check(room, line->ranks, message);
	if (!error && line->profile)
		error = dist__profile_find(profile, line->profile, message);
	if (!error && !dist__fidelity_parse(&fidelity, line->fidelity))
		fidelity = DIST__FIDELITY_AUTO; /* refused later */
	if (!error && line->topology)
		error = library_fidelity(profile, line->ranks, fidelity,
					 &fidelity, message);
	if (!error)
		error = machine_platform_allows(room, fidelity, message);
	if (!error && is_p2p && !library_has_transfers(profile)) {
		snprintf(line->calibration, sizeof line->calibration,
			 "none, " BY_LINKS);
		if (line->uncalibrated)
			error = dist__refuse(message,
					     "--uncalibrated: expected another "
					     "collective: " BY_LINKS);
	} else if (!error) {
		machine_platform_calibration(room, profile, line->ranks,
					     line->calibration,
					     sizeof line->calibration);
	}
	if (!error)
		error = machine_platform_write(room, line->ranks, false,
					       message);
	line->platform = room->path;
	return error;
}

/* What ranks that talk through sockets find there, in text; NULL: they do
 * not. */
static const char *describe_sockets(const struct command_line *line,
				    struct dist_message *text)
{
	const char *backend =
		dist__variable_or(line->backend, "LOCKSTEP_BACKEND");
	const char *intra = dist__variable_or(line->intra, "LOCKSTEP_INTRA");
	const struct dist__world *world =
		dist__world_find(backend ? backend : "tcp");

	if (!world || strcmp(world->name, "tcp") != 0 || !intra ||
	    strcmp(intra, "tcp") != 0)
		return NULL;
	(void)world->is_available(text);
	return text->text;
}

static int launch(struct command_line *line, struct sweep *sweep)
{
	const char *inherited = getenv("WORLD_SIZE");
	struct dist_launch_options options = {
		.backend = line->backend,
		.world_size = line->ranks,
		.platform = line->platform,
		.links = *line->links ? line->links : NULL,
		.algorithm = line->spelled_out,
		.fidelity = line->fidelity,
		.engine = line->engine,
		.trace = line->trace,
	};

	/* The ranks are forks of this process, and read it there. */
	if ((line->intra && setenv("LOCKSTEP_INTRA", line->intra, 1) != 0) ||
	    (line->bind_to &&
	     setenv("LOCKSTEP_BIND_TO", line->bind_to, 1) != 0))
		return DIST_EXIT_INTERNAL;
	if (!line->ranks && !(inherited && *inherited))
		options.world_size = DEFAULT_RANKS;
	options.profile = line->profile;
	if (is_simulated(line))
		options.profile = usual_profile_on(
			line->platform, line->profile, line->algorithm,
			line->fidelity, options.world_size);
	if (options.world_size > 0 && sweep->root >= options.world_size)
		return refuse("bench",
			      "-r: expected a rank below the number of ranks");
	if (sweep->collective == COLLECTIVE_SENDRECV && options.world_size == 1)
		return refuse("bench", "sendrecv: expected 2 ranks or more");
	return dist_launch(&options, sweep_rank, sweep);
}

/* The rows that rank 0 wrote. The ranks may have been processes of their own,
 * so they come through a file without a name. */
static struct sweep_row *read_rows(FILE *file, size_t *num)
{
	struct sweep_row *rows, row;

	*num = 0;
	rewind(file);
	while (fread(&row, sizeof row, 1, file) == 1)
		(*num)++;
	rows = malloc((*num + 1) * sizeof *rows);
	rewind(file);
	if (rows)
		*num = fread(rows, sizeof *rows, *num, file);
	return rows;
}

static double average_busbw(const struct sweep_row *rows, size_t num)
{
	double sum = 0;

	for (size_t i = 0; i < num; i++)
		sum += rows[i].busbw_GBps;
	return num ? sum / (double)num : 0;
}

/* How closely it was simulated, if it was. */
static void print_fidelity(const struct dist__tally *tally)
{
	char text[512];

	if (tally->fidelity == DIST__FIDELITY_AUTO)
		return;
	tally_describe(tally, text, sizeof text);
	printf("# Fidelity             : %s%s%s\n",
	       dist__fidelity_name(tally->fidelity), *text ? ", " : "", text);
	if (!tally->own_engine)
		printf("# Engine               : simgrid\n");
}

static void print_end(const struct command_line *line,
		      const struct sweep_row *rows, size_t num,
		      const struct bench_interval *interval)
{
	struct dist_message text;
	const char *sockets = describe_sockets(line, &text);
	int64_t wrong = 0;

	print_fidelity(dist__sim_tally());
	if (sockets)
		printf("# Sockets              : %s\n", sockets);
	if (line->machine)
		printf("# Calibration          : %s\n", line->calibration);
	bench_interval_print(interval, rows, num, stdout);

	for (size_t i = 0; i < num; i++)
		wrong += rows[i].wrong > 0 ? rows[i].wrong : 0;
	if (num > 0 && rows[0].wrong >= 0)
		printf("# Out of bounds values : %lld %s\n", (long long)wrong,
		       wrong ? "FAILED" : "OK");
	printf("# Avg bus bandwidth    : %g\n", average_busbw(rows, num));
}

static struct dist__rows table_of(const struct sweep_row *rows, size_t num,
				  const struct bench_interval *interval)
{
	static const char columns[] =
		"size_bytes;count;time_us;min_us;max_us;algbw_GBps;busbw_GBps;"
		"wrong;low_quartile_us;high_quartile_us;low_us;high_us";
	struct dist__rows table = {.columns = columns};

	for (size_t i = 0; i < num; i++)
		ADD_ROW(&table, cell_size(rows[i].bytes),
			cell_size(rows[i].numel), cell_real(rows[i].time_us),
			cell_real(rows[i].min_us), cell_real(rows[i].max_us),
			cell_real(rows[i].algbw_GBps),
			cell_real(rows[i].busbw_GBps),
			cell_int(rows[i].wrong < 0 ? CELL_UNKNOWN
						   : rows[i].wrong),
			cell_real(rows[i].low_quartile_us),
			cell_real(rows[i].high_quartile_us),
			cell_real(rows[i].time_us /
				  factor_of(interval, &rows[i])),
			cell_real(rows[i].time_us *
				  factor_of(interval, &rows[i])));
	return table;
}

static int print_json(const struct command_line *line,
		      const struct sweep *sweep, const struct sweep_row *rows,
		      size_t num, const struct bench_interval *interval)
{
	struct dist_message text;
	const struct dist__tally *tally = dist__sim_tally();
	bool simulated = tally->fidelity != DIST__FIDELITY_AUTO;
	struct dist__rows table = table_of(rows, num, interval);
	json_t *all = json_pack(
		"{s:s, s:i, s:i, s:i, s:b, s:b, s:o, s:f, s:s?, s:s?, s:s?, "
		"s:s?, s:o}",
		"collective", sweep_name(sweep->collective), "iterations",
		sweep->iterations, "calls_an_iteration", sweep->calls, "warmup",
		sweep->warmup, "cold", sweep->cold, "together", sweep->together,
		"rows", dist__rows_json(&table), "average_busbw_GBps",
		average_busbw(rows, num), "fidelity",
		simulated ? dist__fidelity_name(tally->fidelity) : NULL,
		"engine", simulated ? dist__tally_engine(tally) : NULL,
		"sockets", describe_sockets(line, &text), "calibration",
		line->machine ? line->calibration : NULL, "collectives",
		tally_json(tally));

	return dist__json_print(all, stdout) ? DIST_EXIT_INTERNAL
					     : DIST_EXIT_OK;
}

static int write_tsv(const char *path, const struct sweep *sweep,
		     const struct sweep_row *rows, size_t num,
		     const struct bench_interval *interval)
{
	struct dist__rows table = table_of(rows, num, interval);
	struct dist_message message = {""};
	char head[160];

	snprintf(head, sizeof head,
		 "# collective: %s, %d iterations of %d calls, %s\n",
		 sweep_name(sweep->collective), sweep->iterations, sweep->calls,
		 sweep->cold ? "cold" : "warm");
	if (dist__rows_write(&table, head, path, &message))
		return refuse("bench", "%s", message.text);
	return DIST_EXIT_OK;
}

/* What is left to say once the ranks are done. */
static int conclude(const struct command_line *line, const struct sweep *sweep)
{
	struct bench_interval interval;
	struct dist_message message;
	int status = DIST_EXIT_OK;
	struct sweep_row *rows;
	size_t num;

	rows = read_rows(sweep->rows, &num);
	if (!rows)
		return out_of_memory("bench");
	if (bench_interval_make(&interval, dist__sim_tally(), sweep,
				line->room.machine.gpu, &message))
		status = refuse("bench", "%s", message.text);
	/* Of ranks that are processes of their own rank 0 alone has rows. */
	if (!status && line->tsv && num > 0)
		status = write_tsv(line->tsv, sweep, rows, num, &interval);
	if (!status && line->json)
		status = print_json(line, sweep, rows, num, &interval);
	else if (!status)
		print_end(line, rows, num, &interval);
	free(rows);
	return status;
}

static int bench(struct command_line *line, const char *name)
{
	struct dist__link_overrides links = {.name = ""};
	struct dist_message message = {""};
	struct dist__refusal refusal;
	struct sweep *sweep = &line->sweep;
	int status, end, found = sweep_find(name);
	struct dist__spelling near;
	const char *wrong;

	if (found < 0)
		return refuse(
			"bench",
			"no collective \"%s\"; expected " SWEEP_NAMES "%s",
			name, dist__spelling_hint_of(&near, name, SWEEP_NAMES));
	if (line->ranks && line->world_size && line->ranks != line->world_size)
		return refuse("bench",
			      "--world-size: expected the same as "
			      "--nproc-per-node, not \"%d\"",
			      line->world_size);
	if (!line->ranks)
		line->ranks = line->world_size;
	if (rewiring_read(&line->rewiring, &links, line->links, &refusal))
		return refuse("bench", "%s", refusal.message.text);
	if (open_machine(line, found == COLLECTIVE_SENDRECV, &links, &message))
		return refuse("bench", "%s", message.text);
	wrong = read_algorithm(line, found, &message);
	if (!wrong)
		wrong = check_links(line);
	if (wrong)
		return refuse("bench", "%s", wrong);
	if (!check_writable("bench", (const char *[]){line->tsv, line->trace},
			    2))
		return DIST_EXIT_USAGE;
	sweep->collective = (enum collective)found;
	if (!sweep_complete(sweep, is_simulated(line), &message))
		return refuse("bench", "%s", message.text);
	sweep->out = line->json ? NULL : stdout;
	sweep->rows = tmpfile();
	if (!sweep->rows) {
		fprintf(stderr, "lockstep bench: no temporary file: %s\n",
			strerror(errno));
		return DIST_EXIT_INTERNAL;
	}
	/* Ranks may be forks of this process: nothing in its buffers twice. */
	fflush(NULL);
	status = launch(line, sweep);
	if (status == DIST_EXIT_OK || status == DIST_EXIT_FAILED) {
		end = conclude(line, sweep);
		status = status ? status : end;
	}
	fclose(sweep->rows);
	return status;
}

int command_bench(int argc, const char **argv)
{
	struct command_line line = {.json = 0};
	int status;

	sweep_init(&line.sweep);
	dist__profile_init(&line.known);
	if (!arguments_parse(&manual_bench, &argc, argv, &line, &status))
		return status;
	status = bench(&line, argv[1]);
	machine_platform_close(&line.room);
	dist__profile_release(&line.known);
	free(line.spelled_out);
	return status;
}
