/*
 * names.c - the names of a plain platform: found by hashing, and those made
 * that do not stand in the file.
 */
#include "sim/platform/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Where name is, or would be. */
static uint32_t *find_slot(const struct dist__plain *plain,
			   const struct dist__names *names, dist__name_of *get,
			   const char *name)
{
	uint64_t hash = dist__hash_bytes(DIST__HASH_BEGIN, name, strlen(name));
	size_t at = (size_t)hash & (names->num_slots - 1);

	while (names->slots[at] &&
	       strcmp(get(plain, names->slots[at] - 1), name) != 0)
		at = (at + 1) & (names->num_slots - 1);
	return &names->slots[at];
}

static bool grow_names(const struct dist__plain *plain,
		       struct dist__names *names, dist__name_of *get)
{
	struct dist__names grown = {
		.num_slots = names->num_slots ? 4 * names->num_slots : 1024,
		.num = names->num};

	grown.slots = calloc(grown.num_slots, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < names->num_slots; i++)
		if (names->slots[i])
			*find_slot(plain, &grown, get,
				   get(plain, names->slots[i] - 1)) =
				names->slots[i];
	free(names->slots);
	*names = grown;
	return true;
}

bool dist__names_add(const struct dist__plain *plain, struct dist__names *names,
		     dist__name_of *get, size_t number)
{
	uint32_t *slot;

	if (2 * names->num >= names->num_slots &&
	    !grow_names(plain, names, get))
		return false;
	slot = find_slot(plain, names, get, get(plain, number));
	if (*slot)
		return false;
	*slot = (uint32_t)number + 1;
	names->num++;
	return true;
}

bool dist__names_find(const struct dist__plain *plain,
		      const struct dist__names *names, dist__name_of *get,
		      const char *name, uint32_t *number)
{
	uint32_t slot = 0;

	if (name && names->num_slots)
		slot = *find_slot(plain, names, get, name);
	*number = slot - 1;
	return slot > 0;
}

const char *dist__plain_name(struct dist__plain *plain, const char *format, ...)
{
	struct dist__names_made *made;
	char text[512];
	va_list list;
	int len;

	va_start(list, format);
	len = vsnprintf(text, sizeof text, format, list);
	va_end(list);
	if (len < 0 || (size_t)len >= sizeof text)
		return NULL;
	made = malloc(sizeof *made + (size_t)len + 1);
	if (!made)
		return NULL;
	made->next = plain->made;
	plain->made = made;
	return memcpy(made->text, text, (size_t)len + 1);
}
