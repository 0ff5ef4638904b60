/* refuse.c - one-line messages about what was expected. */
#include "base/refuse.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/printable.h"

static enum dist_error write_message(struct dist_message *message,
				     enum dist_error error, const char *format,
				     va_list args)
{
	vsnprintf(message->text, sizeof message->text, format, args);
	dist__printable(message->text);
	return error;
}

enum dist_error dist__refuse_as(struct dist_message *message,
				enum dist_error error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error = write_message(message, error, format, args);
	va_end(args);
	return error;
}

enum dist_error dist__refuse(struct dist_message *message, const char *format,
			     ...)
{
	enum dist_error error;
	va_list args;

	va_start(args, format);
	error = write_message(message, DIST_ERR_INVALID_ARGUMENT, format, args);
	va_end(args);
	return error;
}

enum dist_error dist__refuse_option(struct dist__refusal *refusal,
				    const char *option, const char *format, ...)
{
	va_list args;

	refusal->option = option;
	va_start(args, format);
	(void)write_message(&refusal->message, DIST_ERR_INVALID_ARGUMENT,
			    format, args);
	va_end(args);
	return DIST_ERR_INVALID_ARGUMENT;
}
