/*
 * profile.h - how a library behaves: which algorithm it picks, what a message
 * and a reduction cost it beyond the wire, when a send of the program ends.
 * Data, read from YAML.
 *
 *	name: lockstep-tcp
 *	version: 1
 *	source: lockstep calibrate on a 2-core machine, loopback
 *	call_ns: 400		# processor time of a call, each
 *	message_overhead_ns: 2500	# processor time of a send, each
 *	receive_overhead_ns: 1000	# processor time of a receive, each
 *	wait_ns: 900		# to leave a core to others meanwhile
 *	cores: 2			# of the machine that all ranks share
 *	send_Bps: 1.1e10		# bytes that one of them sends
 *	receive_Bps: 2.2e10		# and that one of them receives
 *	reduce_Bps: 5.0e9		# local reduction, bytes of one input
 *	copy_Bps: 10.0e9		# a rank's own memory to its own
 *	segment_bytes: 131072		# what a pipeline sends at a time
 *	intra: shm			# through memory; or tcp: within a node
 *	p2p: buffered			# or rendezvous, eager:BYTES
 *	window_bytes: 65536		# of a connection, until told of more
 *	rates:				# by size, of what links carry
 *	  - {bytes: 65536, share: 3.1, core_share: 4.2, sum_share: 2}
 *	  - {bytes: 4194304, share: 1, copy_share: 0.6}
 *	rates_ranks: 4			# of the ring that these are of
 *	cache_bytes: 1048576		# of a core alone, each rank's part
 *	library: nccl			# whose model predicts it
 *	constants:			# of that model, by its names
 *	  launch_us: 4.5
 *	selection:
 *	  all_reduce:
 *	    - {max_bytes: 32768, algorithm: recursive_doubling}
 *	    - {max_bytes: 262144, algorithm: halving_doubling}
 *	    - {algorithm: ring}
 *
 * A rule may also have the keys max_world_size, min_node_ranks (ranks a node
 * at least, of several nodes), max_nodes and, unless the op reduces, intra:
 * only shm, of ranks that are all on one node and talk through its memory.
 * Rules are tried in order; the first whose limits hold wins. An op without
 * rules uses the built-in table (coll/select.c). The profile's own intra is
 * for predictions: real ranks know what they talk through. A call is a
 * collective with messages, or a send or receive of the program; what it takes
 * is beside its messages. wait_ns is what a rank takes of a core that
 * it has not for itself, each time it comes to wait for a message: it leaves to
 * others, and comes back. send_Bps and receive_Bps count where there are cores,
 * at the message's share, or its core_share (share unless said) between ranks
 * of one core, whose cache has it. Who waits for a message receives all but its
 * last 64 KiB while it comes, as far as its core is free. To add up what came
 * in a message takes reduce_Bps at its sum_share (1 unless said), beside
 * receiving it: above 1 where it is still in a cache or pool a copy, below
 * where it takes one more. To copy so many bytes of its own a rank takes
 * copy_Bps at their copy_share (1 unless said). Between two rates a share is
 * linear in the logarithm of bytes; below the first and above the last it is
 * theirs. In a ring of rates_ranks a rank walks through the memory of so many
 * messages. A call that walks through cache_bytes or more finds its memory out
 * of the cache. Its messages then have the share of the messages by which the
 * ring of the rates walks through as much memory, if those are longer than its
 * own; where intra is shm, also if they are shorter.
 */
#ifndef LOCKSTEP_COLL_PROFILE_H
#define LOCKSTEP_COLL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/op.h"

/* Of a profile that states no segment_bytes: long enough that a message is not
 * mostly latency, and short enough that it stays in cache until it is sent on.
 */
#define DIST__SEGMENT_BYTES (128 * 1024)

/* One rule of a selection table, of its algorithm's op. */
struct dist__rule {
	int max_world_size; /* INT_MAX: any */
	size_t max_bytes;   /* SIZE_MAX: any */
	/* So many ranks a node at least, on the average, and several nodes;
	 * 0 or 1: any. */
	int min_node_ranks;
	int max_nodes; /* 0: any */
	/* On one node, through its memory. Never of an op that reduces: its
	 * sums must be the same by every transport. */
	bool in_memory;
	const struct dist__algorithm *algorithm;
};

/* When a send of the program (not of a collective) ends: messages of less than
 * eager_below bytes travel at once and are buffered at the receiver, so that
 * the send ends here and now; the others travel when both ends are there. */
struct dist__p2p_mode {
	size_t eager_below; /* 0: rendezvous; SIZE_MAX: buffered */
};

