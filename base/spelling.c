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

/* The distance of Damerau (1964), of which three rows of the table are kept. */
size_t dist__spelling_distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST_NAME + 1];
	size_t length = strlen(b), i, j;

	if (length > LONGEST_NAME)
		return length;
	for (j = 0; j <= length; j++)
		rows[0][j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];

		row[0] = i;
		for (j = 1; j <= length; j++) {
			row[j] = min3(above[j - 1] + (a[i - 1] != b[j - 1]),
				      above[j] + 1, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = min3(row[j], row[j],
					      rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[(i + 2) % 3][length];
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
