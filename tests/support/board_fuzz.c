#include "tests/support/board_fuzz.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/outputs.h"
#include "check/proof.h"
#include "realbackend/launch/board.h"
#include "base/random.h"
#include "tests/support/dump_fuzz.h"

#define RANKS DUMP_FUZZ_RANKS

/* ---- scribbling --------------------------------------------------------- */

/* A few bytes as a stray pointer leaves them: noise, one byte over and over, a
 * large number, text without an end. */
static size_t draw_bytes(uint64_t *state, unsigned char *bytes, size_t most)
{
	static const uint32_t text[] = {0,  1,          0x7fffffff, 0x80000000,
					33, UINT32_MAX, 0x00ffffff, 64};
	size_t len = 1 + dist__random_next(state) %
				 (dist__random_next(state) % 4 ? 16 : most);
	uint32_t word = text[dist__random_next(state) % 8];
	uint64_t kind = dist__random_next(state) % 4;
	int fill = (int)(dist__random_next(state) % 256);

	for (size_t i = 0; i < len; i++)
		if (kind == 0)
			bytes[i] = (unsigned char)dist__random_next(state);
		else if (kind == 1)
			bytes[i] = (unsigned char)fill;
		else if (kind == 2)
			bytes[i] = ((unsigned char *)&word)[i % 4];
		else
			bytes[i] = "\033[2J\a\xff\nx"[i % 8];
	return len;
}

/* Where a scribble begins: anywhere, or among the fields that few bytes of a
 * slot are, the head of the board included. */
static size_t draw_offset(uint64_t *state)
{
	size_t slot =
		check_board_bytes((uint32_t)(dist__random_next(state) % RANKS));
	static const size_t fields[] = {
		offsetof(struct check_slot, state),
		offsetof(struct check_slot, memberships),
		offsetof(struct check_slot, kept),
		offsetof(struct check_slot, ring),
		offsetof(struct check_slot, kind),
		offsetof(struct check_slot, parts),
		offsetof(struct check_slot, hazard),
		offsetof(struct check_slot, refused),
		offsetof(struct check_slot, refusals),
		offsetof(struct check_slot, rendezvous),
		offsetof(struct check_slot, pid),
		offsetof(struct check_slot, remote),
		offsetof(struct check_slot, remote.servings),
		offsetof(struct check_slot, remote.waits),
		offsetof(struct check_slot, remote.references),
	};
	static const size_t num = sizeof fields / sizeof *fields;

	switch (dist__random_next(state) % 4) {
	case 0:
		return dist__random_next(state) % check_board_bytes(RANKS);
	case 1:
		return slot + fields[dist__random_next(state) % num] +
		       4 * (dist__random_next(state) % 16);
	case 2:
		return slot + offsetof(struct check_slot, ring) +
		       dist__random_next(state) %
			       (CHECK_RING * sizeof(struct check_call));
	default:
		return slot + 4 * (dist__random_next(state) % 16);
	}
}

/* Notes whom the bytes from `from` on belong to. */
static void note_hit(bool hit[RANKS], size_t from, size_t len)
{
	for (uint32_t rank = 0; rank < RANKS; rank++)
		hit[rank] |= from < check_board_bytes(rank + 1) &&
			     from + len > check_board_bytes(rank);
}

static bool scribble(uint64_t *state, int fd, bool hit[RANKS])
{
	unsigned char bytes[2048];
	uint64_t times = 1 + dist__random_next(state) % 4;
	size_t whole = check_board_bytes(RANKS), offset, len;

	if (dist__random_next(state) % 64 == 0) {
		offset = dist__random_next(state) % whole;
		note_hit(hit, offset, whole - offset);
		return ftruncate(fd, (off_t)offset) == 0;
	}
	for (uint64_t i = 0; i < times; i++) {
		len = draw_bytes(state, bytes, sizeof bytes);
		offset = draw_offset(state);
		if (len > whole - offset)
			len = whole - offset;
		note_hit(hit, offset, len);
		if (pwrite(fd, bytes, len, (off_t)offset) != (ssize_t)len)
			return false;
	}
	return true;
}

