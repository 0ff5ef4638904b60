#include "core/holding.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a copy takes from an earlier one. */
struct dist__inflow {
	struct dist__inflow *next; /* newer */
	struct dist__holding *from;
	const char *user;
	size_t bytes;
};

static char *duplicate(const struct dist__holding *holding, const char *from)
{
	char *copy = dist__spares_take(holding->spares, holding->bytes);

	return copy ? memcpy(copy, from, holding->bytes) : NULL;
}

static void drop(struct dist__holding *holding)
{
	if (--holding->users > 0)
		return;
	dist__spares_give(holding->spares, holding->work, holding->bytes);
	dist__spares_give(holding->spares, holding->was, holding->bytes);
	free(holding);
}

struct dist__holding *dist__holding_new(struct dist__spares *spares, char *user,
					size_t bytes)
{
	struct dist__holding *holding = calloc(1, sizeof *holding);

	if (!holding)
		return NULL;
	holding->spares = spares;
	holding->user = user;
	holding->bytes = bytes;
	holding->users = 1;
	holding->work = duplicate(holding, user);
	if (holding->work)
		return holding;
	drop(holding);
	return NULL;
}

bool dist__holding_keep(struct dist__holding *holding)
{
	if (!holding->was)
		holding->was = duplicate(holding, holding->work);
	return holding->was != NULL;
}

/* What bytes at user and a holding have in common. */
struct common {
	size_t at;  /* in the holding */
	size_t off; /* from user on */
	size_t bytes;
};

static struct common common(const struct dist__holding *holding,
			    const char *user, size_t bytes)
{
	uintptr_t a = (uintptr_t)holding->user, b = (uintptr_t)user;
	uintptr_t begin = a > b ? a : b;
	uintptr_t end =
		a + holding->bytes < b + bytes ? a + holding->bytes : b + bytes;

	return begin < end ? (struct common){begin - a, begin - b, end - begin}
			   : (struct common){0, 0, 0};
}

bool dist__holding_follow(struct dist__holding *holding,
			  struct dist__holding *earlier, const char *user,
			  size_t bytes)
{
	struct dist__inflow **link = &holding->inflows;
	struct dist__inflow *inflow;

	if (common(holding, user, bytes).bytes == 0)
		return true;
	inflow = malloc(sizeof *inflow);
	if (!inflow || !dist__holding_keep(holding)) {
		free(inflow);
		return false;
	}
	while (*link)
		link = &(*link)->next;
	*inflow = (struct dist__inflow){
		.from = earlier, .user = user, .bytes = bytes};
	*link = inflow;
	earlier->users++;
	return true;
}

void dist__holding_begin(struct dist__holding *holding)
{
	for (struct dist__inflow *in = holding->inflows; in; in = in->next) {
		struct common c = common(holding, in->user, in->bytes);

		memcpy(holding->work + c.at,
		       in->from->work + (in->user - in->from->user) + c.off,
		       c.bytes);
	}
}

bool dist__holding_covers(const struct dist__holding *holding, const char *user,
			  size_t bytes)
{
	uintptr_t a = (uintptr_t)holding->user, b = (uintptr_t)user;

	return a <= b && b + bytes <= a + holding->bytes;
}

const char *dist__holding_change(const struct dist__holding *holding,
				 const char *user, size_t bytes)
{
	const char *was = holding->was ? holding->was : holding->work;

	was += user - holding->user;
	if (memcmp(was, user, bytes) == 0)
		return NULL;
	while (*was == *user) {
		was++;
		user++;
	}
	return user;
}

void dist__holding_deliver(const struct dist__holding *holding, char *user,
			   size_t bytes)
{
	memcpy(user, holding->work + (user - holding->user), bytes);
}

void dist__holding_expect(struct dist__holding *holding, const char *user,
			  size_t bytes)
{
	struct common c = common(holding, user, bytes);

	if (c.bytes > 0)
		memcpy(holding->was + c.at, user + c.off, c.bytes);
}

void dist__holding_free(struct dist__holding *holding)
{
	struct dist__inflow *inflow;

	while ((inflow = holding->inflows)) {
		holding->inflows = inflow->next;
		drop(inflow->from);
		free(inflow);
	}
	drop(holding);
}