/* What a rate has a share of. */
enum dist__traffic {
	DIST__LOAD,      /* links and cores: messages */
	DIST__CORE_LOAD, /* the same, between ranks of one core */
	DIST__SUM,       /* reduce_Bps: sums of what came in a message */
	DIST__COPY,      /* copy_Bps: copies of as many bytes */
	DIST__TRAFFICS
};

/* Messages of so many bytes go at a share of the rates of the links: above 1
 * where those are of messages too long for the caches. */
struct dist__rate {
	size_t bytes;
	double shares[DIST__TRAFFICS];
};

#define DIST__RATES 16 /* most of a profile */

/* One number of a library's model; library/ knows the names. */
struct dist__constant {
	char name[48];
	double value;
};

struct dist__profile {
	char name[64];
	char version[32];
	char source[256];
	double call_ns;             /* 0: none */
	double message_overhead_ns; /* 0: none */
	double receive_overhead_ns; /* 0: none */
	/* Of who waits while more ranks than cores share these; 0: none. */
	double wait_ns;
	/* Of one machine that all ranks share: rank r's messages and sums take
	 * core r modulo so many; 0: every rank has its own. */
	int cores;
	double send_Bps;    /* bytes that a core sends, if nothing else */
	double receive_Bps; /* the same, of receiving; 0: they take none */
	double reduce_Bps;  /* 0: reductions cost nothing */
	/* Of what an algorithm copies beside its messages; no formula knows it.
	 * 0: that costs nothing. */
	double copy_Bps;
	int segment_bytes;  /* 1 or more */
	bool shares_memory; /* what a simulated node's ranks talk through */
	struct dist__p2p_mode p2p;
	/* A message of a collective of as much or more, which with its header
	 * does not fit, is the connection's when posted, and shares its
	 * sender's links with what that sends next; SIZE_MAX: none is. */
	size_t window_bytes;
	struct dist__rate rates[DIST__RATES]; /* bytes ascending */
	size_t num_rates;   /* 0: all messages at the links' */
	int rates_ranks;    /* 0: what else a call walks through is nothing */
	size_t cache_bytes; /* that a call walks through and finds again */
	struct dist__rule *rules; /* owned */
	size_t num_rules;
	char library[16];                 /* "": Lockstep's own algorithms */
	struct dist__constant *constants; /* owned; in the file's order */
	size_t num_constants;
};

/* dist__profile_init makes the built-in profile: name "default", no overhead,
 * no reduction cost, DIST__SEGMENT_BYTES, rendezvous, no window, no rates, no
 * rules (so the built-in table selects). */
void dist__profile_init(struct dist__profile *profile);

/*
 * dist__profile_load reads path. Errors: DIST_ERR_INVALID_ARGUMENT (message:
 * "file:line: what was expected"), DIST_ERR_IO, DIST_ERR_NO_MEMORY; then
 * *profile is as after init.
 */
enum dist_error dist__profile_load(struct dist__profile *profile,
				   const char *path,
				   struct dist_message *message);

/* dist__profile_find loads that of a name of lockstep list profiles, or of a
 * path. Errors: also those of dist__data_find. */
enum dist_error dist__profile_find(struct dist__profile *profile,
				   const char *name,
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

/* dist__p2p_mode_parse reads "rendezvous", "buffered" or "eager:BYTES" (up to
 * and with that many). false: text is none of these; *mode is untouched. */
bool dist__p2p_mode_parse(struct dist__p2p_mode *mode, const char *text);

/* What it expects, for a message. */
#define DIST__P2P_MODES "rendezvous, buffered or eager:BYTES"

/* dist__p2p_mode_print writes the words for *mode into text. */
void dist__p2p_mode_print(const struct dist__p2p_mode *mode, char *text,
			  size_t size);

/* dist__profile_load_bytes returns with how many bytes a message of so many
 * loads what carries it or adds it up: bytes over its share. walked: bytes of
 * memory that the rank's call walks through; 0: as many as the ring of the
 * rates with messages of bytes. */
double dist__profile_load_bytes(const struct dist__profile *profile,
				enum dist__traffic traffic, size_t bytes,
				size_t walked);

/* dist__profile_rates_print writes the rates as "bytes:share ..." into text,
 * and of which ring they are. */
void dist__profile_rates_print(const struct dist__profile *profile, char *text,
			       size_t size);

/* dist__profile_constant returns the constant of that name, or fallback. */
double dist__profile_constant(const struct dist__profile *profile,
			      const char *name, double fallback);

/* dist__profile_set gives a constant a value. Errors: NO_MEMORY. */
enum dist_error dist__profile_set(struct dist__profile *profile,
				  const char *name, double value);

/* dist__profile_release frees what profile holds. */
void dist__profile_release(struct dist__profile *profile);

#endif
