/*
 * message_law.h - the time of messages between processors, from a library's
 * constants: latency by length, processor time, bytes, sums. Private to
 * model/library/.
 */
#ifndef LOCKSTEP_MODEL_LIBRARY_MESSAGE_LAW_H
#define LOCKSTEP_MODEL_LIBRARY_MESSAGE_LAW_H

#include "model/library/library.h"

/* The costs of a call. */
struct message_law {
	const struct message_growth *growth; /* of latency by length */
	double overhead_ns;     /* a message: the sender's processor */
	double start_ns;        /* a call */
	double announced_ns;    /* added for a message that is announced first
				 */
	double latency_ns;      /* a short message to another node */
	double node_latency_ns; /* of a short message within a node */
	double stream_ns;       /* a byte to another node, of one rank */
	double cards_ns;        /* a byte of a node, by all its cards */
	double short_ns;        /* the same for messages that are not announced
				 */
	double node_byte_ns;    /* a byte within a node */
	bool loops;             /* messages within a node go by the cards */
	double sum_ns;          /* a byte that is reduced */
	double vector_ns;       /* each rank's vector, copied once */
	double fresh_ns;        /* memory as large as the vector, touched */
};

/* The names of these constants in a profile, ended by NULL. */
extern const char *const library_message_constants[];

/* The fitted ones of these. */
extern const struct library_constant library_message_fitted[];

struct message_law library_message_law(const struct dist__profile *profile,
				       const struct fabric *fabric,
				       const struct library_call *call);

/* library_message_latency returns the latency of a message in multiples of a
 * short one's; library_message_is_short, whether it is sent without
 * announcement. */
double library_message_latency(const struct message_law *law, double bytes);
bool library_message_is_short(const struct message_law *law, double bytes);

#endif
