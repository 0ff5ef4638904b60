/* Groups made, used and left otherwise than by the others. */
#include "tests/programs/programs.h"

/* Its members alone make the group: the next call of the other one meets that.
 * Seen in pytorch#25390, pytorch#81291. */
enum dist_error made_by_members(struct job *job)
{
	static const int members[] = {0, 1, 2};
	struct dist_group *sub;
	float x[1] = {0};

	if (!at_fault(job, 3))
		/* partner */
		try(dist_new_group(job->world, members, 3, NULL, &sub));
	/* culprit */
	return dist_all_reduce(job->world, floats(x), DIST_AVG, NULL);
}

/* And that one has nothing left to do. */
enum dist_error made_without_one(struct job *job)
{
	static const int members[] = {0, 1};
	struct dist_group *sub;

	if (at_fault(job, 2))
		return DIST_OK;
	/* partner */
	return dist_new_group(job->world, members, 2, NULL, &sub);
}

/* One of them leaves out a group of many. */
enum dist_error one_of_many_groups(struct job *job)
{
	static const int members[] = {0, 1, 2};
	struct dist_group *layer[40];
	float x[1] = {0};

	for (int i = 0; i < 40; i++)
		try(dist_new_group(job->world, members, 3, NULL, &layer[i]));
	for (int i = 0; i < (at_fault(job, 1) ? 39 : 40); i++)
		/* partner */
		try(dist_all_reduce(layer[i], floats(x), DIST_SUM, NULL));
	return DIST_OK;
}

/* A member goes on without what it would be handed. */
enum dist_error no_news_for_one(struct job *job)
{
	static const int members[] = {0, 1, 3};
	struct dist_group *sub;
	float x[4] = {0};

	try(dist_new_group(job->world, members, 3, NULL, &sub));
	if (job->rank != 2 && !at_fault(job, 3))
		/* partner */
		try(dist_broadcast(sub, floats(x), 0, NULL));
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* Each pair asks for its own group alone, and where libraries count groups as
 * torch does, the pairs meet. */
enum dist_error asked_for_own(struct job *job)
{
	static const int pairs[2][2] = {{0, 1}, {2, 3}};
	const int *own = pairs[job->rank / 2];
	struct dist_group_options options = {.members_only = true, .number = 1};
	struct dist_group *sub;

	if (!job->wrong)
		options.number += (uint32_t)(job->rank / 2);
	/* culprit */
	return dist_new_group(job->world, own, 2, &options, &sub);
}

enum dist_error another_list(struct job *job)
{
	static const int usual[] = {0, 1, 2}, other[] = {0, 1, 3};
	struct dist_group *sub;

	/* culprit */
	return dist_new_group(job->world, at_fault(job, 3) ? other : usual, 3,
			      NULL, &sub);
}

/* Two groups, made by rank 2 in the other order. Seen in Megatron-LM#5240,
 * pytorch#119250. */
enum dist_error made_in_other_order(struct job *job)
{
	static const int even[] = {0, 2}, odd[] = {1, 3};
	bool other = at_fault(job, 2);
	struct dist_group *first, *second;

	/* culprit */
	try(dist_new_group(job->world, other ? odd : even, 2, NULL, &first));
	return dist_new_group(job->world, other ? even : odd, 2, NULL, &second);
}

/* The root is a global rank, where the group's own is meant. */
enum dist_error global_rank_as_root(struct job *job)
{
	static const int upper[] = {2, 3, 4, 5};
	struct dist_group *sub;
	float x[2] = {0};
	int root = at_fault(job, 4) ? 3 : 1;

	try(dist_new_group(job->world, upper, 4, NULL, &sub));
	if (job->rank >= 2)
		/* culprit */
		try(dist_broadcast(sub, floats(x), root, NULL));
	return DIST_OK;
}

/* The destination too. */
enum dist_error global_rank_as_destination(struct job *job)
{
	static const int upper[] = {1, 2, 3, 4};
	struct dist_group *sub;
	float x[2] = {0};

	try(dist_new_group(job->world, upper, 4, NULL, &sub));
	if (job->rank == 1)
		/* culprit */
		try(dist_send(sub, floats(x), job->wrong ? 2 : 1, 0));
	if (job->rank == 2)
		/* culprit */
		try(dist_recv(sub, floats(x), 0, 0));
	return DIST_OK;
}

/* Rank 0 waits in one group, rank 1 in the other. */
enum dist_error two_groups_crossed(struct job *job)
{
	struct dist_group *a, *b;
	float x[2] = {0};
	bool crossed = at_fault(job, 1);

