/*
 * report_hazard.c - memory that was touched while an operation held it, in
 * sentences: the ranks that did the same share them.
 */
#include <string.h>

#include "check/disagreement.h"
#include "check/words.h"

/* Different hazards told before the rest is counted. */
#define MOST_HAZARDS 8

/* Ranks that did as one of them. */
struct culprits {
	const struct check_board *board;
	const struct check_hazard *like;
};

static bool same_site(const struct check_site *a, const struct check_site *b)
{
	return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static bool is_culprit(const void *arg, uint32_t rank)
{
	const struct culprits *culprits = arg;
	const struct check_hazard *a = culprits->like;
	const struct check_hazard *b = &culprits->board->slots[rank].hazard;

	return a->kind == b->kind && same_site(&a->call.site, &b->call.site) &&
	       same_site(&a->other.site, &b->other.site) &&
	       same_site(&a->access, &b->access) &&
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
		hazard->function[0] ? "  and %s its %s, element %llu of %llu, "
				    : "  and %s its %s, from element %llu of "
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

static void print_touched(FILE *out, const struct check_hazard *hazard)
{
	print_access(out, hazard);
	fputs("before ", out);
	if (hazard->other.site.file[0]) {
		fputs("the wait at ", out);
		check_print_site(out, &hazard->other.site);
	} else {
		fputs("it could know the call complete", out);
	}
	fputc('\n', out);
}

static void print_shared(FILE *out, const struct check_hazard *hazard)
{
	fputs("  and, before the wait for it, ", out);
	check_print_call_in_place(out, &hazard->other);
	fprintf(out,
		":\n  its %s begins in element %llu of the %llu of the first "
		"one's %s, and one of the two is written\n",
		hazard->given, (unsigned long long)hazard->element,
		(unsigned long long)hazard->numel, hazard->buffer);
}

static void print_hazard(FILE *out, const struct culprits *culprits)
{
	const struct check_hazard *hazard = culprits->like;

	fputs("  ", out);
	check_print_ranks(out, culprits->board->world_size, is_culprit,
			  culprits);
	fputs(" called ", out);
	check_print_call_in_place(out, &hazard->call);
	fputc('\n', out);
	if (hazard->kind == CHECK_HAZARD_SHARED)
		print_shared(out, hazard);
	else
		print_touched(out, hazard);
}

/* Whether a rank below did the same. */
static bool is_told(const struct culprits *culprits, uint32_t rank)
{
	for (uint32_t before = 0; before < rank; before++)
		if (is_culprit(culprits, before))
			return true;
	return false;
}

void check_report_hazard(FILE *out, const struct check_board *board)
{
	struct culprits culprits = {board, NULL};
	uint32_t found = 0;

	fputs("lockstep: buffer hazard: memory was touched while an operation "
	      "held it, by ",
	      out);
	check_print_ranks(out, board->world_size, has_any, &culprits);
	fputc('\n', out);
	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		culprits.like = &board->slots[rank].hazard;
		if (!culprits.like->kind || is_told(&culprits, rank))
			continue;
		if (found++ < MOST_HAZARDS)
			print_hazard(out, &culprits);
	}
	if (found > MOST_HAZARDS)
		fprintf(out, "  and %u other hazards\n", found - MOST_HAZARDS);
}
