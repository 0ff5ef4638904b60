/*
 * words.c - a thread's last error message. Simulated actors share one thread,
 * but do not switch between the return of a call and the request for its error
 * message.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/rpc/state.h"

static _Thread_local struct dist_message last_message;

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

void dist__rpc_refused(struct dist_rpc *rpc, enum dist_error error,
		       const char *op, struct dist__site site)
{
	struct dist_group *group = dist_at(rpc->group, site.file, site.line);

	if (group)
		(void)dist__fail(group, error, "%s: %s", op, last_message.text);
}
