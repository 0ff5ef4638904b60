#include "check/watch/frames.h"

#include <stdbool.h>
#include <unwind.h>

struct walk {
	uintptr_t *frames;
	size_t num, used;
	bool past_handler;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;
	int interrupted = 0;
	uintptr_t at = _Unwind_GetIPInfo(context, &interrupted);

	/* The frame that was interrupted stands at its instruction, all others
	 * behind the one that calls. */
	walk->past_handler |= interrupted;
	if (!walk->past_handler)
		return _URC_NO_REASON;
	if (at == 0)
		return _URC_END_OF_STACK;
	walk->frames[walk->used++] = interrupted ? at : at - 1;
	return walk->used < walk->num ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void dist__frames_of_fault(uintptr_t *frames, size_t num)
{
	struct walk walk = {.frames = frames, .num = num};

	(void)_Unwind_Backtrace(step, &walk);
	while (walk.used < num)
		frames[walk.used++] = 0;
}

static _Unwind_Reason_Code climb(struct _Unwind_Context *context, void *arg)
{
	uintptr_t *outermost = arg, at = _Unwind_GetCFA(context);

	if (at > *outermost)
		*outermost = at;
	return _URC_NO_REASON;
}

uintptr_t dist__frames_outermost(void)
{
	uintptr_t outermost = 0;

	(void)_Unwind_Backtrace(climb, &outermost);
	return outermost;
}
