/*
 * plain.h - values of plain containers, as a pickle or a JSON document holds
 * them. Private to check/recorder/.
 *
 * All values of a document lie in one arena; text lies there, or in the bytes
 * that were read, and is no longer than `size`, without a zero byte at its end.
 */
#ifndef LOCKSTEP_CHECK_RECORDER_PLAIN_H
#define LOCKSTEP_CHECK_RECORDER_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a message about what cannot be read. */
#define PLAIN_WHY 256

/* Values that a document may have. */
#define PLAIN_MOST (UINT32_C(1) << 24)

enum plain_kind {
	PLAIN_NONE,
	PLAIN_BOOL,
	PLAIN_INTEGER,
	PLAIN_REAL,  /* an integer of more than 64 bits as well */
	PLAIN_TEXT,  /* str or bytes */
	PLAIN_LIST,  /* or tuple */
	PLAIN_DICT,  /* items: key, value, key, value, ... */
	PLAIN_OPENED /* a mark on the stack of a pickle; in no container */
};

struct plain {
	enum plain_kind kind;
	uint32_t size; /* bytes of text; items, two an entry of a dict */
	union {
		int64_t integer; /* BOOL as well */
		double real;
		const char *text;
		struct plain **items;
	};
	uint32_t room; /* items there is place for */
};

struct plain_block;

/* Zeroed: empty. */
struct plain_arena {
	struct plain_block *blocks;
	size_t left;   /* bytes of the first block */
	uint32_t made; /* values so far */
};

/* check_plain_make returns a new value, zeroed but for its kind; NULL: there is
 * no memory, or the document has more than PLAIN_MOST. */
struct plain *check_plain_make(struct plain_arena *arena, enum plain_kind kind);

/* check_plain_bytes returns so many bytes of the arena; NULL: no memory. */
void *check_plain_bytes(struct plain_arena *arena, size_t bytes);

/* check_plain_add puts items at the end of a list or dict; false: no memory, or
 * more items than PLAIN_MOST. */
bool check_plain_add(struct plain_arena *arena, struct plain *to,
		     struct plain *const *items, uint32_t num);

void check_plain_release(struct plain_arena *arena);

/* check_plain_is returns whether value, which may be NULL, is that text. */
bool check_plain_is(const struct plain *value, const char *text);

/* check_plain_find returns what dict has at key among its first 64; NULL:
 * nothing, or it is no dict. */
const struct plain *check_plain_find(const struct plain *dict, const char *key);

/*
 * check_plain_read_pickle reads a pickle of plain containers: None, bool, int,
 * float, str, bytes, list, tuple, dict, in protocols 0 to 5. Whatever would
 * import, call or build anything is refused by its name; nothing is ever
 * executed. check_plain_read_json reads a JSON document. NULL: it cannot be
 * read, as why says; the arena is to be released all the same. data has to
 * stay.
 */
struct plain *check_plain_read_pickle(struct plain_arena *arena,
				      const void *data, size_t size,
				      char why[PLAIN_WHY]);
struct plain *check_plain_read_json(struct plain_arena *arena, const char *data,
				    size_t size, char why[PLAIN_WHY]);

#endif
