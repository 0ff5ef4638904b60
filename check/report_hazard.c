/*
 * report_hazard.c - sentences about memory that was touched while an operation
 * used it (ranks that did the same share a sentence), and about a receive or a
 * completion test that decides how the job ends.
 */
#include <string.h>

#include "check/finding.h"

/* Different hazards before the rest is counted. */
#define MOST_HAZARDS 8

/* Ranks that did as one of them. */
struct culprits {
	const struct check_board *board;
	const struct check_hazard *like;
};

static bool is_culprit(const void *arg, uint32_t rank)
{
	const struct culprits *culprits = arg;
	const struct check_hazard *a = culprits->like;
	const struct check_hazard *b = &culprits->board->slots[rank].hazard;

	return a->kind == b->kind &&
	       check_same_site(&a->call.site, &b->call.site) &&
	       check_same_site(&a->other.site, &b->other.site) &&
	       check_same_site(&a->access, &b->access) &&
	       check_same_site(&a->after, &b->after) &&
	       check_same_site(&a->until, &b->until) &&
	       strcmp(a->function, b->function) == 0;
}

static bool has_any(const void *arg, uint32_t rank)
{
	const struct culprits *culprits = arg;

	return culprits->board->slots[rank].hazard.kind != CHECK_HAZARD_NONE;
}

/* What was done to which element, and where, if that was seen. */
static void print_access(FILE *out, const struct check_hazard *hazard)
{
	fprintf(out,
		hazard->function[0] ? "and %s its %s, element %llu of %llu, "
				    : "and %s its %s, from element %llu of "
				      "%llu on, ",
		hazard->kind == CHECK_HAZARD_READ ? "read" : "wrote to",
		hazard->buffer, (unsigned long long)hazard->element,
		(unsigned long long)hazard->numel);
	if (hazard->access.file[0]) {
		fputs("at ", out);
		check_print_site(out, &hazard->access);
		fputc(' ', out);
	}
	if (hazard->function[0])
		fprintf(out, "in %s, ", hazard->function);
}

/* Between which calls it was, if that is known. Returns whether the later one
 * is the wait. */
static bool print_nearest(FILE *out, const struct check_hazard *hazard)
{
	bool after = hazard->after.file[0], until = hazard->until.file[0];
	bool waits =
		until && check_same_site(&hazard->until, &hazard->other.site);

	if (after) {
		fprintf(out, "%s the call at ", until ? "between" : "after");
		check_print_site(out, &hazard->after);
	}
	if (until) {
		fprintf(out, "%s the %s at ", after ? " and" : "before",
			waits ? "wait" : "call");
		check_print_site(out, &hazard->until);
	}
	if ((after || until) && !waits)
		fputs(", ", out);
	return waits;
}

static void print_touched(FILE *out, const struct check_hazard *hazard)
{
	print_access(out, hazard);
	if (print_nearest(out, hazard))
		return;
	fputs("before ", out);
	if (hazard->other.site.file[0]) {
		fputs("the wait at ", out);
		check_print_site(out, &hazard->other.site);
	} else {
		fputs("it could know the call complete", out);
	}
}

static void report_hazard(struct check_lines *lines,
			  const struct culprits *culprits)
{
	const struct check_hazard *hazard = culprits->like;
	FILE *out = check_line(lines, 1);

	check_print_ranks(out, culprits->board->world_size, is_culprit,
			  culprits);
	fputs(" called ", out);
	check_print_call_in_place(out, &hazard->call);
	out = check_line(lines, 1);
	if (hazard->kind != CHECK_HAZARD_SHARED) {
		print_touched(out, hazard);
		return;
	}
	fputs("and, before the wait for it, ", out);
	check_print_call_in_place(out, &hazard->other);
	fputc(':', out);
	fprintf(check_line(lines, 1),
		"its %s begins in element %llu of the %llu of the first one's "
		"%s, and one of the two is written",
		hazard->given, (unsigned long long)hazard->element,
		(unsigned long long)hazard->numel, hazard->buffer);
}

void check_report_hazard(struct check_lines *lines,
			 const struct check_board *board)
{
	struct culprits culprits = {board, NULL};
	FILE *out = check_line(lines, 0);
	uint32_t found = 0;

	fputs("lockstep: buffer hazard: memory was touched while an operation "
	      "held it, by ",
	      out);
	check_print_ranks(out, board->world_size, has_any, &culprits);
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		culprits.like = &board->slots[rank].hazard;
		if (culprits.like->kind &&
		    !check_any_below(rank, is_culprit, &culprits) &&
		    found++ < MOST_HAZARDS)
			report_hazard(lines, &culprits);
	}
	if (found > MOST_HAZARDS)
		fprintf(check_line(lines, 1), "and %u other hazards",
			found - MOST_HAZARDS);
}

/* ---- races -------------------------------------------------------------- */

static void report_match(struct check_lines *lines,
			 const struct check_race *race,
			 const struct check_match *match)
{
	FILE *out = check_line(lines, 1);

	if (race->look)
		fputs(match->seen ? "if it is" : "if it is not", out);
	else
		fprintf(out, "from rank %u", match->sender);
	if (match->send.op[0]) {
		fputs(", which called ", out);
		check_print_call_in_place(out, &match->send);
	}
	fprintf(out, ": %s (--replay %s)", match->outcome, match->replay);
}

void check_report_race(struct check_lines *lines, const struct check_race *race)
{
	FILE *out = check_line(lines, 0);

	fprintf(out,
		race->look ? "lockstep: message race: how the job ends depends "
			     "on whether a message is complete when rank %u "
			     "looks"
			   : "lockstep: message race: how the job ends depends "
			     "on whose message rank %u receives",
		race->rank);
	if (race->call.op[0]) {
		out = check_line(lines, 1);
		fprintf(out, "rank %u called ", race->rank);
		check_print_call_in_place(out, &race->call);
	}
	report_match(lines, race, &race->other);
	report_match(lines, race, &race->here);
}