	try(dist_new_group(job->world, NULL, 0, NULL, &a));
	try(dist_new_group(job->world, NULL, 0, NULL, &b));
	/* culprit */
	try(dist_all_reduce(crossed ? b : a, floats(x), DIST_SUM, NULL));
	return dist_all_reduce(crossed ? a : b, floats(x), DIST_SUM, NULL);
}

/* A grid of 2 by 2: some reduce their rows first, some their columns. */
static enum dist_error grid(struct job *job, bool column_first)
{
	struct dist_group *row, *column;
	const int up[] = {0, 2}, down[] = {1, 3};
	const struct dist_rank_list columns[2] = {{up, 2}, {down, 2}};
	float x[2] = {0};

	try(dist_new_subgroups(job->world, 2, NULL, &row));
	try(dist_new_subgroups_by_enumeration(job->world, columns, 2, NULL,
					      &column));
	/* culprit: rows_and_columns */
	try(dist_all_reduce(column_first ? column : row, floats(x), DIST_SUM,
			    NULL));
	return dist_all_reduce(column_first ? row : column, floats(x), DIST_SUM,
			       NULL);
}

enum dist_error rows_and_columns(struct job *job)
{
	return grid(job, job->wrong && (job->rank == 0 || job->rank == 3));
}

/* Not wrong: one alone that begins with its column closes no circle. */
enum dist_error one_column_first(struct job *job)
{
	return grid(job, job->rank == 3);
}

enum dist_error world_for_the_group(struct job *job)
{
	static const int three[] = {0, 1, 2};
	struct dist_group *sub;
	float x[2] = {0};

	try(dist_new_group(job->world, three, 3, NULL, &sub));
	if (at_fault(job, 2))
		/* culprit */
		return dist_all_reduce(job->world, floats(x), DIST_SUM, NULL);
	if (sub)
		/* partner */
		return dist_all_reduce(sub, floats(x), DIST_SUM, NULL);
	return DIST_OK;
}

enum dist_error other_size_of_subgroups(struct job *job)
{
	struct dist_group *sub;

	/* culprit */
	return dist_new_subgroups(job->world, at_fault(job, 5) ? 3 : 2, NULL,
				  &sub);
}

/* Rank 2 has rows and columns of the mesh the other way round. */
enum dist_error transposed_mesh(struct job *job)
{
	const int a[] = {0, 1}, b[] = {2, 3}, c[] = {0, 2}, d[] = {1, 3};
	const struct dist_rank_list rows[2] = {{a, 2}, {b, 2}};
	const struct dist_rank_list columns[2] = {{c, 2}, {d, 2}};
	struct dist_group *sub;

	/* culprit */
	return dist_split_group(job->world, at_fault(job, 2) ? columns : rows,
				2, NULL, &sub);
}

/* With keep_order the order of the list is part of it. */
enum dist_error order_that_counts(struct job *job)
{
	static const int up[] = {0, 1, 2}, down[] = {2, 1, 0};
	const struct dist_group_options options = {.keep_order = job->wrong};
	struct dist_group *sub;

	/* culprit */
	return dist_new_group(job->world, job->rank == 1 ? down : up, 3,
			      &options, &sub);
}

enum dist_error another_name(struct job *job)
{
	const struct dist_group_options options = {
		.name = at_fault(job, 0) ? "dp" : "tp"};
	struct dist_group *sub;

	/* culprit */
	return dist_new_group(job->world, NULL, 0, &options, &sub);
}

/* It takes its own fault for one of the network, and is content. */
enum dist_error aborts_the_group(struct job *job)
{
	struct dist_group *group;
	float x[2] = {0};

	try(dist_new_group(job->world, NULL, 0, NULL, &group));
	/* culprit */
	try(dist_all_reduce(group, floats(x), DIST_SUM, NULL));
	if (at_fault(job, 2)) {
		dist_abort(group);
		return DIST_OK;
	}
	/* partner */
	return dist_all_reduce(group, floats(x), DIST_SUM, NULL);
}

/* The same, but it waits for the others then, which have given up. */
enum dist_error aborts_and_goes_on(struct job *job)
{
	struct dist_group *group;
	float x[2] = {0};

	try(dist_new_group(job->world, NULL, 0, NULL, &group));
	try(dist_all_reduce(group, floats(x), DIST_SUM, NULL));
	if (at_fault(job, 2))
		dist_abort(group);
	else
		/* partner */
		try(dist_all_reduce(group, floats(x), DIST_SUM, NULL));
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* Rank 1 leaves the group while the others still sum in it. */
enum dist_error leaves_the_group_early(struct job *job)
{
	struct dist_group *sub;
	float x[2] = {0};

