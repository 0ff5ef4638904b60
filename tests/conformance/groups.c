/*
 * Groups of some of the ranks, in every world: who is in them under which
 * number, that they do not get into each other's way, and how they end.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "lockstep/dist.h"

#define PLATFORM "tests/support/star16.xml"

/* Fails the rank program, with the line that says why. */
#define need(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #condition);                         \
			return 1;                                              \
		}                                                              \
	} while (0)

static int launch(const char *backend, int world_size,
		  int (*rank_main)(void *arg))
{
	struct dist_launch_options options = {
		.backend = backend,
		.platform = PLATFORM,
		.world_size = world_size,
		.timeout_ns = (int64_t)60 * 1000000000,
	};

	return dist_launch(&options, rank_main, NULL);
}

#define in_every_world(name, world_size, rank_main)                            \
	Test(groups, name)                                                     \
	{                                                                      \
		cr_expect_eq(launch("tcp", world_size, rank_main),             \
			     DIST_EXIT_OK);                                    \
		cr_expect_eq(launch("sim", world_size, rank_main),             \
			     DIST_EXIT_OK);                                    \
	}

/* Adds up every member's global rank, over group. */
static int sum_of_ranks(struct dist_group *group)
{
	int sum = dist_get_global_rank(group, dist_get_rank(group));

	if (dist_all_reduce(group, dist_tensor(&sum, 1, DIST_INT32), DIST_SUM,
			    NULL))
		return -1;
	return sum;
}

/* ---- by the members alone ---------------------------------------------- */

static int check_members(struct dist_group *group, const int *want, int n);

/* Every two neighbours of a row make a group, the first ranks first; three make
 * another in an order of theirs; then all make one in the old way. */
static int by_members(void *arg)
{
	const struct dist_group_options options = {.members_only = true};
	const struct dist_group_options ordered = {.members_only = true,
						   .keep_order = true};
	const int back[] = {5, 1, 3};
	struct dist_group *all, *low = NULL, *high = NULL, *group;

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	int rank = dist_get_rank(all), size = dist_get_world_size(all);
	const int below[] = {rank - 1, rank}, above[] = {rank, rank + 1};

	if (rank > 0)
		need(dist_new_group(all, below, 2, &options, &low) == DIST_OK);
	if (rank + 1 < size)
		need(dist_new_group(all, above, 2, &options, &high) == DIST_OK);
	need(!low || check_members(low, below, 2) == 0);
	need(!high || check_members(high, above, 2) == 0);
	/* Who is not in it hears so at once. */
	need(dist_new_group(all, back, 3, &ordered, &group) == DIST_OK);
	need((group != NULL) == (rank % 2 == 1));
	need(!group || check_members(group, back, 3) == 0);
	need(dist_new_subgroups(all, 2, &options, &group) == DIST_OK);
	need(dist_get_world_size(group) == 2 && sum_of_ranks(group) > 0);
	need(dist_new_group(all, NULL, 0, NULL, &group) == DIST_OK);
	need(sum_of_ranks(group) == size * (size - 1) / 2);
	need(!low || sum_of_ranks(low) == 2 * rank - 1);
	need(!high || sum_of_ranks(high) == 2 * rank + 1);
	return dist_destroy_process_group(all) != DIST_OK;
}

in_every_world(members_alone_make_one, 6, by_members)

	/* The last rank lists fewer than the others do. */
	static int others_listed(void *arg)
{
	const struct dist_group_options options = {.members_only = true};
	const int ranks[] = {0, 2, 1};
	struct dist_group *all, *group;

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	need(dist_new_group(all, ranks, dist_get_rank(all) == 2 ? 2 : 3,
			    &options, &group) != DIST_OK);
	(void)dist_destroy_process_group(all);
	return 1;
}

/* Each rank of the first two awaits one that awaits another. */
static int others_awaited(void *arg)
{
	const struct dist_group_options options = {.members_only = true};
	static const int lists[3][3] = {{0, 1, -1}, {1, 2, -1}, {0, 2, -1}};
	struct dist_group *all, *group;

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	need(dist_new_group(all, lists[dist_get_rank(all)], 2, &options,
			    &group) != DIST_OK);
	(void)dist_destroy_process_group(all);
	return 1;
}

Test(groups, members_that_list_others_disagree)
{
	cr_expect_eq(launch("tcp", 3, others_listed), DIST_EXIT_MISMATCH);
	cr_expect_eq(launch("sim", 3, others_listed), DIST_EXIT_MISMATCH);
}

