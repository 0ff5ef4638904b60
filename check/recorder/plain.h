/*
 * plain.h - values of plain containers, from a pickle or a JSON document.
 * Private to check/recorder/.
 *
 * All values of a document are in one arena. Text is there or in the bytes that
 * were read; it has `size` bytes and no terminating zero.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_PLAIN_H
#define LOCKSTEP_CHECK_RECORDER_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of an error message. */
#define PLAIN_WHY 256

/* Most values of a document. */
#define PLAIN_MOST (UINT32_C(1) << 24)

enum plain_kind {
	PLAIN_NONE,
	PLAIN_BOOL,
	PLAIN_INTEGER,
	PLAIN_REAL,  /* also an integer of more than 64 bits */
	PLAIN_TEXT,  /* str or bytes */
	PLAIN_LIST,  /* or tuple */
	PLAIN_DICT,  /* items: key, value, key, value, ... */
	PLAIN_OPENED /* a mark on the stack of a pickle; in no container */
};

struct plain {
	enum plain_kind kind;
	uint32_t size; /* bytes of text; items, two for each entry of a dict */
	union {
		int64_t integer; /* also BOOL */
		double real;
		const char *text;
		struct plain **items;
	};
	uint32_t room; /* capacity of items */
};

struct plain_block;

/* Zeroed: empty. */
struct plain_arena {
	struct plain_block *blocks;
	size_t left;   /* free bytes of the first block */
	uint32_t made; /* number of values */
};

/* check_plain_make returns a new value, zeroed except its kind; NULL: no
 * memory, or more than PLAIN_MOST values. */
struct plain *check_plain_make(struct plain_arena *arena, enum plain_kind kind);

/* check_plain_bytes allocates bytes in the arena; NULL: no memory. */
void *check_plain_bytes(struct plain_arena *arena, size_t bytes);

/* check_plain_add appends items to a list or dict; false: no memory, or more
 * items than PLAIN_MOST. */
bool check_plain_add(struct plain_arena *arena, struct plain *to,
		     struct plain *const *items, uint32_t num);

void check_plain_release(struct plain_arena *arena);

/* check_plain_is returns whether value, which may be NULL, is this text. */
bool check_plain_is(const struct plain *value, const char *text);

/* check_plain_find returns the value of key in dict, among its first 64
 * entries; NULL: none, or dict is no dict. */
const struct plain *check_plain_find(const struct plain *dict, const char *key);

/*
 * check_plain_read_pickle reads a pickle of plain containers: None, bool, int,
 * float, str, bytes, list, tuple, dict, in protocols 0 to 5. Instructions that
 * would import, call or build anything are refused by name; nothing is ever
 * executed. check_plain_read_json reads a JSON document. NULL: unreadable, see
 * why; release the arena in any case. data must stay while the values are
 * used.
 */
struct plain *check_plain_read_pickle(struct plain_arena *arena,
				      const void *data, size_t size,
				      char why[PLAIN_WHY]);
struct plain *check_plain_read_json(struct plain_arena *arena, const char *data,
				    size_t size, char why[PLAIN_WHY]);

#endif
