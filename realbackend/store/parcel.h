/*
 * parcel.h - a message between a store and its clients, and an entry of a
 * store's file: a code, a timeout and a list of byte strings.
 *
 *	offset 0   magic      u32, all numbers little-endian
 *	       4   code       i32   request: the operation; reply: the result
 *	       8   timeout_ns i64   request only
 *	      16   count      u32   number of strings
 *	      20   bytes      u32   length of the strings
 *	      24   strings, each u32 length and bytes
 */
#ifndef LOCKSTEP_STORE_PARCEL_H
#define LOCKSTEP_STORE_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lockstep/dist.h"

#define DIST__PARCEL_HEADER 24

/* Longer requests (than a key and two values of 512 KiB, and some) are refused.
 * Replies may be longer, up to a limit: a client does not trust its store
 * without bounds. */
#define DIST__PARCEL_MAX_REQUEST (((size_t)1 << 20) + ((size_t)1 << 14))
#define DIST__PARCEL_MAX_REPLY   ((size_t)1 << 28)

struct dist__parcel {
	unsigned char *data; /* owned; header and strings, ready to send */
	size_t len, max;
	bool failed; /* no memory: data is incomplete */
};

void dist__parcel_init(struct dist__parcel *parcel, int32_t code,
		       int64_t timeout_ns);
void dist__parcel_release(struct dist__parcel *parcel);

/* dist__parcel_add appends a string; no memory: sets failed. */
void dist__parcel_add(struct dist__parcel *parcel, const void *data,
		      size_t len);
void dist__parcel_add_text(struct dist__parcel *parcel, const char *text);

/* dist__parcel_reserve allocates max bytes in all; false: no memory. */
bool dist__parcel_reserve(struct dist__parcel *parcel, size_t max);

/* dist__parcel_wanted returns the total length of the parcel that begins with
 * these bytes, at least DIST__PARCEL_HEADER; 0: it is no parcel, or longer than
 * limit. */
size_t dist__parcel_wanted(const struct dist__parcel *parcel, size_t limit);

/* dist__parcel_valid returns whether the strings fill a complete parcel. */
bool dist__parcel_valid(const struct dist__parcel *parcel);

int32_t dist__parcel_code(const struct dist__parcel *parcel);
int64_t dist__parcel_timeout_ns(const struct dist__parcel *parcel);
uint32_t dist__parcel_count(const struct dist__parcel *parcel);

/* A string inside a parcel; borrowed, not terminated. */
struct dist__bytes {
	const unsigned char *data;
	size_t len;
};

/* dist__parcel_next stores the string at *offset (first: 0) and advances it.
 * false: there is none left. */
bool dist__parcel_next(const struct dist__parcel *parcel, size_t *offset,
		       struct dist__bytes *string);

/* dist__bytes_text returns the characters of text, without the final 0. */
static inline struct dist__bytes dist__bytes_text(const char *text)
{
	return (struct dist__bytes){(const unsigned char *)text, strlen(text)};
}

/* dist__bytes_number reads a decimal number. false: it is not one. */
bool dist__bytes_number(struct dist__bytes string, int64_t *number);

/* dist__bytes_keep replaces a borrowed string by a copy with a final 0, which
 * the caller frees. Errors: NO_MEMORY. */
enum dist_error dist__bytes_keep(struct dist__bytes *string);

/* dist__bytes_copy copies as text, cut to size, and safe for a terminal. */
void dist__bytes_copy(struct dist__bytes string, char *text, size_t size);

/* Operations of a store. Over TCP: the code of a request, with these
 * strings. */
enum dist__store_op {
	DIST__STORE_SET = 1,     /* key, value */
	DIST__STORE_GET,         /* key; reply: value */
	DIST__STORE_ADD,         /* key, amount; reply: sum */
	DIST__STORE_WAIT,        /* key */
	DIST__STORE_CHECK,       /* key; reply: "1" or "0" */
	DIST__STORE_DELETE,      /* key; reply: "1" or "0" */
	DIST__STORE_NUM_KEYS,    /* reply: number */
	DIST__STORE_JOIN,        /* rank, world size, address; reply: see
				    rendezvous.c */
	DIST__STORE_COMPARE_SET, /* key, expected, desired; reply: value */
	DIST__STORE_ARRIVE,      /* number; reply once so many have arrived */
	DIST__STORE_HELLO,       /* reply: a nonce; none: no secret needed */
	DIST__STORE_PROVE,       /* nonce, proof; reply: proof */
	DIST__STORE_ENROL        /* id of the job, report; reply: ticket */
};

/* One operation on one key, from SET to NUM_KEYS or COMPARE_SET, and its
 * result. */
struct dist__store_request {
	enum dist__store_op op;
	struct dist__bytes key, value; /* COMPARE_SET: the desired one */
	struct dist__bytes expected;   /* COMPARE_SET */
	int64_t timeout_ns;            /* GET, WAIT */

	/* ADD: the amount, then the sum; NUM_KEYS: the number; CHECK, DELETE: 1
	 * if the key exists, or existed, else 0. */
	int64_t number;
	bool there;  /* GET, WAIT, CHECK, DELETE: the key exists, or did */
	bool stored; /* a value was stored */
	/* GET, COMPARE_SET: the value; if there is none, expected. */
	struct dist__bytes found;
};

#endif