Test(groups, members_that_await_others_never_move)
{
	cr_expect_eq(launch("sim", 3, others_awaited), DIST_EXIT_DEADLOCK);
}

/* ---- who is who ------------------------------------------------------- */

/* Whether group has these n global ranks, in this order, and works. */
static int check_members(struct dist_group *group, const int *want, int n)
{
	int ranks[16] = {0}, sum = 0, self;

	need(dist_get_world_size(group) == n);
	need(dist_get_process_group_ranks(group, ranks) == DIST_OK);
	for (int i = 0; i < n; i++) {
		sum += want[i];
		need(ranks[i] == want[i]);
		need(dist_get_global_rank(group, i) == want[i]);
		need(dist_get_group_rank(group, want[i]) == i);
	}
	self = dist_get_rank(group);
	need(self >= 0 && self < n);
	need(dist_get_global_rank(group, n) == -1);
	need(dist_get_global_rank(group, -1) == -1);
	need(dist_get_group_rank(group, -1) == -1);
	need(dist_get_group_rank(group, 15) == -1);
	need(sum_of_ranks(group) == sum);
	return 0;
}

static int check_no_member(struct dist_group *group)
{
	int number = 0;

	need(!group);
	need(dist_get_rank(group) == -1 && dist_get_world_size(group) == -1);
	need(dist_get_global_rank(group, 0) == -1);
	need(dist_get_group_rank(group, 0) == -1);
	need(dist_get_process_group_ranks(group, &number) ==
	     DIST_ERR_INVALID_ARGUMENT);
	need(dist_barrier(group, NULL) == DIST_ERR_INVALID_ARGUMENT);
	need(dist_new_group(group, NULL, 0, NULL, &group) ==
	     DIST_ERR_INVALID_ARGUMENT);
	need(*dist_error_message(group));
	need(dist_destroy_process_group(group) == DIST_OK);
	return 0;
}

static int check_new_group(struct dist_group *all, const int *ranks, int n,
			   bool keep_order, const int *want)
{
	struct dist_group_options options = {.keep_order = keep_order};
	int self = dist_get_rank(all), found = 0;
	struct dist_group *group;

	need(dist_new_group(all, ranks, n, &options, &group) == DIST_OK);
	for (int i = 0; i < n; i++)
		found |= want[i] == self;
	if (found ? check_members(group, want, n) : check_no_member(group))
		return 1;
	need(dist_destroy_process_group(group) == DIST_OK);
	return 0;
}

static int know_members(void *arg)
{
	static const int odd[] = {1, 3, 5}, mixed[] = {4, 0, 3, 1},
			 sorted[] = {0, 1, 3, 4}, one[] = {2},
			 backward[] = {5, 4, 3, 2, 1, 0},
			 forward[] = {0, 1, 2, 3, 4, 5};
	struct dist_group *all, *same;

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	if (check_members(all, forward, 6) ||
	    check_new_group(all, odd, 3, false, odd) ||
	    check_new_group(all, mixed, 4, false, sorted) ||
	    check_new_group(all, mixed, 4, true, mixed) ||
	    check_new_group(all, one, 1, false, one) ||
	    check_new_group(all, backward, 6, false, forward) ||
	    check_new_group(all, backward, 6, true, backward))
		return 1;
	/* Who gives no list means all ranks, whatever the others write. */
	need(dist_new_group(all, dist_get_rank(all) % 2 ? NULL : backward,
			    dist_get_rank(all) % 2 ? 0 : 6, NULL,
			    &same) == DIST_OK);
	if (check_members(same, forward, 6))
		return 1;
	need(dist_destroy_process_group(all) == DIST_OK);
	return 0;
}

