/* refuse.c - saying in one line what was expected. */
#include "base/refuse.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/printable.h"

enum dist_error dist__refuse(struct dist_message *message, const char *format,
			     ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message->text, sizeof message->text, format, args);
	va_end(args);
	dist__printable(message->text);
	return DIST_ERR_INVALID_ARGUMENT;
}
