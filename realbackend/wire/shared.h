/*
 * shared.h - a connection between two ranks of one machine, through memory: a
 * stream of bytes each way, in a ring, in place of what the socket would carry.
 *
 * The socket stays: its end tells that the peer is gone, and a byte on it is
 * the bell that wakes a peer who said that it goes to sleep. Who has not said
 * so looks by itself, and nobody calls the system.
 *
 * Each of the two ranks is one side: side 0 made the memory, side 1 opened it.
 * Private to realbackend/wire/.
 */
#ifndef LOCKSTEP_WIRE_SHARED_H
#define LOCKSTEP_WIRE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "realbackend/wire/pace.h"

struct dist__shared;

/* Where another process of this machine finds the memory. */
struct dist__shared_offer {
	uint32_t pid;   /* 0: there is none */
	uint32_t fd;    /* of that process */
	uint64_t nonce; /* that the memory holds: not another one's number */
};

/* dist__shared_new makes the memory, as side 0, and the offer of it; bell is
 * the socket to the peer, borrowed. crowded: there are more ranks than
 * processors, so that many messages lie there when the peer looks, and are
 * better packed. NULL: the system refused, and *offer is of none. */
struct dist__shared *dist__shared_new(int bell, bool crowded,
				      struct dist__shared_offer *offer);

/* dist__shared_open opens what a peer offers, as side 1. NULL: it cannot be
 * reached from here, or is not what was offered. */
struct dist__shared *dist__shared_open(int bell, bool crowded,
				       const struct dist__shared_offer *offer);

/* dist__shared_settled is to be called on side 0 once the peer has opened the
 * memory: nobody else can from then on. */
void dist__shared_settled(struct dist__shared *shared);

/* dist__shared_free ends the mapping. NULL allowed. */
void dist__shared_free(struct dist__shared *shared);

/* dist__shared_put writes as much of the num parts as there is room for, of 16
 * KiB or less all or nothing, and returns how many bytes. */
size_t dist__shared_put(struct dist__shared *shared, const struct iovec *parts,
			size_t num);

/* dist__shared_place returns where so many bytes can be put at once; NULL: they
 * do not fit there. dist__shared_placed says that they have been. */
unsigned char *dist__shared_place(struct dist__shared *shared, size_t bytes);
void dist__shared_placed(struct dist__shared *shared, size_t bytes);

/* dist__shared_take reads what there is into the num parts, as far as they
 * reach, and returns how many bytes; -1: the memory is not as it should be. */
ssize_t dist__shared_take(struct dist__shared *shared,
			  const struct iovec *parts, size_t num);

/* dist__shared_peek stores where the next bytes lie, and returns how many
 * follow each other there, a piece at most; 0: none, or the memory is not as it
 * should be. dist__shared_skip takes the first len of those that it found. */
size_t dist__shared_peek(struct dist__shared *shared,
			 const unsigned char **bytes);
void dist__shared_skip(struct dist__shared *shared, size_t len);

/* dist__shared_has returns whether there is something to take,
 * dist__shared_has_room whether something can be put: when there was too little
 * room before, 16 KiB. */
bool dist__shared_has(struct dist__shared *shared);
bool dist__shared_has_room(struct dist__shared *shared);

/* dist__shared_lends returns whether the peer can read this process's memory by
 * itself, where the system lets it; dist__shared_read reads len bytes of the
 * peer's, at its address from. false: it is gone, or has recalled what it had
 * lent. dist__shared_recall is to be called before lent memory changes. */
bool dist__shared_lends(const struct dist__shared *shared);
bool dist__shared_read(struct dist__shared *shared, void *to, uint64_t from,
		       size_t len);
void dist__shared_recall(struct dist__shared *shared);

/* What this side has measured of its bytes, where it shows that, and what both
 * sides show. */
struct dist__pace *dist__shared_pace(struct dist__shared *shared);
struct dist__pace_shown *dist__shared_shown(struct dist__shared *shared);
const struct dist__pace_shown *
dist__shared_all_shown(const struct dist__shared *shared);

/*
 * dist__shared_sleep asks the peer for the bell: once, when it has put
 * something, or has taken something where there had been no room for us. After
 * dist__shared_asleep, one for all that were asked, what came before must be
 * looked for. dist__shared_wake takes the asking back.
 */
void dist__shared_sleep(struct dist__shared *shared);
void dist__shared_asleep(void);
void dist__shared_wake(struct dist__shared *shared);

#endif
