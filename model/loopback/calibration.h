/*
 * calibration.h - what a platform and a profile of this machine's loopback are
 * made of: measured by the command, fitted by fit.c, written by write.c.
 *
 * Ranks on one machine share its processors: a message is their time, and a
 * byte is a copy on either side; when there are more ranks than processors,
 * ranks wait for each other's turn. So the measurements that count are taken
 * under load, all ranks at once. The model is that a rank which sends m bytes
 * and receives as many, while all others do too, needs
 *
 *	turns * (alpha + m * byte / share(m))
 *
 * where turns is how many ranks share a core at most; between hosts 1.
 *
 * alpha comes from the barrier: a dissemination barrier is ceil(log2(p)) rounds
 * in which every rank sends and receives an empty message. Between hosts the
 * lower quartile counts, and of two ranks it is the half round trip. Through
 * memory it is of the smallest exchange, and where ranks take turns of the
 * slower of the two smallest: a barrier's step takes longer than those of other
 * calls where ranks take turns, and less with a core each. byte
 * and share come from exchanges between neighbours in a ring: byte of the
 * longest ones, which the caches do not hold, share of shorter ones. What the
 * ranks of a core send each other its cache holds longer: where each rank has
 * its processor, rings of theirs alone give such messages a share of their own.
 *
 * On one machine alpha and byte are processor time; by TCP most of it is the
 * sender's, who does most of the stack's work. Through memory calls in which
 * all send to all take, one after the other, whichever is more of
 *
 *	turns * (call + messages * (send + receive)) + (turns - 1) * wait
 *	turns * (wait + messages * receive) + call + send
 *
 * which is what the simulator makes of four ranks on two cores
 * (tests/model/fit.c), and about what it makes of more.
 *
 * call: that of a group of one rank, which sends nothing. send, receive: by how
 * much calls take longer that have messages and need not wait. wait: what is
 * left, where ranks take turns: one that waits leaves its core to the others
 * and comes back to it, but the last to come finds all there, as long as waits
 * are short. (Not of a ring, in which a rank may go on for several steps before
 * its core's others do, so that there are fewer waits than steps.) With a core
 * for each rank what is left is the receive's. Of a byte its sender takes what
 * one way takes of the time that both ways at once take. To add up what comes
 * takes what a ring of sums and then messages takes longer than two of
 * messages; to copy, what copies of that size do.
 */
#ifndef LOCKSTEP_MODEL_LOOPBACK_CALIBRATION_H
#define LOCKSTEP_MODEL_LOOPBACK_CALIBRATION_H

#include "coll/profile.h"
#include "lockstep/dist.h"
#include "base/statistics.h"

/* Message sizes of the exchange; the first is next to nothing. */
#define CALIBRATION_SIZES 12
extern const size_t calibration_bytes[CALIBRATION_SIZES];

/* The ones that are measured one way as well: through memory one_way, otherwise
 * pair_message. */
#define CALIBRATION_ONE_WAY 8
#define CALIBRATION_PAIR    10

/* Interquartile range by median of the noisiest measure: up to the first it is
 * believed at once, up to the second when nothing better can be had. */
#define CALIBRATION_QUIET 0.5
#define CALIBRATION_NOISY 1.0

/* What was measured. Nanoseconds unless the name says otherwise. */
struct calibration_measures {
	int world_size;
	int cores; /* of the machine of all ranks; 0: of several machines */
	bool in_memory;                /* of one machine, through its memory */
	struct dist__sample half_trip; /* 8 bytes, one pair alone */
	struct dist__sample round;     /* of the barrier, all ranks at once */
	struct dist__sample issue;     /* to issue one send of 8 bytes */
	struct dist__sample
		pair_message; /* 1 MiB in a stream, one pair alone */
	struct dist__sample exchange[CALIBRATION_SIZES]; /* all ranks at once */
	/* The same between the ranks of one processor, of all at once, where
	 * ranks have theirs and these have as many each; else zeros. */
	struct dist__sample core_exchange[CALIBRATION_SIZES];
	struct dist__sample reduce; /* reducing 1 MiB, all ranks at once */
	struct dist__sample
		copies[CALIBRATION_SIZES]; /* copying, likewise; of all
					    * sizes but the first */
	/* Through memory. */
	struct dist__sample
		sums[CALIBRATION_SIZES]; /* two exchanges, what came by
					  * one of them being added up */
	struct dist__sample one_way; /* 256 KiB in a stream, one pair alone */
	struct dist__sample call;    /* of a group of one rank, alone */
	struct dist__sample sends;   /* a call that sends 8 bytes to all others,
				      * and   waits for none */
	struct dist__sample receives; /* one that takes as many from all */
	struct dist__sample waits;    /* one in which all do both */
};

/* What follows from it. */
struct calibration_model {
	int world_size;
	int cores; /* that the ranks share; 0: each its own */
	bool in_memory;
	double call_ns;      /* processor time of a call, beside messages */
	double overhead_ns;  /* processor time of a send */
	double receive_ns;   /* processor time of a receive */
	double wait_ns;      /* the same of a wait on a core of several ranks */
	double latency_ns;   /* of a route, without the overheads */
	double step_ns;      /* of an exchange of nothing, a rank's turn */
	double send_Bps;     /* of a core that only sends, longest messages; */
	double receive_Bps;  /* that only receives; where there are cores */
	double pair_Bps;     /* of one pair alone */
	double capacity_Bps; /* of all pairs together, longest messages */
	double reduce_Bps;
	double copy_Bps; /* of a rank's memory to its own */
	/* Of the capacity, by the longer sizes of the exchange. */
	struct dist__rate rates[CALIBRATION_SIZES - 1];
	size_t num_rates;
	double residual; /* worst |modelled / measured - 1| of an exchange when
			  its neighbours alone are known */
};

/* calibration_turns returns how many ranks take turns on one core, at most;
 * cores 0: each has its own. */
int calibration_turns(int world_size, int cores);

/* calibration_barrier_rounds returns the rounds of a dissemination barrier:
 * ceil(log2(world_size)). */
int calibration_barrier_rounds(int world_size);

/* calibration_spread returns the largest interquartile range by median of the
 * measures that the fit stands on; what (not NULL) names the measure it belongs
 * to. */
double calibration_spread(const struct calibration_measures *measures,
			  const char **what);

/* calibration_fit makes the model. */
void calibration_fit(const struct calibration_measures *measures,
		     struct calibration_model *model);

/* calibration_wire_Bps returns what a rank sends a second while it receives as
 * much. */
double calibration_wire_Bps(const struct calibration_model *model);

/* calibration_exchange_ns returns what model says about an exchange. */
double calibration_exchange_ns(const struct calibration_model *model,
			       size_t bytes);

/*
 * calibration_write writes dir/loopback.xml, a platform of hosts hosts, and
 * dir/loopback.yaml, a profile. Errors: of the files; message says what.
 * calibration_write_wire writes dir/wire.yaml, a profile, alone: of what lies
 * between two hosts nobody but the user knows how far it reaches.
 */
enum dist_error calibration_write(const char *dir, int hosts,
				  const struct calibration_measures *measures,
				  const struct calibration_model *model,
				  struct dist_message *message);
enum dist_error calibration_write_wire(const char *dir,
				       const struct calibration_model *model,
				       struct dist_message *message);

#endif
