#include "model/measured/value.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Half a unit in the last place of a decimal number. */
static double rounding_of(const char *text)
{
	const char *point = strchr(text, '.');
	double unit = 1;

	for (const char *c = point ? point + 1 : ""; *c; c++)
		unit /= 10;
	return unit / 2;
}

const char *value_read_number(const char *text, void *into)
{
	struct value_number *number = into;
	size_t digits = strspn(text, "0123456789");
	size_t len = digits;

	if (text[len] == '.')
		len += 1 + strspn(text + len + 1, "0123456789");
	if (digits == 0 || text[len] || text[len - 1] == '.' || len > 20)
		return "a decimal number";
	number->value = strtod(text, NULL);
	number->rounding = rounding_of(text);
	number->known = true;
	return NULL;
}

const char *value_read_size(const char *text, void *into)
{
	size_t len = strspn(text, "0123456789");

	if (len == 0 || text[len] || len > 15)
		return "a whole number";
	*(size_t *)into = (size_t)strtoull(text, NULL, 10);
	return NULL;
}

const char *value_read_count(const char *text, void *into)
{
	size_t value;

	if (value_read_size(text, &value) || value < 1 || value > 1 << 24)
		return "a whole number of 1 to 16777216";
	*(int *)into = (int)value;
	return NULL;
}

const char *value_read_use(const char *text, void *into)
{
	static const char *const names[] = {
		[VALUE_NEITHER] = "neither",
		[VALUE_CALIBRATION] = "calibration",
		[VALUE_VALIDATION] = "validation",
	};
	const char *const *found = DIST__NAMED(names, text);

	if (found)
		*(enum value_use *)into = (enum value_use)(found - names);
	return found ? NULL : "calibration, validation or neither";
}
