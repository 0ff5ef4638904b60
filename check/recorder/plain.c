/* plain.c - values in an arena; reads a JSON document into such values. */
#include "check/recorder/plain.h"

#include <jansson.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/character.h"

#define BLOCK_BYTES ((size_t)1 << 20)
/* Containers in containers; a dump has five. */
#define MOST_DEPTH 32
#define MOST_KEYS  64

struct plain_block {
	struct plain_block *next;
	alignas(max_align_t) char bytes[];
};

void *check_plain_bytes(struct plain_arena *arena, size_t bytes)
{
	struct plain_block *block;
	size_t size = BLOCK_BYTES;

	bytes = (bytes + alignof(max_align_t) - 1) & -alignof(max_align_t);
	if (bytes > arena->left) {
		if (bytes > size)
			size = bytes;
		block = malloc(sizeof *block + size);
		if (!block)
			return NULL;
		block->next = arena->blocks;
		arena->blocks = block;
		arena->left = size;
	}
	arena->left -= bytes;
	return arena->blocks->bytes + arena->left;
}

struct plain *check_plain_make(struct plain_arena *arena, enum plain_kind kind)
{
	struct plain *value = NULL;

	if (arena->made < PLAIN_MOST)
		value = check_plain_bytes(arena, sizeof *value);
	if (!value)
		return NULL;
	arena->made++;
	*value = (struct plain){.kind = kind};
	return value;
}

bool check_plain_add(struct plain_arena *arena, struct plain *to,
		     struct plain *const *items, uint32_t num)
{
	uint32_t room = 2 * to->room;
	struct plain **all;

	if (num == 0)
		return true;
	if (num > PLAIN_MOST - to->size)
		return false;
	if (to->size + num > to->room) {
		if (room < to->size + num)
			room = to->size + num;
		all = check_plain_bytes(arena, room * sizeof(*all));
		if (!all)
			return false;
		if (to->size > 0)
			memcpy(all, to->items, to->size * sizeof(*all));
		to->items = all;
		to->room = room;
	}
	memcpy(to->items + to->size, items, num * sizeof(*items));
	to->size += num;
	return true;
}

void check_plain_release(struct plain_arena *arena)
{
	struct plain_block *next;

	for (; arena->blocks; arena->blocks = next) {
		next = arena->blocks->next;
		free(arena->blocks);
	}
	*arena = (struct plain_arena){.blocks = NULL};
}

bool check_plain_is(const struct plain *value, const char *text)
{
	return value && value->kind == PLAIN_TEXT &&
	       value->size == strlen(text) &&
	       memcmp(value->text, text, value->size) == 0;
}

const struct plain *check_plain_find(const struct plain *dict, const char *key)
{
	if (!dict || dict->kind != PLAIN_DICT)
		return NULL;
	for (uint32_t i = 0; i + 1 < dict->size && i < 2 * MOST_KEYS; i += 2)
		if (check_plain_is(dict->items[i], key))
			return dict->items[i + 1];
	return NULL;
}

/* ---- JSON --------------------------------------------------------------- */

static struct plain *copy(struct plain_arena *arena, const json_t *json,
			  int depth);

static struct plain *copy_text(struct plain_arena *arena, const char *text,
			       size_t size)
{
	struct plain *value = check_plain_make(arena, PLAIN_TEXT);
	char *bytes = value ? check_plain_bytes(arena, size + 1) : NULL;

	if (!bytes)
		return NULL;
	memcpy(bytes, text, size);
	value->text = bytes;
	value->size = (uint32_t)size;
	return value;
}

static bool copy_items(struct plain_arena *arena, const json_t *json,
		       struct plain *to, int depth)
{
	struct plain *pair[2];
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_array(json)) {
		json_array_foreach(json, i, item)
		{
			pair[0] = copy(arena, item, depth);
			if (!pair[0] || !check_plain_add(arena, to, pair, 1))
				return false;
		}
		return true;
	}
	json_object_foreach((json_t *)json, key, item)
	{
		pair[0] = copy_text(arena, key, strlen(key));
		pair[1] = copy(arena, item, depth);
		if (!pair[0] || !pair[1] ||
		    !check_plain_add(arena, to, pair, 2))
			return false;
	}
	return true;
}

/* NULL: no memory, or too deep. */
static struct plain *copy(struct plain_arena *arena, const json_t *json,
			  int depth)
{
	static const enum plain_kind kinds[] = {
		[JSON_OBJECT] = PLAIN_DICT, [JSON_ARRAY] = PLAIN_LIST,
		[JSON_STRING] = PLAIN_TEXT, [JSON_INTEGER] = PLAIN_INTEGER,
		[JSON_REAL] = PLAIN_REAL,   [JSON_TRUE] = PLAIN_BOOL,
		[JSON_FALSE] = PLAIN_BOOL,  [JSON_NULL] = PLAIN_NONE};
	enum plain_kind kind = kinds[json_typeof(json)];
	struct plain *value;

	if (kind == PLAIN_TEXT)
		return copy_text(arena, json_string_value(json),
				 json_string_length(json));
	value = depth < MOST_DEPTH ? check_plain_make(arena, kind) : NULL;
	if (!value)
		return NULL;
	if (kind == PLAIN_INTEGER)
		value->integer = json_integer_value(json);
	else if (kind == PLAIN_BOOL)
		value->integer = json_is_true(json);
	else if (kind == PLAIN_REAL)
		value->real = json_real_value(json);
	else if (kind != PLAIN_NONE &&
		 !copy_items(arena, json, value, depth + 1))
		return NULL;
	return value;
}

struct plain *check_plain_read_json(struct plain_arena *arena, const char *data,
				    size_t size, char why[PLAIN_WHY])
{
	json_error_t error;
	json_t *json = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
	struct plain *value;

	if (!json) {
		snprintf(why, PLAIN_WHY,
			 "line %d: expected a dump, in JSON: %.120s",
			 error.line, error.text);
		check_printable(why, strlen(why));
		return NULL;
	}
	value = copy(arena, json, 0);
	if (!value)
		snprintf(why, PLAIN_WHY,
			 "expected at most %u values, %d deep, and memory for "
			 "them",
			 PLAIN_MOST, MOST_DEPTH);
	json_decref(json);
	return value;
}
