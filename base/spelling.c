/* spelling.c - guesses which name was meant by a word that is none. */
#include "base/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
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

struct dist__spelling dist__spelling_of(const char *word)
{
	return (struct dist__spelling){.word = word,
				       .distance = DIST__SPELLING_FARTHEST + 1};
}

/* Whether a word is what stands between some hyphens of a name: "batch" of
 * "micro-batch", "hgx-h100" of "hgx-h100-400g". */
static bool is_part(const char *word, const char *name)
{
	const size_t length = strlen(word);

	for (; *name; name += strspn(name, "-")) {
		if (strncmp(name, word, length) == 0 &&
		    (name[length] == '-' || name[length] == '\0'))
			return true;
		name += strcspn(name, "-");
	}
	return false;
}

void dist__spelling_offer(struct dist__spelling *near, const char *name,
			  size_t len)
{
	char copy[LONGEST_NAME + 1];
	size_t distance;

	if (len > LONGEST_NAME)
		return;
	memcpy(copy, name, len);
	copy[len] = '\0';
	distance = is_part(near->word, copy)
			   ? 0
			   : dist__spelling_distance(near->word, copy);
	if (distance >= near->distance || distance >= (len + 1) / 2)
		return;
	near->distance = distance;
	memcpy(near->name, copy, len + 1);
}

const char *dist__spelling_hint(struct dist__spelling *near)
{
	if (*near->name)
		snprintf(near->hint, sizeof near->hint,
			 "; did you mean \"%s\"?", near->name);
	return near->hint;
}

const char *dist__spelling_hint_of(struct dist__spelling *near,
				   const char *word, const char *list)
{
	static const char between[] = " ,|";
	size_t len;

	*near = dist__spelling_of(word);
	for (list += strspn(list, between); *list;
	     list += len + strspn(list + len, between)) {
		len = strcspn(list, between);
		if (!isupper((unsigned char)*list))
			dist__spelling_offer(near, list, len);
	}
	return dist__spelling_hint(near);
}
