/* text.c - finds texts, and puts them together. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

const void *dist__named(const void *items, size_t num, size_t size,
			const char *name)
{
	const char *item = items;

	for (size_t i = 0; name && i < num; i++, item += size) {
		const char *own = *(const char *const *)(const void *)item;

		if (own && strcmp(own, name) == 0)
			return item;
	}
	return NULL;
}

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

void dist__stem(char *name, size_t size, const char *path, const char *suffix)
{
	const char *base = dist__base_name(path);
	size_t tail = dist__ends_in(base, suffix) ? strlen(suffix) : 0;

	snprintf(name, size, "%.*s", (int)(strlen(base) - tail), base);
}
