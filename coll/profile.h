/*
 * profile.h - how a library behaves: the algorithms that it chooses, the costs
 * of a message and a reduction beyond the network's, and when a send of the
 * program ends. Read from YAML.
 *
 *	name: lockstep-tcp
 *	version: 1
 *	source: lockstep calibrate on a 2-core machine, loopback
 *	call_ns: 400		# processor time of each call
 *	message_overhead_ns: 2500	# processor time of each send
 *	receive_overhead_ns: 1000	# processor time of each receive
 *	wait_ns: 900		# of each wait on a shared core
 *	cores: 2			# of the machine that all ranks share
 *	send_Bps: 1.1e10		# bytes/s that a core sends
 *	receive_Bps: 2.2e10		# bytes/s that a core receives
 *	reduce_Bps: 5.0e9		# local reduction, bytes/s of one input
 *	copy_Bps: 10.0e9		# bytes/s copied in a rank's memory
 *	segment_bytes: 131072		# a pipeline's longest message
 *	intra: shm			# through memory; or tcp: within a node
 *	p2p: buffered			# or rendezvous, eager:BYTES
 *	window_bytes: 65536		# of a connection at first
 *	rates:				# factors of the rates, by message size
 *	  - {bytes: 65536, share: 3.1, core_share: 4.2, sum_share: 2}
 *	  - {bytes: 4194304, share: 1, copy_share: 0.6}
 *	rates_ranks: 4			# ranks of the ring that measured them
 *	cache_bytes: 1048576		# a rank's part of its core's cache
 *	library: nccl			# whose model predicts it
 *	constants:			# of that model, by its names
 *	  launch_us: 4.5
 *	selection:
 *	  all_reduce:
 *	    - {max_bytes: 32768, algorithm: recursive_doubling}
 *	    - {max_bytes: 262144, algorithm: halving_doubling}
 *	    - {algorithm: ring}
 *
 * A rule may also have the keys max_world_size, min_node_ranks (ranks a node at
 * least, of several nodes), max_nodes and, unless the op reduces, intra: only
 * shm, for ranks of one node with messages through its memory. The first rule
 * whose limits hold wins. An op without rules uses the built-in table
 * (coll/select.c). The profile's own intra is for predictions; real ranks know
 * their transport.
 *
 * A call is a collective with messages, or a send or receive of the program;
 * its cost is added to that of its messages. wait_ns is the cost of leaving a
 * core that several ranks share, and coming back, for each wait for a message.
 * send_Bps and receive_Bps need cores. They are multiplied by the message's
 * share, or between ranks of one core, whose cache holds it, by its core_share
 * (default: share). A rank that waits for a message receives all but its last
 * 64 KiB during the transfer, while its core is free. Adding up a received
 * message takes reduce_Bps times its sum_share (default 1): above 1 if the
 * message is still in a cache or this saves a copy, below 1 if this costs one.
 * A copy takes copy_Bps times its copy_share (default 1). Between two rates a
 * share is linear in log(bytes); outside it is the nearest rate's.
 *
 * The shares were measured with a ring of rates_ranks ranks, whose call uses
 * rates_ranks times a message's bytes of memory. A call that uses other memory
 * takes the share of the message length for which the ring uses as much: if
 * that is longer than its own messages, only from cache_bytes of memory on,
 * which the cache does not hold; if shorter, only with intra: shm.
 */
#ifndef LOCKSTEP_COLL_PROFILE_H
#define LOCKSTEP_COLL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "core/op.h"

/* Default of segment_bytes: so long that latency is a small part of a message,
 * and so short that a segment stays in cache until it is sent on.
 */
#define DIST__SEGMENT_BYTES (128 * 1024)

/* One rule of a selection table, of its algorithm's op. */
struct dist__rule {
	int max_world_size; /* INT_MAX: any */
	size_t max_bytes;   /* SIZE_MAX: any */
	/* At least so many ranks a node, on average, and several nodes; 0 or
	 * 1: any. */
	int min_node_ranks;
	int max_nodes; /* 0: any */
	/* On one node, through its memory. Never for an op that reduces: its
	 * sums must be the same by every transport. */
	bool in_memory;
	const struct dist__algorithm *algorithm;
};

/* When a send of the program (not of a collective) ends: messages of less than
 * eager_below bytes travel at once and are buffered at the receiver, so the
 * send ends at once; others travel when the receive is posted, too. */
struct dist__p2p_mode {
	size_t eager_below; /* 0: rendezvous; SIZE_MAX: buffered */
};

