/*
 * clause.h - the grammar of an option's value: KIND[:WORD[,KEY=VALUE|FLAG]...],
 * and of the quantities in it.
 */
#ifndef LOCKSTEP_MODEL_CLUSTER_CLAUSE_H
#define LOCKSTEP_MODEL_CLUSTER_CLAUSE_H

#include <stdbool.h>

#include "lockstep/dist.h"

#define PLATFORM_CLAUSE_KEYS 8

struct platform_clause {
	const char *option; /* "--intra", for messages */
	char text[256];     /* cut into the words below */
	const char *kind;
	const char *word; /* "" without */
	struct {
		const char *key, *value; /* value "" for a flag */
	} keys[PLATFORM_CLAUSE_KEYS];
	int num_keys;
};

/* platform_clause_read cuts text up. Errors: INVALID_ARGUMENT (too long, or
 * too many keys). */
enum dist_error platform_clause_read(const char *option, const char *text,
				     struct platform_clause *clause,
				     struct dist_message *message);

/* platform_clause_only refuses keys that are not in the list known, words
 * apart by spaces, and keys that come twice. */
enum dist_error platform_clause_only(const struct platform_clause *clause,
				     const char *known,
				     struct dist_message *message);

/* platform_clause_value returns the value of key, NULL without the key. */
const char *platform_clause_value(const struct platform_clause *clause,
				  const char *key);

/* platform_clause_bandwidth reads key's value, or with key NULL the word, as a
 * bandwidth into *Bps: 400G or 400Gbps are bits, 50GB/s or 50GBps bytes per
 * second. Errors: INVALID_ARGUMENT (missing, no unit, not above 0). */
enum dist_error platform_clause_bandwidth(const struct platform_clause *clause,
					  const char *key, double *Bps,
					  struct dist_message *message);

/* platform_clause_latency reads key's value (0.6us, 300ns, 1ms) into *seconds,
 * or leaves it as it is without the key. */
enum dist_error platform_clause_latency(const struct platform_clause *clause,
					const char *key, double *seconds,
					struct dist_message *message);

/* platform_clause_shape reads the word, numbers apart by x, into shape; *n in:
 * the most, out: how many. Numbers are 1 to 65536. */
enum dist_error platform_clause_shape(const struct platform_clause *clause,
				      int *shape, int *n,
				      struct dist_message *message);

/* platform_read_count reads a whole text as 1 to most; false when it is none.
 */
bool platform_read_count(const char *text, int most, int *count);

#endif
