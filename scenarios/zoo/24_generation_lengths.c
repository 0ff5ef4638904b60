/*
 * 24 - generation ends at different lengths.
 *
 * Each token that is decoded gathers the sharded parameters. Rank 2's text ends
 * after two tokens, and it goes on to the forward pass of the teacher, which
 * gathers as well; the others still decode. The twin decodes on, in vain, until
 * all are done.
 *
 * verdict: mismatch
 * ranks: 2
 * worlds: sim tcp
 * seen in: DeepSpeed#8262, DeepSpeed#8321
 */
#include <stdio.h>

#include "scenarios/zoo/zoo.h"

enum phase { DECODE = 1, TEACHER };

static enum dist_error gather(struct dist_group *all)
{
	float shard[4] = {1}, whole[16];

	/* culprit */
	return dist_all_gather_single(all, zoo_floats(whole), zoo_floats(shard),
				      NULL);
}

static enum dist_error run(struct zoo *zoo)
{
	const int longest = 4, length = zoo->rank == 2 ? 2 : longest;
	char words[32];

	for (int i = 0; i < (zoo->correct ? longest : length); i++) {
		snprintf(words, sizeof words, "decode token %d", i);
		zoo_try(gather(dist_label(zoo->group, words, DECODE)));
	}
	return gather(dist_label(zoo->group, "teacher forward", TEACHER));
}

const struct zoo_program zoo_24_generation_lengths = {
	.name = "24_generation_lengths",
	.world_size = 4,
	.run = run,
};
