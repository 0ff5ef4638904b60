#define _POSIX_C_SOURCE 200809L /* strtok_r, strdup */
#include "base/text.h"
#include "check/finding.h"
#include "tests/support/board.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct check_facts board_usual = {.lost_rank = -1};
const struct check_facts board_stuck = {.lost_rank = -1, .nothing_moves = 1};

struct check_board *board_of(uint32_t world_size)
{
	struct check_board *board = calloc(1, check_board_bytes(world_size));

	cr_assert(board);
	check_board_init(board, world_size);
	for (uint32_t rank = 0; rank < world_size; rank++) {
		board->slots[rank].state = CHECK_RANK_RUNNING;
		check_join(&board->slots[rank], 0, 0);
	}
	return board;
}

uint32_t board_add(struct check_board *board, uint32_t rank, const char *op,
		   int line, struct check_call call)
{
	struct check_slot *slot = &board->slots[rank];

	call.peer_rank = call.peer;
	call.numel = call.numel ? call.numel : 4;
	if (call.tag < 0)
		call.index = check_collectives(slot, call.group_id,
					       slot->generation);
	snprintf(call.op, sizeof call.op, "%s", op);
	snprintf(call.dtype, sizeof call.dtype, "float32");
	if (!*call.group)
		strcpy(call.group, "default");
	check_site_set(&call.site, "prog.c", line);
	return check_issue(slot, &call);
}

uint32_t board_issue(struct check_board *board, uint32_t rank, const char *op,
		     int peer, int tag, int line)
{
	return board_add(board, rank, op, line,
			 (struct check_call){.peer = peer, .tag = tag});
}

uint32_t board_block(struct check_board *board, uint32_t rank, const char *op,
		     int peer, int tag, int line)
{
	uint32_t number = board_issue(board, rank, op, peer, tag, line);

	check_wait(&board->slots[rank], number, NULL);
	return number;
}

uint32_t board_done(struct check_board *board, uint32_t rank, const char *op,
		    int peer, int tag, int line)
{
	uint32_t number = board_block(board, rank, op, peer, tag, line);

	check_end(&board->slots[rank], number, 0, 1);
	check_resume(&board->slots[rank]);
	return number;
}

void board_late(struct check_board *board, uint32_t rank, const char *op,
		int peer, int tag, int line)
{
	check_end(&board->slots[rank],
		  board_block(board, rank, op, peer, tag, line), BOARD_TIMEOUT,
		  9);
}

enum stand { ISSUED, WAITS, DONE, FAILED, GIVEN_UP, LOOKED, LATE, GONE };

/* Has rank stand so in its call number. */
static void stand_in(struct check_slot *slot, uint32_t number, enum stand stand,
		     int64_t now_ns)
{
	if (stand >= WAITS && stand <= GIVEN_UP)
		check_wait(slot, number, NULL);
	if (stand == LOOKED)
		check_look(slot, number);
	if (stand == DONE) {
		check_end(slot, number, 0, now_ns);
		check_resume(slot);
	}
	if (stand >= FAILED)
		check_end(slot, number,
			  stand == GIVEN_UP ? BOARD_ABORTED : BOARD_TIMEOUT,
			  now_ns);
	if (stand == GONE)
		slot->state = CHECK_RANK_FINISHED;
}

