/* value.h - what the text of a field means: readers for the fields of a table.
 * Each returns NULL, or what it expected, in words. */
#ifndef LOCKSTEP_MODEL_MEASURED_VALUE_H
#define LOCKSTEP_MODEL_MEASURED_VALUE_H

#include <stdbool.h>
#include <stddef.h>

/* A measured number, as exact as it was published. */
struct value_number {
	double value;
	double rounding; /* half a unit in its last place */
	bool known;
};

/* What a row is for: to fix a constant of its machine, to be predicted, or
 * neither, where too little is known. */
enum value_use { VALUE_NEITHER, VALUE_CALIBRATION, VALUE_VALIDATION };

/* Fills a const char *, with text itself. */
const char *value_read_text(const char *text, void *into);

/* Fills a struct value_number, of 0 or more. */
const char *value_read_number(const char *text, void *into);

/* Fills an int, of 1 or more. */
const char *value_read_count(const char *text, void *into);

/* Fills a size_t. */
const char *value_read_size(const char *text, void *into);

/* Fills an enum value_use, of "calibration", "validation" or "neither". */
const char *value_read_use(const char *text, void *into);

#endif
