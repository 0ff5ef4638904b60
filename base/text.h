/* text.h - compares and finds texts, and puts them together. */
#ifndef LOCKSTEP_BASE_TEXT_H
#define LOCKSTEP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* dist__by_text and dist__by_number order for qsort(), a NULL text first. */
static inline int dist__by_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !b - !a;
}

static inline int dist__by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* dist__same_text returns whether two texts are equal; NULL equals only
 * NULL. */
static inline bool dist__same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* dist__begins returns whether text begins with start; not if text is NULL. */
static inline bool dist__begins(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

static inline bool dist__ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);

	return len >= tail && strcmp(text + len - tail, end) == 0;
}

/* dist__base_name returns the part of path behind its folders. */
static inline const char *dist__base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* dist__stem writes the base name of path without the suffix, if it has it. */
void dist__stem(char *name, size_t size, const char *path, const char *suffix);

/* dist__named returns the item called name among num items of size bytes, whose
 * first member is a const char *, NULL if an item has no name; NULL: there is
 * no such item, or no name. DIST__NAMED searches an array. */
const void *dist__named(const void *items, size_t num, size_t size,
			const char *name);
#define DIST__NAMED(items, name)                                               \
	dist__named(items, sizeof(items) / sizeof *(items), sizeof *(items),   \
		    name)

/* dist__append appends like printf to text, a buffer of size bytes; false: it
 * did not fit and was cut off. */
__attribute__((format(printf, 3, 4))) bool
dist__append(char *text, size_t size, const char *format, ...);

#endif
