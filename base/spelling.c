#include "base/spelling.h"

#include <string.h>

#define LONGEST_NAME 63

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* The distance of Levenshtein (1966), a row of the table at a time. */
size_t dist__spelling_distance(const char *a, const char *b)
{
	size_t row[LONGEST_NAME + 1];
	size_t length = strlen(b);

	if (length > LONGEST_NAME)
		return length;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t replace = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = min3(replace, row[j] + 1, row[j - 1] + 1);
		}
	}
	return row[length];
}
