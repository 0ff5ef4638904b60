#include "realbackend/wire/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>

#include "base/endian.h"

bool dist__nonce_draw(unsigned char nonce[DIST__NONCE_BYTES])
{
	ssize_t n;

	/* So few bytes come whole, or not at all. */
	do
		n = getrandom(nonce, DIST__NONCE_BYTES, 0);
	while (n < 0 && errno == EINTR);
	return n == DIST__NONCE_BYTES;
}

bool dist__token_draw(char text[DIST__TOKEN_TEXT])
{
	unsigned char nonce[DIST__NONCE_BYTES];

	if (!dist__nonce_draw(nonce))
		return false;
	snprintf(text, DIST__TOKEN_TEXT, "%016llx",
		 (unsigned long long)dist__get64(nonce));
	return true;
}

void dist__secret_prove(const char *secret, const struct dist__claim *claim,
			unsigned char proof[DIST__PROOF_BYTES])
{
	unsigned char numbers[16];
	struct hmac_sha256_ctx hmac;

	dist__put64(numbers, claim->token);
	dist__put32(numbers + 8, claim->dialler);
	dist__put32(numbers + 12, claim->other);
	hmac_sha256_set_key(&hmac, strlen(secret), (const uint8_t *)secret);
	hmac_sha256_update(&hmac, strlen(claim->role) + 1,
			   (const uint8_t *)claim->role);
	hmac_sha256_update(&hmac, sizeof numbers, numbers);
	hmac_sha256_update(&hmac, DIST__NONCE_BYTES, claim->dialler_nonce);
	hmac_sha256_update(&hmac, DIST__NONCE_BYTES, claim->other_nonce);
	hmac_sha256_digest(&hmac, DIST__PROOF_BYTES, proof);
}

bool dist__secret_holds(const char *secret, const struct dist__claim *claim,
			const unsigned char proof[DIST__PROOF_BYTES])
{
	unsigned char right[DIST__PROOF_BYTES];

	dist__secret_prove(secret, claim, right);
	return memeql_sec(right, proof, sizeof right);
}
