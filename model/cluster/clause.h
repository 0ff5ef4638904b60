/*
 * clause.h - parses an option's value, KIND[:WORD[,KEY=VALUE|FLAG]...], and the
 * quantities in it.
 */
#ifndef LOCKSTEP_MODEL_CLUSTER_CLAUSE_H
#define LOCKSTEP_MODEL_CLUSTER_CLAUSE_H

#include <stdbool.h>

#include "lockstep/dist.h"

#define PLATFORM_CLAUSE_KEYS 8

struct platform_clause {
	const char *option; /* "--intra", for messages */
	char text[256];     /* storage of the parts below */
	const char *kind;
	const char *word; /* "" if there is none */
	struct {
		const char *key, *value; /* value "" of a flag */
	} keys[PLATFORM_CLAUSE_KEYS];
	int num_keys;
};

/* platform_clause_read parses text. Errors: INVALID_ARGUMENT (too long, or too
 * many keys). */
enum dist_error platform_clause_read(const char *option, const char *text,
				     struct platform_clause *clause,
				     struct dist_message *message);

/* platform_clause_only refuses keys that are not in the list known, separated
 * by spaces, and repeated keys. */
enum dist_error platform_clause_only(const struct platform_clause *clause,
				     const char *known,
				     struct dist_message *message);

/* platform_clause_value returns the value of key; NULL: no such key. */
const char *platform_clause_value(const struct platform_clause *clause,
				  const char *key);

/* platform_clause_bandwidth reads key's value, or with key NULL the word, as a
 * bandwidth into *Bps: 400G or 400Gbps are bits, 50GB/s or 50GBps bytes per
 * second. Errors: INVALID_ARGUMENT (missing, no unit, not above 0). */
enum dist_error platform_clause_bandwidth(const struct platform_clause *clause,
					  const char *key, double *Bps,
					  struct dist_message *message);

/* platform_clause_latency reads key's value (0.6us, 300ns, 1ms) into *seconds;
 * without the key *seconds does not change. */
enum dist_error platform_clause_latency(const struct platform_clause *clause,
					const char *key, double *seconds,
					struct dist_message *message);

/* platform_clause_shape reads the word, numbers separated by x, into shape. *n
 * is the room, and then the number read. Numbers are 1 to 65536. */
enum dist_error platform_clause_shape(const struct platform_clause *clause,
				      int *shape, int *n,
				      struct dist_message *message);

/* platform_read_count reads all of text as a number of 1 to most. Returns false
 * if it is none. */
bool platform_read_count(const char *text, int most, int *count);

#endif
