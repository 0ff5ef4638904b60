/*
 * pmi_server.h - the process manager of one rank, as MPI sees it: answers
 * PMI-1's requests, and takes what all ranks have put to all of them over the
 * world's messages. Private to realbackend/mpi/.
 */
#ifndef LOCKSTEP_MPI_PMI_SERVER_H
#define LOCKSTEP_MPI_PMI_SERVER_H

#include "core/backend.h"

struct dist__pmi_server;

/* dist__pmi_server_new starts one for the rank of place, on a thread of its
 * own, once all ranks have come. NULL: they have not, or the system refused. */
struct dist__pmi_server *dist__pmi_server_new(const struct dist__place *place);

/* dist__pmi_server_job returns a number of the job, the same on all its ranks,
 * which no other job of this machine is likely to have; above 0. */
int dist__pmi_server_job(const struct dist__pmi_server *server);

/* dist__pmi_server_fd returns the socket that is MPI's, to close too. */
int dist__pmi_server_fd(const struct dist__pmi_server *server);

/* dist__pmi_server_part has it answer for itself, without the other ranks,
 * until the process ends. NULL allowed. */
void dist__pmi_server_part(struct dist__pmi_server *server);

#endif
