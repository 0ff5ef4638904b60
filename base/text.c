/* text.c - putting texts together. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

bool dist__append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text + used, size - used, format, args);
	va_end(args);
	return n >= 0 && (size_t)n < size - used;
}
