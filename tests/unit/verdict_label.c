/* What verdicts say of calls with a label, and of refused ones. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/verdict.h"
#include "lockstep/dist.h"

static struct check_board *board_of(uint32_t world_size)
{
	struct check_board *board = calloc(1, check_board_bytes(world_size));

	cr_assert(board);
	check_board_init(board, world_size);
	for (uint32_t rank = 0; rank < world_size; rank++)
		board->slots[rank].state = CHECK_RANK_RUNNING;
	return board;
}

/* Rank waits in an all_reduce with a label. */
static void reduce(struct check_board *board, uint32_t rank, const char *label,
		   uint64_t terms)
{
	struct check_slot *slot = &board->slots[rank];
	struct check_call call = {.peer = -1,
				  .peer_rank = -1,
				  .tag = -1,
				  .numel = 4,
				  .terms = terms,
				  .index = check_collectives(slot, 0, 0)};

	snprintf(call.op, sizeof call.op, "all_reduce");
	snprintf(call.dtype, sizeof call.dtype, "float32");
	snprintf(call.group, sizeof call.group, "default");
	snprintf(call.label, sizeof call.label, "%s", label);
	check_site_set(&call.site, "prog.c", 7);
	check_wait(slot, check_issue(slot, &call), NULL);
}

/* Judges board, expects a verdict with those lines in its report, frees it. */
static void expect(struct check_board *board, const struct check_facts *facts,
		   enum check_verdict_kind kind, const char *lines)
{
	struct check_verdict verdict = check_judge(board, facts);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_expect_eq(verdict.kind, kind, "%d", verdict.kind);
	check_report(out, board, facts, &verdict);
	fclose(out);
	cr_expect(strstr(text, lines), "\"%s\" is not in:\n%s", lines, text);
	free(text);
	free(board);
}

Test(verdict_label, other_terms_are_a_mismatch_of_labels)
{
	struct check_board *board = board_of(3);
	const struct check_facts facts = {.lost_rank = -1};

	reduce(board, 0, "bucket 0 (b) of step 1", 11);
	reduce(board, 1, "bucket 1 (a) of step 1", 12);
	reduce(board, 2, "bucket 0 (b) of step 1", 11);
	expect(board, &facts, CHECK_MISMATCH,
	       "lockstep: mismatch: the ranks disagree about what collective "
	       "#0 "
	       "of group default is for\n"
	       "  rank 1 called all_reduce(float32, 4) for bucket 1 (a) of "
	       "step 1 at prog.c:7\n"
	       "  ranks 0,2 (2) called all_reduce(float32, 4) for bucket 0 (b) "
	       "of step 1 at prog.c:7\n");
}

/* Then the labels are not what tells them apart. */
Test(verdict_label, other_calls_with_other_labels_are_a_plain_mismatch)
{
	struct check_board *board = board_of(2);
	const struct check_facts facts = {.lost_rank = -1};

	reduce(board, 0, "bucket 0", 11);
	reduce(board, 1, "bucket 1", 12);
	board->slots[1].ring[0].numel = 8;
	expect(board, &facts, CHECK_MISMATCH,
	       "lockstep: mismatch: the ranks disagree about collective #0 of "
	       "group default\n");
}

Test(verdict_label, other_words_alone_are_fine)
{
	struct check_board *board = board_of(2);
	const struct check_facts facts = {.lost_rank = -1};

	reduce(board, 0, "micro-batch 1", 11);
	reduce(board, 1, "micro-batch 2", 11);
	expect(board, &facts, CHECK_FINE, "");
}

