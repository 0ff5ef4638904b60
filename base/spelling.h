/*
 * spelling.h - guesses which name was meant by a word that is none. Offer all
 * names, then get the hint:
 *
 *	struct dist__spelling near = dist__spelling_of(word);
 *
 *	for (...)
 *		dist__spelling_offer(&near, name, strlen(name));
 *	refuse("no such thing \"%s\"%s", word, dist__spelling_hint(&near));
 */
#ifndef LOCKSTEP_BASE_SPELLING_H
#define LOCKSTEP_BASE_SPELLING_H

#include <stddef.h>

/* A name at a larger distance was not meant. */
#define DIST__SPELLING_FARTHEST 2

/* The nearest name so far. */
struct dist__spelling {
	const char *word; /* borrowed */
	size_t distance;
	char name[64]; /* "": none is near */
	char hint[96];
};

/* dist__spelling_distance returns the number of letters to insert, delete,
 * replace or exchange with the next to get from a to b. */
size_t dist__spelling_distance(const char *a, const char *b);

struct dist__spelling dist__spelling_of(const char *word);

/* dist__spelling_offer stores name, of len bytes, if it is nearer than earlier
 * ones. What stands between hyphens of the name has distance 0. A name farther
 * than the limit, or with half of its letters wrong, is not near. */
void dist__spelling_offer(struct dist__spelling *near, const char *name,
			  size_t len);

/* dist__spelling_hint returns "; did you mean "NAME"?", or "". */
const char *dist__spelling_hint(struct dist__spelling *near);

/* dist__spelling_hint_of does all of it for a list of names, separated by
 * blanks, commas or bars, except placeholders in capitals. The text is in
 * *near. */
const char *dist__spelling_hint_of(struct dist__spelling *near,
				   const char *word, const char *list);

#endif