/* The rate that a share multiplies. */
enum dist__traffic {
	DIST__LOAD,      /* links and cores: messages */
	DIST__CORE_LOAD, /* the same, between ranks of one core */
	DIST__SUM,       /* reduce_Bps: adding up a received message */
	DIST__COPY,      /* copy_Bps: copies */
	DIST__TRAFFICS
};

/* The factors of the rates for messages of so many bytes. They are above 1 if
 * the rates are those of messages too long for the caches. */
struct dist__rate {
	size_t bytes;
	double shares[DIST__TRAFFICS];
};

#define DIST__RATES 16 /* at most in a profile */

/* A constant of a library's model, by the model's name for it. */
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
	/* Each wait, if there are more ranks than cores; 0: none. */
	double wait_ns;
	/* Of the one machine that all ranks share: rank r's messages and sums
	 * run on core r modulo cores; 0: each rank has its own core. */
	int cores;
	double send_Bps;    /* bytes/s of a core that only sends */
	double receive_Bps; /* the same for receiving; 0: costs nothing */
	double reduce_Bps;  /* 0: reductions cost nothing */
	/* Copies of an algorithm beside its messages; not in its cost formula.
	 * 0: they cost nothing. */
	double copy_Bps;
	int segment_bytes;  /* 1 or more */
	bool shares_memory; /* simulated ranks of a node use its memory */
	struct dist__p2p_mode p2p;
	/* Collectives' messages of at least this size exceed the connection's
	 * window with their header: their send ends when it is posted, and they
	 * share the sender's links with its next messages; SIZE_MAX: none. */
	size_t window_bytes;
	struct dist__rate rates[DIST__RATES]; /* bytes ascending */
	size_t num_rates;   /* 0: messages of any size have the links' rates */
	int rates_ranks;    /* 0: a call's memory does not matter */
	size_t cache_bytes; /* a call that uses less finds it in cache */
	struct dist__rule *rules; /* owned */
	size_t num_rules;
	char library[16]; /* "": Lockstep's own algorithms */
	/* Algorithms of a library that has names of its own, by the op that is
	 * to use them, not owned; NULL: the library chooses. */
	const char *forced[DIST__OP_KINDS];
	struct dist__constant *constants; /* owned; in the file's order */
	size_t num_constants;
};

/* dist__profile_init makes the built-in profile: name "default", no overhead,
 * no reduction cost, DIST__SEGMENT_BYTES, rendezvous, no window, no rates, no
 * rules (the built-in table selects). */
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
 * dist__profile_force inserts rules before all others, from text such as "ring"
 * (for all_reduce) or "all_reduce=ring,broadcast=binomial"; or, of a library
 * with names of its own (ended by NULL), sets `forced`. Errors:
 * DIST_ERR_INVALID_ARGUMENT (message lists the legal names),
 * DIST_ERR_NO_MEMORY.
 */
enum dist_error dist__profile_force(struct dist__profile *profile,
				    const char *const *names, const char *words,
				    struct dist_message *message);

/* dist__p2p_mode_parse reads "rendezvous", "buffered" or "eager:BYTES" (eager
 * up to BYTES, inclusive). false: text is none of these; *mode is unchanged. */
bool dist__p2p_mode_parse(struct dist__p2p_mode *mode, const char *text);

/* The legal texts, for an error message. */
#define DIST__P2P_MODES "rendezvous, buffered or eager:BYTES"

/* dist__p2p_mode_print writes *mode as such a text. */
void dist__p2p_mode_print(const struct dist__p2p_mode *mode, char *text,
			  size_t size);

/* dist__profile_load_bytes returns bytes / share: the bytes that a message
 * counts for what carries it or adds it up. walked: bytes of memory that the
 * rank's call uses; 0: as many as a ring of rates_ranks with such messages. */
double dist__profile_load_bytes(const struct dist__profile *profile,
				enum dist__traffic traffic, size_t bytes,
				size_t walked);

/* dist__profile_rates_print writes the rates, and the size of their ring, as
 * "bytes:share ..." into text. */
void dist__profile_rates_print(const struct dist__profile *profile, char *text,
			       size_t size);

/* dist__profile_constant returns the constant of that name, or fallback. */
double dist__profile_constant(const struct dist__profile *profile,
			      const char *name, double fallback);

/* dist__profile_set sets a constant. Errors: NO_MEMORY. */
enum dist_error dist__profile_set(struct dist__profile *profile,
				  const char *name, double value);

/* dist__profile_release frees what profile owns. */
void dist__profile_release(struct dist__profile *profile);

#endif
