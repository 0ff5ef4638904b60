/*
 * words.c - a thread's last error message, and the source line of its next
 * call.
 *
 * Both are thread-local. Simulated actors share one thread, but do not switch
 * between the line and its call, nor between the return of a call and the
 * request for its error message.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/rpc/state.h"

static _Thread_local struct dist_message last_message;
static _Thread_local struct dist__site next_site;

void dist__rpc_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_message.text, sizeof last_message.text, format, args);
	va_end(args);
}

void dist_rpc_error_message(struct dist_rpc *rpc, struct dist_message *message)
{
	(void)rpc;
	if (message)
		*message = last_message;
}

void dist_rpc_at(const char *file, int line)
{
	next_site = (struct dist__site){file, line};
}

struct dist__site dist__rpc_site_take(void)
{
	struct dist__site site = next_site;

	next_site = (struct dist__site){NULL, 0};
	return site;
}