Test(verdict_label, ranks_that_wait_for_other_things_have_other_lines)
{
	struct check_board *board = board_of(3);
	const struct check_facts facts = {.lost_rank = -1, .nothing_moves = 1};

	reduce(board, 0, "step 1", 0);
	reduce(board, 1, "step 2", 0);
	board->slots[2].state = CHECK_RANK_FINISHED;
	expect(board, &facts, CHECK_DEADLOCK,
	       "  rank 0 waits in all_reduce(float32, 4) #0 of group default "
	       "for step 1 at prog.c:7\n"
	       "  rank 1 waits in all_reduce(float32, 4) #0 of group default "
	       "for step 2 at prog.c:7\n");
}

static void refuse(struct check_board *board, uint32_t rank, int line,
		   const char *words)
{
	struct check_site site;

	check_site_set(&site, "prog.c", line);
	check_refuse(&board->slots[rank], "default", words, &site);
	board->slots[rank].state = CHECK_RANK_FINISHED;
}

Test(verdict_label, a_rank_that_gave_up_says_why)
{
	struct check_board *board = board_of(4);
	const struct check_facts facts = {.lost_rank = 1,
					  .lost_how = "exited with status 1"};

	reduce(board, 0, "", 0);
	refuse(board, 1, 20, "send: dst is 9");
	refuse(board, 2, 30, "send: dst is 9");
	refuse(board, 3, 20, "send: dst is 9");
	expect(board, &facts, CHECK_LOST,
	       "lockstep: rank lost: rank 1 exited with status 1\n"
	       "  ranks 1,3 (2) called send at prog.c:20, which was refused:\n"
	       "    dst is 9\n");
}

Test(verdict_label, each_rank_has_its_own_reason)
{
	struct check_board *board = board_of(4);
	const struct check_facts facts = {.lost_rank = 1,
					  .lost_how = "exited with status 1"};

	reduce(board, 0, "", 0);
	refuse(board, 1, 20, "send: dst is 9");
	refuse(board, 2, 20, "send: dst is 8");
	refuse(board, 3, 20, "send: dst is 9");
	expect(board, &facts, CHECK_LOST,
	       "  ranks 1-3 (3) called send at prog.c:20, which was refused:\n"
	       "    ranks 1,3 (2): dst is 9\n"
	       "    rank 2: dst is 8\n");
}

Test(verdict_label, a_refusal_is_forgotten_when_the_rank_goes_on)
{
	struct check_board *board = board_of(2);

	refuse(board, 0, 20, "send: dst is 9");
	cr_expect_str_eq(board->slots[0].refusal.call.op, "send");
	reduce(board, 0, "", 0);
	cr_expect_str_eq(board->slots[0].refusal.call.op, "");
	free(board);
}

/* ---- from the call to the verdict -------------------------------------- */

static int launch(int (*rank_main)(void *arg), void *arg)
{
	const struct dist_launch_options options = {
		.backend = "sim",
		.world_size = 2,
		.platform = "scenarios/platforms/star-8.xml"};

	return dist_launch(&options, rank_main, arg);
}

/* The first call is about what the ranks' numbers say, the second about nothing
 * in particular: a label lasts for one call. */
static int labelled_rank(void *arg)
{
	const uint64_t *terms = arg;
	struct dist_group *group;
	float x[2] = {1, 2};
	int status = 0;

	if (dist_init_process_group(NULL, &group))
		return 1;
	for (int call = 0; call < 2 && !status; call++) {
		if (call == 0)
			group = dist_label(group, "a part",
					   terms[dist_get_rank(group)]);
		status = dist_all_reduce(group, dist_tensor(x, 2, DIST_FLOAT32),
					 DIST_SUM, NULL) != DIST_OK;
	}
	return dist_destroy_process_group(group) != DIST_OK || status;
}

Test(verdict_label, equal_terms_agree)
{
	uint64_t terms[2] = {5, 5};

	cr_expect_eq(launch(labelled_rank, terms), DIST_EXIT_OK);
}

Test(verdict_label, other_terms_of_one_shape_are_a_mismatch)
{
	uint64_t terms[2] = {5, 6};

	cr_expect_eq(launch(labelled_rank, terms), DIST_EXIT_MISMATCH);
}
