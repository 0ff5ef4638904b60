/*
 * Programs drawn by lot: of a right one nothing is said, of a wrong one the
 * right thing. PROGRAMS and SEED choose how many, and from where on; SHOW=1
 * shows every one of which another thing was said.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/property/program.h"

#define USUAL 40 /* programs */
/* Deadlines of real ranks: long, for a busy machine; and shorter than any. */
#define PATIENT_NS ((int64_t)60000000000)
#define HASTY_NS   ((int64_t)10000000)

/* One of the environment's numbers. */
static uint64_t number(const char *name, uint64_t usual)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : usual;
}

/* How wrong programs of one fault fared. */
struct score {
	int all, flagged, right, ranks;
	int lines; /* on which ranks stand */
	int sites; /* of the fault, and of what stands for it elsewhere */
};

/* Whether text names rank, as in "rank 3" or "ranks 0-2,5 (4)". */
static bool names_rank(const char *text, int rank)
{
	for (; (text = strstr(text, "rank")); text++) {
		const char *at = text + 4 + (text[4] == 's');
		char *end;

		while (*at == ' ' || *at == ',') {
			long low = strtol(at + 1, &end, 10), high = low;

			if (end == at + 1)
				break;
			if (*end == '-')
				high = strtol(end + 1, &end, 10);
			if (low <= rank && rank <= high)
				return true;
			at = end;
			if (*at == ' ' && strncmp(at, " and ", 5) == 0)
				at += 4;
		}
	}
	return false;
}

static bool names_line(const char *text, int line)
{
	char place[32];
	size_t len =
		(size_t)snprintf(place, sizeof place, PROGRAM_FILE ":%d", line);

	for (; (text = strstr(text, place)); text++)
		if (text[len] < '0' || text[len] > '9')
			return true;
	return false;
}

static int status_of(enum outcome outcome)
{
	static const int statuses[] = {DIST_EXIT_OK,       DIST_EXIT_FAILED,
				       DIST_EXIT_MISMATCH, DIST_EXIT_DEADLOCK,
				       DIST_EXIT_TIMEOUT,  DIST_EXIT_RANK_LOST};

	return statuses[outcome];
}

/* Whether the status is that of the forecast: a deadlock that buffers would
 * have kept off may be called so. */
static bool is_right(const struct program *program,
		     const struct forecast *forecast, int status)
{
	struct forecast buffered;

	if (status == status_of(forecast->strict.outcome) ||
	    status == status_of(forecast->loose.outcome))
		return true;
	if (status != DIST_EXIT_BUFFERING ||
	    forecast->strict.outcome != OUTCOME_DEADLOCK)
		return false;
	buffered = program_forecast(program, true);
	return buffered.strict.outcome == OUTCOME_FINE ||
	       buffered.loose.outcome == OUTCOME_FINE;
}

/* Whether a rank that stayed away is told as that: where no send waits, the
 * others come to the end without it. */
static bool tells_absence(const struct fault *fault,
			  const struct forecast *forecast,
			  const struct forked *run)
{
	bool absent = fault->kind == FAULT_SKIP || fault->kind == FAULT_LEAVE;

	return absent && forecast->strict.outcome == OUTCOME_DEADLOCK &&
	       run->status == DIST_EXIT_MISMATCH &&
	       strstr(run->text, "mismatch: a call is missing on group ");
}

static bool is_verdict(int status)
{
	return status >= DIST_EXIT_MISMATCH && status < DIST_EXIT_SKIPPED;
}

/* Whether run names the lines at which the faulty rank stands and another. Who
 * is late stands in its own code, and who has finished nowhere. */
static bool names_lines(const struct forked *run, const struct ending *ending,
			const struct fault *fault)
{
	int line = ending->stands[fault->rank], standing = 0, named = 0;

	if (ending->outcome == OUTCOME_MISMATCH)
		return names_line(run->text, ending->line) &&
		       names_line(run->text, ending->other_line);
	for (int r = 0; r < MOST_RANKS; r++) {
		if (r == fault->rank || !ending->stands[r])
			continue;
		standing++;
		named += names_line(run->text, ending->stands[r]);
	}
	return (named > 0 || standing == 0) &&
	       (!line || ending->outcome == OUTCOME_TIMEOUT ||
		names_line(run->text, line));
}

static void show(const struct program *program, const struct fault *fault,
		 const struct forecast *forecast, const struct forked *run,
		 const char *what)
{
	if (!getenv("SHOW"))
		return;
	printf("---- %llu, %s by rank %d at line %d (%d): %s\n"
	       "forecast %d (%d) at %d and %d, status %d\n%s\n",
	       (unsigned long long)program->seed, fault_name(fault->kind),
	       fault->rank, fault->line, fault->other_line, what,
	       (int)forecast->strict.outcome, (int)forecast->loose.outcome,
	       forecast->strict.line, forecast->strict.other_line, run->status,
	       run->text);
	program_print(stdout, program);
}

/* A program that came out right by its fault is silent as well. */
static bool is_silent(const struct forked *run)
{
	return run->status == DIST_EXIT_OK && !run->text[0];
}

