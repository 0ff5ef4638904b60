/* Draws cases. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/soak/soak.h"
#include "base/random.h"

/* Far longer than anything takes unless it waits for its time limit. */
#define LONG_NS  (60 * SOAK_SECOND)
#define SHORT_NS (400 * SOAK_MS)

/* A number from 0 to below limit. */
static uint64_t below(uint64_t *state, uint64_t limit)
{
	return dist__random_next(state) % limit;
}

/* A number below 2^bits, small ones as often as large ones. */
static uint64_t of_any_length(uint64_t *state, uint64_t bits)
{
	uint64_t length = below(state, bits + 1);

	return below(state, UINT64_C(1) << length);
}

static enum soak_fault draw_fault(uint64_t *state)
{
	static const enum soak_fault lot[] = {
		SOAK_NOTHING,      SOAK_NOTHING,      SOAK_STALL,
		SOAK_STALL,        SOAK_STALL,        SOAK_RESET,
		SOAK_RESET,        SOAK_RESET,        SOAK_SHUT_SEND,
		SOAK_SHUT_SEND,    SOAK_SHUT_RECEIVE, SOAK_SHUT_RECEIVE,
		SOAK_SHUT_RECEIVE, SOAK_KILL,         SOAK_KILL,
		SOAK_SILENCE,
	};

	return lot[below(state, sizeof lot / sizeof *lot)];
}

static bool is_legal(enum dist_reduce_op op, enum dist_dtype dtype)
{
	switch (op) {
	case DIST_AVG:
		return dtype != DIST_BOOL;
	case DIST_BAND:
	case DIST_BOR:
	case DIST_BXOR:
		return dtype >= DIST_INT8;
	case DIST_PREMUL_SUM:
		return dtype <= DIST_FLOAT64;
	default:
		return true;
	}
}

static struct soak_call draw_call(uint64_t *state, int world_size)
{
	struct soak_call call = {
		.seed = dist__random_next(state),
		.dtype = (enum dist_dtype)below(state, DIST_BOOL + 1),
		.numel = of_any_length(state, 18),
		.async = below(state, 2) == 0,
	};

	do
		call.op =
			(enum dist_reduce_op)below(state, DIST_NUM_REDUCE_OPS);
	while (!is_legal(call.op, call.dtype));
	for (int rank = 0; rank < world_size; rank++)
		if (below(state, 4) == 0)
			call.late_ns[rank] = (int64_t)of_any_length(state, 22);
	return call;
}

bool soak_is_harmless(enum soak_fault fault)
{
	return fault == SOAK_NOTHING || fault == SOAK_STALL;
}

struct soak_case soak_draw(uint64_t seed)
{
	uint64_t state = seed;
	struct soak_case c = {.seed = seed};

	c.world_size = 2 + (int)below(&state, SOAK_MOST_RANKS - 1);
	c.intra = below(&state, 2) ? "shm" : "tcp";
	c.fault = draw_fault(&state);
	c.victim = (int)below(&state, (uint64_t)c.world_size);
	c.early = below(&state, 8) == 0;
	c.after_ns = (int64_t)of_any_length(&state, 24);
	c.stall_ns = (int64_t)of_any_length(&state, 26);
	c.which = (unsigned)below(&state, 64);
	c.meet_ns = c.early && !soak_is_harmless(c.fault) ? SHORT_NS : LONG_NS;
	c.timeout_ns = c.fault == SOAK_SILENCE ? SHORT_NS : c.meet_ns;
	c.num_calls = 1 + (int)below(&state, SOAK_MOST_CALLS);
	for (int i = 0; i < c.num_calls; i++)
		c.calls[i] = draw_call(&state, c.world_size);
	return c;
}

static const char *fault_words(enum soak_fault fault)
{
	static const char *const text[] = {
		[SOAK_NOTHING] = "left alone",
		[SOAK_STALL] = "stopped for a while",
		[SOAK_RESET] = "a connection reset",
		[SOAK_SHUT_SEND] = "a connection closed for sending",
		[SOAK_SHUT_RECEIVE] = "a connection closed for receiving",
		[SOAK_KILL] = "killed",
		[SOAK_SILENCE] = "stopped for good",
	};

	return text[fault];
}

void soak_describe(const struct soak_case *c, char *text, size_t size)
{
	size_t used;

	snprintf(text, size,
		 "%d ranks over %s, rank %d %s %.3f ms after the %s:",
		 c->world_size, c->intra, c->victim, fault_words(c->fault),
		 (double)c->after_ns / 1e6, c->early ? "start" : "meeting");
	for (int i = 0; i < c->num_calls; i++) {
		const struct soak_call *call = &c->calls[i];

		used = strlen(text);
		snprintf(text + used, size - used, "%s %s of %zu %s%s",
			 i ? "," : "", dist_reduce_op_name(call->op),
			 call->numel, dist_dtype_name(call->dtype),
			 call->async ? " async" : "");
	}
}
