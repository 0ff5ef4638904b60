/* spelling.h - algorithms of other libraries by their names. Private to
 * model/library/. */
#ifndef LOCKSTEP_MODEL_LIBRARY_SPELLING_H
#define LOCKSTEP_MODEL_LIBRARY_SPELLING_H

#include "coll/algorithm.h"

/* Trees along which a whole vector is sent. */
enum spelling_tree {
	SPELLING_NO_TREE,
	SPELLING_BINOMIAL,
	SPELLING_BINARY,
	SPELLING_SPLIT, /* two binary trees, half a vector each */
};

/* An algorithm of another library, as a sequence of ours. */
struct spelling {
	const struct dist__algorithm *parts[2]; /* the second may be NULL */
	const struct dist__algorithm *nearest;  /* the one of ours that is most
						   like it */
	enum spelling_tree tree;                /* of a broadcast */
	size_t segment_bytes; /* longest message; 0: no limit */
};

/* library_spell_ours stores the spelling of one of ours. */
void library_spell_ours(const struct dist__algorithm *algorithm,
			struct spelling *spelling);

/*
 * library_spell finds the algorithm of op called name: one of our names, or one
 * of other libraries, with any suffix ("ring_chunked", "ring_over"). Returns
 * false if there is none.
 */
bool library_spell(enum dist__op_kind op, const char *name,
		   struct spelling *spelling);

#endif
