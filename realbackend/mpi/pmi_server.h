/*
 * pmi_server.h - the process manager of one rank for MPI: answers PMI-1's
 * requests, and exchanges what ranks put with all ranks over the world's
 * messages. Private to realbackend/mpi/.
 */
#ifndef LOCKSTEP_MPI_PMI_SERVER_H
#define LOCKSTEP_MPI_PMI_SERVER_H

#include "core/backend.h"

struct dist__pmi_server;

/* dist__pmi_server_new starts one for the rank of place, on its own thread,
 * after all ranks have come. NULL: they have not, or the system refused. */
struct dist__pmi_server *dist__pmi_server_new(const struct dist__place *place);

/* dist__pmi_server_job returns a number > 0 for the job, the same on all its
 * ranks and probably different for other jobs of this machine. */
int dist__pmi_server_job(const struct dist__pmi_server *server);

/* dist__pmi_server_fd returns the socket for MPI, which also closes it. */
int dist__pmi_server_fd(const struct dist__pmi_server *server);

/* dist__pmi_server_part makes it answer alone, without the other ranks, until
 * the process ends. NULL allowed. */
void dist__pmi_server_part(struct dist__pmi_server *server);

#endif
