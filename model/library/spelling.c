#include "model/library/spelling.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/*
 * Names of Open MPI (coll/tuned), MPICH, gloo, and of the collectives that
 * github.com/HLC-Lab/pico measures beside theirs: its bine trees send as many
 * messages of the same sizes as recursive doubling and halving, to other ranks.
 * Of names that begin alike the longer one stands first.
 */
static const struct {
	enum dist__op_kind op;
	const char *name, *ours;
	bool doubles; /* a broadcast whose all-gather is recursive doubling */
} spellings[] = {
	{DIST__ALL_REDUCE, "rabenseifner", "halving_doubling", false},
	{DIST__ALL_REDUCE, "k_rabenseifner", "halving_doubling", false},
	{DIST__ALL_REDUCE, "recursive_multiplying", "recursive_doubling",
	 false},
	{DIST__ALL_REDUCE, "recexch", "recursive_doubling", false},
	{DIST__ALL_REDUCE, "tree", "double_tree", false},
	{DIST__ALL_REDUCE, "allgather_reduce", "halving_doubling", false},
	{DIST__ALL_REDUCE, "bcube", "halving_doubling", false},
	{DIST__ALL_REDUCE, "segmented_ring", "ring", false},
	{DIST__ALL_REDUCE, "nonoverlapping", "binomial_tree", false},
	{DIST__ALL_REDUCE, "non_overlapping", "binomial_tree", false},
	{DIST__ALL_REDUCE, "bine_lat", "recursive_doubling", false},
	{DIST__ALL_REDUCE, "bine_bdw_remap_segmented_over_", "halving_doubling",
	 false},
	{DIST__ALL_REDUCE, "bine_bdw_remap_segmented", "ring", false},
	{DIST__ALL_REDUCE, "bine", "halving_doubling", false},
	{DIST__BROADCAST, "scatter_allgather_ring", "scatter_all_gather",
	 false},
	{DIST__BROADCAST, "scatter_allgather", "scatter_all_gather", true},
	{DIST__BROADCAST, "scatter_recursive_doubling", "scatter_all_gather",
	 true},
	{DIST__BROADCAST, "scatter_ring", "scatter_all_gather", false},
	{DIST__BROADCAST, "bine_bdw", "scatter_all_gather", true},
	{DIST__BROADCAST, "bine_lat_new", "binomial", false},
	{DIST__BROADCAST, "bine", "binomial", false},
	{DIST__BROADCAST, "knomial", "binomial", false},
	{DIST__BROADCAST, "pipeline", "chain", false},
	{DIST__BROADCAST, "split_binary", "binomial", false},
	{DIST__BROADCAST, "binary", "binomial", false},
	{DIST__REDUCE, "pipeline", "chain", false},
	{DIST__REDUCE, "binary", "double_tree", false},
	{DIST__REDUCE, "in-order_binary", "double_tree", false},
	{DIST__REDUCE, "bine_bdw", "rabenseifner", false},
	{DIST__REDUCE, "bine", "binomial", false},
	{DIST__ALL_GATHER, "k_bruck", "bruck", false},
	{DIST__ALL_GATHER, "sparbit", "bruck", false},
	{DIST__ALL_GATHER, "neighbor", "ring", false},
	{DIST__ALL_GATHER, "recexch", "recursive_doubling", false},
	{DIST__ALL_GATHER, "bine", "recursive_doubling", false},
	{DIST__REDUCE_SCATTER, "recursive_distance_doubling",
	 "recursive_halving", false},
	{DIST__REDUCE_SCATTER, "butterfly", "recursive_halving", false},
	{DIST__REDUCE_SCATTER, "noncomm", "recursive_halving", false},
	{DIST__REDUCE_SCATTER, "bine", "recursive_halving", false},
	{DIST__ALL_TO_ALL, "modified_bruck", "bruck", false},
	{DIST__ALL_TO_ALL, "two_proc", "pairwise", false},
	{DIST__ALL_TO_ALL, "scattered", "linear", false},
	{DIST__ALL_TO_ALL, "bine", "bruck", false},
};

void library_spell_ours(const struct dist__algorithm *algorithm,
			struct spelling *s)
{
	bool binomial = algorithm->op == DIST__BROADCAST &&
			strcmp(algorithm->name, "binomial") == 0;

	*s = (struct spelling){
		.parts = {algorithm},
		.nearest = algorithm,
		.tree = binomial ? SPELLING_BINOMIAL : SPELLING_NO_TREE,
	};
}

/* The number in "..segmented_over_16384"; 0 without. */
static size_t segment_of(const char *name)
{
	static const char word[] = "segmented_over_";
	const char *at = strstr(name, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static bool spell_theirs(enum dist__op_kind op, const char *name,
			 struct spelling *s)
{
	size_t i = 0, num = sizeof spellings / sizeof spellings[0];

	while (i < num && (spellings[i].op != op ||
			   !dist__begins(name, spellings[i].name)))
		i++;
	if (i == num)
		return false;
	library_spell_ours(dist__algorithm_find(op, spellings[i].ours), s);
	if (s->tree && dist__begins(name, "bine_lat_new")) /* blocking sends */
		s->tree = SPELLING_NO_TREE;
	if (s->tree && dist__begins(name, "binary"))
		s->tree = SPELLING_BINARY;
	if (s->tree && dist__begins(name, "split_binary"))
		s->tree = SPELLING_SPLIT;
	s->segment_bytes = segment_of(name);
	if (spellings[i].doubles) {
		s->parts[0] = dist__algorithm_find(DIST__SCATTER, "binomial");
		s->parts[1] = dist__algorithm_find(DIST__ALL_GATHER,
						   "recursive_doubling");
	}
	return true;
}

/* Of our own names the longest that name begins with. */
bool library_spell(enum dist__op_kind op, const char *name, struct spelling *s)
{
	const struct dist__algorithm *const *all, *best = NULL;

	if (spell_theirs(op, name, s))
		return true;
	for (all = dist__algorithms(); *all; all++)
		if ((*all)->op == op && dist__begins(name, (*all)->name) &&
		    (!best || strlen((*all)->name) > strlen(best->name)))
			best = *all;
	if (best)
		library_spell_ours(best, s);
	return best != NULL;
}