static void judge(const struct program *program, const struct fault *fault,
		  const struct forked *run, struct score *score)
{
	struct forecast forecast = program_forecast(program, false);
	bool lines = names_lines(run, &forecast.strict, fault) ||
		     names_lines(run, &forecast.loose, fault);
	bool absent = fault->kind == FAULT_SKIP || fault->kind == FAULT_LEAVE ||
		      fault->kind == FAULT_FAIL || fault->kind == FAULT_LATE;
	bool site = (absent || names_line(run->text, fault->line)) &&
		    (!fault->other_line ||
		     names_line(run->text, fault->other_line));
	bool flagged = is_verdict(run->status);
	bool right = is_right(program, &forecast, run->status) ||
		     tells_absence(fault, &forecast, run);

	if (forecast.strict.outcome == OUTCOME_FINE && !is_silent(run)) {
		show(program, fault, &forecast, run, "accused");
		cr_expect_fail("seed %llu, %s: accused",
			       (unsigned long long)program->seed,
			       fault_name(fault->kind));
	}
	if (!is_verdict(status_of(forecast.strict.outcome)) ||
	    !is_verdict(status_of(forecast.loose.outcome)))
		return;
	score->all++;
	score->flagged += flagged;
	score->right += right;
	score->ranks += names_rank(run->text, fault->rank);
	score->lines += right && lines;
	score->sites += right && site;
	if (!flagged)
		show(program, fault, &forecast, run, "missed");
	else if (!right)
		show(program, fault, &forecast, run, "other class");
	else if (!names_rank(run->text, fault->rank))
		show(program, fault, &forecast, run, "rank not named");
	else if (!lines)
		show(program, fault, &forecast, run, "line not named");
	else if (!site)
		show(program, fault, &forecast, run, "site not named");
}

static void expect_silence(uint64_t seed, const char *backend, const char *p2p,
			   int64_t timeout_ns)
{
	struct program program;
	struct forked run;

	program_draw(&program, seed);
	cr_assert_eq(program_forecast(&program, false).strict.outcome,
		     OUTCOME_FINE, "seed %llu", (unsigned long long)seed);
	program_run(&program, backend, p2p, timeout_ns, &run);
	cr_expect(is_silent(&run), "seed %llu on %s: status %d: %s",
		  (unsigned long long)seed, backend, run.status, run.text);
}

Test(programs, right_ones_are_silent)
{
	uint64_t seed = number("SEED", 1), n = number("PROGRAMS", USUAL);

	for (uint64_t i = 0; i < n; i++) {
		expect_silence(seed + i, "sim", "rendezvous",
			       PROGRAM_TIMEOUT_NS);
		expect_silence(seed + i, "sim", "buffered", PROGRAM_TIMEOUT_NS);
	}
}

Test(programs, right_ones_are_silent_over_tcp)
{
	uint64_t seed = number("SEED", 1), n = number("PROGRAMS", USUAL) / 10;

	for (uint64_t i = 0; i < n; i++)
		expect_silence(seed + i, "tcp", NULL, PATIENT_NS);
}

/* Where the ranks are slower than their deadline, that is what is said. */
Test(programs, right_ones_may_be_slow_over_tcp)
{
	uint64_t seed = number("SEED", 1), n = number("PROGRAMS", USUAL) / 10;
	struct program program;
	struct forked run;

	for (uint64_t i = 0; i < n; i++) {
		program_draw(&program, seed + i);
		program_run(&program, "tcp", NULL, HASTY_NS, &run);
		cr_expect(is_silent(&run) || run.status == DIST_EXIT_TIMEOUT ||
				  run.status == DIST_EXIT_RENDEZVOUS,
			  "seed %llu: status %d: %s",
			  (unsigned long long)(seed + i), run.status, run.text);
	}
}

/* Prints the table, returns its last line. */
static struct score print_scores(const struct score scores[static FAULT_KINDS])
{
	struct score sum = {0};

	printf("%-10s %8s %8s %8s %8s %8s %8s\n", "fault", "programs",
	       "flagged", "class", "rank", "lines", "sites");
	for (int i = 0; i <= FAULT_KINDS; i++) {
		const struct score *s = i < FAULT_KINDS ? &scores[i] : &sum;

		printf("%-10s %8d %8d %8d %8d %8d %8d\n",
		       i < FAULT_KINDS ? fault_name((enum fault_kind)i) : "all",
		       s->all, s->flagged, s->right, s->ranks, s->lines,
		       s->sites);
		sum.all += s->all;
		sum.flagged += s->flagged;
		sum.right += s->right;
		sum.ranks += s->ranks;
		sum.lines += s->lines;
		sum.sites += s->sites;
	}
	return sum;
}

Test(programs, wrong_ones_are_flagged)
{
	struct score scores[FAULT_KINDS] = {0}, sum;
	uint64_t seed = number("SEED", 1), n = number("PROGRAMS", USUAL);

	for (uint64_t i = 0; i < n; i++)
		for (int kind = 0; kind < FAULT_KINDS; kind++) {
			struct program program;
			struct fault fault;
			struct forked run;

			program_draw(&program, seed + i);
			if (!program_spoil(&program, (enum fault_kind)kind,
					   &fault))
				continue;
			program_run(&program, "sim", "rendezvous",
				    PROGRAM_TIMEOUT_NS, &run);
			judge(&program, &fault, &run, &scores[kind]);
		}
	sum = print_scores(scores);
	cr_expect_geq(100 * sum.flagged, 99 * sum.all);
	cr_expect_geq(100 * sum.right, 95 * sum.all);
	cr_expect_geq(100 * sum.ranks, 95 * sum.all);
	cr_expect_geq(100 * sum.lines, 95 * sum.all);
	cr_expect_geq(100 * sum.sites, 98 * sum.all);
}
