/*
 * collectives.h - measured times of collectives: tables of one form for every
 * library, machine and collective. docs/measured.md explains each field.
 */
#ifndef LOCKSTEP_MODEL_MEASURED_COLLECTIVES_H
#define LOCKSTEP_MODEL_MEASURED_COLLECTIVES_H

#include "base/tsv_table.h"
#include "model/measured/value.h"

enum collective {
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_BROADCAST,
	COLLECTIVE_REDUCE,
	COLLECTIVE_GATHER,
	COLLECTIVE_SCATTER,
	COLLECTIVE_SENDRECV, /* to the next rank, from the previous one */
};

/* One measurement. Texts are the table's; NULL and 0: not known. */
struct collective_row {
	enum value_use use;
	enum collective collective;
	const char *machine; /* its description: model/measured/machine.h */
	const char *transport;
	const char *library, *version;
	const char *algorithm, *protocol; /* NULL: the library chose */
	const char *dtype;
	const char *memory; /* "host" or "device" */
	const char *place;  /* "in" or "out" */
	const char *run;    /* which of several */
	int nodes, ranks;
	int process_ranks;     /* of one process */
	const char *caller;    /* "torch": PyTorch, of whose calls each began
				  on an idle GPU; NULL: calls in a row */
	size_t bytes;          /* as nccl-tests counts them */
	const char *statistic; /* statistic of time_us over the iterations */
	struct value_number time_us;
	struct value_number min_us, p25_us, p75_us, p99_us;
	size_t iterations;
	struct value_number algbw_GBps, busbw_GBps;
};

struct collectives {
	struct tsv_table tsv;
	struct collective_row *rows; /* tsv.num_rows; the tsv's */
};

/*
 * collectives_check checks the figures of a table against each other, within
 * the published rounding: algbw is bytes over time, busbw is algbw times the
 * factor of the collective, and quartiles lie around the median. Errors:
 * DIST_ERR_INVALID_ARGUMENT (message: "file:line: what was expected").
 */
DIST_MUST_CHECK enum dist_error
collectives_check(const struct collectives *table,
		  struct dist_message *message);

/*
 * collectives_load reads the table at path, for
 * dist__tsv_release(&table->tsv), and checks it. On failure *table is empty and
 * message says "file:line: what was expected". Errors:
 * DIST_ERR_INVALID_ARGUMENT, DIST_ERR_IO, DIST_ERR_NO_MEMORY.
 */
DIST_MUST_CHECK enum dist_error collectives_load(struct collectives *table,
						 const char *path,
						 struct dist_message *message);

/* collectives_add appends a copy of row, read from that line. Returns it; NULL:
 * no memory. */
struct collective_row *collectives_add(struct collectives *table,
				       const struct collective_row *row,
				       int line);

/* All names, for messages. */
#define COLLECTIVE_NAMES                                                       \
	"all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, "      \
	"reduce, gather, scatter or sendrecv"

/* collective_name returns torch's name, as "all_reduce", or nccl-tests'
 * "sendrecv". */
const char *collective_name(enum collective collective);

/* collective_profile returns the name of a library's profile: "mpich" also for
 * Cray's build of it. */
const char *collective_profile(const char *library);

/* collective_find stores the collective called name, also by nccl-tests' names
 * ("alltoall"). Returns false if there is none. */
bool collective_find(const char *name, enum collective *collective);

/* collective_bus_factor returns nccl-tests' busbw over algbw: the bytes on a
 * link for each byte, with the best algorithm. */
double collective_bus_factor(enum collective collective, int ranks);

#endif
