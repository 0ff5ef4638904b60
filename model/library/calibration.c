/* calibration.c - what was measured of a library on a machine, as a value and
 * as a line of text. */
#include "model/library/calibration.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct calibration *
library_calibration_find(const struct calibration *all, size_t num,
			 const char *library, const char *transport)
{
	for (size_t i = 0; i < num; i++)
		if (strcmp(all[i].library, library) == 0 &&
		    strcmp(all[i].transport, transport ? transport : "") == 0)
			return &all[i];
	return NULL;
}

struct calibration_constant *
library_calibration_constant(struct calibration *calibration, const char *name)
{
	for (size_t i = 0; i < calibration->num_constants; i++)
		if (strcmp(calibration->constants[i].name, name) == 0)
			return &calibration->constants[i];
	return NULL;
}

bool library_calibration_set(struct calibration *calibration, const char *name,
			     double value)
{
	struct calibration_constant *c =
		library_calibration_constant(calibration, name);

	if (!c) {
		if (calibration->num_constants == CALIBRATION_CONSTANTS ||
		    strlen(name) >= sizeof c->name)
			return false;
		c = &calibration->constants[calibration->num_constants++];
		*c = (struct calibration_constant){.is_given = false};
		strcpy(c->name, name);
	}
	c->value = value;
	return true;
}

/* ---- text ------------------------------------------------------------- */

/* One per line of the text: where it goes, and how much fits. */
static const struct {
	const char *key;
	size_t offset, size;
} texts[] = {
#define TEXT(field)                                                            \
	{                                                                      \
#field, offsetof(struct calibration, field),                   \
			sizeof((struct calibration *)0)->field                 \
	}
	TEXT(library), TEXT(version), TEXT(transport), TEXT(date), TEXT(from)};

#define TEXTS (sizeof texts / sizeof texts[0])

/* Words are parted by ';', which no text holds. */
bool library_calibration_print(const struct calibration *c,
			       char text[CALIBRATION_TEXT])
{
	bool fits = snprintf(text, CALIBRATION_TEXT,
			     "rows=%d;residual=%.17g;checked=%d;error=%.17g",
			     c->rows, c->residual, c->checked,
			     c->error) < CALIBRATION_TEXT;

	for (size_t i = 0; i < TEXTS; i++)
		fits &= dist__append(text, CALIBRATION_TEXT, ";%s=%s",
				     texts[i].key,
				     (const char *)c + texts[i].offset);
	for (size_t i = 0; i < c->num_constants; i++)
		fits &= dist__append(
			text, CALIBRATION_TEXT, ";%s%s=%.17g",
			c->constants[i].is_at_bound ? "bound." : "constant.",
			c->constants[i].name, c->constants[i].value);
	return fits;
}

static bool take_text(struct calibration *c, const char *key, const char *value)
{
	for (size_t i = 0; i < TEXTS; i++)
		if (strcmp(texts[i].key, key) == 0) {
			snprintf((char *)c + texts[i].offset, texts[i].size,
				 "%s", value);
			return true;
		}
	return false;
}

static bool take(struct calibration *c, const char *key, const char *value)
{
	const char *name = strchr(key, '.');
	char *end;
	double number;

	if (take_text(c, key, value))
		return true;
	number = strtod(value, &end);
	if (end == value || *end)
		return false;
	if (strcmp(key, "rows") == 0)
		c->rows = (int)number;
	else if (strcmp(key, "residual") == 0)
		c->residual = number;
	else if (strcmp(key, "checked") == 0)
		c->checked = (int)number;
	else if (strcmp(key, "error") == 0)
		c->error = number;
	else if (!name || !library_calibration_set(c, name + 1, number))
		return false;
	else
		library_calibration_constant(c, name + 1)->is_at_bound =
			*key == 'b';
	return true;
}

bool library_calibration_parse(struct calibration *calibration,
			       const char *text)
{
	char words[CALIBRATION_TEXT], *save = NULL;

	*calibration = (struct calibration){.rows = 0};
	if (strlen(text) >= sizeof words)
		return false;
	strcpy(words, text);
	for (char *word = strtok_r(words, ";", &save); word;
	     word = strtok_r(NULL, ";", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			return false;
		*equals = '\0';
		if (!take(calibration, word, equals + 1))
			return false;
	}
	return true;
}

void library_calibration_describe(const struct calibration *c, char *text,
				  size_t size)
{
	const char *lead = "; at its bound, so the model lacks something: ";

	snprintf(text, size,
		 "calibrated on %s from %d row%s of %s, residual %.1f %%, of "
		 "all %d rows %.1f %%",
		 c->date, c->rows, c->rows == 1 ? "" : "s", c->from,
		 100 * c->residual, c->checked, 100 * c->error);
	for (size_t i = 0; i < c->num_constants; i++) {
		if (!c->constants[i].is_at_bound)
			continue;
		(void)dist__append(text, size, "%s%s", lead,
				   c->constants[i].name);
		lead = ", ";
	}
}