in_every_world(members_and_their_numbers, 6, know_members)

	static int enumerate(void *arg)
{
	static const int thirds[3][2] = {{0, 1}, {2, 3}, {4, 5}},
			 left[] = {4, 0}, right[] = {2, 5},
			 left_sorted[] = {0, 4}, swapped[] = {1, 0};
	const struct dist_rank_list lists[] = {{left, 2}, {right, 2}};
	const struct dist_rank_list turned[] = {{swapped, 2}};
	struct dist_group *all, *group, *half, *pair;
	int rank, half_of[3], pair_of[2];

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	rank = dist_get_rank(all);
	need(dist_new_subgroups(all, 2, NULL, &group) == DIST_OK);
	if (check_members(group, thirds[rank / 2], 2))
		return 1;
	need(dist_new_subgroups_by_enumeration(all, lists, 2, NULL, &group) ==
	     DIST_OK);
	if (rank % 4 == 0            ? check_members(group, left_sorted, 2)
	    : rank == 2 || rank == 5 ? check_members(group, right, 2)
				     : check_no_member(group))
		return 1;
	/* Groups of groups: the first two ranks of each half, turned. */
	need(dist_new_subgroups(all, 3, NULL, &half) == DIST_OK);
	for (int i = 0; i < 3; i++)
		half_of[i] = rank / 3 * 3 + i;
	pair_of[0] = half_of[1];
	pair_of[1] = half_of[0];
	need(dist_split_group(half, turned, 1, NULL, &pair) == DIST_OK);
	if (check_members(half, half_of, 3) ||
	    (rank % 3 < 2 ? check_members(pair, pair_of, 2)
			  : check_no_member(pair)))
		return 1;
	/* They outlive the group that they were made of. */
	need(dist_destroy_process_group(half) == DIST_OK);
	if (pair && check_members(pair, pair_of, 2))
		return 1;
	need(dist_destroy_process_group(all) == DIST_OK);
	return 0;
}

in_every_world(enumerations_and_splits, 6, enumerate)

	/* ---- at the same time
	   ------------------------------------------------- */

	enum { PAIRS = 6,
	       ROUNDS = 20,
	       NUMEL = 1000 };

/* Each rank is in two of the pairs {i, i + 1}, and in the group of all. */
static int overlap(void *arg)
{
	struct dist_group *all, *groups[PAIRS + 1];
	struct dist_work *works[PAIRS + 1];
	static float shared[PAIRS][PAIRS + 1][NUMEL]; /* by rank */
	float(*data)[NUMEL];
	int rank, pair[2];

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	rank = dist_get_rank(all);
	data = shared[rank];
	for (int i = 0; i < PAIRS; i++) {
		pair[0] = i;
		pair[1] = (i + 1) % PAIRS;
		need(dist_new_group(all, pair, 2, NULL, &groups[i]) == DIST_OK);
	}
	groups[PAIRS] = all;
	for (int round = 0; round < ROUNDS; round++) {
		/* Every rank starts somewhere else. */
		for (int k = 0; k <= PAIRS; k++) {
			int i = (k + rank + round) % (PAIRS + 1);

			for (int e = 0; e < NUMEL; e++)
				data[i][e] = (float)(rank + e + i);
			if (groups[i])
				need(dist_all_reduce(groups[i],
						     dist_tensor(data[i], NUMEL,
								 DIST_FLOAT32),
						     DIST_SUM,
						     &works[i]) == DIST_OK);
		}
		for (int i = PAIRS; i >= 0; i--) {
			int n = i == PAIRS ? PAIRS : 2;
			int ranks = i == PAIRS ? PAIRS * (PAIRS - 1) / 2
					       : i + (i + 1) % PAIRS;

			if (!groups[i])
				continue;
			need(dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP) ==
			     DIST_OK);
			dist_work_free(works[i]);
			for (int e = 0; e < NUMEL; e++)
				need(data[i][e] ==
				     (float)(ranks + n * (e + i)));
		}
	}
	need(dist_destroy_process_group(all) == DIST_OK);
	return 0;
}

in_every_world(overlapping_groups_in_flight, PAIRS, overlap)

	/* Messages of one tag between the same two ranks, in three groups,
	 * received in another order than sent. */
	static int keep_messages_apart(void *arg)
{
	static const int order[] = {2, 0, 1};
	struct dist_group *groups[3];
	struct dist_work *works[3] = {NULL, NULL, NULL};
	int sent[3] = {10, 20, 30}, got;

	(void)arg;
	need(dist_init_process_group(NULL, &groups[0]) == DIST_OK);
	need(dist_new_group(groups[0], NULL, 0, NULL, &groups[1]) == DIST_OK);
	need(dist_new_group(groups[1], NULL, 0, NULL, &groups[2]) == DIST_OK);
	for (int i = 0; i < 3 && dist_get_rank(groups[0]) == 0; i++)
		need(dist_isend(groups[i], dist_tensor(&sent[i], 1, DIST_INT32),
				1, 7, &works[i]) == DIST_OK);
	for (int i = 0; i < 3; i++) {
		if (dist_get_rank(groups[0]) == 0) {
			need(dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP) ==
			     DIST_OK);
			dist_work_free(works[i]);
			continue;
		}
		need(dist_recv(groups[order[i]],
			       dist_tensor(&got, 1, DIST_INT32), 0,
			       7) == DIST_OK);
		need(got == sent[order[i]]);
	}
	need(dist_destroy_process_group(groups[0]) == DIST_OK);
	return 0;
}

