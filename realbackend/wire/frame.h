/*
 * frame.h - the wire format between two ranks: a header of fixed size, little-
 * endian, then the payload of a DATA frame, or data of a handshake.
 *
 *	offset 0   magic         u32
 *	       4   kind          u32
 *	       8   group         u32   HELLO: version of the wire format
 *	      12   seq           u32   HELLO: rank of the sender
 *	      16   step          u32   HELLO: world size
 *	      20   tag           i32
 *	      24   fingerprint   u64   HELLO: token of the job
 *	      32   bytes         u64   length of the payload
 *
 * A connection begins with the dialler's HELLO, answered by WELCOME or REFUSED.
 * If the job has a secret (secret.h), HELLO has a nonce and is answered by
 * CHALLENGE, with a nonce; then the dialler sends PROOF, with its proof, and
 * WELCOME has the other's proof. Between ranks of one machine WELCOME is
 * followed by an OFFER of shared memory (shared.h), answered by ANSWER. If the
 * offer is accepted, all frames after that pass through the memory, and a long
 * message may be LENT: its receiver reads it from the sender's memory and sends
 * TAKEN. No other frame is sent before. BYE ends a connection in good order.
 *
 * Private to realbackend/wire/.
 */
#ifndef LOCKSTEP_WIRE_FRAME_H
#define LOCKSTEP_WIRE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define DIST__FRAME_BYTES  40
#define DIST__WIRE_VERSION 2

/* What follows the header of LENT: the address of the payload, u64. */
#define DIST__FRAME_ADDRESS 8

/* Bytes after some frames of a handshake: a nonce or a proof. */
#define DIST__FRAME_EXTRA 32

enum dist__frame_kind {
	DIST__FRAME_HELLO = 1,
	DIST__FRAME_WELCOME, /* the pair uses this connection */
	DIST__FRAME_REFUSED, /* both dialled; the pair uses the other one */
	DIST__FRAME_DATA,
	DIST__FRAME_ABORT, /* the sender has left the group */
	DIST__FRAME_BYE,   /* the sender leaves; no frame follows */
	DIST__FRAME_CHALLENGE,
	DIST__FRAME_PROOF,
	DIST__FRAME_OFFER, /* group: process, 0: none; seq: file; fingerprint */
	DIST__FRAME_ANSWER, /* group: 1: the offer is accepted; 0: it is not */
	DIST__FRAME_LENT,   /* as DATA, but the payload stays at the sender */
	DIST__FRAME_TAKEN   /* the oldest lent payload was read */
};

struct dist__frame {
	uint32_t kind;
	uint32_t group;
	uint32_t seq;
	uint32_t step;
	int32_t tag;
	uint64_t fingerprint;
	uint64_t bytes;
};

void dist__frame_encode(const struct dist__frame *frame,
			unsigned char out[DIST__FRAME_BYTES]);

/* dist__frame_is returns whether the bytes at in encode frame. */
bool dist__frame_is(const unsigned char in[DIST__FRAME_BYTES],
		    const struct dist__frame *frame);

/* dist__frame_decode returns false if the bytes are no frame of this format. */
bool dist__frame_decode(const unsigned char in[DIST__FRAME_BYTES],
			struct dist__frame *frame);

#endif
