/*
 * A rank program in which ranks stay away from calls that others make.
 *
 *	absent OP ROOT WHO [WORD...]
 *
 * Twenty times the ranks of a group call OP (reduce, gather, broadcast,
 * scatter), with a root that counts there, "last" for the last; then all ranks
 * meet in a barrier of the default group. WHO stays away: nobody, root, others
 * (all but the root), member (one that is not the root). Words: subset, the
 * group has all ranks but the first; async, the calls are waited for at the
 * end; one, only the last of the twenty is missed; later, forty barriers
 * follow; open, the groups are not destroyed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep/dist.h"

enum { TIMES = 20, MOST_RANKS = 16 };

static char **text;

static bool has(const char *word)
{
	for (char **at = text; *at; at++)
		if (strcmp(*at, word) == 0)
			return true;
	return false;
}

static float pieces[MOST_RANKS], piece;

static enum dist_error call(struct dist_group *group, const char *op, int root,
			    struct dist_work **work)
{
	int size = dist_get_world_size(group);
	bool is_root = dist_get_rank(group) == root;
	struct dist_tensor list[MOST_RANKS];
	struct dist_tensor own = dist_tensor(&piece, 1, DIST_FLOAT32);

	for (int i = 0; i < size; i++)
		list[i] = dist_tensor(&pieces[i], 1, DIST_FLOAT32);
	if (strcmp(op, "reduce") == 0)
		return dist_reduce(group, own, root, DIST_SUM, work);
	if (strcmp(op, "gather") == 0)
		return dist_gather(group, own, is_root ? list : NULL, root,
				   work);
	if (strcmp(op, "broadcast") == 0)
		return dist_broadcast(group, own, root, work);
	return dist_scatter(group, own, is_root ? list : NULL, root, work);
}

/* Whether the rank stays away; the member that does is the one after root. */
static bool stays_away(const struct dist_group *group, int root)
{
	int rank = dist_get_rank(group), size = dist_get_world_size(group);

	return (has("root") && rank == root) ||
	       (has("others") && rank != root) ||
	       (has("member") && rank == (root + 1) % size);
}

static enum dist_error make_group(struct dist_group *world,
				  struct dist_group **group)
{
	int ranks[MOST_RANKS], n = 0;

	for (int i = has("subset"); i < dist_get_world_size(world); i++)
		ranks[n++] = i;
	return dist_new_group(world, ranks, n,
			      &(struct dist_group_options){.name = "log"},
			      group);
}

static enum dist_error log_all(struct dist_group *group)
{
	struct dist_work *works[TIMES] = {NULL};
	int root = strcmp(text[1], "last") == 0 ? dist_get_world_size(group) - 1
						: atoi(text[1]);
	bool away = stays_away(group, root), async = has("async");
	enum dist_error error = DIST_OK;

	for (int i = 0; i < TIMES && !error; i++)
		if (!away || (has("one") && i + 1 < TIMES))
			error = call(group, text[0], root,
				     async ? &works[i] : NULL);
	for (int i = 0; i < TIMES; i++) {
		if (works[i] && !error)
			error = dist_work_wait(works[i], DIST_TIMEOUT_OF_GROUP);
		dist_work_free(works[i]);
	}
	return error;
}

static int rank_main(void *arg)
{
	struct dist_group *world, *group;

	(void)arg;
	if (dist_init_process_group(NULL, &world) ||
	    make_group(world, &group) || (group && log_all(group)))
		return 1;
	for (int i = 0; i < (has("later") ? 40 : 1); i++)
		if (dist_barrier(world, NULL))
			return 1;
	if (has("open"))
		return 0;
	return dist_destroy_process_group(world) != DIST_OK;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return DIST_EXIT_USAGE;
	text = argv + 1;
	return dist_launch(NULL, rank_main, NULL);
}
