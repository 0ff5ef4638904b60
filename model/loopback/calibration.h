/*
 * calibration.h - calibration of this machine's loopback: measured by the
 * command, fitted by fit.c, written by write.c as a platform and a profile.
 *
 * Ranks on one machine share its processors. A message takes processor time, a
 * byte is copied on both sides, and with more ranks than processors ranks take
 * turns. So measurements are taken under load, with all ranks at once. In the
 * model a rank that sends m bytes and receives as many, while all others do the
 * same, needs
 *
 *	turns * (alpha + m * byte / share(m))
 *
 * where turns is the largest number of ranks on a core; 1 between hosts.
 *
 * alpha comes from the barrier: a dissemination barrier is ceil(log2(p)) rounds
 * in which every rank sends and receives an empty message. Between hosts alpha
 * is the lower quartile, and with two ranks half the round trip. Through memory
 * it comes from the smallest exchange or, where ranks take turns, from the
 * slower of the two smallest: there a barrier's step takes longer than that of
 * other calls, and less with a core for each rank. byte and share come from
 * exchanges between neighbours in a ring: byte from the longest ones, which do
 * not fit the caches, share from shorter ones. A cache holds more of what the
 * ranks of one core send to each other: if ranks are bound to processors, rings
 * within a processor give such messages a share of their own.
 *
 * On one machine alpha and byte are processor time; over TCP most of it is the
 * sender's, which runs most of the stack. Through memory, calls in which all
 * send to all take the larger of
 *
 *	turns * (call + messages * (send + receive)) + (turns - 1) * wait
 *	turns * (wait + messages * receive) + call + send
 *
 * which is what the simulator computes for four ranks on two cores
 * (tests/model/fit.c), and nearly what it computes for more.
 *
 * call: the time of a call of a group of one rank, which sends nothing. send,
 * receive: how much longer calls with messages take if nobody has to wait.
 * wait: the rest where ranks take turns. A rank that waits yields its core and
 * gets it back; the last rank finds all messages there, as long as waits are
 * short. (Not in a ring: there a rank may do several steps before the others of
 * its core do, so that there are fewer waits than steps.) With a core for each
 * rank the rest belongs to receive. The sender's part of a byte is the time one
 * way divided by the time both ways at once. The time of a reduction is the
 * difference between a ring that sends and reduces and two rings that only
 * send; the time of a copy is measured by copies of that size.
 */
#ifndef LOCKSTEP_MODEL_LOOPBACK_CALIBRATION_H
#define LOCKSTEP_MODEL_LOOPBACK_CALIBRATION_H

#include "coll/profile.h"
#include "lockstep/dist.h"
#include "base/statistics.h"

/* Message sizes of the exchange; the first is the smallest. */
#define CALIBRATION_SIZES 12
extern const size_t calibration_bytes[CALIBRATION_SIZES];

/* The sizes also measured one way: through memory one_way, otherwise
 * pair_message. */
#define CALIBRATION_ONE_WAY 8
#define CALIBRATION_PAIR    10

/* Interquartile range over median of the noisiest measure: up to the first it
 * is accepted at once, up to the second if no attempt is better. */
#define CALIBRATION_QUIET 0.5
#define CALIBRATION_NOISY 1.0

/* What was measured. Nanoseconds unless the name says otherwise. */
struct calibration_measures {
	int world_size;
	int cores;                     /* of the machine; 0: several machines */
	bool in_memory;                /* on one machine, through shared memory
					*/
	struct dist__sample half_trip; /* 8 bytes, one pair alone */
	struct dist__sample round;     /* of the barrier, all ranks at once */
	struct dist__sample issue;     /* to issue one send of 8 bytes */
	struct dist__sample
		pair_message; /* 1 MiB in a stream, one pair alone */
	struct dist__sample exchange[CALIBRATION_SIZES]; /* all ranks at once */
	/* The same between the ranks of one processor, on all processors at
	 * once, if ranks are bound and each processor has the same number; else
	 * zeros. */
	struct dist__sample core_exchange[CALIBRATION_SIZES];
	struct dist__sample reduce; /* reducing 1 MiB, all ranks at once */
	struct dist__sample
		copies[CALIBRATION_SIZES]; /* copying, likewise; all sizes
					      except the first */
	/* Through memory. */
	struct dist__sample sums[CALIBRATION_SIZES]; /* two exchanges, with the
							data of one reduced */
	struct dist__sample one_way;  /* 256 KiB in a stream, one pair alone */
	struct dist__sample call;     /* in a group of one rank, alone */
	struct dist__sample sends;    /* a call that sends 8 bytes to all others
					 and waits for none */
	struct dist__sample receives; /* one that receives 8 bytes from all
					 others */
	struct dist__sample waits;    /* one in which all do both */
};

/* The fitted model. */
struct calibration_model {
	int world_size;
	int cores; /* shared by the ranks; 0: a core each */
	bool in_memory;
	double call_ns;      /* processor time of a call, beside messages */
	double overhead_ns;  /* processor time of a send */
	double receive_ns;   /* processor time of a receive */
	double wait_ns;      /* processor time of a wait on a shared core */
	double latency_ns;   /* of a route, without the overheads */
	double step_ns;      /* of an empty exchange, one turn of a rank */
	double send_Bps;     /* of a core that only sends, or */
	double receive_Bps;  /* only receives; with cores > 0 */
	double pair_Bps;     /* of one pair alone */
	double capacity_Bps; /* of all pairs together, with longest messages */
	double reduce_Bps;
	double copy_Bps; /* within the memory of a rank */
	/* Shares of the capacity, for the longer sizes of the exchange. */
	struct dist__rate rates[CALIBRATION_SIZES - 1];
	size_t num_rates;
	double residual; /* worst |modelled / measured - 1| of an exchange,
			    interpolated from its neighbours */
};

/* calibration_turns returns the largest number of ranks on one core; cores 0:
 * each has its own. */
int calibration_turns(int world_size, int cores);

/* calibration_barrier_rounds returns the rounds of a dissemination barrier:
 * ceil(log2(world_size)). */
int calibration_barrier_rounds(int world_size);

/* calibration_spread returns the largest interquartile range over median of the
 * measures that the fit uses; *what (if not NULL) names that measure. */
double calibration_spread(const struct calibration_measures *measures,
			  const char **what);

/* calibration_fit makes the model. */
void calibration_fit(const struct calibration_measures *measures,
		     struct calibration_model *model);

/* calibration_wire_Bps returns the rate at which a rank sends while it receives
 * at the same rate. */
double calibration_wire_Bps(const struct calibration_model *model);

/* calibration_exchange_ns returns the time of an exchange in the model. */
double calibration_exchange_ns(const struct calibration_model *model,
			       size_t bytes);

/*
 * calibration_write writes dir/loopback.xml, a platform of hosts hosts, and
 * dir/loopback.yaml, a profile. calibration_write_wire writes only
 * dir/wire.yaml, a profile: the network between hosts is for the user to
 * describe. Errors: of the files, with message.
 */
enum dist_error calibration_write(const char *dir, int hosts,
				  const struct calibration_measures *measures,
				  const struct calibration_model *model,
				  struct dist_message *message);
enum dist_error calibration_write_wire(const char *dir,
				       const struct calibration_model *model,
				       struct dist_message *message);

#endif
