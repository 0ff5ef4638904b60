/*
 * folder.h - the folder where Open MPI 4 keeps the files of a job on this node,
 * if no mpirun removes what killed ranks leave. Private to realbackend/mpi/.
 *
 * Each rank holds a shared lock on the folder. A process that gets the
 * exclusive lock is the last one and removes it: a rank of the job that ends,
 * or a rank of a later job that finds it.
 */
#ifndef LOCKSTEP_MPI_FOLDER_H
#define LOCKSTEP_MPI_FOLDER_H

#include <stdbool.h>

struct dist__folder {
	int fd; /* -1: there is none */
	char path[64];
};

/* dist__folder_open makes or finds the folder of a job, after removing those
 * that no process uses; false: the system refused, and Open MPI chooses the
 * place of its files. */
bool dist__folder_open(struct dist__folder *folder, int job);

/* dist__folder_close ends the use of it; allowed if there is none. */
void dist__folder_close(struct dist__folder *folder);

#endif
