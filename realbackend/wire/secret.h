/*
 * secret.h - the job's shared secret (LOCKSTEP_SECRET): the two ends of a
 * connection prove that they know it, without sending it.
 *
 * Each end draws a nonce. A proof is the HMAC-SHA-256 (RFC 2104), under the
 * secret, of a claim: who proves, to whom, and both nonces. So a proof is valid
 * for one connection and one direction only. What follows on the connection
 * is neither encrypted nor signed.
 * Private to realbackend/wire/.
 */
#ifndef LOCKSTEP_WIRE_SECRET_H
#define LOCKSTEP_WIRE_SECRET_H

#include <stdbool.h>
#include <stdint.h>

#include "lockstep/dist.h"

#define DIST__NONCE_BYTES 32
#define DIST__PROOF_BYTES 32

/* The two ends and their nonces; `role` says which end proves, and on what kind
 * of connection. */
struct dist__claim {
	const char *role;
	uint64_t token;          /* of the job; 0: not known yet */
	uint32_t dialler, other; /* ranks; 0: not known */
	unsigned char dialler_nonce[DIST__NONCE_BYTES];
	unsigned char other_nonce[DIST__NONCE_BYTES];
};

/* The token of a job, hexadecimal, with a final 0. */
#define DIST__TOKEN_TEXT 17

/* dist__token_draw writes a random number that strangers cannot guess. false:
 * the system refused. */
bool dist__token_draw(char text[DIST__TOKEN_TEXT]);

/* dist__nonce_draw fills nonce with random bytes. false: the system refused.
 */
bool dist__nonce_draw(unsigned char nonce[DIST__NONCE_BYTES]);

/* dist__secret_prove computes the proof of claim. */
void dist__secret_prove(const char *secret, const struct dist__claim *claim,
			unsigned char proof[DIST__PROOF_BYTES]);

/* dist__secret_holds returns whether proof is valid for claim, in a time that
 * does not depend on the bytes that differ. */
bool dist__secret_holds(const char *secret, const struct dist__claim *claim,
			const unsigned char proof[DIST__PROOF_BYTES]);

#endif
