#include "cli/sweep/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the last number: what decimal steps such as 0.1 lose on their way. */
#define ROUNDING 1e-9

bool range_is_meant(const char *text)
{
	return *text >= '0' && *text <= '9' && strstr(text, "..") != NULL;
}

/* Reads a number at *text, which must begin with a digit, and moves *text
 * behind it. strtod() would take the first dot of ".." with it, and mean the
 * same number. */
static bool read_number(const char **text, double *number)
{
	size_t length = strspn(*text, "0123456789");
	char digits[32];

	if ((*text)[length] == '.' && (*text)[length + 1] != '.')
		length += 1 + strspn(*text + length + 1, "0123456789");
	if (length == 0 || length >= sizeof digits || **text == '.')
		return false;
	memcpy(digits, *text, length);
	digits[length] = '\0';
	*number = strtod(digits, NULL);
	*text += length;
	return true;
}

/* Reads what stands behind FIRST..LAST. */
static bool read_step(const char *text, struct range *range)
{
	text += strspn(text, " ");
	range->by = 1;
	range->multiplied = *text == '*';
	if (*text == '\0')
		return true;
	if (*text != '*' && *text != '+')
		return false;
	text += 1 + strspn(text + 1, " ");
	return read_number(&text, &range->by) && *text == '\0';
}

bool range_parse(const char *text, struct range *range)
{
	if (!read_number(&text, &range->first) || strncmp(text, "..", 2) != 0)
		return false;
	text += 2;
	if (!read_number(&text, &range->last) || !read_step(text, range))
		return false;
	if (range->last < range->first)
		return false;
	return range->multiplied ? range->by > 1 && range->first > 0
				 : range->by > 0;
}

size_t range_values(const struct range *range, double *values, size_t most)
{
	double end = range->last * (1 + ROUNDING), value = range->first;
	size_t n = 0;

	while (value <= end) {
		if (n == most)
			return most + 1;
		values[n++] = value;
		value = range->multiplied
				? range->first * pow(range->by, (double)n)
				: range->first + range->by * (double)n;
	}
	return n;
}
