#include "realbackend/wire/frame.h"

#include "base/endian.h"

#define MAGIC UINT32_C(0x314c534c) /* "LSL1" */

static uint64_t pair(uint32_t first, uint32_t second)
{
	return first | (uint64_t)second << 32;
}

/* By words of 64 bits, for so they are copied into a ring's line a moment
 * later: what two moves wrote cannot be read by one before it is in the cache.
 */
void dist__frame_encode(const struct dist__frame *frame,
			unsigned char out[DIST__FRAME_BYTES])
{
	dist__put64(out, pair(MAGIC, frame->kind));
	dist__put64(out + 8, pair(frame->group, frame->seq));
	dist__put64(out + 16, pair(frame->step, (uint32_t)frame->tag));
	dist__put64(out + 24, frame->fingerprint);
	dist__put64(out + 32, frame->bytes);
}

bool dist__frame_is(const unsigned char in[DIST__FRAME_BYTES],
		    const struct dist__frame *frame)
{
	return dist__get64(in) == pair(MAGIC, frame->kind) &&
	       dist__get64(in + 8) == pair(frame->group, frame->seq) &&
	       dist__get64(in + 16) ==
		       pair(frame->step, (uint32_t)frame->tag) &&
	       dist__get64(in + 24) == frame->fingerprint &&
	       dist__get64(in + 32) == frame->bytes;
}

bool dist__frame_decode(const unsigned char in[DIST__FRAME_BYTES],
			struct dist__frame *frame)
{
	frame->kind = dist__get32(in + 4);
	frame->group = dist__get32(in + 8);
	frame->seq = dist__get32(in + 12);
	frame->step = dist__get32(in + 16);
	frame->tag = (int32_t)dist__get32(in + 20);
	frame->fingerprint = dist__get64(in + 24);
	frame->bytes = dist__get64(in + 32);
	if (dist__get32(in) != MAGIC || frame->kind < DIST__FRAME_HELLO ||
	    frame->kind > DIST__FRAME_TAKEN)
		return false;
	switch (frame->kind) {
	case DIST__FRAME_DATA: /* what fits into memory */
		return frame->bytes <= (uint64_t)PTRDIFF_MAX;
	case DIST__FRAME_LENT:
		return frame->bytes > 0 &&
		       frame->bytes <= (uint64_t)PTRDIFF_MAX;
	case DIST__FRAME_HELLO:
	case DIST__FRAME_WELCOME:
		return frame->bytes == 0 || frame->bytes == DIST__FRAME_EXTRA;
	case DIST__FRAME_CHALLENGE:
	case DIST__FRAME_PROOF:
		return frame->bytes == DIST__FRAME_EXTRA;
	default:
		return frame->bytes == 0;
	}
}