/* ---- reading ------------------------------------------------------------ */

static const char *check_text(const char *text)
{
	json_t *string = json_string(text); /* NULL: no UTF-8 */

	if (!string)
		return "a report that is no UTF-8";
	json_decref(string);
	for (; *text; text++)
		if (*text != '\n' && (*text == 0x7f || (*text & 0xe0) == 0))
			return "a control character in a report";
	return NULL;
}

/* The verdict as text, and as all else that is asked for. */
static const char *tell(const struct check_board *board,
			const struct check_facts *facts,
			const struct check_verdict *verdict)
{
	const struct check_outputs outputs = {.json = "/dev/null",
					      .junit = "/dev/null",
					      .sarif = "/dev/null"};
	const struct check_job job = {.board = board,
				      .facts = facts,
				      .verdict = verdict,
				      .world = "tcp",
				      .outputs = &outputs};
	char *text = NULL;
	const char *failure = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	check_conclude(out, &job, NULL);
	fclose(out);
	if (strstr(text, "/dev/null: cannot be written"))
		failure = "outputs cannot be written";
	if (!failure && check_damaged(board, 0) < RANKS &&
	    !strstr(text, "damaged"))
		failure = "damaged records are not named";
	if (!failure)
		failure = check_text(text);
	free(text);
	return failure;
}

static const char *judge(uint64_t *state, const struct check_board *board)
{
	const struct check_cause cause = {
		.weight = (int32_t)(dist__random_next(state) % 5),
		.rank = (int32_t)(dist__random_next(state) % RANKS),
		.lost = dist__random_next(state) % 2,
		.how = "ended"};
	struct check_facts facts = {.now_ns = 2000,
				    .timeout_ns = 1000,
				    .lost_rank = cause.lost ? cause.rank : -1};
	const struct check_verdict status = {CHECK_STATUS, -1};
	struct check_verdict verdict;
	const char *failure;

	(void)check_prove(board, &(struct check_rules){.timeout_ns = 0});
	verdict = check_judge_cause(board, &facts, &cause);
	failure = tell(board, &facts, &verdict);
	return failure ? failure : tell(board, &facts, &status);
}

/* Those whom nobody hit are as they were. */
static const char *compare(const struct check_board *board,
			   const struct check_board *before,
			   const bool hit[RANKS])
{
	for (int rank = 0; rank < RANKS; rank++) {
		const struct check_slot *now = &board->slots[rank];
		const struct check_slot *was = &before->slots[rank];

		/* Copies, padding included.
		 * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		if (!hit[rank] && memcmp(now, was, sizeof *now) != 0)
			return "other ranks' records have changed";
	}
	return NULL;
}

static struct check_board *draw_board(uint64_t *state, int fd)
{
	struct check_board *board = calloc(1, check_board_bytes(RANKS));
	struct check_dump dump;
	size_t len = RANKS * sizeof *board->slots;

	check_board_init(board, RANKS);
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		dump_fuzz_draw(state, rank, &dump);
		board->slots[rank] = dump.slot;
	}
	if (pwrite(fd, board->slots, len, sizeof *board) == (ssize_t)len)
		return board;
	free(board);
	return NULL;
}

const char *board_fuzz_job(uint64_t seed)
{
	struct check_board *before, *board = NULL;
	bool hit[RANKS] = {false};
	const char *failure = "no board";
	uint64_t state = seed;
	int fd;

	if (dist__board_create(RANKS, &fd) != DIST_OK)
		return failure;
	before = draw_board(&state, fd);
	if (before && scribble(&state, fd, hit))
		board = dist__board_copy(fd, RANKS);
	if (board)
		failure = compare(board, before, hit);
	if (board && !failure)
		failure = judge(&state, board);
	free(board);
	free(before);
	close(fd);
	return failure;
}
