/* Handles that were given away without a wait: told, not held against the job.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "check/left.h"
#include "core/backend.h"
#include "lockstep/dist.h"
#include "tests/support/board.h"

/* What the records say of the n-th call of this rank. */
static uint32_t held(const struct dist_group *group, uint32_t n)
{
	(void)group;
	return dist__records_here()->ring[n].held;
}

static int rank_main(void *arg)
{
	bool debug = *(const bool *)arg;
	struct dist_work *work;
	struct dist_group *group;
	float x = 1, y = 1, z = 1;
	int wrong = 0, peer;

	if (dist_init_process_group(NULL, &group))
		return 1;
	peer = 1 - dist_get_rank(group);
	/* Waited for, and seen to be complete. */
	if (dist_all_reduce(group, dist_tensor(&x, 1, DIST_FLOAT32), DIST_SUM,
			    &work) ||
	    dist_work_wait(work, DIST_TIMEOUT_OF_GROUP))
		return 1;
	dist_work_free(work);
	wrong += held(group, 0) != 0;
	/* Given away; a later collective that completes tells of it. */
	if (dist_barrier(group, &work))
		return 1;
	dist_work_free(work);
	wrong += held(group, 1) != (debug ? CHECK_GIVEN_AWAY : 0);
	if (dist_barrier(group, NULL))
		return 1;
	wrong += held(group, 1) != 0;
	/* What is sent may be let be, what is received not. */
	if (dist_isend(group, dist_tensor(&y, 1, DIST_FLOAT32), peer, 0, &work))
		return 1;
	dist_work_free(work);
	wrong += held(group, 3) != 0;
	if (dist_irecv(group, dist_tensor(&z, 1, DIST_FLOAT32), peer, 0, &work))
		return 1;
	dist_work_free(work);
	wrong += held(group, 4) != (debug ? CHECK_GIVEN_AWAY : 0);
	if (dist_barrier(group, NULL))
		return 1;
	wrong += dist_destroy_process_group(group) != DIST_OK;
	/* It is no fault: the job ends well. */
	return wrong + (held(group, 4) != (debug ? CHECK_GIVEN_AWAY : 0));
}

Test(unwaited, is_written_down_with_the_debug_level)
{
	for (int debug = 0; debug < 2; debug++) {
		bool is_on = debug;
		const struct dist_launch_options options = {
			.backend = "tcp",
			.world_size = 2,
			.debug = debug ? "info" : "off"};

		cr_expect_eq(dist_launch(&options, rank_main, &is_on),
			     DIST_EXIT_OK, "debug %d", debug);
	}
}

/* ---- what is said of it -------------------------------------------------- */

/* Rank makes an all_reduce at a line and gives its handle away. */
static void give_away(struct check_board *board, uint32_t rank, int line)
{
	struct check_call call = {.peer = -1, .tag = -1};
	uint32_t number = board_add(board, rank, "all_reduce", line, call);

	check_hold(&board->slots[rank], number);
	check_give_away(&board->slots[rank], number);
	check_end(&board->slots[rank], number, 0, 1);
	board->slots[rank].state = CHECK_RANK_FINISHED;
}

Test(unwaited, is_said_once_a_line)
{
	struct check_board *board = board_of(3);
	struct check_lines lines;
	struct check_left left;

	give_away(board, 0, 7);
	give_away(board, 2, 7);
	give_away(board, 2, 7);
	give_away(board, 2, 9);
	board->slots[1].state = CHECK_RANK_FINISHED;
	cr_assert(check_lines_open(&lines));
	check_warn_of_unwaited(&lines, board);
	cr_assert(check_lines_close(&lines));
	cr_expect_str_eq(
		lines.text,
		"ranks 0,2 (2) never waited for all_reduce(float32, 4) #0 of "
		"group default at prog.c:7\n"
		"rank 2 never waited for all_reduce(float32, 4) #2 of group "
		"default at prog.c:9\n",
		"%s", lines.text);
	check_lines_release(&lines);
	cr_expect_not(check_find_left(board, &left));
	free(board);
}