in_every_world(messages_of_one_tag, 2, keep_messages_apart)

	/* Halves that make groups on their own give the same ids twice, and go
	 * on from different ones; a group across both must not meet an id that
	 * is taken. */
	static int make_apart(void *arg)
{
	static const int across[] = {0, 3, 4, 7};
	struct dist_group *all, *half, *own[3], *group;
	int rank, want;

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	rank = dist_get_rank(all);
	need(dist_new_subgroups(all, 4, NULL, &half) == DIST_OK);
	for (int i = 0; i < (rank < 4 ? 3 : 1); i++)
		need(dist_new_group(half, NULL, 0, NULL, &own[i]) == DIST_OK);
	need(dist_new_group(all, across, 4, NULL, &group) == DIST_OK);
	want = rank < 4 ? 0 + 1 + 2 + 3 : 4 + 5 + 6 + 7;
	for (int i = 0; i < (rank < 4 ? 3 : 1); i++)
		need(sum_of_ranks(own[i]) == want);
	need(!group || sum_of_ranks(group) == 0 + 3 + 4 + 7);
	need(sum_of_ranks(half) == want);
	need(sum_of_ranks(all) == 28);
	need(dist_destroy_process_group(all) == DIST_OK);
	return 0;
}

in_every_world(groups_made_apart, 8, make_apart)

	/* ---- the end
	   ---------------------------------------------------------- */

	/* The default group ends with work of other groups in flight. */
	static int leave_in_flight(void *arg)
{
	static float shared[4][NUMEL];
	struct dist_group *all, *pair, *twice;
	struct dist_work *work;
	float *data;
	int rank;

	(void)arg;
	for (int round = 0; round < 2; round++) {
		need(dist_init_process_group(NULL, &all) == DIST_OK);
		rank = dist_get_rank(all);
		data = shared[rank];
		for (int i = 0; i < NUMEL; i++)
			data[i] = (float)rank;
		need(dist_new_subgroups(all, 2, NULL, &pair) == DIST_OK);
		need(dist_new_group(pair, NULL, 0, NULL, &twice) == DIST_OK);
		need(dist_all_reduce(twice,
				     dist_tensor(data, NUMEL, DIST_FLOAT32),
				     DIST_SUM, &work) == DIST_OK);
		dist_work_free(work);
		need(dist_destroy_process_group(all) == DIST_OK);
		need(data[0] == (rank < 2 ? 0 + 1 : 2 + 3));
		need(data[NUMEL - 1] == data[0]);
	}
	return 0;
}

in_every_world(the_default_group_ends_all, 4, leave_in_flight)

	/* A group that one rank aborted is of no use to its members; others
	   are. */
	static int fail_alone(void *arg)
{
	struct dist_group_options patient = {.name = "patient"},
				  hasty = {.name = "hasty",
					   .timeout_ns = 50 * 1000000};
	struct dist_group *all, *group, *spare, *late;
	int rank, token = 0;

	(void)arg;
	need(dist_init_process_group(NULL, &all) == DIST_OK);
	rank = dist_get_rank(all);
	need(dist_new_group(all, NULL, 0, &patient, &group) == DIST_OK);
	need(dist_new_group(all, NULL, 0, NULL, &spare) == DIST_OK);
	need(dist_new_group(all, NULL, 0, &hasty, &late) == DIST_OK);
	if (rank == 1)
		dist_abort(group);
	else
		need(dist_barrier(group, NULL) == DIST_ERR_PEER_LOST);
	need(dist_barrier(group, NULL) == DIST_ERR_ABORTED);
	need(sum_of_ranks(spare) == 3);
	/* Its own deadline: rank 2 waits there for what nobody sends, while the
	 * others have something else to do. */
	if (rank < 2)
		need(dist_compute(all, 200 * 1000000, NULL) == DIST_OK);
	if (rank == 2) {
		need(dist_recv(late, dist_tensor(&token, 1, DIST_INT32), 0,
			       0) == DIST_ERR_TIMEOUT);
		need(dist_barrier(late, NULL) == DIST_ERR_ABORTED);
	}
	need(sum_of_ranks(spare) == 3 && sum_of_ranks(all) == 3);
	need(dist_destroy_process_group(group) == DIST_OK);
	need(dist_destroy_process_group(all) == DIST_OK);
	return 0;
}

in_every_world(a_group_fails_alone, 3, fail_alone)
