/*
 * spelling.h - what was probably meant by a word that is no name: the one place
 * that guesses. Offer all names, then ask for the hint:
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

/* No name that needs more letters was meant. */
#define DIST__SPELLING_FARTHEST 2

/* The nearest name so far. */
struct dist__spelling {
	const char *word; /* borrowed */
	size_t distance;
	char name[64]; /* "": none is near */
	char hint[96];
};

/* dist__spelling_distance returns how many letters to insert, delete or replace
 * to get from a to b. */
size_t dist__spelling_distance(const char *a, const char *b);

struct dist__spelling dist__spelling_of(const char *word);

/* dist__spelling_offer looks whether the name, of len bytes, is nearer than
 * those before. A word between hyphens of the name is as near as one letter.
 * None is near that is farther away, or of which half is wrong. */
void dist__spelling_offer(struct dist__spelling *near, const char *name,
			  size_t len);

/* dist__spelling_offer_list does so for all of a list, divided by blanks,
 * commas or bars, but for placeholders in capitals. */
void dist__spelling_offer_list(struct dist__spelling *near, const char *list);

/* dist__spelling_hint returns "; did you mean "NAME"?", or "". */
const char *dist__spelling_hint(struct dist__spelling *near);

/* dist__spelling_hint_of is all of it, for a list. The text is in *near. */
const char *dist__spelling_hint_of(struct dist__spelling *near,
				   const char *word, const char *list);

#endif