static void play_step(struct check_board *board, char *step, int64_t now_ns)
{
	static const char *const stands[] = {"issued", "waits",    "done",
					     "failed", "given_up", "looked",
					     "late",   "gone"};
	static const char *const ends[] = {[CHECK_RANK_FINISHED] = "finished",
					   [CHECK_RANK_LOST] = "lost",
					   [CHECK_RANK_UNKNOWN] = "unknown"};
	struct check_call call = {.peer = -1, .tag = -1, .issued_ns = now_ns};
	int *numbers[] = {&call.peer, &call.tag}, num = 0, line = 0;
	char *rest, *ranks = strtok_r(step, " ", &rest);
	const char *how = strtok_r(NULL, " ", &rest);
	const char *op = strtok_r(NULL, " ", &rest);
	const char *const *stand = how ? DIST__NAMED(stands, how) : NULL;
	const char *const *end = how ? DIST__NAMED(ends, how) : NULL;
	uint32_t first = (uint32_t)strtoul(ranks, &ranks, 10), last = first;

	if (*ranks == '-')
		last = (uint32_t)strtoul(ranks + 1, &ranks, 10);
	cr_assert(!*ranks && (stand ? op != NULL : end && !op), "%s", step);
	for (char *text; op && (text = strtok_r(NULL, " ", &rest)) != NULL;) {
		long number = strtol(text + strspn(text, "@x"), &step, 10);

		if (*text == '@')
			line = (int)number;
		else if (*text == 'x')
			call.numel = (uint64_t)number;
		else if (*step == 's')
			call.timeout_ns = number * 1000000000;
		else if (num < 2)
			*numbers[num++] = (int)number;
		cr_assert(!*step || strcmp(step, "s") == 0, "%s", text);
	}
	for (uint32_t rank = first; rank <= last; rank++)
		if (end)
			board->slots[rank].state = (uint32_t)(end - ends);
		else
			stand_in(&board->slots[rank],
				 board_add(board, rank, op, line, call),
				 (enum stand)(stand - stands), now_ns);
}

void board_play(struct check_board *board, const char *steps)
{
	char *copy = strdup(steps), *rest, *step = strtok_r(copy, ";", &rest);

	for (int64_t now_ns = 0; step; step = strtok_r(NULL, ";", &rest))
		play_step(board, step, now_ns++);
	free(copy);
}

struct check_board *board_played(uint32_t world_size, const char *steps)
{
	struct check_board *board = board_of(world_size);

	board_play(board, steps);
	return board;
}

char *board_report(const struct check_board *board,
		   const struct check_facts *facts,
		   const struct check_verdict *verdict)
{
	struct check_finding finding;
	char *text;

	cr_assert(check_finding_init(&finding, board, facts, verdict));
	text = strdup(finding.report.text);
	check_finding_release(&finding);
	return text;
}

static void expect(const struct check_board *board,
		   const struct check_facts *facts,
		   const struct check_verdict *verdict,
		   enum check_verdict_kind kind, int rank, va_list texts)
{
	char *report = board_report(board, facts, verdict);
	const char *text;

	cr_expect_eq(verdict->kind, kind, "%s, not %s:\n%s",
		     check_verdict_name(verdict->kind),
		     check_verdict_name(kind), report);
	cr_expect(rank == BOARD_ANY || verdict->rank == rank, "rank %d:\n%s",
		  verdict->rank, report);
	while ((text = va_arg(texts, const char *)) != NULL) {
		bool wanted = *text != '!';

		cr_expect_eq(strstr(report, text + !wanted) != NULL, wanted,
			     "\"%s\": not so in:\n%s", text, report);
	}
	free(report);
}

void board_judge(const struct check_board *board,
		 const struct check_facts *facts, enum check_verdict_kind kind,
		 int rank, ...)
{
	const struct check_verdict verdict = check_judge(board, facts);
	va_list texts;

	va_start(texts, rank);
	expect(board, facts, &verdict, kind, rank, texts);
	va_end(texts);
}

void board_expect(struct check_board *board, const struct check_facts *facts,
		  enum check_verdict_kind kind, int rank, ...)
{
	const struct check_verdict verdict = check_judge(board, facts);
	va_list texts;

	va_start(texts, rank);
	expect(board, facts, &verdict, kind, rank, texts);
	va_end(texts);
	free(board);
}

void board_expect_end(struct check_board *board, enum check_verdict_kind kind,
		      int rank, ...)
{
	const struct check_verdict verdict =
		check_judge_end(board, &board_usual);
	va_list texts;

	va_start(texts, rank);
	expect(board, &board_usual, &verdict, kind, rank, texts);
	va_end(texts);
	free(board);
}

enum check_verdict_kind board_kind(const struct check_board *board)
{
	return check_judge(board, &board_usual).kind;
}
