/*
 * profile.h - how a library behaves: which algorithm it picks, what a message
 * and a reduction cost it beyond the wire. Data, read from YAML.
 *
 *	name: lockstep-tcp
 *	version: 1
 *	source: lockstep calibrate on a 2-core machine, loopback
 *	message_overhead_ns: 2500	# processor time of a send, each
 *	reduce_Bps: 5.0e9		# local reduction, bytes of one input
 *	selection:
 *	  all_reduce:
 *	    - {max_bytes: 32768, algorithm: recursive_doubling}
 *	    - {max_bytes: 262144, algorithm: halving_doubling}
 *	    - {algorithm: ring}
 *
 * Rules are tried in order; the first whose limits hold wins. An op without
 * rules uses the built-in table (coll/select.c).
 */
#ifndef LOCKSTEP_CORE_PROFILE_H
#define LOCKSTEP_CORE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/op.h"

/* One rule of a selection table. */
struct dist__rule {
	enum dist__op_kind op;
	int max_world_size; /* INT_MAX: any */
	size_t max_bytes;   /* SIZE_MAX: any */
	const struct dist__algorithm *algorithm;
};

struct dist__profile {
	char name[64];
	char version[32];
	char source[256];
	double message_overhead_ns; /* 0: none */
	double reduce_Bps;          /* 0: reductions cost nothing */
	struct dist__rule *rules;   /* owned */
	size_t num_rules;
};

/* dist__profile_init makes the built-in profile: name "default", no overhead,
 * no reduction cost, no rules (so the built-in table selects). */
void dist__profile_init(struct dist__profile *profile);

/*
 * dist__profile_load reads path. Errors: DIST_ERR_INVALID_ARGUMENT (message:
 * "file:line: what was expected"), DIST_ERR_IO, DIST_ERR_NO_MEMORY; then
 * *profile is as after init.
 */
enum dist_error dist__profile_load(struct dist__profile *profile,
				   const char *path,
				   struct dist_message *message);

/*
 * dist__profile_force puts rules in front of all others, from words such as
 * "ring" (the all_reduce algorithm) or "all_reduce=ring,broadcast=binomial".
 * Errors: DIST_ERR_INVALID_ARGUMENT (message lists the legal names),
 * DIST_ERR_NO_MEMORY.
 */
enum dist_error dist__profile_force(struct dist__profile *profile,
				    const char *words,
				    struct dist_message *message);

/* dist__profile_release frees what profile holds. */
void dist__profile_release(struct dist__profile *profile);

#endif
