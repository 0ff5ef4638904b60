/*
 * shared.h - a connection between two ranks of one machine through memory: a
 * ring of bytes each way, instead of the socket.
 *
 * The socket stays: its end means that the peer is gone, and a byte on it is
 * the bell, which wakes a peer that asked for it before it slept. A peer that
 * has not asked looks by itself; then there is no system call.
 *
 * The two ranks are the sides: side 0 made the memory, side 1 opened it.
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

/* How another process of this machine opens the memory. */
struct dist__shared_offer {
	uint32_t pid;   /* 0: no offer */
	uint32_t fd;    /* of that process */
	uint64_t nonce; /* in the memory: shows that fd is the right file */
};

/* dist__shared_new makes the memory, as side 0, and its offer; bell is the
 * socket to the peer, borrowed. crowded: there are more ranks than processors,
 * so the peer finds many messages at a time, which are better packed. NULL: the
 * system refused, and *offer is empty. */
struct dist__shared *dist__shared_new(int bell, bool crowded,
				      struct dist__shared_offer *offer);

/* dist__shared_open opens a peer's offer, as side 1. NULL: it cannot be reached
 * from here, or is not what was offered. */
struct dist__shared *dist__shared_open(int bell, bool crowded,
				       const struct dist__shared_offer *offer);

/* dist__shared_settled is called on side 0 once the peer has opened the memory:
 * nobody else can open it from then on. */
void dist__shared_settled(struct dist__shared *shared);

/* dist__shared_free unmaps it. NULL allowed. */
void dist__shared_free(struct dist__shared *shared);

/* dist__shared_put writes as much of num parts as there is room for (up to 16
 * KiB all or nothing), and returns the bytes written. */
size_t dist__shared_put(struct dist__shared *shared, const struct iovec *parts,
			size_t num);

/* dist__shared_place returns where to put bytes directly; NULL: they do not fit
 * in one piece. dist__shared_placed publishes them. */
unsigned char *dist__shared_place(struct dist__shared *shared, size_t bytes);
void dist__shared_placed(struct dist__shared *shared, size_t bytes);

/* dist__shared_take reads into num parts as much as there is, and returns the
 * bytes read; -1: the memory is corrupt. */
ssize_t dist__shared_take(struct dist__shared *shared,
			  const struct iovec *parts, size_t num);

/* dist__shared_peek stores the address of the next bytes, and returns how many
 * are consecutive there, at most a piece; 0: none, or the memory is corrupt.
 * dist__shared_skip takes the first len of the bytes that peek returned. */
size_t dist__shared_peek(struct dist__shared *shared,
			 const unsigned char **bytes);
void dist__shared_skip(struct dist__shared *shared, size_t len);

/* dist__shared_has returns whether there are bytes to take;
 * dist__shared_has_room whether there is room to put some: 16 KiB, if there was
 * too little before. */
bool dist__shared_has(struct dist__shared *shared);
bool dist__shared_has_room(struct dist__shared *shared);

/* dist__shared_lends returns whether the system lets the peer read this
 * process's memory; dist__shared_read reads len bytes of the peer's, at its
 * address from. false: it is gone, or has recalled the memory. Call
 * dist__shared_recall before lent memory changes. */
bool dist__shared_lends(const struct dist__shared *shared);
bool dist__shared_read(struct dist__shared *shared, void *to, uint64_t from,
		       size_t len);
void dist__shared_recall(struct dist__shared *shared);

/* The costs that this side has measured, those that it shows, and those that
 * both sides show. */
struct dist__pace *dist__shared_pace(struct dist__shared *shared);
struct dist__pace_shown *dist__shared_shown(struct dist__shared *shared);
const struct dist__pace_shown *
dist__shared_all_shown(const struct dist__shared *shared);

/*
 * dist__shared_sleep asks the peer for the bell: once, when it has put bytes,
 * or has taken some after there was no room. dist__shared_asleep follows, once
 * for all peers that were asked; then look for what came before.
 * dist__shared_wake cancels the request.
 */
void dist__shared_sleep(struct dist__shared *shared);
void dist__shared_asleep(void);
void dist__shared_wake(struct dist__shared *shared);

#endif
