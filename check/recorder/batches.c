/* batches.c - turns the calls of a recording into those that ranks match by. */
#include "check/recorder/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static bool same_batch(const struct recording_call *a,
		       const struct recording_call *b)
{
	return a->group == b->group && a->collective == b->collective &&
	       a->sequence == b->sequence && !a->ends_batch;
}

/* Gives the messages from first on the state of their batch. */
static void set_batch(struct recording_call *calls, uint32_t first,
		      uint32_t num, unsigned char state)
{
	for (uint32_t i = first; i < num; i++) {
		calls[i].state = state;
		calls[i].batch = first;
	}
}

/* The number of calls before num that are of a batch with end. */
static uint32_t count_batch(const struct recording_call *calls, uint32_t num,
			    const struct recording_call *end)
{
	uint32_t n = 0;

	while (n < num && same_batch(&calls[num - 1 - n], end))
		n++;
	return n;
}

/* Makes one collective of the last n and of their end. */
static struct recording_call join(const struct recording_call *calls,
				  uint32_t num, uint32_t n,
				  struct recording_call end)
{
	end.batch = num - n;
	for (uint32_t i = num - n; i < num; i++) {
		end.numel += calls[i].numel;
		end.dtype = calls[i].dtype;
	}
	return end;
}

/*
 * The calls of a batch come first, and never end by themselves; then the batch,
 * with the state of all. Messages stay apart, and the batch goes; collectives
 * become one. Several messages without the end of their batch are not waited
 * for: it has yet to begin, or is over and was left out of the dump.
 */
static void join_batches(struct recording *recording)
{
	struct recording_call *calls = recording->calls;
	uint32_t num = 0, n;

	for (uint32_t i = 0; i < recording->num_calls; i++) {
		struct recording_call call = calls[i];

		call.batch = num;
		if (call.ends_batch) {
			/* Some versions do not say that a batch is one of
			 * messages. */
			if (num > 0 && call.collective &&
			    !calls[num - 1].collective &&
			    calls[num - 1].group == call.group &&
			    calls[num - 1].sequence == call.messages) {
				call.collective = 0;
				call.sequence = call.messages;
			}
			n = count_batch(calls, num, &call);
			if (!call.collective) {
				set_batch(calls, num - n, num, call.state);
				continue;
			}
			call = join(calls, num, n, call);
			num -= n;
		} else if (!call.collective) {
			n = count_batch(calls, num, &call);
			if (n > 0) {
				set_batch(calls, num - n, num, RECORDING_OVER);
				call.state = RECORDING_OVER;
				call.batch = num - n;
			}
		}
		calls[num++] = call;
	}
	recording->num_calls = num;
}

/* What the ranks must agree about, where they do. */
static void fingerprint(const struct recording_names *names,
			struct recording *recording)
{
	for (uint32_t i = 0; i < recording->num_calls; i++) {
		struct recording_call *call = &recording->calls[i];
		uint64_t hash = dist__hash_word(DIST__HASH_BEGIN, call->op);
		bool any = strcmp(names->all[call->op], "all_to_all") == 0;

		hash = dist__hash_word(hash, call->dtype);
		if (!any) {
			hash = dist__hash_word(hash, (uint32_t)call->numel);
			hash = dist__hash_word(hash,
					       (uint32_t)(call->numel >> 32));
		}
		call->kind = hash;
	}
}

static bool same_kind(const struct recording_call *a,
		      const struct recording_call *b)
{
	return a->group == b->group && a->peer == b->peer && a->send == b->send;
}

/* Counts messages by peer and direction: how many there were before. */
static bool count_messages(struct recording *recording)
{
	struct recording_call *calls = recording->calls;
	uint32_t num = recording->num_calls, size = 64;
	uint32_t *last; /* of each kind, + 1, by hash */

	while (size < 2 * num)
		size *= 2;
	last = calloc(size, sizeof *last);
	if (!last)
		return false;
	for (uint32_t i = 0; i < num; i++) {
		uint64_t hash = dist__hash_word(
			DIST__HASH_BEGIN, calls[i].group * 2 + calls[i].send);
		uint32_t at;

		if (calls[i].collective)
			continue;
		hash = dist__hash_word(hash, (uint32_t)calls[i].peer) *
		       DIST__HASH_FACTOR;
		at = (uint32_t)(hash >> 32) & (size - 1);
		while (last[at] && !same_kind(&calls[last[at] - 1], &calls[i]))
			at = (at + 1) & (size - 1);
		calls[i].index = last[at] ? calls[last[at] - 1].index + 1 : 0;
		last[at] = i + 1;
	}
	free(last);
	return true;
}

bool check_recording_settle(struct recording *recording,
			    const struct recording_names *names)
{
	join_batches(recording);
	fingerprint(names, recording);
	return count_messages(recording);
}
