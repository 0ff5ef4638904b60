/* spelling.h - algorithms by the names that other libraries have for them.
 * Private to model/library/. */
#ifndef LOCKSTEP_MODEL_LIBRARY_SPELLING_H
#define LOCKSTEP_MODEL_LIBRARY_SPELLING_H

#include "coll/algorithm.h"

/* Trees down which a vector goes whole. */
enum spelling_tree {
	SPELLING_NO_TREE,
	SPELLING_BINOMIAL,
	SPELLING_BINARY,
	SPELLING_SPLIT, /* two binary ones, half a vector each */
};

/* What an algorithm of theirs is made of: ours, one after the other. */
struct spelling {
	const struct dist__algorithm *parts[2]; /* the second may be NULL */
	const struct dist__algorithm *nearest;  /* one of ours for all of it */
	enum spelling_tree tree;                /* of a broadcast */
	size_t segment_bytes; /* longest message; 0: whatever there is to send
			       */
};

/* library_spell_ours is the spelling of one of ours. */
void library_spell_ours(const struct dist__algorithm *algorithm,
			struct spelling *spelling);

/*
 * library_spell finds the algorithm of op that others call name: one of our
 * names, or one of theirs, whatever follows it ("ring_chunked", "ring_over").
 * Returns false if there is none like it here.
 */
bool library_spell(enum dist__op_kind op, const char *name,
		   struct spelling *spelling);

#endif
