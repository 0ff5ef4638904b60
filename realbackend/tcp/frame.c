#include "realbackend/tcp/frame.h"

#include <stddef.h>

#include "core/endian.h"

#define MAGIC UINT32_C(0x314c534c) /* "LSL1" */

void dist__frame_encode(const struct dist__frame *frame,
			unsigned char out[DIST__FRAME_BYTES])
{
	dist__put32(out, MAGIC);
	dist__put32(out + 4, frame->kind);
	dist__put32(out + 8, frame->group);
	dist__put32(out + 12, frame->seq);
	dist__put32(out + 16, frame->step);
	dist__put32(out + 20, (uint32_t)frame->tag);
	dist__put64(out + 24, frame->fingerprint);
	dist__put64(out + 32, frame->bytes);
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
