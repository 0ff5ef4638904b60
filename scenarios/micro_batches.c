#include "scenarios/micro_batches.h"

struct micro_batch micro_batches_at(const struct micro_batches *order, int i)
{
	int num = order->num;
	int ahead = order->stages - 1 - order->stage;
	int pair;

	if (!order->one_forward_one_backward || ahead > num)
		ahead = num;
	if (i < ahead)
		return (struct micro_batch){true, i};
	/* Forward and backward in turns, until there is no more forward. */
	pair = (i - ahead) / 2;
	if (pair >= num - ahead)
		return (struct micro_batch){false, i - num};
	if ((i - ahead) % 2 == 0)
		return (struct micro_batch){true, ahead + pair};
	return (struct micro_batch){false, pair};
}
