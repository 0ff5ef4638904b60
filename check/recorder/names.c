/* names.c - the texts of all recordings, each stored once. */
#include "check/recorder/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint32_t *slot_of(const struct recording_names *names, const char *text,
			 size_t len)
{
	uint64_t hash = dist__hash_bytes(DIST__HASH_BEGIN, text, len);
	uint32_t at = (uint32_t)(hash >> 32) & (names->table_size - 1);

	while (names->table[at]) {
		const char *name = names->all[names->table[at] - 1];

		if (strncmp(name, text, len) == 0 && !name[len])
			break;
		at = (at + 1) & (names->table_size - 1);
	}
	return &names->table[at];
}

static bool make_room(struct recording_names *names)
{
	uint32_t room = names->room ? 2 * names->room : 512;
	char **all;
	uint32_t *table;

	if (names->num < names->room)
		return true;
	all = realloc(names->all, room * sizeof(*all));
	if (!all)
		return false;
	names->all = all;
	table = calloc(2 * (size_t)room, sizeof *table);
	if (!table)
		return false;
	free(names->table);
	names->table = table;
	names->table_size = 2 * room;
	names->room = room;
	for (uint32_t i = 0; i < names->num; i++)
		*slot_of(names, all[i], strlen(all[i])) = i + 1;
	return true;
}

uint32_t check_recording_name(struct recording_names *names, const char *text,
			      size_t len)
{
	uint32_t *slot;
	char *name;

	len = strnlen(text, len);
	if (!make_room(names))
		return RECORDING_NONE;
	slot = slot_of(names, text, len);
	if (*slot)
		return *slot - 1;
	name = strndup(text, len);
	if (!name)
		return RECORDING_NONE;
	names->all[names->num++] = name;
	*slot = names->num;
	return names->num - 1;
}

void check_recording_names_release(struct recording_names *names)
{
	for (uint32_t i = 0; i < names->num; i++)
		free(names->all[i]);
	free(names->all);
	free(names->table);
	*names = (struct recording_names){.all = NULL};
}
