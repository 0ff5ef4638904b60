#include "sim/explore/bounds.h"

#include <string.h>

#include "base/quantity.h"

/* Reads "key=N" up to end. */
static bool read_bound(const char *word, const char *end, const char *key,
		       uint64_t *bound)
{
	size_t len = strlen(key);

	if (strncmp(word, key, len) != 0 || word[len] != '=')
		return false;
	word += len + 1;
	return dist__digits_step(&word, UINT32_MAX, bound) && word == end;
}

static bool read_word(struct dist__sim_bounds *bounds, const char *word,
		      const char *end)
{
	if ((size_t)(end - word) == strlen("values") &&
	    strncmp(word, "values", strlen("values")) == 0) {
		bounds->values = true;
		return true;
	}
	return (read_bound(word, end, "max-runs", &bounds->runs) &&
		bounds->runs > 0) ||
	       (read_bound(word, end, "max-seconds", &bounds->seconds) &&
		bounds->seconds > 0) ||
	       read_bound(word, end, "skew", &bounds->skews);
}

bool dist__sim_bounds_parse(struct dist__sim_bounds *bounds, const char *text)
{
	const char *end;

	*bounds = (struct dist__sim_bounds){
		.runs = 10000, .seconds = 60, .skews = 64};
	while (*text) {
		end = text + strcspn(text, ",");
		if (!read_word(bounds, text, end))
			return false;
		text = *end ? end + 1 : end;
	}
	return true;
}
