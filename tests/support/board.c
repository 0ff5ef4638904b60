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