	try(dist_new_group(job->world, NULL, 0, NULL, &sub));
	for (int i = 0; i < (at_fault(job, 1) ? 2 : 3); i++)
		/* partner */
		try(dist_all_reduce(sub, floats(x), DIST_SUM, NULL));
	return dist_destroy_process_group(sub);
}

/* A group in a group; rank 1 calls on the outer one. */
enum dist_error inner_and_outer(struct job *job)
{
	static const int four[] = {0, 1, 2, 3}, three[] = {1, 2, 3};
	struct dist_group *outer, *inner;
	float x[1] = {0};

	try(dist_new_group(job->world, four, 4, NULL, &outer));
	if (!outer)
		return DIST_OK;
	try(dist_new_group(outer, three, 3, NULL, &inner));
	if (!inner)
		return DIST_OK;
	/* culprit */
	return dist_all_reduce(at_fault(job, 1) ? outer : inner, floats(x),
			       DIST_SUM, NULL);
}

/* A message in the group, awaited in the world. */
enum dist_error message_of_the_group(struct job *job)
{
	struct dist_group *sub;
	float x[2] = {0};

	try(dist_new_group(job->world, NULL, 0, NULL, &sub));
	if (job->rank == 0)
		/* culprit */
		return dist_send(sub, floats(x), 1, 0);
	/* culprit */
	return dist_recv(job->wrong ? job->world : sub, floats(x), 0, 0);
}

/* Members disagree inside one of three groups that are at work at once. */
enum dist_error one_of_three_groups(struct job *job)
{
	struct dist_group *sub;
	float x[4] = {0};
	size_t n = at_fault(job, 4) ? 2 : 4;

	try(dist_new_subgroups(job->world, 2, NULL, &sub));
	try(dist_all_reduce(sub, floats(x), DIST_SUM, NULL));
	/* culprit */
	try(dist_all_reduce(sub, dist_tensor(x, n, DIST_FLOAT32), DIST_MAX,
			    NULL));
	return dist_barrier(job->world, NULL);
}

/* Leaves the job and joins it again, and is wrong only then. */
enum dist_error wrong_after_joining_again(struct job *job)
{
	float x[2] = {0};

	for (int i = 0; i < 2; i++)
		try(dist_all_reduce(job->world, floats(x), DIST_SUM, NULL));
	try(dist_destroy_process_group(job->world));
	job->world = NULL;
	try(dist_init_process_group(NULL, &job->world));
	/* culprit */
	return dist_broadcast(job->world, floats(x), at_fault(job, 2) ? 1 : 0,
			      NULL);
}

/* Not wrong: the order of a list does not count, nor does one's timeout. */
enum dist_error order_that_does_not_count(struct job *job)
{
	static const int up[] = {0, 1, 2}, mixed[] = {1, 0, 2};
	const struct dist_group_options options = {
		.timeout_ns = (int64_t)(job->rank + 1) * 1000000000};
	struct dist_group *sub;
	float x[2] = {0};

	try(dist_new_group(job->world, job->rank == 2 ? mixed : up, 3, &options,
			   &sub));
	return dist_broadcast(sub, floats(x), 1, NULL);
}

/* Not wrong: groups at their own pace, one left before the others are. */
enum dist_error groups_at_their_pace(struct job *job)
{
	struct dist_group *pair, *all;
	float x[2] = {0};

	try(dist_new_subgroups(job->world, 2, NULL, &pair));
	try(dist_new_group(job->world, NULL, 0, NULL, &all));
	for (int i = 0; i < 1 + job->rank / 2; i++)
		try(dist_all_reduce(pair, floats(x), DIST_SUM, NULL));
	if (job->rank < 2)
		try(dist_destroy_process_group(pair));
	try(dist_barrier(all, NULL));
	return dist_destroy_process_group(all);
}

/* Not wrong: joins again, and goes on with another call. */
enum dist_error joins_again(struct job *job)
{
	float x[2] = {0};
	int64_t n[5] = {0};

	try(dist_all_reduce(job->world, floats(x), DIST_SUM, NULL));
	for (int i = 0; i < 3; i++) {
		try(dist_destroy_process_group(job->world));
		job->world = NULL;
		try(dist_init_process_group(NULL, &job->world));
		try(dist_broadcast(job->world, longs(n), i, NULL));
		if (job->rank == 0)
			try(dist_send(job->world, longs(n), 1, 0));
		if (job->rank == 1)
			try(dist_recv(job->world, longs(n), 0, 0));
	}
	return dist_barrier(job->world, NULL);
}

/* The layers of one rank have each other's group; both have all ranks. */
enum dist_error group_of_another_layer(struct job *job)
{
	static const int all[] = {0, 1, 2};
	const struct dist_group_options named[] = {{.name = "attention"},
						   {.name = "mlp"}};
	struct dist_group *attention, *mlp;
	float x[4] = {0};

