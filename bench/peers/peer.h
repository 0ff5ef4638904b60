/*
 * peer.h - what a collective library has to give so that it is timed as
 * lockstep bench times ours. A program is measure.c, which has main, and one
 * file that implements these functions by a library.
 *
 * A rank's tensors are float32, of num elements; where a collective has a part
 * for each rank, num is that of all parts together, a multiple of the number of
 * ranks, and rank r's part begins at element r * num / world_size. Roots are
 * rank 0.
 */
#ifndef LOCKSTEP_BENCH_PEERS_PEER_H
#define LOCKSTEP_BENCH_PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum peer_collective {
	PEER_ALL_REDUCE,
	PEER_BROADCAST,
	PEER_REDUCE,
	PEER_ALL_GATHER,
	PEER_REDUCE_SCATTER,
	PEER_ALLTOALL,
	PEER_GATHER,
	PEER_SCATTER,
	PEER_SENDRECV /* to the next rank, from the previous one */
};

struct peer {
	int rank;
	int world_size;
};

/* peer_start joins the job that the environment, or the command line, tells of.
 * Libraries end the process when that fails. */
struct peer peer_start(int *argc, char ***argv);

/* peer_has returns whether the library has the collective. */
bool peer_has(enum peer_collective collective);

/* peer_call makes the call and waits for it: in place on data, but for those
 * that read data and write apart, which is as large: reduce-scatter (the rank's
 * own part), all-to-all, sendrecv. */
void peer_call(const struct peer *peer, enum peer_collective collective,
	       float *data, float *apart, size_t num);

/* peer_barrier returns once every rank has called it. */
void peer_barrier(const struct peer *peer);

/* peer_max sets each of the num values to the largest of all ranks'. */
void peer_max(const struct peer *peer, double *values, size_t num);

/* peer_stop leaves the job; every rank calls it. */
void peer_stop(const struct peer *peer);

#ifdef __cplusplus
}
#endif

#endif
