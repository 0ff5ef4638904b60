#include "check/rendezvous_failure.h"

#include <string.h>

/* Sentences before the rest is left out. */
#define MOST_SENTENCES 4

bool check_failed_to_meet(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].rendezvous.text[0])
			return true;
	return false;
}

uint32_t check_rendezvous_failure_next(const struct check_board *board,
				       uint32_t from)
{
	uint32_t next = UINT32_MAX;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_rendezvous_failure *failure =
			&board->slots[rank].rendezvous;

		for (uint32_t i = 0; i < failure->count && i < CHECK_ABSENT;
		     i++)
			if (failure->ranks[i] >= from &&
			    failure->ranks[i] < next)
				next = failure->ranks[i];
	}
	return next;
}

/* Ranks that say the same. */
struct sentence {
	const struct check_board *board;
	const char *text;
};

static bool says_so(const void *arg, uint32_t rank)
{
	const struct sentence *sentence = arg;

	return strcmp(sentence->board->slots[rank].rendezvous.text,
		      sentence->text) == 0;
}

void check_report_rendezvous_failure(struct check_lines *lines,
				     const struct check_board *board)
{
	uint32_t found = 0;

	for (uint32_t rank = 0;
	     rank < board->world_size && found < MOST_SENTENCES; rank++) {
		const struct sentence sentence = {
			board, board->slots[rank].rendezvous.text};
		FILE *out;

		if (!*sentence.text ||
		    check_any_below(rank, says_so, &sentence))
			continue;
		found++;
		out = check_line(lines, 1);
		check_print_ranks(out, board->world_size, says_so, &sentence);
		fprintf(out, ": %s", sentence.text);
	}
}
