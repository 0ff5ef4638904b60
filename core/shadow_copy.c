#include "core/shadow_copy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a copy takes from an earlier one. */
struct dist__inflow {
	struct dist__inflow *next; /* newer */
	struct dist__shadow_copy *from;
	uint64_t age;
	const char *user;
	size_t bytes;
};

static char *duplicate(const struct dist__shadow_copy *shadow, const char *from)
{
	char *copy = dist__buffer_pool_take(shadow->pool, shadow->bytes);

	return copy ? memcpy(copy, from, shadow->bytes) : NULL;
}

static void drop(struct dist__shadow_copy *shadow)
{
	if (--shadow->users > 0)
		return;
	dist__buffer_pool_give(shadow->pool, shadow->work, shadow->bytes);
	dist__buffer_pool_give(shadow->pool, shadow->was, shadow->bytes);
	free(shadow);
}

struct dist__shadow_copy *dist__shadow_copy_new(struct dist__buffer_pool *pool,
						char *user, size_t bytes)
{
	struct dist__shadow_copy *shadow = calloc(1, sizeof *shadow);

	if (!shadow)
		return NULL;
	shadow->pool = pool;
	shadow->user = user;
	shadow->bytes = bytes;
	shadow->users = 1;
	shadow->work = duplicate(shadow, user);
	if (shadow->work)
		return shadow;
	drop(shadow);
	return NULL;
}

bool dist__shadow_copy_keep(struct dist__shadow_copy *shadow)
{
	if (!shadow->was)
		shadow->was = duplicate(shadow, shadow->work);
	return shadow->was != NULL;
}

/* What bytes at user and a shadow have in common. */
struct common {
	size_t at;  /* in the shadow */
	size_t off; /* from user on */
	size_t bytes;
};

static struct common common(const struct dist__shadow_copy *shadow,
			    const char *user, size_t bytes)
{
	uintptr_t a = (uintptr_t)shadow->user, b = (uintptr_t)user;
	uintptr_t begin = a > b ? a : b;
	uintptr_t end =
		a + shadow->bytes < b + bytes ? a + shadow->bytes : b + bytes;

	return begin < end ? (struct common){begin - a, begin - b, end - begin}
			   : (struct common){0, 0, 0};
}

bool dist__shadow_copy_follow(struct dist__shadow_copy *shadow,
			      struct dist__shadow_copy *earlier, uint64_t age,
			      const char *user, size_t bytes)
{
	struct dist__inflow **link = &shadow->inflows;
	struct dist__inflow *inflow;

	if (common(shadow, user, bytes).bytes == 0)
		return true;
	inflow = malloc(sizeof *inflow);
	if (!inflow || !dist__shadow_copy_keep(shadow)) {
		free(inflow);
		return false;
	}
	while (*link && (*link)->age < age)
		link = &(*link)->next;
	*inflow = (struct dist__inflow){.next = *link,
					.from = earlier,
					.age = age,
					.user = user,
					.bytes = bytes};
	*link = inflow;
	earlier->users++;
	return true;
}

void dist__shadow_copy_begin(struct dist__shadow_copy *shadow)
{
	for (struct dist__inflow *in = shadow->inflows; in; in = in->next) {
		struct common c = common(shadow, in->user, in->bytes);

		memcpy(shadow->work + c.at,
		       in->from->work + (in->user - in->from->user) + c.off,
		       c.bytes);
	}
}

bool dist__shadow_copy_covers(const struct dist__shadow_copy *shadow,
			      const char *user, size_t bytes)
{
	uintptr_t a = (uintptr_t)shadow->user, b = (uintptr_t)user;

	return a <= b && b + bytes <= a + shadow->bytes;
}

const char *dist__shadow_copy_change(const struct dist__shadow_copy *shadow,
				     const char *user, size_t bytes)
{
	const char *was = shadow->was ? shadow->was : shadow->work;

	was += user - shadow->user;
	if (memcmp(was, user, bytes) == 0)
		return NULL;
	while (*was == *user) {
		was++;
		user++;
	}
	return user;
}

void dist__shadow_copy_deliver(const struct dist__shadow_copy *shadow,
			       char *user, size_t bytes)
{
	memcpy(user, shadow->work + (user - shadow->user), bytes);
}

void dist__shadow_copy_expect(struct dist__shadow_copy *shadow,
			      const char *user, size_t bytes)
{
	struct common c = common(shadow, user, bytes);

	if (c.bytes > 0)
		memcpy(shadow->was + c.at, user + c.off, c.bytes);
}

void dist__shadow_copy_free(struct dist__shadow_copy *shadow)
{
	struct dist__inflow *inflow;

	while ((inflow = shadow->inflows)) {
		shadow->inflows = inflow->next;
		drop(inflow->from);
		free(inflow);
	}
	drop(shadow);
}