	try(dist_new_group(job->world, all, 3, &named[0], &attention));
	try(dist_new_group(job->world, all, 3, &named[1], &mlp));
	/* culprit */
	return dist_all_reduce(at_fault(job, 2) ? mlp : attention, floats(x),
			       DIST_SUM, NULL);
}

/* Group a has ranks 0 to 2, group b ranks 1 to 3; rank 1 sums in a and then in
 * b, rank 2 in b and then in a: each order alone is right. Seen in
 * torchrec#4149, runai-model-streamer#165. */
enum dist_error groups_in_other_order(struct job *job)
{
	static const int low[] = {0, 1, 2}, high[] = {1, 2, 3};
	const struct dist_group_options named[] = {{.name = "a"},
						   {.name = "b"}};
	struct dist_group *a, *b;
	float x[1] = {0};

	try(dist_new_group(job->world, low, 3, &named[0], &a));
	try(dist_new_group(job->world, high, 3, &named[1], &b));
	if (at_fault(job, 2)) {
		/* culprit */
		try(dist_all_reduce(b, floats(x), DIST_MAX, NULL));
		return dist_all_reduce(a, floats(x), DIST_MAX, NULL);
	}
	if (a)
		/* partner */
		try(dist_all_reduce(a, floats(x), DIST_MAX, NULL));
	return b ? dist_all_reduce(b, floats(x), DIST_MAX, NULL) : DIST_OK;
}

/* Two experts, each on three ranks. No token of rank 3 went to its expert, so
 * that it skips the reduction of the expert's gradients. Seen in
 * DeepSpeed#5008, DeepSpeed#4966. */
enum dist_error expert_without_tokens(struct job *job)
{
	static const int even[] = {0, 2, 4}, odd[] = {1, 3, 5};
	const struct dist_rank_list lists[] = {{even, 3}, {odd, 3}};
	const struct dist_group_options options = {.name = "expert"};
	float gradients[6] = {0}, part[2];
	struct dist_group *expert;

	try(dist_new_subgroups_by_enumeration(job->world, lists, 2, &options,
					      &expert));
	if (!at_fault(job, 3))
		/* partner */
		try(dist_reduce_scatter_single(expert, floats(part),
					       floats(gradients), DIST_AVG,
					       NULL));
	/* culprit */
	return dist_barrier(job->world, NULL);
}

/* In the group of ranks 1 and 3, rank 3 receives before it sums, and rank 1
 * sends once the sum is over. Seen in nccl#1192, nccl#584. */
enum dist_error message_before_the_sum(struct job *job)
{
	static const int odd[] = {1, 3};
	const struct dist_group_options options = {.name = "stages"};
	struct dist_group *stages;
	float x[1] = {0};
	bool early = at_fault(job, 3);

	try(dist_new_group(job->world, odd, 2, &options, &stages));
	if (!stages)
		return DIST_OK;
	if (early)
		/* culprit */
		try(dist_recv(stages, floats(x), 0, 0));
	/* partner */
	try(dist_all_reduce(stages, floats(x), DIST_MAX, NULL));
	if (job->rank == 1)
		return dist_send(stages, floats(x), 1, 0);
	return early ? DIST_OK : dist_recv(stages, floats(x), 0, 0);
}

/* Not wrong: calls of two groups in flight at once, begun in either order. On
 * device streams that share what they run on it can hang under load. Seen in
 * nccl#195, nccl#592, nccl#1347, rccl#2191. */
enum dist_error two_groups_in_flight(struct job *job)
{
	float losses[1] = {0.5F}, norms[1] = {2};
	struct dist_group *data, *model;
	struct dist_work *works[2];
	bool turned = at_fault(job, 1);

	try(dist_new_group(job->world, NULL, 0, NULL, &data));
	try(dist_new_group(job->world, NULL, 0, NULL, &model));
	try(dist_all_reduce(turned ? model : data,
			    turned ? floats(norms) : floats(losses), DIST_SUM,
			    &works[0]));
	try(dist_all_reduce(turned ? data : model,
			    turned ? floats(losses) : floats(norms), DIST_SUM,
			    &works[1]));
	return end_all(works, 2);
}
