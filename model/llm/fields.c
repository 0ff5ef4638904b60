/* fields.c - readers for the fields of this folder's tables. */
#include "model/llm/fields.h"

#include "base/quantity.h"

const char *llm_read_text(const char *text, void *into)
{
	*(const char **)into = text;
	return NULL;
}

const char *llm_read_number(const char *text, void *into)
{
	double *number = into;

	return dist__number_read(text, number) && *number > 0
		       ? NULL
		       : "a number over 0";
}
