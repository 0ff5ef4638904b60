/* value.h - readers for fields of a table. Each returns NULL, or a text with
 * what it expected. */
#ifndef LOCKSTEP_MODEL_MEASURED_VALUE_H
#define LOCKSTEP_MODEL_MEASURED_VALUE_H

#include <stdbool.h>

/* A measured number with its published rounding. */
struct value_number {
	double value;
	double rounding; /* half a unit in its last place */
	bool known;
};

/* The use of a row: calibration of its machine, validation of predictions, or
 * neither, if too little is known. */
enum value_use { VALUE_NEITHER, VALUE_CALIBRATION, VALUE_VALIDATION };

/* Fills a struct value_number, of 0 or more. */
const char *value_read_number(const char *text, void *into);

/* Fills an int, of 1 or more. */
const char *value_read_count(const char *text, void *into);

/* Fills a size_t. */
const char *value_read_size(const char *text, void *into);

/* Fills an enum value_use, of "calibration", "validation" or "neither". */
const char *value_read_use(const char *text, void *into);

#endif
