/*
 * parcel.h - what a store and its clients send each other, and what a store's
 * file consists of: a code, a timeout and a list of byte strings.
 *
 *	offset 0   magic      u32, little-endian like all
 *	       4   code       i32   request: the operation; reply: the outcome
 *	       8   timeout_ns i64   request only
 *	      16   count      u32   number of strings
 *	      20   bytes      u32   length of all that follows
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

/* Requests larger than this (a key and two values of 512 KiB, and some) are
 * refused; replies may be larger, but not by
 * malice: a client trusts the store that it was told to use only so far. */
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

/* dist__parcel_reserve makes room for max bytes in all; false: no memory. */
bool dist__parcel_reserve(struct dist__parcel *parcel, size_t max);

/* dist__parcel_wanted returns how many bytes the parcel will have that begins
 * with these: DIST__PARCEL_HEADER at least; 0: this is no parcel, or one
 * longer than limit. */
size_t dist__parcel_wanted(const struct dist__parcel *parcel, size_t limit);

/* dist__parcel_valid returns whether a complete parcel's strings add up. */
bool dist__parcel_valid(const struct dist__parcel *parcel);

int32_t dist__parcel_code(const struct dist__parcel *parcel);
int64_t dist__parcel_timeout_ns(const struct dist__parcel *parcel);
uint32_t dist__parcel_count(const struct dist__parcel *parcel);

/* A string inside a parcel; borrowed, not terminated. */
struct dist__bytes {
	const unsigned char *data;
	size_t len;
};

/* dist__parcel_next stores the string at *offset (first: 0) and moves on.
 * false: there is none left. */
bool dist__parcel_next(const struct dist__parcel *parcel, size_t *offset,
		       struct dist__bytes *string);

/* dist__bytes_text returns the characters of text, without the 0. */
static inline struct dist__bytes dist__bytes_text(const char *text)
{
	return (struct dist__bytes){(const unsigned char *)text, strlen(text)};
}

/* dist__bytes_number reads a decimal number. false: it is none. */
bool dist__bytes_number(struct dist__bytes string, int64_t *number);

/* dist__bytes_keep makes of somebody else's string a copy, with a 0 behind it,
 * that the caller frees. Errors: NO_MEMORY. */
enum dist_error dist__bytes_keep(struct dist__bytes *string);

/* dist__bytes_copy copies as text, cut to size, and fit for a terminal. */
void dist__bytes_copy(struct dist__bytes string, char *text, size_t size);

/* What a store can be asked for: over TCP, the code of a request and its
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
	DIST__STORE_HELLO,       /* reply: a nonce; nothing: no secret here */
	DIST__STORE_PROVE,       /* nonce, proof; reply: proof */
	DIST__STORE_ENROL        /* id of the job, report; reply: ticket */
};

/* One thing that is done to one key, from SET to NUM_KEYS or COMPARE_SET, and
 * what comes of it. */
struct dist__store_request {
	enum dist__store_op op;
	struct dist__bytes key, value; /* COMPARE_SET: the desired one */
	struct dist__bytes expected;   /* COMPARE_SET */
	int64_t timeout_ns;            /* GET, WAIT */

	/* ADD: the amount, then the sum; NUM_KEYS: so many; CHECK, DELETE: 1 if
	 * there is, or was, such a key, else 0. */
	int64_t number;
	bool there;  /* GET, WAIT, CHECK, DELETE: the key is, or was */
	bool stored; /* a value was */
	/* GET, COMPARE_SET: the value; where there is none, expected. */
	struct dist__bytes found;
};

#endif
