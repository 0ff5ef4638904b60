/*
 * folder.h - where Open MPI 4 keeps the files of a job on this node, when there
 * is no mpirun to remove what killed ranks leave. Private to realbackend/mpi/.
 *
 * Each rank holds a shared lock on the folder. Who gets the exclusive one is
 * the last and removes it: a rank of the job that ends, or one of a later job
 * that finds it.
 */
#ifndef LOCKSTEP_MPI_FOLDER_H
#define LOCKSTEP_MPI_FOLDER_H

#include <stdbool.h>

struct dist__folder {
	int fd; /* -1: there is none */
	char path[64];
};

/* dist__folder_open makes or finds that of a job, having removed those that are
 * nobody's any more; false: the system refused, and Open MPI keeps its files
 * where it likes. */
bool dist__folder_open(struct dist__folder *folder, int job);

/* dist__folder_close leaves it; harmless where there is none. */
void dist__folder_close(struct dist__folder *folder);

#endif
