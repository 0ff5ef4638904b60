#include "cli/shard.h"

#include <errno.h>
#include <stdlib.h>

#include "realbackend/store/scheduler.h"

/* As many processes as a scheduler may be asked for. */
#define PARTS_MOST 1000000

/* Reads a whole number; *end is behind it. */
static bool read_number(const char *text, const char **end, int *number)
{
	char *behind;
	long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtol(text, &behind, 10);
	*end = behind;
	*number = (int)value;
	return errno == 0 && value <= PARTS_MOST;
}

static bool makes_sense(const struct shard *share)
{
	return share->part >= 1 && share->part <= share->parts;
}

bool shard_read(struct shard *share, const char *text)
{
	const char *next;

	return read_number(text, &next, &share->part) && *next++ == '/' &&
	       read_number(next, &next, &share->parts) && *next == '\0' &&
	       makes_sense(share);
}

bool shard_inherit(struct shard *share)
{
	const struct dist__scheduler *scheduler = dist__scheduler_find();
	const char *end_rank, *end_size;

	*share = (struct shard){1, 1};
	if (!scheduler)
		return true;
	if (!read_number(getenv(scheduler->rank), &end_rank, &share->part) ||
	    !read_number(getenv(scheduler->size), &end_size, &share->parts))
		return false;
	share->part++;
	return *end_rank == '\0' && *end_size == '\0' && makes_sense(share);
}

bool shard_has(const struct shard *share, size_t place)
{
	return place % (size_t)share->parts == (size_t)share->part - 1;
}
