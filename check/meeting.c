#include "check/meeting.h"

#include <string.h>

#include "check/words.h"

/* Sentences before the rest is left out. */
#define MOST_SENTENCES 4

bool check_failed_to_meet(const struct check_board *board)
{
	for (uint32_t rank = 0; rank < board->world_size; rank++)
		if (board->slots[rank].meeting.words[0])
			return true;
	return false;
}

uint32_t check_meeting_next(const struct check_board *board, uint32_t from)
{
	uint32_t next = UINT32_MAX;

	for (uint32_t rank = 0; rank < board->world_size; rank++) {
		const struct check_meeting *meeting =
			&board->slots[rank].meeting;

		for (uint32_t i = 0; i < meeting->count && i < CHECK_ABSENT;
		     i++)
			if (meeting->ranks[i] >= from &&
			    meeting->ranks[i] < next)
				next = meeting->ranks[i];
	}
	return next;
}

/* Ranks that were told the same. */
struct sentence {
	const struct check_board *board;
	const char *words;
};

static bool was_told(const void *arg, uint32_t rank)
{
	const struct sentence *sentence = arg;

	return strcmp(sentence->board->slots[rank].meeting.words,
		      sentence->words) == 0;
}

/* Whether a rank before was told the same. */
static bool is_told(const struct sentence *sentence, uint32_t before)
{
	for (uint32_t rank = 0; rank < before; rank++)
		if (was_told(sentence, rank))
			return true;
	return false;
}

void check_report_meeting(FILE *out, const struct check_board *board)
{
	uint32_t told = 0;

	for (uint32_t rank = 0;
	     rank < board->world_size && told < MOST_SENTENCES; rank++) {
		struct sentence sentence = {board,
					    board->slots[rank].meeting.words};

		if (!*sentence.words || is_told(&sentence, rank))
			continue;
		told++;
		fputs("  ", out);
		check_print_ranks(out, board->world_size, was_told, &sentence);
		fprintf(out, ": %s\n", sentence.words);
	}
}
