#include "cli/shard.h"

#include <stdlib.h>

#include "base/quantity.h"
#include "realbackend/store/scheduler.h"

/* As many processes as a scheduler may be asked for. */
#define PARTS_MOST 1000000

static bool read_number(const char **text, int *number)
{
	uint64_t value = 0;
	bool good = dist__digits_step(text, PARTS_MOST, &value);

	*number = (int)value;
	return good;
}

static bool makes_sense(const struct shard *share)
{
	return share->part >= 1 && share->part <= share->parts;
}

bool shard_read(struct shard *share, const char *text)
{
	return read_number(&text, &share->part) && *text++ == '/' &&
	       read_number(&text, &share->parts) && *text == '\0' &&
	       makes_sense(share);
}

bool shard_inherit(struct shard *share)
{
	const struct dist__scheduler *scheduler = dist__scheduler_find();
	const char *rank, *size;

	*share = (struct shard){1, 1};
	if (!scheduler)
		return true;
	rank = getenv(scheduler->rank);
	size = getenv(scheduler->size);
	if (!read_number(&rank, &share->part) ||
	    !read_number(&size, &share->parts))
		return false;
	share->part++;
	return *rank == '\0' && *size == '\0' && makes_sense(share);
}

bool shard_has(const struct shard *share, size_t place)
{
	return place % (size_t)share->parts == (size_t)share->part - 1;
}
